// SPDX-License-Identifier: Apache-2.0
// The driver API for programs that need no CUDA toolkit: they open libcuda.so.1, whichever is found first.
//
//   Gpu gpu("gemm.ptx");
//   const Pointer a = gpu.copied(numbers);
//   gpu.launch("gemm", {132}, {128}, 0, a, 7u);          // arguments as the kernel declares them
//   const std::vector<float> found = gpu.back<float>(a, count);
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gpu {

using Pointer = std::uint64_t;

struct alignas(64) TensorMap {
  std::uint64_t words[16];
};

enum class Type { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
enum class Interleave { none, of_16, of_32 };
enum class Swizzle { none, of_32, of_64, of_128 };
enum class Fill { zero, nan };

struct Size {
  unsigned x = 1, y = 1, z = 1;
};

/// The driver's function; ends the program if there is none.
inline void* find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\nwithout NVIDIA's driver, use: warplens exec -- PROGRAM FILE.ptx\n", dlerror());
    std::exit(1);
  }
  if (void* const function = dlsym(library, name)) return function;
  std::fprintf(stderr, "no %s in libcuda.so.1\n", name);
  std::exit(1);
}
template <class... Parameters> int call(const char* name, Parameters... parameters) {
  return reinterpret_cast<int (*)(Parameters...)>(find(name))(parameters...);
}
/// Ends the program if the driver fails.
template <class... Parameters> void must(const char* name, Parameters... parameters) {
  const int result = call(name, parameters...);
  if (result == 0) return;
  std::fprintf(stderr, "%s: error %d\n", name, result);
  std::exit(1);
}

/// A tensor of `sizes` elements, innermost first, and its strides in bytes, one less.
struct Tensor {
  Type type;
  Pointer address;
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> steps = {1, 1, 1, 1, 1}; ///< element strides
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  Fill fill = Fill::zero;
  int promotion = 0;
};

inline int encode_tiled(TensorMap* map, const Tensor& t, const std::uint32_t* box) {
  return call("cuTensorMapEncodeTiled", map, static_cast<int>(t.type), static_cast<std::uint32_t>(t.sizes.size()),
              reinterpret_cast<void*>(t.address), t.sizes.data(), t.strides.data(), box, t.steps.data(),
              static_cast<int>(t.interleave), static_cast<int>(t.swizzle), t.promotion, static_cast<int>(t.fill));
}
inline int encode_im2col(TensorMap* map, const Tensor& t, const int* lower, const int* upper, std::uint32_t channels,
                         std::uint32_t pixels) {
  return call("cuTensorMapEncodeIm2col", map, static_cast<int>(t.type), static_cast<std::uint32_t>(t.sizes.size()),
              reinterpret_cast<void*>(t.address), t.sizes.data(), t.strides.data(), lower, upper, channels, pixels,
              t.steps.data(), static_cast<int>(t.interleave), static_cast<int>(t.swizzle), t.promotion,
              static_cast<int>(t.fill));
}
inline TensorMap tiled(const Tensor& tensor, const std::vector<std::uint32_t>& box) {
  TensorMap map{};
  if (const int result = encode_tiled(&map, tensor, box.data()); result != 0) {
    std::fprintf(stderr, "cuTensorMapEncodeTiled: error %d\n", result);
    std::exit(1);
  }
  return map;
}

/// The first device, its primary context, and a module in it.
class Gpu {
public:
  /// `file`: of PTX, the first argument of a program; null if it has none.
  explicit Gpu(const char* file) {
    if (file == nullptr) {
      std::fprintf(stderr, "its argument must be the PTX file of its kernel\n");
      std::exit(2);
    }
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.empty()) {
      std::fprintf(stderr, "cannot read %s\n", file);
      std::exit(1);
    }
    make_context();
    must("cuModuleLoadData", &module_, static_cast<const void*>(text.c_str()));
  }
  static void make_context() {
    int device = 0;
    void* context = nullptr;
    must("cuInit", 0u);
    must("cuDeviceGet", &device, 0);
    must("cuDevicePrimaryCtxRetain", &context, device);
    must("cuCtxSetCurrent", context);
  }

  static Pointer zeros(std::size_t bytes) {
    Pointer p = 0;
    must("cuMemAlloc_v2", &p, bytes);
    must("cuMemsetD8_v2", p, static_cast<unsigned char>(0), bytes);
    return p;
  }
  template <class T> static Pointer copied(const std::vector<T>& data) {
    Pointer p = 0;
    must("cuMemAlloc_v2", &p, data.size() * sizeof(T));
    must("cuMemcpyHtoD_v2", p, static_cast<const void*>(data.data()), data.size() * sizeof(T));
    return p;
  }
  template <class T> static std::vector<T> back(Pointer p, std::size_t count) {
    std::vector<T> data(count);
    must("cuMemcpyDtoH_v2", static_cast<void*>(data.data()), p, count * sizeof(T));
    return data;
  }
  static void release(Pointer p) { must("cuMemFree_v2", p); }

  void* function(const char* name, unsigned shared) {
    void* f = nullptr;
    must("cuModuleGetFunction", &f, module_, name);
    must("cuFuncSetAttribute", f, 8, static_cast<int>(shared)); // the most dynamic shared memory
    return f;
  }
  /// Waits for the kernel, and returns the driver's result. Clusters are as the kernel says (.reqnctapercluster).
  template <class... Arguments>
  int try_launch(const char* name, Size grid, Size block, unsigned shared, const Arguments&... arguments) {
    std::array<void*, sizeof...(Arguments)> list{const_cast<void*>(static_cast<const void*>(&arguments))...};
    void* const f = function(name, shared);
    const int result = call("cuLaunchKernel", f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                            static_cast<void*>(nullptr), list.data(), static_cast<void**>(nullptr));
    return result != 0 ? result : call("cuCtxSynchronize");
  }
  template <class... Arguments>
  void launch(const char* name, Size grid, Size block, unsigned shared, const Arguments&... arguments) {
    const int result = try_launch(name, grid, block, shared, arguments...);
    if (result == 0) return;
    std::fprintf(stderr, "%s: error %d\n", name, result);
    std::exit(1);
  }
  void unload() { must("cuModuleUnload", module_); }

private:
  void* module_ = nullptr;
};

} // namespace gpu
