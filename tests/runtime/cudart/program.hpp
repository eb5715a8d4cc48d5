// SPDX-License-Identifier: Apache-2.0
// A hand-written equivalent of a program built by nvcc: the fat binary of kernels.cu, registered before the test as in
// nvcc's host code, and host stub functions for its kernels.
//
//     Program program;
//     cudaLaunchKernel(reinterpret_cast<const void*>(&reverse), {1}, {64}, arguments, 256, nullptr);
#pragma once

#include "runtime/abi/runtime_api.hpp"

#include <fstream>
#include <iterator>
#include <vector>

// Host stubs: never called; their addresses identify the kernels.
inline void multiply() {}
inline void add_managed() {}
inline void store() {}
inline void wait_for() {}
inline void reverse() {}
inline void grid_sum() {}
inline void fetch() {}
inline void write_surface() {}
inline void not_in_the_binary() {}
// The host shadow variables.
inline int scale, counter;
inline int* managed;

template <class Function> const void* name_of(Function* function) { return reinterpret_cast<const void*>(function); }

/// The wrapper that nvcc puts around a fat binary.
struct Wrapper {
  unsigned magic = 0x466243b1, version = 1;
  const void* data;
  const void* more = nullptr;
};

inline std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Program {
public:
  Program() : Program(read_file(WARPLENS_SOURCE_DIR "/tests/runtime/cudart/kernels.fatbin")) {}
  explicit Program(std::vector<char> binary) : binary_(std::move(binary)), wrapper_{.data = binary_.data()} {
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    kernel(&multiply, "multiply");
    kernel(&add_managed, "add_managed");
    kernel(&store, "store");
    kernel(&wait_for, "wait_for");
    kernel(&reverse, "reverse");
    kernel(&grid_sum, "grid_sum");
    kernel(&fetch, "fetch");
    kernel(&write_surface, "write_surface");
    kernel(&not_in_the_binary, "not_in_the_binary");
    __cudaRegisterVar(handle_, reinterpret_cast<char*>(&scale), nullptr, "scale", 0, sizeof scale, 1, 0);
    __cudaRegisterVar(handle_, reinterpret_cast<char*>(&counter), nullptr, "counter", 0, sizeof counter, 0, 0);
    __cudaRegisterManagedVar(handle_, reinterpret_cast<void**>(&managed), nullptr, "managed", 0, sizeof *managed, 0, 0);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  ~Program() { __cudaUnregisterFatBinary(handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] void** handle() const { return handle_; }

private:
  void kernel(void (*host)(), const char* name) {
    __cudaRegisterFunction(handle_, reinterpret_cast<const char*>(host), nullptr, name, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
  }
  std::vector<char> binary_;
  Wrapper wrapper_;
  void** handle_;
};

/// Launches as `kernel<<<grid, block, shared, stream>>>(arguments...)` compiles.
template <class... Argument>
cudaError_t launch(void (*kernel)(), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream,
                   Argument... argument) {
  __cudaPushCallConfiguration(grid, block, shared, stream);
  cudaKernel_t handle = nullptr;
  if (const cudaError_t error = __cudaGetKernel(&handle, name_of(kernel)); error != cudaSuccess) return error;
  if (const cudaError_t error = __cudaPopCallConfiguration(&grid, &block, &shared, &stream); error != cudaSuccess)
    return error;
  void* arguments[] = {&argument..., nullptr};
  return __cudaLaunchKernel(handle, grid, block, arguments, shared, stream);
}

/// Device memory with the elements of a vector.
template <class T> class Buffer {
public:
  explicit Buffer(const std::vector<T>& values) : size_(values.size()) {
    cudaMalloc(reinterpret_cast<void**>(&pointer_), size_ * sizeof(T));
    cudaMemcpy(pointer_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  ~Buffer() { cudaFree(pointer_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] T* get() const { return pointer_; }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(size_);
    cudaMemcpy(values.data(), pointer_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }

private:
  T* pointer_ = nullptr;
  std::size_t size_;
};
