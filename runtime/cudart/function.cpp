// SPDX-License-Identifier: Apache-2.0
// Attributes of kernels, and their occupancy.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/registration.hpp"
#include "runtime/cudart/version.hpp"

using namespace warplens::cudart;

CUDART cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call_with_function(kernel, [&](CUfunction function) -> cudaError_t {
    if (!attributes) return cudaErrorInvalidValue;
    cudaFuncAttributes all{};
    const auto get = [&](auto& field, CUfunction_attribute attribute) -> cudaError_t {
      int value = 0;
      TRY(cuFuncGetAttribute(&value, attribute, function));
      field = static_cast<std::remove_reference_t<decltype(field)>>(value);
      return cudaSuccess;
    };
    TRY(get(all.sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    TRY(get(all.constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    TRY(get(all.localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    TRY(get(all.maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    TRY(get(all.numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS));
    TRY(get(all.ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION));
    TRY(get(all.binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION));
    TRY(get(all.cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA));
    TRY(get(all.maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
    TRY(get(all.preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));
    TRY(get(all.clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET));
    TRY(get(all.requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH));
    TRY(get(all.requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT));
    TRY(get(all.requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH));
    TRY(get(all.clusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE));
    TRY(get(all.nonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED));
    write_prefix(attributes, all, version.function_attributes);
    return cudaSuccess;
  });
}

CUDART cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call_with_function(kernel,
                            [&](CUfunction function) { return cuFuncSetAttribute(function, attribute, value); });
}
CUDART cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                                   int device) {
  return call([&] { return cuKernelSetAttribute(attribute, value, kernel, device); });
}
CUDART cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config) {
  return call_with_function(kernel, [&](CUfunction function) { return cuFuncSetCacheConfig(function, config); });
}
CUDART cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig) {
  return call_with_function(kernel, [](CUfunction) { return cudaSuccess; }); // banks have been 4 bytes wide since 5.0
}
CUDART cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return call_with_function(kernel, [&](CUfunction function) { return cuFuncGetName(name, function); });
}
CUDART cudaError_t cudaFuncGetParamInfo(const void* kernel, size_t index, size_t* offset, size_t* size) {
  return call_with_function(kernel,
                            [&](CUfunction function) { return cuFuncGetParamInfo(function, index, offset, size); });
}

CUDART cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                          int block_size, size_t shared,
                                                                          unsigned flags) {
  return call_with_function(kernel, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared, flags);
  });
}
CUDART cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block_size,
                                                                 size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_size, shared, 0);
}
CUDART cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, const void* kernel, int blocks,
                                                             int block_size) {
  return call_with_function(kernel, [&](CUfunction function) {
    return cuOccupancyAvailableDynamicSMemPerBlock(shared, function, blocks, block_size);
  });
}
CUDART cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* kernel,
                                                        const cudaLaunchConfig_t* launch) {
  return call_with_function(kernel, [&](CUfunction function) {
    const CUlaunchConfig config = driver_config(*launch);
    return cuOccupancyMaxPotentialClusterSize(size, function, &config);
  });
}
CUDART cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* launch) {
  return call_with_function(kernel, [&](CUfunction function) {
    const CUlaunchConfig config = driver_config(*launch);
    return cuOccupancyMaxActiveClusters(clusters, function, &config);
  });
}
