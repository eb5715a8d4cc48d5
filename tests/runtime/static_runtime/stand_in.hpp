// SPDX-License-Identifier: Apache-2.0
// The functions that the test program uses from its static runtime, and one of its own with a similar name.
#pragma once

#include <cstddef>

extern "C" {
int cudaMalloc(void** address, size_t size);
int cudaFree(void* address);
int cudaMemcpy(void* to, const void* from, size_t size, int kind);
int cudaRuntimeGetVersion(int* version);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
void** __cudaRegisterFatBinary(void* image);
const char* cudaGetErrorName(int error);
int cudaHelperOfTheProgram();
}
