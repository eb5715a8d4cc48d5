// SPDX-License-Identifier: Apache-2.0
// Asks a GPU how many sectors one multiprocessor reads from the L2 cache, and stores and updates in it, and how fast it
// reads and updates words at random in memory that is larger than the TLBs cover.
//
//   nvcc -O3 -std=c++17 -arch=native -o ports tests/data/hardware/ask/ports.cu
//   python3 tests/data/hardware/ask/calibration.py ./ports > answers.csv        needs ncu
//
// A name is the access, blocks, threads, bytes between the words of neighbouring lanes, and MiB of memory: 4 to 128
// bytes apart, a warp accesses 4 to 32 sectors. `times` is the number of sectors of a block, and `cycles` is what the
// slowest block takes. Memory of 2 MiB is in the L2 cache when the clock starts.
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

constexpr int kAccesses = 64; ///< of a thread
constexpr int kInFlight = 8;

struct Read {
  static __device__ unsigned access(unsigned* word) { return __ldcg(word); }
};
struct Write {
  static __device__ unsigned access(unsigned* word) { return *word = 1, 0; }
};
struct Add { // whose result is not used
  static __device__ unsigned access(unsigned* word) { return atomicAdd(word, 1), 0; }
};
struct Fetch { // whose result is used
  static __device__ unsigned access(unsigned* word) { return atomicAdd(word, 1); }
};
struct Change { // reads a word, then writes it
  static __device__ unsigned access(unsigned* word) { return *word ^= 5, 0; }
};

__device__ long long slowest = 0;

__device__ void stop(long long begin, unsigned sum) {
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(reinterpret_cast<unsigned long long*>(&slowest), clock64() - begin);
  if (sum == 77) slowest = 0;
}

/// `count` is a power of 2. Warps access the memory from its begin to its end, each block from another place.
template <class Access> __global__ void in_order(unsigned* words, unsigned apart, unsigned count) {
  unsigned sum = 0;
  for (unsigned i = threadIdx.x * 8; i < count; i += blockDim.x * 8) sum += __ldcg(words + i);
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < kAccesses; i += kInFlight)
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const unsigned access = (blockIdx.x * kAccesses + i + k) * blockDim.x + threadIdx.x;
      sum += Access::access(words + (access * apart & (count - 1)));
    }
  stop(begin, sum);
}

/// Each thread accesses words at random, `InFlight` at a time; `count` is a power of 2.
template <class Access, int InFlight> __global__ void at_random(unsigned* words, unsigned long long count) {
  unsigned long long state = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15u + 1;
  unsigned sum = 0;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < kAccesses; i += InFlight)
#pragma unroll
    for (int k = 0; k < InFlight; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += Access::access(words + ((state >> 20) & (count - 1)));
    }
  stop(begin, sum);
}

int launches = 0;

void print(const char* name, int blocks, int threads, unsigned apart, unsigned mib, double sectors) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  long long cycles = 0;
  const long long none = 0;
  CHECK(cudaMemcpyFromSymbol(&cycles, slowest, sizeof cycles));
  CHECK(cudaMemcpyToSymbol(slowest, &none, sizeof none));
  std::printf("%d,%s %d %d %u %u,%.0f,%lld\n", launches++, name, blocks, threads, apart, mib, sectors, cycles);
}

template <class Access> void ask(const char* name, unsigned* words) {
  for (const int blocks : {1, 8, 64, 132})
    for (const int threads : {128, 256, 1024})
      for (const unsigned bytes : {4u, 8u, 16u, 32u, 64u, 128u}) {
        if (blocks > 1 && (threads != 1024 || (bytes != 4 && bytes != 128))) continue;
        const double lanes_of_sector = bytes < 32 ? 32 / bytes : 1;
        in_order<Access><<<blocks, threads>>>(words, bytes / 4, 1 << 19);
        print(name, blocks, threads, bytes, 2, threads / lanes_of_sector * kAccesses);
      }
}

template <class Access, int InFlight> void ask_at_random(const char* name, unsigned* words) {
  for (const unsigned mib : {2u, 32u, 512u, 4096u, 16384u})
    for (const int blocks : {1, 132})
      for (const int threads : {32, 128, 1024}) {
        if (blocks > 1 && threads != 1024) continue;
        at_random<Access, InFlight><<<blocks, threads>>>(words, (1ull << 18) * mib);
        print(name, blocks, threads, 0, mib, double(threads) * kAccesses);
      }
}

} // namespace

int main() {
  unsigned* words = nullptr;
  CHECK(cudaMalloc(&words, size_t{16} << 30));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "%s\n", device.name);
  ask<Read>("read", words);
  ask<Write>("write", words);
  ask<Add>("add", words);
  ask<Fetch>("fetch", words);
  ask_at_random<Read, 1>("read_at_random", words);
  ask_at_random<Read, 8>("read_8_at_random", words);
  ask_at_random<Change, 1>("change_at_random", words);
}
