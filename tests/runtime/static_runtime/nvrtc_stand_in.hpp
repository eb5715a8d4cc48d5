// SPDX-License-Identifier: Apache-2.0
// The functions of NVRTC that tests/runtime/static_runtime/nvrtc_program.cpp calls.
#pragma once

#include <cstddef>

extern "C" {
int nvrtcGetPTXSize(void* program, std::size_t* bytes);
int nvrtcGetPTX(void* program, char* text);
int nvrtcGetCUBINSize(void* program, std::size_t* bytes);
int nvrtcGetCUBIN(void* program, char* code);
}
