// SPDX-License-Identifier: Apache-2.0
#include "api/session/texture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warplens::api {

namespace {

// Why the texture is invalid; empty: it is valid. Limits: CUDA C++ Programming Guide, "Compute Capabilities".
std::string refusal(const exec::Image& image) {
  constexpr std::uint32_t kMostWide = 1u << 27, kMost = 131072, kMostDeep = 16384, kMostLayers = 2048,
                          kMostSamples = 16;
  if (image.width == 0 || image.height == 0 || image.depth == 0 || image.layers == 0) return "has an extent of 0";
  if (image.width > (image.dimensions == 1 ? kMostWide : kMost) || image.height > kMost || image.depth > kMostDeep ||
      image.layers > kMostLayers)
    return fmt::format("is too large: {} x {} x {}, {} layers", image.width, image.height, image.depth, image.layers);
  if (image.cube && (image.dimensions != 2 || image.width != image.height))
    return "is a cube, but its faces are not square";
  if (image.layered && image.dimensions == 3) return "is layered and has three dimensions";
  if (image.channels != 1 && image.channels != 2 && image.channels != 4)
    return fmt::format("has {} channels: expected 1, 2 or 4", image.channels);
  if (image.samples == 0 || image.samples > kMostSamples || !std::has_single_bit(image.samples))
    return fmt::format("has {} samples: expected 1, 2, 4, 8 or 16", image.samples);
  const std::uint32_t longest = std::max({image.width, image.height, image.depth});
  if (image.levels == 0 || image.levels > static_cast<std::uint32_t>(std::bit_width(longest)) ||
      image.levels > exec::kMaxLevels)
    return fmt::format("has {} levels: an extent of {} texels allows 1 to {}", image.levels, longest,
                       std::bit_width(longest));
  if (image.pitch != 0 && image.pitch < std::uint64_t{image.width} * image.texel_bytes())
    return fmt::format("has rows of {} bytes, which do not fit into a pitch of {}",
                       std::uint64_t{image.width} * image.texel_bytes(), image.pitch);
  return {};
}

} // namespace

Texture::Texture(std::shared_ptr<Context> context, exec::BoundTexture description, std::shared_ptr<Buffer> memory)
    : context_(std::move(context)), description_(std::move(description)), memory_(std::move(memory)),
      handle_(context_->bind(description_)) {}

Texture::~Texture() { context_->unbind(handle_); }

Expected<std::shared_ptr<Texture>> Texture::create(std::shared_ptr<Context> context, exec::BoundTexture description,
                                                   std::shared_ptr<Buffer> memory) {
  exec::Image& image = description.image;
  if (description.kind != exec::BoundTexture::Kind::sampler) {
    if (const std::string why = refusal(image); !why.empty())
      return failure(fmt::format("texture '{}' {}", description.name, why));
    image.address = memory->address();
    image.lay_out();
    if (image.bytes() > memory->bytes().size())
      return failure(fmt::format("texture '{}' needs {} bytes, but buffer '{}' has {}", description.name, image.bytes(),
                                 memory->name(), memory->bytes().size()));
  }
  return std::shared_ptr<Texture>(new Texture(std::move(context), std::move(description), std::move(memory)));
}

} // namespace warplens::api
