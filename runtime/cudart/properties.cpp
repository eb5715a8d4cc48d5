// SPDX-License-Identifier: Apache-2.0
// cudaGetDeviceProperties: fills each field from the device attribute in device_properties.def.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/version.hpp"

#include <array>
#include <type_traits>

namespace warplens::cudart {
namespace {

/// Sets a field, or the elements of an array field, from as many attributes.
template <class Field, std::size_t count>
cudaError_t set(Field& field, const std::array<CUdevice_attribute, count>& attributes, CUdevice device) {
  std::array<int, count> values{};
  for (std::size_t i = 0; i < count; ++i) TRY(cuDeviceGetAttribute(&values[i], attributes[i], device));
  if constexpr (std::is_array_v<Field>) {
    static_assert(std::extent_v<Field> == count, "an attribute for each element");
    for (std::size_t i = 0; i < count; ++i) field[i] = values[i];
  } else {
    static_assert(count == 1, "one attribute");
    field = static_cast<Field>(values[0]);
  }
  return cudaSuccess;
}
template <class Field> cudaError_t set(Field&, const std::array<CUdevice_attribute, 0>&, CUdevice) {
  return cudaSuccess; // filled by hand
}

// CU_DEVICE_ATTRIBUTE_a, CU_DEVICE_ATTRIBUTE_b, ... for up to three names.
#define ATTRIBUTES(...) __VA_OPT__(EACH(__VA_ARGS__))
#define EACH(first, ...) CU_DEVICE_ATTRIBUTE_##first __VA_OPT__(, EACH_SECOND(__VA_ARGS__))
#define EACH_SECOND(first, ...) CU_DEVICE_ATTRIBUTE_##first __VA_OPT__(, CU_DEVICE_ATTRIBUTE_##__VA_ARGS__)

template <class Prop> cudaError_t fill(Prop& properties, CUdevice device) {
  const auto attributes = []<class... Attribute>(Attribute... attribute) {
    return std::array<CUdevice_attribute, sizeof...(Attribute)>{attribute...};
  };
#define FIELD(type, name, array, ...)                                                                                  \
  if constexpr (requires(Prop & p) { p.name; }) TRY(set(properties.name, attributes(ATTRIBUTES(__VA_ARGS__)), device));
#define FIELD_UNTIL_12 FIELD
#define FIELD_SINCE_12 FIELD
#define FIELD_12 FIELD
#define FIELD_13 FIELD
#include "runtime/abi/device_properties.def"
  TRY(cuDeviceGetName(properties.name, sizeof properties.name, device));
  TRY(cuDeviceGetUuid_v2(&properties.uuid, device));
  TRY(cuDeviceTotalMem_v2(&properties.totalGlobalMem, device));
  return cudaSuccess;
}

} // namespace

template <class Prop> cudaError_t device_properties(Prop* properties, int device) {
  return call_without_context([&]() -> cudaError_t {
    if (!properties) return cudaErrorInvalidValue;
    CUdevice handle = 0;
    TRY(cuDeviceGet(&handle, device));
    *properties = {};
    return fill(*properties, handle);
  });
}
template cudaError_t device_properties(cudaDeviceProp_11*, int);
template cudaError_t device_properties(cudaDeviceProp_12*, int);
template cudaError_t device_properties(cudaDeviceProp_13*, int);

} // namespace warplens::cudart
