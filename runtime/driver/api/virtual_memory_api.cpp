// SPDX-License-Identifier: Apache-2.0
// Virtual memory management.
#include "runtime/driver/machine/virtual_memory.hpp"

#include "runtime/driver/machine/serve.hpp"

using namespace warplens::runtime;

namespace {

Registry<PhysicalMemory, CUmemGenericAllocationHandle>& physical() {
  static auto& registry = *new Registry<PhysicalMemory, CUmemGenericAllocationHandle>;
  return registry;
}

std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle) {
  std::shared_ptr<PhysicalMemory> memory = physical().find(handle);
  require(memory != nullptr);
  return memory;
}

void require_here(const CUmemAllocationProp* properties) {
  require(properties != nullptr && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED);
  require(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id == kDevice);
}

/// Pending work may use the memory.
void wait_for_all() {
  for (const auto& context : Machine::instance().contexts.all()) context->synchronize();
}

} // namespace

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t alignment, CUdeviceptr, unsigned long long) {
  return serve([&](Machine&) {
    require(address != nullptr);
    *address = VirtualMemory::instance().reserve(size, alignment);
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  return serve([&](Machine&) { VirtualMemory::instance().free(address, size); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return serve([&](Machine&) {
    require(handle != nullptr && flags == 0 && size != 0 && size % kGranularity == 0);
    require_here(properties);
    require(properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED,
            [] { return "memory that is shared between processes is not supported"; });
    *handle = physical().add(std::make_shared<PhysicalMemory>(size, *properties));
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return serve([&](Machine&) { require(physical().remove(handle) != nullptr); });
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return serve([&](Machine&) {
    require(flags == 0);
    VirtualMemory::instance().map(address, size, offset, find(handle));
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  return serve([&](Machine&) {
    wait_for_all();
    VirtualMemory::instance().unmap(address, size);
  });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* access, size_t count) {
  return serve([&](Machine&) {
    require(access != nullptr && count == 1);
    require(access->location.type == CU_MEM_LOCATION_TYPE_DEVICE && access->location.id == kDevice);
    VirtualMemory::instance().allow(address, size, access->flags);
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return serve([&](Machine&) {
    require(flags != nullptr && location != nullptr && location->id == kDevice);
    *flags = VirtualMemory::instance().access(address);
  });
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return serve([&](Machine&) {
    require(granularity != nullptr);
    require_here(properties);
    *granularity = kGranularity;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return serve([&](Machine&) {
    require(properties != nullptr);
    *properties = find(handle)->properties();
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return serve([&](Machine&) {
    require(handle != nullptr);
    *handle = physical().add(VirtualMemory::instance().memory_at(reinterpret_cast<std::uint64_t>(address)));
  });
}

} // extern "C"
