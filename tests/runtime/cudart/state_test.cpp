// SPDX-License-Identifier: Apache-2.0
// Devices, streams and events, and the error of a kernel that failed.
#include "tests/runtime/cudart/program.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <thread>

extern "C" cudaError_t cudaMemcpyAsync_ptsz(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
extern "C" cudaError_t cudaMemcpy_ptds(void*, const void*, size_t, cudaMemcpyKind);
extern "C" cudaError_t cudaStreamQuery_ptsz(cudaStream_t);
extern "C" cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t);
extern "C" cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);

namespace state_test {

TEST(CudartErrors, AFaultStaysUntilTheDeviceIsReset) {
  const Program program;
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, static_cast<int*>(nullptr), 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 16), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress) << "sticky";
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("store"), std::string::npos) << "names the kernel";
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  const Buffer<int> data({1});
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, data.get(), 2), cudaSuccess) << "loaded anew";
  EXPECT_EQ(data.read()[0], 2);
}

TEST(CudartDevice, ThereIsOne) {
  int count = 0, device = -1, value = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), cudaSuccess);
  EXPECT_EQ(value, 32);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice) << "no peer of itself";
  cudaGetLastError();
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, 13000);
}

TEST(CudartDevice, LimitsAreKept) {
  std::size_t value = 0;
  EXPECT_EQ(cudaDeviceSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), cudaSuccess);
  EXPECT_EQ(value, 64u << 20);
  EXPECT_EQ(cudaDeviceGetLimit(&value, CU_LIMIT_MAX), cudaErrorUnsupportedLimit);
  cudaGetLastError();
}

/// A flag of the host's that the kernel waits for.
struct Gate {
  Gate() {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, sizeof(int), 0) != cudaSuccess) throw std::bad_alloc();
    flag = static_cast<int*>(memory);
    *flag = 0;
  }
  ~Gate() { cudaFreeHost(const_cast<int*>(flag)); }
  volatile int* flag = nullptr;
};

TEST(CudartStreams, AreInOrderAndBesideEachOther) {
  const Program program;
  Gate gate;
  const Buffer<int> result({0});
  cudaStream_t busy = nullptr, other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&busy, 1), cudaSuccess); // non-blocking
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, 1), cudaSuccess);
  cudaEvent_t done = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&done, 2), cudaSuccess); // no timing
  EXPECT_EQ(cudaEventQuery(done), cudaSuccess) << "never recorded";
  ASSERT_EQ(launch(&wait_for, {1, 1, 1}, {1, 1, 1}, 0, busy, gate.flag, result.get()), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(done, busy), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(busy), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(done), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "not ready is no error";
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess) << "the other stream is free";
  ASSERT_EQ(cudaStreamWaitEvent(other, done, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  *gate.flag = 1;
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(done), cudaSuccess);
  EXPECT_EQ(result.read()[0], 1);
  EXPECT_EQ(cudaEventDestroy(done), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(busy), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
}

TEST(CudartStreams, PerThreadFormsUseTheThreadsOwn) {
  const Program program;
  Gate gate;
  const Buffer<int> result({0}), data({5});
  volatile int* flag = gate.flag;
  int* pointer = result.get();
  void* arguments[] = {&flag, &pointer};
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(__cudaGetKernel(&kernel, name_of(&wait_for)), cudaSuccess);
  ASSERT_EQ(__cudaLaunchKernel_ptsz(kernel, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), cudaErrorNotReady);
  std::thread([&] {
    EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), cudaSuccess) << "another thread has another stream";
    int value = 0;
    EXPECT_EQ(cudaMemcpy_ptds(&value, data.get(), sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(value, 5);
  }).join();
  *gate.flag = 1;
  int value = 0;
  EXPECT_EQ(cudaMemcpyAsync_ptsz(&value, result.get(), sizeof value, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize_ptsz(nullptr), cudaSuccess);
  EXPECT_EQ(value, 1);
}

TEST(CudartStreams, CallHostFunctionsInOrder) {
  const Program program;
  const Buffer<int> data({0});
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::atomic<int> calls = 0;
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, stream, data.get(), 1), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(
                stream, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &calls),
            cudaSuccess);
  ASSERT_EQ(cudaStreamAddCallback(
                stream,
                [](cudaStream_t, cudaError_t status, void* count) {
                  EXPECT_EQ(status, cudaSuccess);
                  *static_cast<std::atomic<int>*>(count) += 10;
                },
                &calls, 0),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudartEvents, MeasureTime) {
  cudaEvent_t start = nullptr, stop = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&stop), cudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, stop), cudaErrorInvalidResourceHandle) << "never recorded";
  cudaGetLastError();
  ASSERT_EQ(cudaEventRecord(start, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(stop, nullptr), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, stop), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}

TEST(CudartStreams, BadHandlesAreErrors) {
  const auto bad = reinterpret_cast<cudaStream_t>(0x123450);
  EXPECT_EQ(cudaStreamSynchronize(bad), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(reinterpret_cast<cudaEvent_t>(bad), nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
}

} // namespace state_test
