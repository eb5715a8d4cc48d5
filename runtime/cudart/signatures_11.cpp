// SPDX-License-Identifier: Apache-2.0
// The entry points that are specific to libcudart.so.11.0.
#include "runtime/cudart/export.hpp"
#include "runtime/cudart/version.hpp"

#include <cstddef>

namespace warplens::cudart {
extern const Version version = {.number = 11080,
                                .function_attributes = offsetof(cudaFuncAttributes, clusterDimMustBeSet),
                                .pointer_attributes = offsetof(cudaPointerAttributes, reserved),
                                .resource_desc = 64, // without the reserved bytes and flags of 13
                                .resource_view_desc = offsetof(cudaResourceViewDesc, reserved),
                                .texture_desc = offsetof(cudaTextureDesc, seamlessCubemap)};
} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                              const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  return create_texture(texture, resource, description, view, sizeof(cudaTextureDesc));
}
CUDART cudaError_t cudaGetTextureObjectTextureDesc_v2(cudaTextureDesc* description, cudaTextureObject_t texture) {
  return get_texture_description(description, texture, sizeof(cudaTextureDesc));
}

/// The log stays empty: the error and the node identify the problem.
CUDART cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t* failed,
                                        char* log, size_t log_size) {
  if (failed) *failed = nullptr;
  if (log && log_size) *log = '\0';
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
}
CUDART cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* failed,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t error = call([&] { return cuGraphExecUpdate_v2(executable, graph, &info); });
  if (failed) *failed = info.errorNode;
  if (result) *result = info.result;
  return error;
}

CUDART cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags) {
  CUdriverProcAddressQueryResult status{};
  const cudaError_t error = driver_entry_point(symbol, function, static_cast<unsigned>(version.number), flags, &status);
  if (error == cudaSuccess && status != CU_GET_PROC_ADDRESS_SUCCESS) return record(cudaErrorSymbolNotFound);
  return error;
}

PER_THREAD(cudaGetDriverEntryPoint, _ptsz)

// Texture and surface references, which CUDA 12 replaced by objects.
MISSING(cudaBindSurfaceToArray)
MISSING(cudaBindTexture)
MISSING(cudaBindTexture2D)
MISSING(cudaBindTextureToArray)
MISSING(cudaBindTextureToMipmappedArray)
MISSING(cudaGetSurfaceReference)
MISSING(cudaGetTextureAlignmentOffset)
MISSING(cudaGetTextureReference)
MISSING(cudaUnbindTexture)
CUDART void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int, int) {}
CUDART void __cudaRegisterSurface(void**, const void*, const void**, const char*, int, int) {}
