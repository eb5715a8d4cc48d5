// SPDX-License-Identifier: Apache-2.0
// Registration and launches as in nvcc's host code.
#include "tests/runtime/cudart/program.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace launch_test {

std::vector<int> iota(int count) {
  std::vector<int> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(CudartLaunch, KernelRunsAndReadsConstantAndDeviceVariables) {
  const Program program;
  const Buffer<int> in(iota(100)), out(std::vector<int>(100));
  const int five = 5, zero = 0;
  ASSERT_EQ(cudaMemcpyToSymbol(&scale, &five, sizeof five, 0, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyToSymbol(&counter, &zero, sizeof zero, 0, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(launch(&multiply, {2, 1, 1}, {64, 1, 1}, 0, nullptr, in.get(), out.get(), 100), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.read()[99], 99 * 5);
  int launches = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&launches, &counter, sizeof launches, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(launches, 1);
}

TEST(CudartLaunch, InitialValuesOfVariables) {
  const Program program;
  int value = 0;
  ASSERT_EQ(cudaMemcpyFromSymbol(&value, &scale, sizeof value, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 3);
}

TEST(CudartLaunch, SymbolsHaveAddressAndSize) {
  const Program program;
  void* pointer = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&pointer, &counter), cudaSuccess);
  ASSERT_EQ(cudaGetSymbolSize(&size, &counter), cudaSuccess);
  EXPECT_NE(pointer, nullptr);
  EXPECT_EQ(size, sizeof(int));
  EXPECT_EQ(cudaGetSymbolAddress(&pointer, &size), cudaErrorInvalidSymbol);
  int more[2] = {};
  EXPECT_EQ(cudaMemcpyToSymbol(&counter, more, sizeof more, 0, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&counter, more, sizeof(int), 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&counter, more, sizeof(int), 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
}

TEST(CudartLaunch, ManagedVariableIsSharedWithTheHost) {
  const Program program;
  ASSERT_NE(__cudaInitModule(program.handle()), 0);
  ASSERT_NE(managed, nullptr);
  EXPECT_EQ(*managed, 7);
  *managed = 9;
  const Buffer<int> out(iota(4));
  ASSERT_EQ(launch(&add_managed, {1, 1, 1}, {4, 1, 1}, 0, nullptr, out.get()), cudaSuccess);
  EXPECT_EQ(out.read(), (std::vector<int>{9, 10, 11, 12}));
  void* pointer = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&pointer, managed), cudaSuccess); // a program writes the variable, not its shadow
  EXPECT_EQ(pointer, managed);
}

TEST(CudartLaunch, LaunchByHostFunctionByKernelAndByConfiguration) {
  const Program program;
  const Buffer<int> data(iota(8));
  int* pointer = data.get();
  void* arguments[] = {&pointer};
  ASSERT_EQ(cudaLaunchKernel(name_of(&reverse), {1, 1, 1}, {8, 1, 1}, arguments, 32, nullptr), cudaSuccess);
  EXPECT_EQ(data.read()[0], 7);

  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaGetKernel(&kernel, name_of(&reverse)), cudaSuccess);
  ASSERT_EQ(cudaLaunchKernel(kernel, {1, 1, 1}, {8, 1, 1}, arguments, 32, nullptr), cudaSuccess);
  EXPECT_EQ(data.read()[0], 0);

  cudaLaunchConfig_t config{};
  config.gridDim = {1, 1, 1};
  config.blockDim = {8, 1, 1};
  config.dynamicSmemBytes = 32;
  ASSERT_EQ(cudaLaunchKernelExC(&config, name_of(&reverse), arguments), cudaSuccess);
  EXPECT_EQ(data.read()[0], 7);
}

TEST(CudartLaunch, CooperativeLaunchSynchronizesTheGrid) {
  const Program program;
  const Buffer<int> sum({0}), out(std::vector<int>(4 * 32));
  int *sum_pointer = sum.get(), *out_pointer = out.get();
  void* arguments[] = {&sum_pointer, &out_pointer};
  ASSERT_EQ(cudaLaunchCooperativeKernel(name_of(&grid_sum), {4, 1, 1}, {32, 1, 1}, arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out.read(), std::vector<int>(4 * 32, 6));
  EXPECT_EQ(cudaLaunchCooperativeKernel(name_of(&grid_sum), {1 << 20, 1, 1}, {32, 1, 1}, arguments, 0, nullptr),
            cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
}

TEST(CudartLaunch, ImpossibleLaunchesAreErrorsThatStayUntilAsked) {
  const Program program;
  const Buffer<int> data(iota(8));
  const auto reverse_with = [&](dim3 grid, dim3 block, std::size_t shared) {
    return launch(&reverse, grid, block, shared, nullptr, data.get());
  };
  EXPECT_EQ(reverse_with({1, 1, 1}, {2048, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(reverse_with({0, 1, 1}, {8, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(reverse_with({1, 1, 1}, {0, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(reverse_with({1, 1, 1}, {1, 1, 65}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(reverse_with({1, 70000, 1}, {8, 1, 1}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(reverse_with({1, 1, 1}, {8, 1, 1}, 1 << 20), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(data.read(), iota(8)) << "nothing ran";
}

TEST(CudartLaunch, UnknownFunctions) {
  const Program program;
  void* arguments[] = {nullptr};
  EXPECT_EQ(cudaLaunchKernel(&program, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(nullptr, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(&not_in_the_binary, {1, 1, 1}, {1, 1, 1}, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  dim3 grid{}, block{};
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
  cudaGetLastError();
}

TEST(CudartLaunch, ABinaryThatCannotBeLoadedIsAnErrorOfTheLaunch) {
  const Program program({'n', 'o', ' ', 'b', 'i', 'n', 'a', 'r', 'y', '\0'});
  const cudaError_t error = launch(&reverse, {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr);
  EXPECT_TRUE(error == cudaErrorInvalidKernelImage || error == cudaErrorInvalidPtx) << error;
  EXPECT_EQ(cudaGetLastError(), error);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CudartLaunch, AttributesOfKernels) {
  const Program program;
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, name_of(&reverse)), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.sharedSizeBytes, 0u);
  EXPECT_EQ(attributes.ptxVersion, 75);
  EXPECT_GT(attributes.numRegs, 0);
  const int most = attributes.maxDynamicSharedSizeBytes;
  EXPECT_EQ(cudaFuncSetAttribute(name_of(&reverse), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1024),
            cudaSuccess);
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, name_of(&reverse)), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, most + 1024);
  EXPECT_EQ(cudaFuncSetAttribute(name_of(&reverse), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30),
            cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(CudartLaunch, OccupancyFollowsSharedMemory) {
  const Program program;
  int some = 0, fewer = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&some, name_of(&reverse), 256, 0), cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, name_of(&reverse), 256, 40000), cudaSuccess);
  EXPECT_EQ(some, 8);  // 2048 threads of an H200's multiprocessor
  EXPECT_EQ(fewer, 5); // 228 KiB, 40000 + 1024 bytes each
}

TEST(CudartLaunch, ThreadsLaunchAtOnce) {
  const Program program;
  const auto work = [] {
    const Buffer<int> data(iota(8));
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(launch(&reverse, {1, 1, 1}, {8, 1, 1}, 32, nullptr, data.get()), cudaSuccess);
    EXPECT_EQ(data.read(), iota(8));
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

} // namespace launch_test
