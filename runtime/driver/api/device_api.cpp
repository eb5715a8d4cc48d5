// SPDX-License-Identifier: Apache-2.0
// The device: count, handle, properties.
#include "runtime/driver/machine/device_attributes.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <algorithm>
#include <cstring>

namespace warplens::runtime {
void* find_entry_point(const char* name, int version, bool per_thread, bool& too_new);
int unsupported_entry_point(const char* name) { return unsupported(name); }
} // namespace warplens::runtime

using namespace warplens::runtime;

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  return serve([&](Machine&) {
    require(count != nullptr);
    *count = 1;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return serve([&](Machine&) {
    require(device != nullptr);
    require_device(ordinal);
    *device = ordinal;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return serve([&](Machine& machine) {
    require(name != nullptr && length > 0);
    require_device(device);
    const std::size_t copied = machine.device().name.copy(name, static_cast<std::size_t>(length) - 1);
    name[copied] = '\0';
  });
}

// The same for every process: derived from the device's name.
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return serve([&](Machine& machine) {
    require(uuid != nullptr);
    require_device(device);
    std::memset(uuid, 0, sizeof *uuid);
    std::memcpy(uuid->bytes, "Warplens", 8);
    machine.device().id.copy(uuid->bytes + 8, 8);
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return serve([&](Machine& machine) {
    require(bytes != nullptr);
    require_device(device);
    *bytes = machine.total_memory();
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return serve([&](Machine& machine) {
    require(value != nullptr);
    require_device(device);
    const std::optional<int> found = attribute(machine.device(), which);
    require(found.has_value());
    *value = *found;
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return serve([&](Machine& machine) {
    require(properties != nullptr);
    require_device(device);
    const auto get = [&](CUdevice_attribute which) { return attribute(machine.device(), which).value_or(0); };
    *properties = {get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                   {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                    get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
                   {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                    get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
                   get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                   get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
                   get(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                   get(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
                   get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
                   get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                   get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
  });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* texels, CUarray_format, unsigned int, CUdevice device) {
  return serve([&](Machine& machine) {
    require(texels != nullptr);
    require_device(device);
    *texels = static_cast<size_t>(
        attribute(machine.device(), CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH).value_or(0));
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return serve([&](Machine&) {
    require(supported != nullptr);
    require_device(device);
    *supported = 0;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return serve([&](Machine& machine) {
    require(major != nullptr && minor != nullptr);
    require_device(device);
    *major = machine.device().capability.major;
    *minor = machine.device().capability.minor;
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return serve([&](Machine&) {
    constexpr char kAddress[] = "0000:01:00.0";
    require(id != nullptr && length >= static_cast<int>(sizeof kAddress));
    require_device(device);
    std::memcpy(id, kAddress, sizeof kAddress);
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return serve([&](Machine&) {
    require(device != nullptr && id != nullptr);
    // The PCI domain and function can be omitted.
    const std::string text(id);
    require(text.find("01:00") != std::string::npos, CUDA_ERROR_INVALID_DEVICE);
    *device = kDevice;
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return serve([&](Machine&) {
    require(can != nullptr);
    require_device(device);
    require_device(peer);
    *can = 0; // a device is not a peer of itself
  });
}

CUresult cuDeviceGetP2PAttribute(int*, CUdevice_P2PAttribute, CUdevice device, CUdevice peer) {
  return serve([&](Machine&) {
    require_device(device);
    require_device(peer);
    return CUDA_ERROR_INVALID_DEVICE; // the two must differ
  });
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* result) {
  return serve([&] {
    require(name != nullptr && function != nullptr);
    bool too_new = false;
    *function = find_entry_point(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0, too_new);
    const auto answer = *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                        : too_new            ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (result != nullptr) *result = answer;
    require(*function != nullptr || result != nullptr, CUDA_ERROR_NOT_FOUND);
  });
}

CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

} // extern "C"
