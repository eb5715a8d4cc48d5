// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/texture.hpp"

#include "runtime/driver/machine/array.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>

namespace warplens::runtime {

namespace {

exec::Image linear(const CUDA_RESOURCE_DESC& resource) {
  const auto& r = resource.res.linear;
  exec::Image image;
  image.dimensions = 1;
  image.memory = true;
  image.address = r.devPtr;
  set_format(image, r.format, r.numChannels);
  const std::uint64_t texels = r.sizeInBytes / image.texel_bytes();
  require(texels != 0 && texels <= 1u << 28); // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH
  image.width = static_cast<std::uint32_t>(texels);
  return image;
}

exec::Image pitched(const CUDA_RESOURCE_DESC& resource) {
  const auto& r = resource.res.pitch2D;
  constexpr std::size_t kMostWide = 131072, kMostHigh = 65000; // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_…
  constexpr std::size_t kPitchAlignment = 32;
  exec::Image image;
  image.dimensions = 2;
  image.memory = true;
  image.address = r.devPtr;
  set_format(image, r.format, r.numChannels);
  require(r.width != 0 && r.width <= kMostWide && r.height != 0 && r.height <= kMostHigh);
  require(r.pitchInBytes % kPitchAlignment == 0 && r.pitchInBytes >= r.width * image.texel_bytes());
  image.width = static_cast<std::uint32_t>(r.width);
  image.height = static_cast<std::uint32_t>(r.height);
  image.pitch = r.pitchInBytes;
  return image;
}

/// Type and channels of a CUresourceViewFormat: 1, 2, 4 channels of each type in turn. Block-compressed ones are last.
void set_view_format(exec::Image& image, CUresourceViewFormat format) {
  using isa::Type;
  constexpr Type kTypes[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::f16, Type::f32};
  if (format == CU_RES_VIEW_FORMAT_NONE) return;
  require(format >= CU_RES_VIEW_FORMAT_UINT_1X8 && format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7);
  require(format <= CU_RES_VIEW_FORMAT_FLOAT_4X32, CUDA_ERROR_NOT_SUPPORTED,
          [] { return "resource views of block-compressed texels are not supported"; });
  const std::uint32_t before = image.texel_bytes();
  const unsigned index = static_cast<unsigned>(format) - CU_RES_VIEW_FORMAT_UINT_1X8;
  image.type = kTypes[index / 3];
  image.channels = 1u << index % 3;
  image.normalized = false;
  require(image.texel_bytes() == before);
}

/// Driver API reference, cuTexObjectCreate: a view keeps the extents and selects levels and layers.
void look_at(exec::Image& image, const CUDA_RESOURCE_VIEW_DESC& view) {
  require(!image.memory);
  set_view_format(image, view.format);
  require(view.width == image.width && (view.height == image.height || (view.height == 0 && image.height == 1)));
  require(view.firstMipmapLevel <= view.lastMipmapLevel && view.lastMipmapLevel < image.levels);
  const std::uint32_t unit = image.cube ? 6 : 1; // a cube has six layers
  const std::uint32_t layers = view.lastLayer - view.firstLayer + 1;
  if (!image.layered) require(view.firstLayer == 0 && view.lastLayer == 0);
  if (image.layered)
    require(view.firstLayer <= view.lastLayer && view.lastLayer < image.slices() && view.firstLayer % unit == 0 &&
            layers % unit == 0);
  for (unsigned l = view.firstMipmapLevel; l <= view.lastMipmapLevel; ++l) {
    exec::ImageLevel& level = image.level[l - view.firstMipmapLevel];
    level = image.level[l];
    level.offset += view.firstLayer * level.slice_bytes;
  }
  image.levels = view.lastMipmapLevel - view.firstMipmapLevel + 1;
  image.width = image.level[0].width, image.height = image.level[0].height, image.depth = image.level[0].depth;
  if (image.layered) image.layers = layers / unit;
}

exec::Addressing addressing_of(CUaddress_mode mode) {
  switch (mode) {
  case CU_TR_ADDRESS_MODE_WRAP: return exec::Addressing::wrap;
  case CU_TR_ADDRESS_MODE_CLAMP: return exec::Addressing::clamp;
  case CU_TR_ADDRESS_MODE_MIRROR: return exec::Addressing::mirror;
  case CU_TR_ADDRESS_MODE_BORDER: return exec::Addressing::border;
  }
  throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
}

bool is_linear(CUfilter_mode mode) {
  require(mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR);
  return mode == CU_TR_FILTER_MODE_LINEAR;
}

} // namespace

exec::Image image_of(const CUDA_RESOURCE_DESC& resource) {
  require(resource.flags == 0);
  exec::Image image;
  switch (resource.resType) {
  case CU_RESOURCE_TYPE_ARRAY: return find_array(resource.res.array.hArray)->image();
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return find_array(resource.res.mipmap.hMipmappedArray)->image();
  case CU_RESOURCE_TYPE_LINEAR: image = linear(resource); break;
  case CU_RESOURCE_TYPE_PITCH2D: image = pitched(resource); break;
  default: require(false);
  }
  image.lay_out();
  require(image.address % image.texel_bytes() == 0);
  require(Machine::instance().memory().covers(image.address, image.bytes()), CUDA_ERROR_INVALID_VALUE,
          [] { return "the texels are not in device memory"; });
  return image;
}

exec::Sampler sampler_of(const CUDA_TEXTURE_DESC& texture, const exec::Image& image) {
  constexpr unsigned kKnown = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                              CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  require((texture.flags & ~kKnown) == 0);
  require((texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) == 0, CUDA_ERROR_NOT_SUPPORTED,
          [] { return "seamless cube maps are not supported"; });
  if (texture.maxAnisotropy > 1 && image.levels > 1)
    tell("anisotropic filtering is not supported: the texture is filtered with a maxAnisotropy of 1");
  exec::Sampler sampler;
  for (std::size_t i = 0; i < 3; ++i)
    if (i < image.dimensions) sampler.addressing[i] = addressing_of(texture.addressMode[i]);
  sampler.linear = is_linear(texture.filterMode);
  sampler.linear_levels = is_linear(texture.mipmapFilterMode);
  sampler.normalized = (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  sampler.read_normalized = (texture.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  sampler.srgb = (texture.flags & CU_TRSF_SRGB) != 0;
  sampler.level_bias = texture.mipmapLevelBias;
  if (image.levels > 1) {
    sampler.lowest_level = texture.minMipmapLevelClamp;
    sampler.highest_level = texture.maxMipmapLevelClamp;
  }
  const bool floats =
      isa::is_float(image.type) || image.normalized || (sampler.read_normalized && isa::bits(image.type) < 32);
  require(!sampler.linear || floats, CUDA_ERROR_INVALID_VALUE,
          [] { return "linear filtering requires texels that are read as floats"; });
  std::copy_n(texture.borderColor, 4, sampler.border.begin());
  return sampler;
}

exec::BoundTexture texture_of(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                              const CUDA_RESOURCE_VIEW_DESC* view) {
  exec::BoundTexture bound;
  bound.kind = exec::BoundTexture::Kind::texture;
  bound.image = image_of(resource);
  if (view != nullptr) look_at(bound.image, *view);
  bound.sampler = sampler_of(texture, bound.image);
  return bound;
}

exec::BoundTexture surface_of(const CUDA_RESOURCE_DESC& resource) {
  require(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.flags == 0);
  const std::shared_ptr<Array> array = find_array(resource.res.array.hArray);
  require((array->descriptor().Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0, CUDA_ERROR_INVALID_VALUE, [] {
    return "a surface requires an array that was created with CUDA_ARRAY3D_SURFACE_LDST (cudaArraySurfaceLoadStore)";
  });
  exec::BoundTexture bound;
  bound.kind = exec::BoundTexture::Kind::surface;
  bound.image = array->image();
  return bound;
}

} // namespace warplens::runtime
