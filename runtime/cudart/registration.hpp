// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program compiled by nvcc registers with the runtime before main(): its fat binaries, and the host addresses
/// that represent their kernels and variables. A binary is loaded when one of its kernels or variables is first used.
///
///     CUfunction function;
///     TRY(find_function(host_function, &function));   // loads, in the current context
#pragma once

#include "runtime/cudart/call.hpp"

#include <cstddef>

namespace warplens::cudart {

/// The driver's function for `handle`: the address of a kernel's host function, a result of __cudaGetKernel, or a
/// cudaKernel_t. cudaErrorInvalidDeviceFunction if it is none of these, or the error of loading its binary.
cudaError_t find_function(const void* handle, CUfunction* function);
cudaError_t find_kernel(const void* handle, CUkernel* kernel);

/// Runs `body` with the driver's function for `kernel`.
template <class Body> cudaError_t call_with_function(const void* kernel, Body&& body) {
  return call([&]() -> cudaError_t {
    CUfunction function = nullptr;
    TRY(find_function(kernel, &function));
    return to_error(body(function));
  });
}

/// The host address that represents a kernel given by function or kernel handle, or else the kernel's handle, which the
/// runtime also accepts.
void* host_function_of(CUfunction function, CUkernel kernel);

/// Address and size in bytes of the variable that `symbol` represents; cudaErrorInvalidSymbol if there is none.
cudaError_t find_variable(const void* symbol, CUdeviceptr* pointer, std::size_t* size);

/// The bytes [offset, offset + size) of that variable; cudaErrorInvalidValue if they exceed it.
cudaError_t find_part(const void* symbol, std::size_t offset, std::size_t size, void** pointer);

/// Unloads every binary, so that the next use loads it again. For cudaDeviceReset.
void unload_all();

} // namespace warplens::cudart
