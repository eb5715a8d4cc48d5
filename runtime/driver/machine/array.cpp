// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/array.hpp"

#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warplens::runtime {

namespace {

using isa::Type;

struct Arrays {
  Registry<Array, CUarray> plain;
  Registry<Array, CUmipmappedArray> mipmapped;
  std::mutex levels; ///< for the lists of levels
};
Arrays& arrays() {
  static Arrays& instance = *new Arrays; // never destroyed: threads may use it at process exit
  return instance;
}

/// A format whose name includes the number of channels.
struct FixedFormat {
  CUarray_format format;
  Type type;
  unsigned channels;
};
constexpr FixedFormat kFixedFormats[] = {
    {CU_AD_FORMAT_UNORM_INT8X1, Type::u8, 1},   {CU_AD_FORMAT_UNORM_INT8X2, Type::u8, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, Type::u8, 4},   {CU_AD_FORMAT_UNORM_INT16X1, Type::u16, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, Type::u16, 2}, {CU_AD_FORMAT_UNORM_INT16X4, Type::u16, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, Type::s8, 1},   {CU_AD_FORMAT_SNORM_INT8X2, Type::s8, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, Type::s8, 4},   {CU_AD_FORMAT_SNORM_INT16X1, Type::s16, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, Type::s16, 2}, {CU_AD_FORMAT_SNORM_INT16X4, Type::s16, 4},
};

int limit(CUdevice_attribute attribute) {
  int value = 0;
  require(cuDeviceGetAttribute(&value, attribute, kDevice) == CUDA_SUCCESS, CUDA_ERROR_UNKNOWN);
  return value;
}

/// The largest extents and layer counts of the device, from cuDeviceGetAttribute.
void require_extents(const CUDA_ARRAY3D_DESCRIPTOR& d, bool layered, bool cube) {
  struct Limit {
    CUdevice_attribute width, height, depth;
  };
  constexpr CUdevice_attribute kNone = CU_DEVICE_ATTRIBUTE_MAX;
  const Limit most =
      cube ? Limit{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
                   CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS}
      : layered && d.Height == 0 ? Limit{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, kNone,
                                         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS}
      : layered                  ? Limit{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
                        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
                        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS}
      : d.Depth != 0 ? Limit{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
                             CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH}
      : d.Height != 0
          ? Limit{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, kNone}
          : Limit{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, kNone, kNone};
  const auto check = [](const char* name, std::size_t value, CUdevice_attribute attribute, std::size_t unit) {
    if (attribute == kNone) return;
    const auto allowed = static_cast<std::size_t>(limit(attribute)) * unit;
    require(value <= allowed, CUDA_ERROR_INVALID_VALUE,
            [&] { return fmt::format("the array has {} {}: the device allows at most {}", value, name, allowed); });
  };
  check("texels in x", d.Width, most.width, 1);
  check("rows", d.Height, most.height, 1);
  check(layered || cube ? "layers" : "slices", d.Depth, most.depth, cube ? 6 : 1);
}

/// Driver API reference, cuArray3DCreate: the meaning of the extents.
exec::Image image_of(const CUDA_ARRAY3D_DESCRIPTOR& d, unsigned levels) {
  constexpr unsigned kKnown =
      CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  constexpr unsigned kOthers = CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | 0x10 | 0x20 | 0x100;
  require((d.Flags & ~(kKnown | kOthers)) == 0);
  require((d.Flags & kOthers) == 0, CUDA_ERROR_NOT_SUPPORTED,
          [&] { return fmt::format("array flags {:#x} are not supported", d.Flags & kOthers); });
  const bool layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0, cube = (d.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
  require(d.Width != 0 && (d.Depth == 0 || d.Height != 0 || layered) && (!layered || d.Depth != 0));
  if (cube) require(d.Width == d.Height && d.Depth != 0 && d.Depth % 6 == 0 && (layered || d.Depth == 6));
  require_extents(d, layered, cube);

  exec::Image image;
  const bool deep = d.Depth != 0 && !layered && !cube;
  image.dimensions = deep ? 3 : d.Height != 0 ? 2 : 1;
  image.layered = layered;
  image.cube = cube;
  image.width = static_cast<std::uint32_t>(d.Width);
  image.height = static_cast<std::uint32_t>(std::max<std::size_t>(d.Height, 1));
  image.depth = deep ? static_cast<std::uint32_t>(d.Depth) : 1;
  image.layers = layered ? static_cast<std::uint32_t>(d.Depth / (cube ? 6 : 1)) : 1;
  image.levels = levels;
  set_format(image, d.Format, d.NumChannels);
  return image;
}

} // namespace

void set_format(exec::Image& image, CUarray_format format, unsigned channels) {
  image.normalized = false;
  image.channels = channels;
  switch (format) {
  case CU_AD_FORMAT_UNSIGNED_INT8: image.type = Type::u8; break;
  case CU_AD_FORMAT_UNSIGNED_INT16: image.type = Type::u16; break;
  case CU_AD_FORMAT_UNSIGNED_INT32: image.type = Type::u32; break;
  case CU_AD_FORMAT_SIGNED_INT8: image.type = Type::s8; break;
  case CU_AD_FORMAT_SIGNED_INT16: image.type = Type::s16; break;
  case CU_AD_FORMAT_SIGNED_INT32: image.type = Type::s32; break;
  case CU_AD_FORMAT_HALF: image.type = Type::f16; break;
  case CU_AD_FORMAT_FLOAT: image.type = Type::f32; break;
  default: {
    const auto* const fixed = std::find_if(std::begin(kFixedFormats), std::end(kFixedFormats),
                                           [&](const FixedFormat& f) { return f.format == format; });
    const int number = format;
    require(number > 0 && number < 256);
    require(fixed != std::end(kFixedFormats), CUDA_ERROR_NOT_SUPPORTED,
            [&] { return fmt::format("CUarray_format {:#x} is not supported", number); });
    image.normalized = true;
    image.type = fixed->type;
    require(channels == 0 || channels == fixed->channels);
    image.channels = fixed->channels;
  }
  }
  require(image.channels == 1 || image.channels == 2 || image.channels == 4);
}

std::shared_ptr<Array> Array::create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor, unsigned levels) {
  auto array = std::make_shared<Array>();
  array->context_ = &context;
  array->descriptor_ = descriptor;
  exec::Image& image = array->image_;
  image = image_of(descriptor, levels);
  const std::uint32_t longest = std::max({image.width, image.height, image.depth});
  require(levels >= 1 && levels <= exec::kMaxLevels && levels <= static_cast<unsigned>(std::bit_width(longest)));
  image.lay_out();
  Memory& memory = Machine::instance().memory();
  image.address = memory.allocate(image.bytes(), Allocation::Kind::array, &context);
  array->memory_id_ = memory.find(image.address)->id;
  return array;
}

