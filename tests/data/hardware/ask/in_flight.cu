// SPDX-License-Identifier: Apache-2.0
// Asks a GPU how long a warp waits for several loads that it starts together: of the first-level cache, of the L2 cache
// and of device memory, from one to 16 loads, of one to 32 sectors each, by one to 32 warps of a multiprocessor.
//
//   nvcc -O3 -std=c++17 -arch=native -o in_flight tests/data/hardware/ask/in_flight.cu
//   python3 tests/data/hardware/ask/calibration.py ./in_flight > answers.csv        needs ncu
//
// A name is the level, loads in flight, sectors of a load, blocks, warps of a block, and bytes from a load of a warp to
// its next (0: at random). `times` is the number of groups of loads that a warp waits for, one after the other, and
// `cycles` is what the slowest block takes for them. "l2_same": all warps read the same lines.
// "quarter": of the warps of a block, only every fourth runs, so that all are of one scheduler.
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

enum class Through { l1, l2 };

struct Where {
  unsigned lines;  ///< of 128 bytes, a power of 2
  unsigned stride; ///< lines from a load to the next of the warp; 0: at random
  int lanes;       ///< that read the same sector: 32 (1 sector), 8 (4 sectors of a line), 1 (32 lines)
  bool warm;       ///< the block reads all lines first
  bool same;       ///< all warps read the same lines
  int every;       ///< every so many warps run
};

__device__ long long slowest = 0;

template <Through Level> __device__ unsigned load(const unsigned* word) {
  return Level == Through::l1 ? __ldca(word) : __ldcg(word);
}

template <Through Level, int InFlight, bool Random>
__global__ void wait(const unsigned* words, Where where, int groups) {
  unsigned sum = 0;
  if (where.warm)
    for (unsigned i = threadIdx.x; i < where.lines * 4; i += blockDim.x) sum += load<Level>(words + i * 8);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32, warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32;
  const long long begin = clock64();
  if (warp % where.every == 0) {
    const unsigned mask = where.lines - 1, offset = where.lanes == 8 ? lane : 0;
    unsigned state = ((where.same ? 1 : warp + 1) * 64 + (where.lanes == 1 ? lane : 0)) * 0x9e3779b9u;
    if (!Random) state = warp;
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
      unsigned values[InFlight];
#pragma unroll
      for (int k = 0; k < InFlight; ++k) {
        const unsigned line = (Random ? state >> 6 : state) & mask;
        state = Random ? state * 1664525u + 1013904223u : state + where.stride;
        values[k] = load<Level>(words + size_t(line) * 32 + offset);
      }
#pragma unroll
      for (int k = 0; k < InFlight; ++k) sum += values[k];
      state ^= sum & 0x100; // the next group waits for this one
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(reinterpret_cast<unsigned long long*>(&slowest), clock64() - begin);
  if (sum == 77) slowest = 0;
}

int launches = 0;

template <Through Level, int InFlight>
void ask(const char* name, const unsigned* words, const Where& where, int blocks, int warps) {
  constexpr int kGroups = 64;
  const int threads = warps * 32 * where.every;
  if (where.stride == 0)
    wait<Level, InFlight, true><<<blocks, threads>>>(words, where, kGroups);
  else
    wait<Level, InFlight, false><<<blocks, threads>>>(words, where, kGroups);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  long long cycles = 0;
  const long long none = 0;
  CHECK(cudaMemcpyFromSymbol(&cycles, slowest, sizeof cycles));
  CHECK(cudaMemcpyToSymbol(slowest, &none, sizeof none));
  const int sectors = where.lanes == 32 ? 1 : where.lanes == 8 ? 4 : 32;
  std::printf("%d,%s %d %d %d %d %d,%d,%lld\n", launches++, name, InFlight, sectors, blocks, warps, where.stride * 128, kGroups, cycles);
}

template <Through Level> void ask_numbers(const char* name, const unsigned* words, const Where& where, int blocks, int warps) {
  ask<Level, 1>(name, words, where, blocks, warps);
  ask<Level, 2>(name, words, where, blocks, warps);
  ask<Level, 4>(name, words, where, blocks, warps);
  ask<Level, 8>(name, words, where, blocks, warps);
  ask<Level, 16>(name, words, where, blocks, warps);
}

constexpr unsigned long long kMemory = 1ull << 33; ///< bytes

void ask_level(const unsigned* words, int lanes, int blocks, int warps) {
  ask_numbers<Through::l1>("l1", words, {256, 0, lanes, true, false, 1}, blocks, warps);
  ask_numbers<Through::l2>("l2", words, {1 << 14, 0, lanes, true, false, 1}, blocks, warps);
  ask_numbers<Through::l2>("memory", words, {unsigned(kMemory / 128), 0, lanes, false, false, 1}, blocks, warps);
}

} // namespace

int main() {
  unsigned* words = nullptr;
  CHECK(cudaMalloc(&words, kMemory));
  CHECK(cudaMemset(words, 0, kMemory));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "%s\n", device.name);
  for (const int lanes : {32, 8, 1}) {
    for (const int warps : {1, 2, 4, 8, 32}) ask_level(words, lanes, 1, warps);
    for (const int warps : {1, 8}) ask_level(words, lanes, device.multiProcessorCount, warps);
  }
  ask_numbers<Through::l2>("l2_quarter", words, {1 << 14, 0, 8, true, false, 4}, 1, 4);
  ask_numbers<Through::l1>("l1_quarter", words, {256, 0, 8, true, false, 4}, 1, 4);
  ask_numbers<Through::l2>("l2_same", words, {1 << 14, 0, 8, true, true, 1}, device.multiProcessorCount, 8);
  ask_numbers<Through::l2>("memory_same", words, {unsigned(kMemory / 128), 0, 8, false, true, 1}, device.multiProcessorCount, 8);
  for (const int blocks : {1, 8, device.multiProcessorCount}) // the columns of a matrix: all warps read a row at a time
    for (const int warps : {1, 8})
      for (const unsigned rows : {1u, 16u, 512u})
        ask_numbers<Through::l2>("memory", words, {unsigned(kMemory / 128), rows * blocks * warps, 8, false, false, 1}, blocks, warps);
}
