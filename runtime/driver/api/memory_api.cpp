// SPDX-License-Identifier: Apache-2.0
// Memory: allocation, deallocation, queries. Copies and fills are in copy_api.cpp, pools in pool_api.cpp, pointer
// queries in pointer_api.cpp.
#include "runtime/driver/graph/capture.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>

using namespace warplens::runtime;
using Kind = Allocation::Kind;

namespace {

Memory& memory() { return Machine::instance().memory(); }

/// The allocation that begins at the address. Throws Failure CUDA_ERROR_INVALID_VALUE.
Allocation at(std::uint64_t address, std::initializer_list<Kind> kinds) {
  const std::optional<Allocation> found = memory().find(address);
  const bool fits = found && found->begin == address &&
                    std::find(kinds.begin(), kinds.end(), found->kind) != kinds.end() && !found->dying;
  if (!fits) throw Failure{CUDA_ERROR_INVALID_VALUE, {}, wrong_free(address)};
  return *found;
}

// Waits for pending work that may use the memory, as CUDA does.
void free_when_idle(const Allocation& allocation) {
  if (Context* const owner = context_of(Address{allocation.begin}))
    owner->synchronize();
  else
    for (const auto& context : Machine::instance().contexts.all()) context->synchronize();
  require(memory().free(allocation.begin, allocation.kind));
}

} // namespace

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return serve([&](Context&) {
    require(free != nullptr && total != nullptr);
    *total = memory().limit();
    *free = memory().limit() - memory().used();
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return serve([&](Context& context) {
    require(address != nullptr);
    refuse_unsafe_call();
    *address = memory().allocate(bytes, Kind::device, &context);
  });
}

// Rows begin at multiples of 512 bytes, which satisfies every access and texture.
CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t rows, unsigned int element) {
  return serve([&](Context& context) {
    constexpr size_t kUnit = 512;
    require(address != nullptr && pitch != nullptr && width != 0 && rows != 0);
    require(element == 4 || element == 8 || element == 16);
    require(width <= memory().limit(), CUDA_ERROR_OUT_OF_MEMORY);
    const size_t padded = (width + kUnit - 1) / kUnit * kUnit;
    require(rows <= memory().limit() / padded, CUDA_ERROR_OUT_OF_MEMORY);
    *address = memory().allocate(padded * rows, Kind::device, &context);
    *pitch = padded;
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned int flags) {
  return serve([&](Context& context) {
    require(address != nullptr && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
    *address = memory().allocate(bytes, Kind::managed, &context, flags);
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return serve_for(Address{address}, [&] {
    if (address != 0) free_when_idle(at(address, {Kind::device, Kind::managed, Kind::pool}));
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  return serve([&](Context&) {
    const std::optional<Allocation> found = memory().find(address);
    require(found && found->kind != Kind::virtual_range, CUDA_ERROR_NOT_FOUND);
    if (base != nullptr) *base = found->begin;
    if (bytes != nullptr) *bytes = found->size;
  });
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return serve([&](Context& context) {
    constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    require(pointer != nullptr && (flags & ~kKnown) == 0);
    *pointer = reinterpret_cast<void*>(memory().allocate(bytes, Kind::host, &context, flags));
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

CUresult cuMemFreeHost(void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  return serve_for(Address{address}, [&] {
    if (address != 0) free_when_idle(at(address, {Kind::host}));
  });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  return serve([&](Context& context) {
    require(pointer != nullptr && bytes != 0 && (flags & ~0xfu) == 0);
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    require(address + bytes > address);
    require(!memory().overlaps(address, bytes), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    memory().add({Kind::registered, address, bytes, 0, flags, &context, nullptr});
  });
}

CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  return serve_for(Address{address}, [&] {
    const std::optional<Allocation> found = memory().find(address);
    require(found && found->begin == address && found->kind == Kind::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    free_when_idle(*found);
  });
}

// Host and device use the same addresses.
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned int flags) {
  return serve([&](Context&) {
    require(address != nullptr && flags == 0);
    const std::optional<Allocation> found = memory().find(reinterpret_cast<std::uint64_t>(pointer));
    require(found && (found->kind == Kind::host || found->kind == Kind::registered || found->kind == Kind::managed));
    *address = reinterpret_cast<std::uint64_t>(pointer);
  });
}

CUresult cuMemHostGetFlags(unsigned int* flags, void* pointer) {
  return serve([&](Context&) {
    require(flags != nullptr);
    const std::optional<Allocation> found = memory().find(reinterpret_cast<std::uint64_t>(pointer));
    require(found && found->kind == Kind::host);
    *flags = found->flags | CU_MEMHOSTALLOC_DEVICEMAP; // always set with unified addressing
  });
}

} // extern "C"