std::shared_ptr<Array> Array::level(unsigned level) {
  require(level < image_.levels);
  const std::lock_guard lock(arrays().levels);
  levels_.resize(image_.levels);
  std::shared_ptr<Array>& made = levels_[level];
  if (made) return made;
  made = std::make_shared<Array>(*this);
  made->levels_.clear();
  made->is_level_ = true;
  exec::Image& image = made->image_;
  const exec::ImageLevel& from = image_.level[level];
  image.width = from.width, image.height = from.height, image.depth = from.depth;
  image.levels = 1;
  image.address += from.offset;
  image.lay_out();
  CUDA_ARRAY3D_DESCRIPTOR& d = made->descriptor_;
  d.Width = from.width;
  if (d.Height != 0) d.Height = from.height;
  if (image.dimensions == 3) d.Depth = from.depth;
  return made;
}

Array::Rows Array::rows() const {
  const exec::ImageLevel& first = image_.level[0];
  Rows rows;
  rows.box = {.address = image_.address, .pitch = first.row_bytes, .slice = first.slice_bytes};
  rows.element = image_.texel_bytes();
  rows.width = first.row_bytes;
  rows.rows = first.height;
  rows.slices = std::max(first.depth, image_.slices());
  return rows;
}

bool Array::destroy() {
  for (const std::shared_ptr<Array>& level : levels_) arrays().plain.remove(arrays().plain.handle(level.get()));
  return Machine::instance().memory().free(image_.address, Allocation::Kind::array);
}

