// SPDX-License-Identifier: Apache-2.0
// The binary interface of the driver API of CUDA 13: types, values and functions with CUDA's names, so that programs
// can be written against them without a CUDA installation.
//
//   #include "runtime/abi/driver.hpp"
//   cuInit(0);  cuMemAlloc_v2(&address, 4096);   // names as libcuda.so.1 exports them
#pragma once

#include "runtime/abi/driver_functions.hpp"
#include "runtime/abi/driver_graphs.hpp"
#include "runtime/abi/driver_structs.hpp"
