// SPDX-License-Identifier: Apache-2.0
// How much longer a warp waits for a load from shared memory whose lanes conflict: loads that depend on each other, of
// words that are a stride apart, by one warp alone.
//
//   nvcc -O3 -std=c++17 -arch=native -o shared_conflicts tests/data/hardware/ask/shared_conflicts.cu
//   ./shared_conflicts > tests/data/hardware/shared_conflicts_h200.csv        cycles of a load; passes: over the banks
#include <cstdio>

namespace {

constexpr int kWords = 1024, kSteps = 256, kUnrolled = 64;

__global__ void chase(long long* cycles, int* out, int stride, int steps) {
  __shared__ int self[kWords];
  for (int i = threadIdx.x; i < kWords; i += 32) self[i] = i;
  __syncwarp();
  int at = threadIdx.x * stride % kWords;
  for (int u = 0; u < kUnrolled; ++u) at = self[at];
  const long long start = clock64();
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int u = 0; u < kUnrolled; ++u) at = self[at];
  *cycles = clock64() - start;
  out[threadIdx.x] = at;
}

} // namespace

int main() {
  long long* cycles = nullptr;
  int* out = nullptr;
  cudaMallocManaged(&cycles, sizeof *cycles);
  cudaMalloc(&out, 32 * sizeof *out);
  std::puts("stride,passes,cycles");
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    for (int run = 0; run < 2; ++run) { // the first one fetches the code
      chase<<<1, 32>>>(cycles, out, stride, kSteps);
      if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        return 1;
      }
    }
    std::printf("%d,%d,%.2f\n", stride, stride, double(*cycles) / (kSteps * kUnrolled));
  }
  return 0;
}
