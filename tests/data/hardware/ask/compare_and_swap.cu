// SPDX-License-Identifier: Apache-2.0
// How long loops of compare-and-swap on one word take: those of the program in global memory, and those that shared
// memory needs for what its units cannot do. Prints a line of JSON for each launch.
//
//   nvcc -arch=native -o compare_and_swap compare_and_swap.cu && ./compare_and_swap > compare_and_swap.jsonl
//
// operation: what is repeated; lanes: how many lanes of a warp update the same word; words: how many words all blocks
// share (0: each block has its own); cycles: of the longest warp, for all its updates.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

namespace {

constexpr int kUpdates = 32; // of a thread

template <class T> __device__ T one() { return static_cast<T>(1.0f); }
template <> __device__ __half2 one<__half2>() { return __float2half2_rn(1); }

template <class T> struct Add {
  static __device__ void update(T* p) { atomicAdd(p, one<T>()); }
};
template <class T> struct Max {
  static __device__ void update(T* p) { atomicMax(p, static_cast<T>(clock())); }
};
template <class T> struct Xor {
  static __device__ void update(T* p) { atomicXor(p, static_cast<T>(5)); }
};
/// As programs write it: reads the word, then swaps until nobody was faster. The value changes each time.
template <class T> struct Loop {
  static __device__ void update(T* p) {
    T old = *static_cast<volatile T*>(p), assumed;
    do {
      assumed = old;
      old = atomicCAS(p, assumed, static_cast<T>(assumed * 3 + 1));
    } while (old != assumed);
  }
};
/// The same by a lock in the word's place.
template <class T> struct Lock {
  static __device__ void update(T* p) {
    bool done = false;
    while (!done)
      if (atomicCAS(p, T{0}, T{1}) == T{0}) {
        __threadfence();
        atomicExch(p, T{0});
        done = true;
      }
  }
};

template <class T, class Operation> __global__ void in_shared(int lanes, long long* cycles) {
  __shared__ T words[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = T{};
  __syncthreads();
  // All warps share the words; the lanes of a warp that do not collide are in different banks.
  T* const mine = words + threadIdx.x % 32 / lanes;
  const long long begin = clock64();
  for (int i = 0; i < kUpdates; ++i) Operation::update(mine);
  __syncwarp();
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = end - begin;
}

template <class T, class Operation> __global__ void in_global(int lanes, int words, T* all, long long* cycles) {
  // Words are 1 KiB apart.
  const int group = threadIdx.x % 32 / lanes, groups = 32 / lanes;
  const int block = words == 0 ? static_cast<int>(blockIdx.x) : static_cast<int>(blockIdx.x) % words;
  T* const mine = all + (static_cast<std::size_t>(block) * groups + group) * (1024 / sizeof(T));
  const long long begin = clock64();
  for (int i = 0; i < kUpdates; ++i) Operation::update(mine);
  __syncwarp();
  const long long end = clock64();
  if (threadIdx.x % 32 == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = end - begin;
}

void* memory = nullptr;
long long* cycles = nullptr;
constexpr std::size_t kBytes = 256 << 20;

long long longest(int warps) {
  CHECK(cudaDeviceSynchronize());
  std::vector<long long> all(static_cast<std::size_t>(warps));
  CHECK(cudaMemcpy(all.data(), cycles, all.size() * sizeof all[0], cudaMemcpyDeviceToHost));
  long long most = 0;
  for (const long long x : all) most = x > most ? x : most;
  return most;
}

/// The second of two launches counts, and its time by events.
template <class Launch>
void ask(const char* space, const char* operation, int lanes, int words, int blocks, int warps, Launch&& launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  long long most = 0;
  float milliseconds = 0;
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMemset(memory, 0, kBytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    most = longest(blocks * warps);
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  }
  std::printf("{\"space\": \"%s\", \"operation\": \"%s\", \"lanes\": %d, \"words\": %d, \"blocks\": %d, \"warps\": %d, "
              "\"updates\": %d, \"cycles\": %lld, \"microseconds\": %.2f}\n",
              space, operation, lanes, words, blocks, warps, kUpdates, most, milliseconds * 1000);
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
}

template <class T, class Operation> void ask_shared(const char* name) {
  for (const int warps : {1, 2, 4, 8, 16, 32})
    for (const int lanes : {1, 2, 4, 8, 16, 32})
      ask("shared", name, lanes, 0, 1, warps, [&] { in_shared<T, Operation><<<1, warps * 32>>>(lanes, cycles); });
  ask("shared", name, 32, 0, 1056, 8, [&] { in_shared<T, Operation><<<1056, 256>>>(32, cycles); });
}

template <class T, class Operation> void ask_global(const char* name) {
  for (const int blocks : {1, 2, 4, 8, 16, 64, 128, 256})
    for (const int warps : {1, 4})
      for (const int lanes : {1, 4, 32})
        for (const int words : {0, 1}) {
          if (lanes == 1 && blocks * warps > 256) continue;
          if (blocks == 1 && words == 1) continue;
          ask("global", name, lanes, words, blocks, warps,
              [&] { in_global<T, Operation><<<blocks, warps * 32>>>(lanes, words, static_cast<T*>(memory), cycles); });
        }
}

} // namespace

int main() {
  CHECK(cudaMalloc(&memory, kBytes));
  CHECK(cudaMalloc(&cycles, 1 << 20));
  using U64 = unsigned long long;
  ask_shared<unsigned, Add<unsigned>>("add.u32");
  ask_shared<float, Add<float>>("add.f32");
  ask_shared<double, Add<double>>("add.f64");
  ask_shared<U64, Add<U64>>("add.u64");
  ask_shared<U64, Max<U64>>("max.u64");
  ask_shared<U64, Xor<U64>>("xor.b64");
  ask_shared<__half2, Add<__half2>>("add.f16x2");
  ask_shared<__half, Add<__half>>("add.f16");
  ask_shared<unsigned, Loop<unsigned>>("loop.b32");
  ask_shared<U64, Loop<U64>>("loop.b64");
  ask_global<unsigned, Add<unsigned>>("add.u32");
  ask_global<__half, Add<__half>>("add.f16");
  ask_global<unsigned, Loop<unsigned>>("loop.b32");
  ask_global<U64, Loop<U64>>("loop.b64");
  ask_global<unsigned short, Loop<unsigned short>>("loop.b16");
  ask_global<int, Lock<int>>("lock.b32");
}
