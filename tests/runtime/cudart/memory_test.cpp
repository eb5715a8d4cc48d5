// SPDX-License-Identifier: Apache-2.0
// Allocation, copies and fills of every kind.
#include "tests/runtime/cudart/program.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace memory_test {

constexpr cudaMemcpyKind kToDevice = cudaMemcpyHostToDevice, kToHost = cudaMemcpyDeviceToHost;

std::vector<char> bytes(std::size_t count) {
  std::vector<char> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(CudartMemory, CopiesThereAndBack) {
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 100), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 100), cudaSuccess);
  const std::vector<char> in = bytes(100);
  std::vector<char> out(100);
  EXPECT_EQ(cudaMemcpy(first, in.data(), 100, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(second, first, 100, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(out.data(), second, 100, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out, in);
  out.assign(100, 0);
  EXPECT_EQ(cudaMemcpy(out.data(), first, 100, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(out, in);
  out.assign(100, 0);
  EXPECT_EQ(cudaMemcpy(out.data(), in.data(), 100, cudaMemcpyHostToHost), cudaSuccess);
  EXPECT_EQ(out, in);
  out.assign(100, 0);
  EXPECT_EQ(cudaMemcpyAsync(out.data(), first, 100, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(out, in);
  EXPECT_EQ(cudaMemcpyPeer(second, 0, first, 0, 100), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(second, 9, first, 0, 100), cudaErrorInvalidDevice);
  cudaGetLastError();
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
}

TEST(CudartMemory, WrongCopiesAreErrors) {
  char host[16] = {};
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host, 16, static_cast<cudaMemcpyKind>(9)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(device, host, 4096, kToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host, 16, kToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, kToDevice), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue) << "freed twice";
  EXPECT_EQ(cudaFree(host), cudaErrorInvalidValue) << "never allocated";
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(CudartMemory, NothingAndTooMuch) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMalloc(&pointer, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(nullptr, 16), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&pointer, 0, 1), cudaErrorInvalidValue);
  cudaGetLastError();
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_GT(free, 0u);
  EXPECT_LE(free, total);
}

TEST(CudartMemory, RowsWithPitch) {
  void* device = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 10, 4), cudaSuccess);
  EXPECT_GE(pitch, 10u);
  const std::vector<char> in = bytes(40);
  std::vector<char> out(40);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, in.data(), 10, 10, 4, kToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(static_cast<char*>(device) + 2, pitch, 0x55, 3, 2), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2DAsync(out.data(), 10, device, pitch, 10, 4, kToHost, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<char> expected = in;
  for (const std::size_t at : {2u, 3u, 4u, 12u, 13u, 14u}) expected[at] = 0x55;
  EXPECT_EQ(out, expected);
  EXPECT_EQ(cudaMemcpy2D(device, 4, in.data(), 10, 10, 4, kToDevice), cudaErrorInvalidPitchValue);
  cudaGetLastError();
  cudaFree(device);
}

TEST(CudartMemory, BoxesAndTheirFills) {
  cudaPitchedPtr device{};
  ASSERT_EQ(cudaMalloc3D(&device, {6, 5, 4}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(device, 0x11, {6, 5, 4}), cudaSuccess);
  EXPECT_EQ(cudaMemset3D(device, 0x22, {2, 2, 3}), cudaSuccess); // a corner: rows and slices are left out
  std::vector<char> out(6 * 5 * 4);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = device;
  copy.dstPtr = {out.data(), 6, 6, 5};
  copy.extent = {6, 5, 4};
  copy.kind = kToHost;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  for (std::size_t z = 0; z < 4; ++z)
    for (std::size_t y = 0; y < 5; ++y)
      for (std::size_t x = 0; x < 6; ++x)
        EXPECT_EQ(out[(z * 5 + y) * 6 + x], x < 2 && y < 2 && z < 3 ? 0x22 : 0x11) << x << ' ' << y << ' ' << z;
  copy.srcPtr.ptr = nullptr;
  EXPECT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue) << "no source";
  cudaGetLastError();
  cudaFree(device.ptr);
}

TEST(CudartMemory, FillsAreBytes) {
  const Buffer<int> data({1, 2, 3, 4});
  EXPECT_EQ(cudaMemset(data.get() + 1, 0x101, 8), cudaSuccess); // the low byte of the value
  EXPECT_EQ(data.read(), (std::vector<int>{1, 0x01010101, 0x01010101, 4}));
  EXPECT_EQ(cudaMemsetAsync(data.get(), 0, 4, nullptr), cudaSuccess);
  EXPECT_EQ(data.read()[0], 0);
}

TEST(CudartMemory, ManagedAndHostMemoryOfBothSides) {
  const Program program;
  int *managed_memory = nullptr, *pinned = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&managed_memory), 4, 1), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 4, CU_MEMHOSTALLOC_DEVICEMAP), cudaSuccess);
  void* mapped = nullptr;
  ASSERT_EQ(cudaHostGetDevicePointer(&mapped, pinned, 0), cudaSuccess);
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, managed_memory, 41), cudaSuccess);
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, mapped, 42), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*managed_memory, 41);
  EXPECT_EQ(*pinned, 42);
  EXPECT_EQ(cudaFree(managed_memory), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);

  std::vector<int> registered(1024);
  ASSERT_EQ(cudaHostRegister(registered.data(), 4096, CU_MEMHOSTREGISTER_DEVICEMAP), cudaSuccess);
  ASSERT_EQ(cudaHostGetDevicePointer(&mapped, registered.data(), 0), cudaSuccess);
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, mapped, 43), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(registered[0], 43);
  EXPECT_EQ(cudaHostUnregister(registered.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(registered.data()), cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
}

TEST(CudartMemory, WhatIsKnownOfAPointer) {
  void *device = nullptr, *pinned = nullptr, *both = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&both, 16, 1), cudaSuccess);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, device), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, device);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, both), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.hostPointer, both);
  EXPECT_EQ(attributes.devicePointer, both);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess) << "not CUDA's: no error";
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.devicePointer, nullptr);
  cudaFree(device);
  cudaFreeHost(pinned);
  cudaFree(both);
}

