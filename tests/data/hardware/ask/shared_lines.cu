// SPDX-License-Identifier: Apache-2.0
// Asks a GPU how long warps wait for lines that other warps load at the same time.
//
//   nvcc -O3 -std=c++17 -arch=native -o shared_lines tests/data/hardware/ask/shared_lines.cu
//   ./shared_lines > answers.csv        without a profiler, which would empty the caches between the turns
//
// Warps follow a chain of lines: each loads the next line when the line before is there. A name is who reads the same
// chain ("own": nobody else, "block": the warps of a block, "all": all blocks), blocks, warps of a block, how much
// more each warp computes between two loads than the warp before it ("skew", in quarters of turns of a loop of 14 to 28
// cycles), and the turn: in turn 0, no cache has the lines; in turn 1, other blocks have read them in a launch before.
// `times` is the number of lines of a chain, and `cycles` is what the slowest warp takes.
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

constexpr int kLines = 128, kStep = 32; // words of a line
enum class Same { own, block, all };

__device__ unsigned long long slowest = 0;

/// `chains`: each of kLines lines whose words hold the first word of the next line of the chain.
__global__ void follow(const unsigned* chains, Same same, int skew, unsigned* out) {
  const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32;
  const unsigned chain = same == Same::all ? 0 : same == Same::block ? blockIdx.x : blockIdx.x * warps + warp;
  unsigned at = chain * kLines * kStep;
  const int work = skew * static_cast<int>(warp) / 4; // turns
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < kLines; ++i) {
    at = chains[at + threadIdx.x % 32];
#pragma unroll 1
    for (int w = 0; w < work; ++w) at = at * 1 + (w >> 30);
  }
  const long long cycles = clock64() - begin;
  if (at == 1) *out = 1;
  if (threadIdx.x % 32 == 0) atomicMax(&slowest, static_cast<unsigned long long>(cycles));
}

} // namespace

int main() {
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "%s\n", device.name);
  constexpr int kMostWarps = 32;
  const int most_chains = device.multiProcessorCount * kMostWarps;
  const std::size_t words = std::size_t{kLines} * kStep * most_chains;
  unsigned* const host = static_cast<unsigned*>(std::malloc(words * sizeof(unsigned)));
  for (std::size_t i = 0; i < words; ++i) {
    const std::size_t line = i / kStep, chain = line / kLines;
    // 5 lines further, so that no line is beside the one before.
    host[i] = static_cast<unsigned>((chain * kLines + (line % kLines + 5) % kLines) * kStep);
  }
  unsigned *chains, *out;
  CHECK(cudaMalloc(&chains, words * sizeof(unsigned)));
  CHECK(cudaMemcpy(chains, host, words * sizeof(unsigned), cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&out, 64));
  char* flush;
  const std::size_t flushed = std::size_t{3} * device.l2CacheSize;
  CHECK(cudaMalloc(&flush, flushed));
  int launch = 0;
  std::puts("launch,name,times,cycles");
  static const char* const kNames[] = {"own", "block", "all"};
  for (const Same same : {Same::own, Same::block, Same::all})
    for (const int blocks : {1, 8, device.multiProcessorCount})
      for (const int warps : {1, 2, 4, 8, 16, 32})
        for (const int skew : {0, 8, 40, 200}) {
          if (skew != 0 && (warps != 8 || same == Same::own)) continue;
          for (int turn = 0; turn < 2; ++turn) {
            if (turn == 0) CHECK(cudaMemset(flush, 0, flushed));
            const unsigned long long none = 0;
            CHECK(cudaMemcpyToSymbol(slowest, &none, sizeof none));
            follow<<<blocks, 32 * warps>>>(chains, same, skew, out);
            CHECK(cudaDeviceSynchronize());
            unsigned long long cycles = 0;
            CHECK(cudaMemcpyFromSymbol(&cycles, slowest, sizeof cycles));
            std::printf("%d,%s %d %d %d %d,%d,%llu\n", launch++, kNames[static_cast<int>(same)], blocks, warps, skew,
                        turn, kLines, cycles);
          }
        }
}
