// SPDX-License-Identifier: Apache-2.0
// The error state: each thread keeps its last error until it is queried; the fault of a kernel is permanent.
#include "runtime/cudart/call.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

namespace warplens::cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct Error {
  cudaError_t number;
  const char *name, *text;
};
const Error kErrors[] = {
#define ERROR(name, number, text) {name, #name, text},
#include "runtime/abi/runtime_errors.def"
#undef ERROR
};

const Error* find(cudaError_t number) {
  for (const Error& error : kErrors)
    if (error.number == number) return &error;
  return nullptr;
}

/// After these "the process must be terminated" (manual, cudaError_t): cudaGetLastError does not clear them.
bool sticky(cudaError_t error) {
  switch (error) {
  case cudaErrorECCUncorrectable:
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchTimeout:
  case cudaErrorAssert:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorLaunchFailure: return true;
  default: return false;
  }
}

} // namespace

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

void forget_error() { last_error = cudaSuccess; }

cudaError_t not_supported(const char* name) {
  static std::mutex mutex;
  static std::set<std::string>& told = *new std::set<std::string>; // handlers at exit may still use it
  const std::lock_guard lock(mutex);
  if (told.insert(name).second) std::fprintf(stderr, "warplens: %s is not supported\n", name);
  return record(cudaErrorNotSupported);
}

} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaGetLastError() {
  return sticky(last_error) ? last_error : std::exchange(last_error, cudaSuccess);
}
CUDART cudaError_t cudaPeekAtLastError() { return last_error; }

CUDART const char* cudaGetErrorName(cudaError_t error) {
  const Error* known = find(error);
  return known ? known->name : "unrecognized error code";
}
CUDART const char* cudaGetErrorString(cudaError_t error) {
  const Error* known = find(error);
  return known ? known->text : "unrecognized error code";
}
