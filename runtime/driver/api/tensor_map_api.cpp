// SPDX-License-Identifier: Apache-2.0
// Tensor maps. Every refusal is CUDA_ERROR_INVALID_VALUE, as an H200's driver answers; that crashes if a corner is
// null.
#include "api/session/tensor_map.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <cstring>

using namespace warplens;
using namespace warplens::runtime;

namespace {

using MapKind = api::TensorMapRequest::Kind;

/// The parameters that all three functions have.
struct Tensor {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

api::TensorMapRequest request_of(MapKind kind, const Tensor& t) {
  require(t.sizes != nullptr && t.strides != nullptr && t.steps != nullptr);
  require(t.rank >= 1 && t.rank <= exec::TensorMap::kMostDimensions); // arrays have so many entries
  api::TensorMapRequest r;
  r.kind = kind;
  r.type = t.type;
  r.rank = t.rank;
  r.address = reinterpret_cast<std::uintptr_t>(t.address);
  std::copy_n(t.sizes, t.rank, r.sizes.begin());
  std::copy_n(t.strides, t.rank - 1, r.strides.begin());
  std::copy_n(t.steps, t.rank, r.steps.begin());
  r.interleave = t.interleave;
  r.swizzle = t.swizzle;
  r.promotion = t.promotion;
  r.fill = t.fill;
  return r;
}

void write(CUtensorMap* map, api::TensorMapRequest request) {
  request.since_sm_100 = Machine::instance().device().capability.major >= 10;
  const auto made = api::make_tensor_map(request);
  require(made.has_value());
  const exec::TensorMap::Words words = made->encoded();
  std::memcpy(static_cast<void*>(map), words.data(), sizeof words); // it may be misaligned
}

} // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* sizes, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return serve([&] {
    require(map != nullptr && box != nullptr);
    api::TensorMapRequest r =
        request_of(MapKind::tiled, {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill});
    std::copy_n(box, rank, r.box.begin());
    write(map, r);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                 const cuuint64_t* sizes, const cuuint64_t* strides, const int* lower, const int* upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  return serve([&] {
    require(map != nullptr && lower != nullptr && upper != nullptr);
    api::TensorMapRequest r =
        request_of(MapKind::im2col, {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill});
    require(rank > 2);
    std::copy_n(lower, rank - 2, r.lower.begin());
    std::copy_n(upper, rank - 2, r.upper.begin());
    r.channels = channels;
    r.pixels = pixels;
    write(map, r);
  });
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                     const cuuint64_t* sizes, const cuuint64_t* strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                     CUtensorMapFloatOOBfill fill) {
  return serve([&] {
    require(map != nullptr);
    api::TensorMapRequest r = request_of(
        MapKind::im2col_wide, {type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill});
    r.lower[0] = lower;
    r.upper[0] = upper;
    r.channels = channels;
    r.pixels = pixels;
    r.mode = mode;
    write(map, r);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return serve([&] {
    require(map != nullptr);
    exec::TensorMap::Words words{};
    std::memcpy(words.data(), static_cast<const void*>(map), sizeof words);
    require(exec::TensorMap::is_valid(words));
    const auto to = reinterpret_cast<std::uintptr_t>(address);
    require(api::can_begin_at(to, exec::TensorMap::decoded(words).interleave));
    require(exec::replace(words, exec::TensorField::global_address, 0, to));
    std::memcpy(static_cast<void*>(map), words.data(), sizeof words);
  });
}

} // extern "C"
