// SPDX-License-Identifier: Apache-2.0
// The device and its primary context: selection, queries, limits, reset, versions.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/registration.hpp"
#include "runtime/cudart/version.hpp"

namespace warplens::cudart {

cudaError_t driver_entry_point(const char* symbol, void** function, unsigned cuda_version, unsigned long long flags,
                               CUdriverProcAddressQueryResult* status) {
  return call_without_context([&] {
    if (default_stream() == CU_STREAM_PER_THREAD && flags == CU_GET_PROC_ADDRESS_DEFAULT)
      flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    CUdriverProcAddressQueryResult found{};
    const CUresult result = cuGetProcAddress_v2(symbol, function, static_cast<int>(cuda_version), flags, &found);
    if (status) *status = found;
    // An unknown symbol is a result, not an error (manual, cudaGetDriverEntryPoint).
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : result;
  });
}

cudaError_t check_device(int device) {
  int count = 0;
  TRY(cuDeviceGetCount(&count));
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaSetDevice(int device) {
  return call_without_context([&]() -> cudaError_t {
    TRY(check_device(device));
    return choose_device(device);
  });
}
CUDART cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return call_without_context([&]() -> cudaError_t {
    TRY(check_device(device));
    CUcontext context = nullptr;
    return to_error(cuDevicePrimaryCtxRetain(&context, device));
  });
}
CUDART cudaError_t cudaGetDevice(int* device) {
  return call_without_context([&]() -> cudaError_t {
    if (!device) return cudaErrorInvalidValue;
    CUcontext context = nullptr;
    TRY(cuCtxGetCurrent(&context));
    *device = chosen_device();
    return context ? to_error(cuCtxGetDevice(device)) : cudaSuccess;
  });
}
CUDART cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call_without_context([&]() -> cudaError_t {
    for (int i = 0; i < count; ++i) TRY(check_device(devices[i]));
    return cudaSuccess;
  });
}
/// Every device is the emulated one.
CUDART cudaError_t cudaChooseDevice(int* device, const void*) {
  *device = 0;
  return cudaSuccess;
}
CUDART cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call_without_context([&] { return cuDevicePrimaryCtxSetFlags_v2(chosen_device(), flags); });
}
CUDART cudaError_t cudaDeviceReset() {
  const cudaError_t error = call_without_context([]() -> cudaError_t {
    unload_all();
    TRY(cuDevicePrimaryCtxReset_v2(chosen_device()));
    forget_contexts();
    return cudaSuccess;
  });
  if (error == cudaSuccess) forget_error();
  return error;
}

CUDART cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* description,
                                                        int device) {
  return call_without_context([&]() -> cudaError_t {
    if (!description) return cudaErrorInvalidValue;
    CUarray_format format{};
    unsigned channels = 0;
    TRY(driver_format(*description, &format, &channels));
    return to_error(cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device));
  });
}

CUDART cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return cudaSuccess;
}
CUDART cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }

/// There is only one device, and a device is not a peer of itself.
CUDART cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return call([&]() -> cudaError_t {
    TRY(check_device(peer));
    return cudaErrorInvalidDevice;
  });
}
CUDART cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&]() -> cudaError_t {
    TRY(check_device(peer));
    return cudaErrorPeerAccessNotEnabled;
  });
}

CUDART cudaError_t cudaRuntimeGetVersion(int* number) {
  if (!number) return record(cudaErrorInvalidValue);
  *number = version.number;
  return cudaSuccess;
}

// The absence of a profiler is not an error of the program.
CUDART cudaError_t cudaProfilerStart() { return cudaSuccess; }
CUDART cudaError_t cudaProfilerStop() { return cudaSuccess; }
