// SPDX-License-Identifier: Apache-2.0
// Asks a GPU how fast the L2 cache takes what all warps store to, load from and update in the same few sectors.
//
//   nvcc -O3 -std=c++17 -arch=native -o hot_words tests/data/hardware/ask/hot_words.cu
//   python3 tests/data/hardware/ask/calibration.py ./hot_words > answers.csv        needs ncu
//
// A name is the access, blocks, threads of a block, bytes that all warps access, and lanes of a warp that access a word
// of their own (1: all lanes access the same word). `times` is the number of sectors that all warps access; `nanoseconds`
// are those of the whole launch.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

namespace {

constexpr int kAccesses = 32; ///< of a thread

struct Write {
  static __device__ void access(unsigned* word, unsigned) { __stcg(word, 1); }
};
struct Read {
  static __device__ void access(unsigned* word, unsigned never) {
    if (__ldcg(word) == never) __stcg(word, 1);
  }
};
/// All warps access the words one after the other, each from another place on if `spread`.
template <class Access>
__global__ void together(unsigned* words, unsigned mask, int lanes, bool spread, unsigned never) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned at = (spread ? warp * 8 : 0) + (lanes == 32 ? threadIdx.x % 32 : 0);
#pragma unroll 8
  for (int i = 0; i < kAccesses; ++i) {
    Access::access(words + (at & mask), never);
    at += lanes == 32 ? 32 : 8;
  }
}

/// Each thread adds to doubles, the lanes of a warp to a word each or all to one, as sums of blocks do.
__global__ void add_sums(double* sums, unsigned mask, int of_warp, int times) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  for (int t = 0; t < times; ++t)
    if (of_warp == 0 || lane == 0) atomicAdd(sums + ((of_warp == 0 ? lane : warp) + t & mask), 1.0);
}

int launches = 0;

void print(const char* name, int blocks, int threads, unsigned bytes, int lanes, double sectors) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("%d,%s %d %d %u %d,%.0f,0\n", launches++, name, blocks, threads, bytes, lanes, sectors);
}

template <class Access> void ask(const char* name, unsigned* words, unsigned never) {
  for (const int lanes : {1, 32})
    for (const bool spread : {false, true})
      for (const unsigned bytes : {32u, 128u, 512u, 2048u, 8192u, 65536u, 1u << 20})
        for (const int blocks : {132, 1056}) {
          if (lanes == 32 && bytes < 128) continue;
          together<Access><<<blocks, 256>>>(words, bytes / 4 - 1, lanes, spread, never);
          char full[64];
          std::snprintf(full, sizeof full, "%s%s", name, spread ? "_apart" : "");
          print(full, blocks, 256, bytes, lanes, 8.0 * blocks * kAccesses * (lanes == 32 ? 4 : 1));
        }
}

} // namespace

int main() {
  unsigned* words = nullptr;
  CHECK(cudaMalloc(&words, 1 << 20));
  CHECK(cudaMemset(words, 0, 1 << 20));
  ask<Write>("write", words, 77);
  ask<Read>("read", words, 77);
  for (const unsigned count : {1u, 2u, 4u, 8u, 16u, 64u, 512u})
    for (const int of_warp : {0, 1})
      for (const int blocks : {132, 1056}) {
        add_sums<<<blocks, 256>>>(reinterpret_cast<double*>(words), count - 1, of_warp, 4);
        print(of_warp == 0 ? "add_double" : "add_double_of_warp", blocks, 256, count * 8, of_warp == 0 ? 32 : 1, 8.0 * blocks * 4);
      }
}
