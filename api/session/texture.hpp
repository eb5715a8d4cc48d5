// SPDX-License-Identifier: Apache-2.0
// Textures, surfaces and samplers of a context: descriptions of memory with a handle for kernels.
//
//   exec::BoundTexture t{.kind = exec::BoundTexture::Kind::texture, .name = "t"};
//   t.image.width = 8; t.image.height = 6; t.sampler.linear = true;
//   auto texture = *Texture::create(context, t, buffer);      // buffer holds the texels
//   request.arguments.push_back(Argument::texture(*texture));
#pragma once

#include "api/session/session.hpp"

namespace warplens::api {

class Texture {
public:
  /// `memory` contains the texels; it is null for a sampler. Errors: invalid extents or levels; `memory` is too small.
  static Expected<std::shared_ptr<Texture>> create(std::shared_ptr<Context> context, exec::BoundTexture description,
                                                   std::shared_ptr<Buffer> memory);
  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  [[nodiscard]] std::uint64_t handle() const { return handle_; }
  [[nodiscard]] const exec::BoundTexture& description() const { return description_; }

private:
  Texture(std::shared_ptr<Context> context, exec::BoundTexture description, std::shared_ptr<Buffer> memory);
  std::shared_ptr<Context> context_;
  exec::BoundTexture description_;
  std::shared_ptr<Buffer> memory_;
  std::uint64_t handle_ = 0;
};

} // namespace warplens::api
