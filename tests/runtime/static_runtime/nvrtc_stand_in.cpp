// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVRTC that provides PTX and machine code.
#include "tests/runtime/static_runtime/nvrtc_stand_in.hpp"

#include <cstring>

extern "C" {

int nvrtcGetPTXSize(void*, std::size_t* bytes) { return *bytes = sizeof "PTX", 0; }
int nvrtcGetPTX(void*, char* text) { return std::memcpy(text, "PTX", sizeof "PTX"), 0; }
int nvrtcGetCUBINSize(void*, std::size_t* bytes) { return *bytes = sizeof "machine code", 0; }
int nvrtcGetCUBIN(void*, char* code) { return std::memcpy(code, "machine code", sizeof "machine code"), 0; }
}