/// The array, if its memory still exists.
std::shared_ptr<Array> live(std::shared_ptr<Array> array) {
  require(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::optional<Allocation> memory = Machine::instance().memory().find(array->image_.address);
  require(memory && memory->id == array->memory_id_, CUDA_ERROR_INVALID_HANDLE);
  return array;
}

std::shared_ptr<Array> find_array(CUarray handle) { return live(object_of(arrays().plain, handle)); }
std::shared_ptr<Array> find_array(CUmipmappedArray handle) { return live(object_of(arrays().mipmapped, handle)); }

Context* context_of(CUarray handle) { return &find_array(handle)->context(); }
Context* context_of(CUmipmappedArray handle) { return &find_array(handle)->context(); }

void bury_arrays_of(const Context& context) {
  const auto is_of = [&](const Array& array) { return &array.context() == &context; };
  arrays().plain.bury(is_of);
  arrays().mipmapped.bury(is_of);
}

Box box_in(CUarray array, std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t width, std::uint64_t rows,
           std::uint64_t slices) {
  const Array::Rows all = find_array(array)->rows();
  const auto inside = [](std::uint64_t from, std::uint64_t count, std::uint64_t size) {
    return from <= size && count <= size - from;
  };
  require(inside(x, width, all.width) && inside(y, rows, all.rows) && inside(z, slices, all.slices),
          CUDA_ERROR_INVALID_VALUE, [&] {
            return fmt::format("a box of {} bytes by {} by {} at {}, {}, {} exceeds an array of {} bytes by {} by {}",
                               width, rows, slices, x, y, z, all.width, all.rows, all.slices);
          });
  Box box = all.box;
  box.address += z * box.slice + y * box.pitch + x;
  return box;
}

namespace {

/// Pending work may use the memory, so it completes first.
template <class Arrays, class Handle> void destroy(Context& context, Arrays& list, Handle handle) {
  const std::shared_ptr<Array> array = find_array(handle);
  require(!array->is_level(), CUDA_ERROR_INVALID_HANDLE);
  context.synchronize();
  list.remove(handle);
  array->destroy();
}

} // namespace

} // namespace warplens::runtime

using namespace warplens::runtime;

extern "C" {

CUresult cuArrayCreate_v2(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* d) {
  return serve([&](Context& context) {
    require(handle != nullptr && d != nullptr);
    *handle = arrays().plain.add(Array::create(context, {d->Width, d->Height, 0, d->Format, d->NumChannels, 0}, 1));
  });
}

CUresult cuArray3DCreate_v2(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return serve([&](Context& context) {
    require(handle != nullptr && descriptor != nullptr);
    *handle = arrays().plain.add(Array::create(context, *descriptor, 1));
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray handle) {
  return serve_for(handle, [&](Context&) {
    require(descriptor != nullptr);
    const CUDA_ARRAY3D_DESCRIPTOR& d = find_array(handle)->descriptor();
    *descriptor = {d.Width, d.Height, d.Format, d.NumChannels};
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
  return serve_for(handle, [&](Context&) {
    require(descriptor != nullptr);
    *descriptor = find_array(handle)->descriptor();
  });
}

CUresult cuArrayDestroy(CUarray handle) {
  return serve_for(handle, [&](Context& context) { destroy(context, arrays().plain, handle); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels) {
  return serve([&](Context& context) {
    require(handle != nullptr && descriptor != nullptr);
    // "Number of mipmap levels [...] is clamped to the range [1, 1 + floor(log2(max(width, height, depth)))]"
    const std::size_t depth = (descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0 //
                                  ? descriptor->Depth
                                  : 0;
    const auto most = static_cast<unsigned>(std::bit_width(std::max({descriptor->Width, descriptor->Height, depth})));
    *handle = arrays().mipmapped.add(Array::create(context, *descriptor, std::clamp(levels, 1u, std::max(most, 1u))));
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray handle, unsigned number) {
  return serve_for(handle, [&](Context&) {
    require(level != nullptr);
    std::shared_ptr<Array> array = find_array(handle)->level(number);
    *level = arrays().plain.handle(array.get());
    arrays().plain.add(std::move(array)); // it may already be there
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return serve_for(handle, [&](Context& context) { destroy(context, arrays().mipmapped, handle); });
}

} // extern "C"
