// SPDX-License-Identifier: Apache-2.0
/// @file
/// The differences between the major versions of the runtime. Everything else is the same object code in
/// libcudart.so.11.0, .12 and .13; each library adds the signatures_*.cpp with its version in the name.
///
/// A structure that grew is filled in completely; the part that the caller's version has is written:
///
///     write_prefix(attributes, all, version.function_attributes);
#pragma once

#include "runtime/abi/runtime.hpp"

#include <cstddef>
#include <cstring>

namespace warplens::cudart {

/// Sizes in bytes of the structures that are smaller in older versions.
struct Version {
  int number; ///< the result of cudaRuntimeGetVersion, 12090 for 12.9
  std::size_t function_attributes, pointer_attributes, resource_desc, resource_view_desc, texture_desc;
};
extern const Version version; ///< the version of this library

template <class Struct> void write_prefix(Struct* target, const Struct& whole, std::size_t size) {
  std::memcpy(static_cast<void*>(target), &whole, size);
}
template <class Struct> Struct read_prefix(const Struct* source, std::size_t size) {
  Struct whole{};
  std::memcpy(static_cast<void*>(&whole), source, size);
  return whole;
}

// The functions whose parameters changed, in their newest form. Edge data can be null.
cudaError_t graph_add_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                           const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* parameters);
cudaError_t stream_get_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                    cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                    const cudaGraphEdgeData** edges, std::size_t* count);
cudaError_t driver_entry_point(const char* symbol, void** function, unsigned cuda_version, unsigned long long flags,
                               CUdriverProcAddressQueryResult* status);
cudaError_t create_texture(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                           const cudaTextureDesc* description, const cudaResourceViewDesc* view,
                           std::size_t description_size);
cudaError_t get_texture_description(cudaTextureDesc* description, cudaTextureObject_t texture,
                                    std::size_t description_size);
/// Prop is one of the cudaDeviceProp_*.
template <class Prop> cudaError_t device_properties(Prop* properties, int device);

} // namespace warplens::cudart
