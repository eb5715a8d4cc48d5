// SPDX-License-Identifier: Apache-2.0
/// @file
/// A function that is exported but not supported: every call returns cudaErrorNotSupported.
///
///     MISSING(cudaIpcGetMemHandle)
#pragma once

#include "runtime/cudart/call.hpp"

#define MISSING(name)                                                                                                  \
  CUDART cudaError_t name() { return ::warplens::cudart::not_supported(#name); }
