// SPDX-License-Identifier: Apache-2.0
// Attributes of pointers, and hints for managed memory.
#include "runtime/driver/api/default_stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

using namespace warplens::runtime;
using Kind = Allocation::Kind;

namespace {

bool is_host(Kind kind) { return kind == Kind::host || kind == Kind::registered; }

template <class Value> void put(void* data, Value value) { std::memcpy(data, &value, sizeof(Value)); }
template <class Named> void put(void* data, Named* handle) { put(data, reinterpret_cast<std::uintptr_t>(handle)); }

/// False: the memory has no such attribute. `found` is empty for memory that is unknown to CUDA: most of its attributes
/// are zeros.
bool answer(CUpointer_attribute attribute, const std::optional<Allocation>& found, CUdeviceptr pointer, void* data) {
  const Allocation a = found.value_or(Allocation{});
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: {
    const auto context = Machine::instance().contexts.find(static_cast<CUcontext>(const_cast<void*>(a.owner)));
    put(data, Registry<Context, CUcontext>::handle(context.get()));
    return true;
  }
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    put(data, !found ? 0u : static_cast<unsigned>(is_host(a.kind) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    return found.has_value();
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: put(data, found ? pointer : CUdeviceptr{0}); return found.has_value();
  case CU_POINTER_ATTRIBUTE_HOST_POINTER: {
    const bool has = found && (is_host(a.kind) || a.kind == Kind::managed);
    put(data, has ? pointer : CUdeviceptr{0});
    return has;
  }
  case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: put(data, 0u); return true;
  case CU_POINTER_ATTRIBUTE_BUFFER_ID: put(data, static_cast<unsigned long long>(a.id)); return found.has_value();
  case CU_POINTER_ATTRIBUTE_IS_MANAGED: put(data, a.kind == Kind::managed && found ? 1u : 0u); return true;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put(data, found ? kDevice : CU_DEVICE_INVALID); return true;
  case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    put(data, a.kind == Kind::device && found ? 1u : 0u);
    return true;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: put(data, CUdeviceptr{a.begin}); return found.has_value();
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE: put(data, std::size_t{a.size}); return found.has_value();
  case CU_POINTER_ATTRIBUTE_MAPPED: put(data, found ? 1u : 0u); return true;
  case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: put(data, 0ull); return true;
  case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: put(data, 0u); return true;
  case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    put(data, unsigned{CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE});
    return found.has_value();
  case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    put(data, a.kind == Kind::pool ? a.owner : nullptr);
    return found.has_value();
  default: throw Failure{CUDA_ERROR_INVALID_VALUE, {}};
  }
}

void require_managed(CUdeviceptr address, std::size_t bytes) {
  const std::optional<Allocation> found = Machine::instance().memory().find(address);
  require(bytes != 0 && found && found->kind == Kind::managed && Machine::instance().memory().covers(address, bytes));
}

void range_attribute(void* data, std::size_t size, CUmem_range_attribute attribute) {
  require(data != nullptr);
  switch (attribute) {
  case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: require(size == 4); return put(data, 0);
  case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
  case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: require(size == 4); return put(data, CU_DEVICE_INVALID);
  case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
    require(size % 4 == 0);
    std::fill_n(static_cast<int*>(data), size / 4, CU_DEVICE_INVALID);
    return;
  default: throw Failure{unsupported("this attribute of cuMemRangeGetAttribute"), {}};
  }
}

} // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return serve([&](Machine&) {
    require(data != nullptr && pointer != 0);
    const std::optional<Allocation> found = Machine::instance().memory().find(pointer);
    require(found.has_value() && answer(attribute, found, pointer, data));
  });
}

// Memory that is unknown to CUDA is no error here.
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr pointer) {
  return serve([&](Machine&) {
    require(count != 0 && attributes != nullptr && data != nullptr);
    const std::optional<Allocation> found = Machine::instance().memory().find(pointer);
    for (unsigned i = 0; i < count; ++i) {
      require(data[i] != nullptr);
      answer(attributes[i], found, pointer, data[i]);
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return serve([&](Machine&) {
    require(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
            Machine::instance().memory().find(pointer).has_value());
  });
}

// Hints for the location of data: there is only one memory.
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise, CUdevice) {
  return serve([&](Context&) { require_managed(address, bytes); });
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise, CUmemLocation) {
  return serve([&](Context&) { require_managed(address, bytes); });
}

CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address,
                                size_t bytes) {
  return serve([&](Context&) {
    require_managed(address, bytes);
    range_attribute(data, size, attribute);
  });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t count,
                                 CUdeviceptr address, size_t bytes) {
  return serve([&](Context&) {
    require(data != nullptr && sizes != nullptr && attributes != nullptr && count != 0);
    require_managed(address, bytes);
    for (std::size_t i = 0; i < count; ++i) range_attribute(data[i], sizes[i], attributes[i]);
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice, CUstream stream) {
  return serve_for(stream, [&](Context& context) {
    require_managed(address, bytes);
    find_stream(context, stream);
  });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned int, CUstream stream) {
  return cuMemPrefetchAsync(address, bytes, kDevice, stream);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync(address, bytes, device, stream);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
                                    CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, location, flags, stream);
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t, unsigned int flags) {
  return serve_for(stream, [&](Context& context) {
    find_stream(context, stream);
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE);
    const std::optional<Allocation> found = Machine::instance().memory().find(address);
    require(found && found->kind == Kind::managed);
  });
}

CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr address, size_t bytes, unsigned int flags) {
  return cuStreamAttachMemAsync(stream, address, bytes, flags);
}

} // extern "C"
