// SPDX-License-Identifier: Apache-2.0
// Launches: <<<>>> (push, pop, launch), cudaLaunchKernel, cooperative and extensible ones, host functions.
#include "runtime/abi/per_thread.hpp"
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/registration.hpp"

#include <vector>

using namespace warplens::cudart;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
std::vector<Configuration>& pushed() { return warplens::runtime::PerThread<std::vector<Configuration>>::get(); }

/// Whether the device supports launches of this shape at all, whatever the kernel.
bool shape_fits(dim3 grid, dim3 block) {
  CUdevice device = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return true;
  const auto within = [&](unsigned value, CUdevice_attribute attribute) {
    int limit = 0;
    return cuDeviceGetAttribute(&limit, attribute, device) == CUDA_SUCCESS && value > 0 &&
           value <= static_cast<unsigned>(limit);
  };
  return within(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) && within(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) &&
         within(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) && within(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
         within(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) && within(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) &&
         within(block.x * block.y * block.z, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

/// The driver returns "invalid value" for shapes that the runtime calls an invalid configuration.
cudaError_t launch_error(CUresult result, dim3 grid, dim3 block) {
  if (result == CUDA_ERROR_INVALID_VALUE && !shape_fits(grid, block)) return cudaErrorInvalidConfiguration;
  return to_error(result);
}

} // namespace

CUDART unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pushed().push_back({grid, block, shared, stream});
  return 0;
}

CUDART cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (pushed().empty()) return record(cudaErrorMissingConfiguration);
  const Configuration top = pushed().back();
  pushed().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

CUDART cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                    cudaStream_t stream) {
  return call_with_function(kernel, [&](CUfunction function) {
    const CUresult result = cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                           static_cast<unsigned>(shared), stream, arguments, nullptr);
    return launch_error(result, grid, block);
  });
}

/// The compiled form of `kernel<<<grid, block>>>(...)` since CUDA 12.
CUDART cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                      cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

CUDART cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               size_t shared, cudaStream_t stream) {
  return call_with_function(kernel, [&](CUfunction function) {
    const CUresult result = cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                      static_cast<unsigned>(shared), stream, arguments);
    return launch_error(result, grid, block);
  });
}

CUDART cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* launch, const void* kernel, void** arguments) {
  return call([&]() -> cudaError_t {
    if (!launch) return cudaErrorInvalidValue;
    CUfunction function = nullptr;
    TRY(find_function(kernel, &function));
    const CUlaunchConfig config = driver_config(*launch);
    return launch_error(cuLaunchKernelEx(&config, function, arguments, nullptr), launch->gridDim, launch->blockDim);
  });
}
