// SPDX-License-Identifier: Apache-2.0
// Memory pools and stream-ordered allocation. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/machine/pool.hpp"

using namespace warplens::runtime;

namespace {

std::shared_ptr<Pool> find(CUmemoryPool handle) {
  std::shared_ptr<Pool> pool = Machine::instance().pools.find(handle);
  require(pool != nullptr);
  return pool;
}

CUresult allocate(CUdeviceptr* address, size_t bytes, CUmemoryPool handle, CUstream stream_handle,
                  const char* function) {
  return serve_for(
      stream_handle,
      [&](Context& context) {
        require(address != nullptr);
        Machine& machine = Machine::instance();
        const std::shared_ptr<Stream> stream = find_stream(context, stream_handle);
        const std::shared_ptr<Pool> pool = handle == nullptr ? machine.current_pool() : find(handle);
        if (!machine.memory().has_room(bytes) && !stream->capture()) stream->synchronize(); // frees may be pending
        *address = pool->allocate(bytes);
        stream->submit(PoolAllocation{*address, bytes, pool});
      },
      function);
}

#ifndef WARPLENS_PER_THREAD_DEFAULT_STREAM
/// Sizes have eight bytes, switches four.
bool is_switch(CUmemPool_attribute attribute) { return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; }

CUresult give_pool(CUmemoryPool* pool, const std::shared_ptr<Pool>& found, CUdevice device) {
  require(pool != nullptr);
  require(device == kDevice, CUDA_ERROR_INVALID_DEVICE);
  *pool = Registry<Pool, CUmemoryPool>::handle(found.get());
  return CUDA_SUCCESS;
}
#endif

} // namespace

extern "C" {

CUresult PTSZ(cuMemAllocAsync)(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return allocate(address, bytes, nullptr, stream, "cuMemAllocAsync");
}

CUresult PTSZ(cuMemAllocFromPoolAsync)(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream stream) {
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return allocate(address, bytes, pool, stream, "cuMemAllocFromPoolAsync");
}

// Also frees memory from cuMemAlloc.
CUresult PTSZ(cuMemFreeAsync)(CUdeviceptr address, CUstream handle) {
  return serve_for(handle, [&](Context& context) {
    const std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (stream->capture()) return stream->submit(PoolFree{address});
    Memory& memory = Machine::instance().memory();
    const bool found = memory.begin_free(address, Allocation::Kind::pool).has_value() ||
                       memory.begin_free(address, Allocation::Kind::device).has_value();
    if (!found) throw Failure{CUDA_ERROR_INVALID_VALUE, {}, wrong_free(address)};
    stream->submit(PoolFree{address});
  });
}

#ifndef WARPLENS_PER_THREAD_DEFAULT_STREAM
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return serve([&](Machine& machine) {
    require(pool != nullptr && properties != nullptr && properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED);
    require(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE && properties->location.id == kDevice);
    require(properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED,
            [] { return "memory pools that are shared between processes are not supported"; });
    *pool = machine.pools.add(std::make_shared<Pool>(*properties));
  });
}

// Memory that is still allocated from the pool remains valid.
CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return serve([&](Machine& machine) {
    const std::shared_ptr<Pool> pool = find(handle);
    require(pool != machine.default_pool());
    if (machine.current_pool() == pool) machine.set_current_pool(machine.default_pool());
    machine.pools.remove(handle);
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return serve([&](Machine& machine) { return give_pool(pool, machine.default_pool(), device); });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return serve([&](Machine& machine) { return give_pool(pool, machine.current_pool(), device); });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return serve([&](Machine& machine) {
    require(device == kDevice, CUDA_ERROR_INVALID_DEVICE);
    machine.set_current_pool(find(pool));
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return serve([&](Machine&) {
    require(value != nullptr);
    const std::shared_ptr<Pool> found = find(pool);
    found->set_attribute(attribute, is_switch(attribute) ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                                         : *static_cast<cuuint64_t*>(value));
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return serve([&](Machine&) {
    require(value != nullptr);
    const std::uint64_t answer = find(pool)->attribute(attribute);
    if (is_switch(attribute))
      *static_cast<int*>(value) = static_cast<int>(answer);
    else
      *static_cast<cuuint64_t*>(value) = answer;
  });
}

// Free memory is released at once, so there is nothing to trim.
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  return serve([&](Machine&) { find(pool); });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  return serve([&](Machine&) {
    find(pool);
    for (std::size_t i = 0; i < count; ++i)
      require(access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE && access[i].location.id == kDevice &&
                  access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
              CUDA_ERROR_INVALID_DEVICE);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return serve([&](Machine&) {
    find(pool);
    require(flags != nullptr && location != nullptr);
    const bool here = location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id == kDevice;
    *flags = here ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  });
}
#endif

} // extern "C"
