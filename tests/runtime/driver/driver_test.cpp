// SPDX-License-Identifier: Apache-2.0
// Tests libcuda.so.1 as programs use it.
#include "tests/runtime/driver/program.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace warplens::runtime {
namespace driver_test {

TEST_F(DriverProgram, RunsAKernel) {
  const CUfunction scale = function("scale");
  std::vector<std::uint32_t> data(1000);
  std::iota(data.begin(), data.end(), 0u);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, 4000), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyHtoD_v2(address, data.data(), 4000), CUDA_SUCCESS);
  std::uint32_t factor = 3, count = 1000;
  void* arguments[] = {&address, &factor, &count};
  ASSERT_EQ(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH_v2(data.data(), address, 4000), CUDA_SUCCESS);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(data[i], 3 * i);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE) << "freed twice";
}

TEST_F(DriverProgram, TakesArgumentsAsABuffer) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, 4 * 32), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32_v2(address, 7, 32), CUDA_SUCCESS);
  struct {
    CUdeviceptr data;
    std::uint32_t factor, count;
  } arguments{address, 5, 32};
  std::size_t size = sizeof arguments;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  ASSERT_EQ(cuLaunchKernel(function("scale"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
  std::uint32_t result[32];
  ASSERT_EQ(cuMemcpyDtoH_v2(result, address, sizeof result), CUDA_SUCCESS);
  EXPECT_EQ(result[0], 35u);
  EXPECT_EQ(result[31], 35u);
  size = 8;
  EXPECT_EQ(cuLaunchKernel(function("scale"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  cuMemFree_v2(address);
}

// Numba calls the functions that have two arguments since CUDA 13 with one, and leaves anything in the second.
TEST_F(DriverProgram, OldCallersOfFunctionsWithANewArgumentMeanTheCurrentContext) {
  static char zeros[4096];
  for (const std::uintptr_t rest : {std::uintptr_t{1}, reinterpret_cast<std::uintptr_t>(zeros), ~std::uintptr_t{0}}) {
    const auto context = reinterpret_cast<CUcontext>(rest);
    CUdevice device = -1;
    EXPECT_EQ(cuCtxGetDevice_v2(&device, context), CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(cuCtxSynchronize_v2(context), CUDA_SUCCESS);
  }
  CUcontext current = nullptr;
  ASSERT_EQ(cuCtxPopCurrent_v2(&current), CUDA_SUCCESS);
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice_v2(&device, reinterpret_cast<CUcontext>(zeros)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(zeros)), CUDA_ERROR_INVALID_CONTEXT);
  ASSERT_EQ(cuCtxPushCurrent_v2(current), CUDA_SUCCESS);
}

TEST_F(DriverProgram, ThePrimaryContextBeginsAnewUnderItsHandle) {
  CUcontext before = nullptr, again = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&before), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 64), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(again, before);
  EXPECT_EQ(cuMemAlloc_v2(&address, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_CONTEXT_IS_DESTROYED) << "it is not revived";
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

TEST_F(DriverProgram, FindsVariables) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module(), "table"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 16u);
  std::uint32_t values[4];
  ASSERT_EQ(cuMemcpyDtoH_v2(values, address, bytes), CUDA_SUCCESS);
  EXPECT_EQ(values[2], 30u);
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module(), "chair"), CUDA_ERROR_NOT_FOUND);
  CUfunction f = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&f, module(), "chair"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(DriverProgram, RefusesBadLaunches) {
  std::uint32_t factor = 1, count = 0;
  CUdeviceptr address = 0;
  void* arguments[] = {&address, &factor, &count};
  const auto launch = [&](unsigned grid, unsigned block, unsigned shared) {
    return cuLaunchKernel(function("scale"), grid, 1, 1, block, 1, 1, shared, nullptr, arguments, nullptr);
  };
  EXPECT_EQ(launch(1, 32, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(0, 32, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 32, (48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(DriverProgram, AFaultStaysInItsContext) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  CUmodule loaded = nullptr;
  ASSERT_EQ(cuModuleLoadData(&loaded, kProgram), CUDA_SUCCESS);
  CUfunction scale = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&scale, loaded, "scale"), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  std::uint32_t factor = 1, count = 32;
  void* arguments[] = {&address, &factor, &count};
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_ERROR_ILLEGAL_ADDRESS) << "every call answers it";
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(&address, 4), CUDA_SUCCESS) << "the primary context is current again, and well";
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
}

TEST_F(DriverProgram, CopiesStayInsideAllocations) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc_v2(&address, 100), CUDA_SUCCESS);
  std::byte bytes[200]{};
  EXPECT_EQ(cuMemcpyHtoD_v2(address, bytes, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(bytes, address + 50, 51), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(address + 50, bytes, 50), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32_v2(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE) << "misaligned";
  EXPECT_EQ(cuMemsetD8_v2(address, 0, 101), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address + 50), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyHtoD_v2(address, bytes, 1), CUDA_ERROR_INVALID_VALUE) << "after it was freed";
}

TEST(Driver, NamesErrors) {
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(Driver, GivesTheAddressesOfItsFunctions) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult result{};
  ASSERT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &result), CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  ASSERT_EQ(
      cuGetProcAddress_v2("cuMemcpyHtoD", &function, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &result),
      CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemcpyHtoD_v2_ptds));
  ASSERT_EQ(cuGetProcAddress_v2("cuCtxCreate", &function, 12000, 0, &result), CUDA_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuCtxCreate_v3)) << "the fourth version is of 12.5";
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernelEx", &function, 11000, 0, &result), CUDA_SUCCESS);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(result, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(cuGetProcAddress_v2("cuMakeCoffee", &function, 13000, 0, &result), CUDA_SUCCESS);
  EXPECT_EQ(result, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuMakeCoffee", &function, 13000, 0), CUDA_ERROR_NOT_FOUND);
}

} // namespace driver_test
} // namespace warplens::runtime
