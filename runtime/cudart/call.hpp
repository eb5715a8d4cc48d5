/// @file
/// The way into the runtime: every entry point is a call() whose body asks the driver. call() sees to the context,
/// turns what the body answers into a cudaError_t and keeps it as the thread's last error.
///
///     CUDART cudaError_t cudaEventSynchronize(cudaEvent_t event) {
///       return call([&] { return cuEventSynchronize(event); });
///     }
///
/// Bodies of several steps leave at the first failure:
///
///     return call([&]() -> cudaError_t {
///       TRY(cuArray3DGetDescriptor_v2(&descriptor, array));
///       ...
///     });
#pragma once

#include "runtime/abi/runtime_api.hpp"

#include <utility>

/// An entry point of the library.
#define CUDART extern "C" __attribute__((visibility("default")))

/// Leaves the function, or the body of a call(), with the error of `expression` if it has one.
#define TRY(expression)                                                                                                \
  do {                                                                                                                 \
    if (const cudaError_t tried = ::warplens::cudart::to_error(expression); tried != cudaSuccess) return tried;        \
  } while (false)

namespace warplens::cudart {

/// The two numberings agree since CUDA 10.1.
inline cudaError_t to_error(CUresult result) { return static_cast<cudaError_t>(result); }
inline cudaError_t to_error(cudaError_t error) { return error; }

/// Keeps `error` for cudaGetLastError of this thread, unless it is success or cudaErrorNotReady; answers it.
cudaError_t record(cudaError_t error);

/// Initialises the driver.
cudaError_t initialize();
/// Initialises the driver and, where this thread has no current context, makes the primary context of its device
/// current.
cudaError_t use_context();

/// The context that is current on this thread, inside a call().
CUcontext current_context();
/// The device that cudaSetDevice chose on this thread, or 0.
int chosen_device();
/// Makes the primary context of `device` current on this thread.
cudaError_t choose_device(int device);
/// Forgets the primary contexts: every thread takes them anew. For cudaDeviceReset.
void forget_contexts();
/// Forgets this thread's last error, a sticky one too.
void forget_error();

/// Says on stderr, once per name, that a function is missing; records and answers cudaErrorNotSupported.
cudaError_t not_supported(const char* name);

/// Runs `body` with a current context. `body` answers a CUresult or a cudaError_t.
template <class Body> cudaError_t call(Body&& body) {
  if (const cudaError_t error = use_context(); error != cudaSuccess) return record(error);
  return record(to_error(std::forward<Body>(body)()));
}

/// The same for what needs the driver but no context.
template <class Body> cudaError_t call_without_context(Body&& body) {
  if (const cudaError_t error = initialize(); error != cudaSuccess) return record(error);
  return record(to_error(std::forward<Body>(body)()));
}

/// A pointer as the driver's functions take it.
inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// The stream that a call without one works in: the legacy default stream, or in the `_ptds` and `_ptsz` entry
/// points, which a program compiled with --default-stream per-thread calls, the thread's own.
CUstream default_stream();

} // namespace warplens::cudart
