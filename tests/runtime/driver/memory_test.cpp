// SPDX-License-Identifier: Apache-2.0
// All kinds of memory: 2D and 3D copies, managed and registered memory, pools, pointer attributes.
#include "tests/runtime/driver/program.hpp"

#include <chrono>
#include <cstring>
#include <numeric>

namespace warplens::runtime {
namespace memory_test {

using Memory = DriverProgram;

TEST_F(Memory, RowsAtAPitch) {
  CUdeviceptr image = 0;
  std::size_t pitch = 0;
  ASSERT_EQ(cuMemAllocPitch_v2(&image, &pitch, 100, 8, 4), CUDA_SUCCESS);
  EXPECT_EQ(pitch, 512u);
  std::vector<std::uint8_t> host(20 * 4), back(20 * 4);
  std::iota(host.begin(), host.end(), std::uint8_t{1});
  ASSERT_EQ(cuMemsetD2D8_v2(image, pitch, 0xee, 100, 8), CUDA_SUCCESS);
  CUDA_MEMCPY2D in{};
  in.srcMemoryType = CU_MEMORYTYPE_HOST, in.srcHost = host.data(), in.srcPitch = 20;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE, in.dstDevice = image, in.dstPitch = pitch, in.dstXInBytes = 10, in.dstY = 2;
  in.WidthInBytes = 20, in.Height = 4;
  ASSERT_EQ(cuMemcpy2D_v2(&in), CUDA_SUCCESS);
  std::uint8_t row[100];
  ASSERT_EQ(cuMemcpyDtoH_v2(row, image + 3 * pitch, 100), CUDA_SUCCESS);
  EXPECT_EQ(row[9], 0xee);
  EXPECT_EQ(row[10], 21);
  EXPECT_EQ(row[29], 40);
  EXPECT_EQ(row[30], 0xee);
  in.dstY = 5; // one row too many
  EXPECT_EQ(cuMemcpy2D_v2(&in), CUDA_ERROR_INVALID_VALUE);
  in.dstY = 2, in.srcPitch = 19;
  EXPECT_EQ(cuMemcpy2D_v2(&in), CUDA_ERROR_INVALID_VALUE) << "the pitch is smaller than the row";
  cuMemFree_v2(image);
}

TEST_F(Memory, BoxesInThreeDimensions) {
  // 4 x 3 x 2 bytes out of a volume of 8 x 5 x 4.
  std::vector<std::uint8_t> volume(8 * 5 * 4), box(4 * 3 * 2);
  std::iota(volume.begin(), volume.end(), std::uint8_t{0});
  const CUdeviceptr device = allocate(volume.size());
  ASSERT_EQ(cuMemcpyHtoD_v2(device, volume.data(), volume.size()), CUDA_SUCCESS);
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE, p.srcDevice = device, p.srcPitch = 8, p.srcHeight = 5;
  p.srcXInBytes = 2, p.srcY = 1, p.srcZ = 2;
  p.dstMemoryType = CU_MEMORYTYPE_UNIFIED, p.dstDevice = reinterpret_cast<CUdeviceptr>(box.data());
  p.dstPitch = 4, p.dstHeight = 3;
  p.WidthInBytes = 4, p.Height = 3, p.Depth = 2;
  ASSERT_EQ(cuMemcpy3D_v2(&p), CUDA_SUCCESS);
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 4; ++x)
        EXPECT_EQ(box[(z * 3 + y) * 4 + x], volume[((z + 2) * 5 + y + 1) * 8 + x + 2]);
  p.srcZ = 3;
  EXPECT_EQ(cuMemcpy3D_v2(&p), CUDA_ERROR_INVALID_VALUE);
  cuMemFree_v2(device);
}

TEST_F(Memory, KernelsSeeTheHostsMemoryWhereItIsRegistered) {
  std::vector<std::uint32_t> values(32, 2);
  const auto address = reinterpret_cast<CUdeviceptr>(values.data());
  ASSERT_EQ(cuMemHostRegister_v2(values.data(), 128, CU_MEMHOSTREGISTER_DEVICEMAP), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostRegister_v2(&values[3], 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  ASSERT_EQ(launch_scale(address, 21, 32, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(values[31], 42u);
  ASSERT_EQ(cuMemHostUnregister(values.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuMemHostUnregister(values.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  // Now it is an address like any other.
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  CUmodule module = nullptr; // the other one's functions are not for this context
  CUfunction scale = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kProgram), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  std::uint32_t factor = 21, count = 32;
  void* arguments[] = {const_cast<CUdeviceptr*>(&address), &factor, &count};
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
  EXPECT_EQ(values[0], 42u);
}

TEST_F(Memory, ManagedMemoryIsEverybodys) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
  auto* const words = reinterpret_cast<volatile std::uint32_t*>(address);
  words[3] = 5;
  ASSERT_EQ(launch_scale(address, 4, 16, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(words[3], 20u);
  EXPECT_EQ(cuMemAdvise(address, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(address, 65, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAllocManaged(&address, 64, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, PointersTellWhatTheyAre) {
  const CUdeviceptr address = allocate(100);
  unsigned type = 0, managed = 1;
  CUdeviceptr start = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 10), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 10), CUDA_SUCCESS);
  EXPECT_EQ(start, address);
  EXPECT_EQ(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address), CUDA_SUCCESS);
  EXPECT_EQ(managed, 0u);
  int local = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown), CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
  CUdeviceptr pointer = 1;
  void* data[] = {&type, &pointer};
  EXPECT_EQ(cuPointerGetAttributes(2, attributes, data, unknown), CUDA_SUCCESS);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(pointer, 0u);
  std::size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange_v2(&start, &bytes, address + 99), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 100u);
  cuMemFree_v2(address);
}

TEST_F(Memory, PoolsAllocateInStreamOrder) {
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_SUCCESS);
  cuuint64_t before = 0, used = 0; // other tests use the pool, too
  ASSERT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &before), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAllocAsync(&address, 4096, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(address, 3, 4096, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, before + 4096);
  ASSERT_EQ(cuMemFreeAsync(address, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFreeAsync(address, nullptr), CUDA_ERROR_INVALID_VALUE) << "freed twice";
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
  EXPECT_EQ(used, before);
  EXPECT_EQ(cuMemsetD8_v2(address, 0, 1), CUDA_ERROR_INVALID_VALUE) << "gone";
}

TEST_F(Memory, AddressesAndMemoryApart) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t unit = 0;
  ASSERT_EQ(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAddressReserve(&address, 3 * unit, 0, 0, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_EQ(cuMemCreate(&handle, unit, &properties, 0), CUDA_SUCCESS);
  // The same memory twice, one after the other.
  ASSERT_EQ(cuMemMap(address, unit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(address, unit, 0, handle, 0), CUDA_ERROR_INVALID_VALUE) << "mapped already";
  ASSERT_EQ(cuMemMap(address + unit, unit, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32_v2(address, 1, 1), CUDA_ERROR_INVALID_VALUE) << "no access yet";
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  ASSERT_EQ(cuMemSetAccess(address, unit, &access, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuMemSetAccess(address + unit, unit, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuMemSetAccess(address, 3 * unit, &access, 1), CUDA_ERROR_INVALID_VALUE) << "the last third is not mapped";
  ASSERT_EQ(cuMemsetD32_v2(address + unit - 64, 2, 32), CUDA_SUCCESS) << "across both mappings";
  ASSERT_EQ(launch_scale(address + unit - 64, 3, 32, nullptr), CUDA_SUCCESS);
  std::uint32_t first = 0, last = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&first, address, 4), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH_v2(&last, address + 2 * unit - 4, 4), CUDA_SUCCESS);
  EXPECT_EQ(first, 6u) << "seen through the other mapping";
  EXPECT_EQ(last, 6u);
  EXPECT_EQ(cuMemAddressFree(address, 3 * unit), CUDA_ERROR_INVALID_VALUE) << "still mapped";
  EXPECT_EQ(cuMemUnmap(address, 2 * unit), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(&first, address, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(address, 3 * unit), CUDA_SUCCESS);
}

TEST_F(Memory, MoreThanThereIs) {
  std::size_t free = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&address, ~std::size_t{0}), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
  address = allocate(1 << 20);
  std::size_t less = 0;
  ASSERT_EQ(cuMemGetInfo_v2(&less, &total), CUDA_SUCCESS);
  EXPECT_EQ(free - less, std::size_t{1} << 20);
  cuMemFree_v2(address);
}

// To free memory waits for all contexts: not for those that were destroyed.
TEST_F(Memory, FreeingTakesNoLongerAfterManyContexts) {
  const auto seconds = [] {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) cuMemFree_v2(allocate(4));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double before = seconds();
  for (int i = 0; i < 5000; ++i) {
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxDestroy_v2(context), CUDA_ERROR_CONTEXT_IS_DESTROYED); // stays known
  }
  EXPECT_LT(seconds(), 4 * before + 0.01); // 100 times as long where each destroyed context is looked at
}

} // namespace memory_test
} // namespace warplens::runtime