TEST(CudartMemory, ArraysAreFilledAndReadByRows) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr, other = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &format, 8, 4, 0), cudaSuccess);
  ASSERT_EQ(cudaMallocArray(&other, &format, 8, 4, 0), cudaSuccess);
  std::vector<short> in(32), out(32);
  std::iota(in.begin(), in.end(), short{1});
  ASSERT_EQ(cudaMemcpy2DToArray(array, 0, 0, in.data(), 16, 16, 4, kToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 16, 4, cudaMemcpyDeviceToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DFromArray(out.data(), 16, other, 0, 0, 16, 4, kToHost), cudaSuccess);
  EXPECT_EQ(out, in);

  // A run of 12 elements from element 6 of row 1: two there, eight in row 2, two in row 3.
  const std::vector<short> run(12, -1);
  ASSERT_EQ(cudaMemcpyToArray(array, 12, 1, run.data(), 24, kToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromArray(out.data(), array, 0, 0, 64, kToHost), cudaSuccess);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i >= 14 && i < 26 ? -1 : in[i]) << i;

  cudaMemcpy3DParms copy{};
  copy.srcArray = array;
  copy.srcPos = {2, 1, 0}; // elements
  copy.dstPtr = {out.data(), 6, 3, 2};
  copy.extent = {3, 2, 1}; // elements
  copy.kind = kToHost;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaSuccess);
  EXPECT_EQ(std::vector<short>(out.begin(), out.begin() + 6), (std::vector<short>{11, 12, 13, -1, -1, -1}));

  cudaChannelFormatDesc description{};
  cudaExtent extent{};
  unsigned flags = 1;
  ASSERT_EQ(cudaArrayGetInfo(&description, &extent, &flags, array), cudaSuccess);
  EXPECT_EQ(std::memcmp(&description, &format, sizeof format), 0);
  EXPECT_EQ(extent.width, 8u);
  EXPECT_EQ(extent.height, 4u);
  EXPECT_EQ(extent.depth, 0u);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(other), cudaSuccess);

  const cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  EXPECT_EQ(cudaMallocArray(&array, &three, 8, 4, 0), cudaErrorInvalidChannelDescriptor);
  cudaGetLastError();
}

TEST(CudartMemory, StreamOrderedAllocation) {
  const Program program;
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 4, nullptr), cudaSuccess);
  ASSERT_EQ(launch(&store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, memory, 5), cudaSuccess);
  int value = 0;
  ASSERT_EQ(cudaMemcpy(&value, memory, 4, kToHost), cudaSuccess);
  EXPECT_EQ(value, 5);
  ASSERT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
}

} // namespace memory_test
