// SPDX-License-Identifier: Apache-2.0
// Textures, surfaces and samplers as Python holds them.
//
//   TextureObject texture(memory, description);
//   request.arguments.push_back(api::Argument::texture(texture.open()));
#pragma once

#include "api/session/texture.hpp"
#include "python/core/session.hpp"

#include <pybind11/pybind11.h>

namespace warplens::python {

class TextureObject {
public:
  /// Throws ArgumentError: invalid extents, or the memory is too small. `memory` is null for a sampler.
  TextureObject(const DeviceMemory* memory, exec::BoundTexture description);
  /// Throws ClosedError after close().
  [[nodiscard]] const api::Texture& open() const;
  [[nodiscard]] const std::shared_ptr<api::Texture>& share() const {
    static_cast<void>(open());
    return texture_;
  }
  [[nodiscard]] bool is_open() const { return texture_ != nullptr; }
  void close() { texture_.reset(); }

private:
  std::shared_ptr<api::Texture> texture_;
};

void add_textures(pybind11::module_& module);

} // namespace warplens::python
