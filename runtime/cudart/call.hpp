// SPDX-License-Identifier: Apache-2.0
/// @file
/// The wrapper of all entry points: each is a call() whose body calls the driver. call() sets up the context, converts
/// the result of the body to a cudaError_t and stores it as the thread's last error.
///
///     CUDART cudaError_t cudaEventSynchronize(cudaEvent_t event) {
///       return call([&] { return cuEventSynchronize(event); });
///     }
///
/// Bodies with several steps return at the first failure:
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

/// Returns from the function, or from the body of a call(), with the error of `expression` if there is one.
#define TRY(expression)                                                                                                \
  do {                                                                                                                 \
    if (const cudaError_t tried = ::warplens::cudart::to_error(expression); tried != cudaSuccess) return tried;        \
  } while (false)

namespace warplens::cudart {

/// The two numberings have been identical since CUDA 10.1.
inline cudaError_t to_error(CUresult result) { return static_cast<cudaError_t>(result); }
inline cudaError_t to_error(cudaError_t error) { return error; }

/// Stores `error` for cudaGetLastError of this thread, unless it is success or cudaErrorNotReady, and returns it.
cudaError_t record(cudaError_t error);

/// Initializes the driver.
cudaError_t initialize();
/// Initializes the driver. If this thread has no current context, makes the primary context of its device current.
cudaError_t use_context();

/// The current context of this thread, inside a call().
CUcontext current_context();
/// The device that cudaSetDevice chose on this thread, or 0.
int chosen_device();
/// cudaErrorInvalidDevice if there is no such device.
cudaError_t check_device(int device);
/// Makes the primary context of `device` current on this thread.
cudaError_t choose_device(int device);
/// Forgets the primary contexts: every thread retains them again. For cudaDeviceReset.
void forget_contexts();
/// Clears this thread's last error, even a sticky one.
void forget_error();

/// Prints on stderr, once per name, that a function is missing; records and returns cudaErrorNotSupported.
cudaError_t not_supported(const char* name);

/// Runs `body` with a current context. `body` returns a CUresult or a cudaError_t.
template <class Body> cudaError_t call(Body&& body) {
  if (const cudaError_t error = use_context(); error != cudaSuccess) return record(error);
  return record(to_error(std::forward<Body>(body)()));
}

/// The same for functions that need the driver but no context.
template <class Body> cudaError_t call_without_context(Body&& body) {
  if (const cudaError_t error = initialize(); error != cudaSuccess) return record(error);
  return record(to_error(std::forward<Body>(body)()));
}

/// A pointer in the form that the driver's functions take.
inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// The stream of calls that take none: the legacy default stream, or the thread's own default stream in the `_ptds` and
/// `_ptsz` entry points, which programs compiled with --default-stream per-thread call.
CUstream default_stream();

} // namespace warplens::cudart
