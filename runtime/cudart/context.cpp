// SPDX-License-Identifier: Apache-2.0
// The context that a thread uses: the driver's current context, or else the primary context of its device.
#include "runtime/cudart/call.hpp"

#include <atomic>

namespace warplens::cudart {
namespace {

/// Counts the resets: a thread whose context is from an older generation retains the primary context again.
std::atomic<unsigned> generation{1};

struct Thread {
  int device = 0;
  unsigned bound = 0; ///< the generation in which we made a primary context current; 0: never
};
thread_local Thread thread;

} // namespace

cudaError_t initialize() {
  static const CUresult result = cuInit(0);
  return to_error(result);
}

int chosen_device() { return thread.device; }

cudaError_t choose_device(int device) {
  CUcontext context = nullptr;
  TRY(cuDevicePrimaryCtxRetain(&context, device));
  TRY(cuCtxSetCurrent(context));
  thread = {device, generation};
  return cudaSuccess;
}

cudaError_t use_context() {
  TRY(initialize());
  CUcontext context = nullptr;
  TRY(cuCtxGetCurrent(&context));
  const bool stale = thread.bound != 0 && thread.bound != generation;
  return context && !stale ? cudaSuccess : choose_device(thread.device);
}

CUcontext current_context() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  return context;
}

void forget_contexts() { ++generation; }

} // namespace warplens::cudart
