/// @file
/// A function that is exported but missing: any call answers cudaErrorNotSupported.
///
///     MISSING(cudaIpcGetMemHandle)
#pragma once

#include "runtime/cudart/call.hpp"

#define MISSING(name)                                                                                                  \
  CUDART cudaError_t name() { return ::warplens::cudart::not_supported(#name); }
