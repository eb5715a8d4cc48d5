// What the program of this test takes from its static runtime, and a function of its own whose name looks like one.
#pragma once

#include <cstddef>

extern "C" {
int cudaMalloc(void** address, size_t size);
int cudaFree(void* address);
int cudaMemcpy(void* to, const void* from, size_t size, int kind);
int cudaRuntimeGetVersion(int* version);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
void** __cudaRegisterFatBinary(void* image);
int cudaHelperOfTheProgram();
}
