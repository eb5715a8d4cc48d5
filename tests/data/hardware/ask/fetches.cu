// SPDX-License-Identifier: Apache-2.0
// Asks a GPU how many sectors of device memory a load of a part of them fetches. cudaLimitMaxL2FetchGranularity is a
// hint to the driver; its default is printed first.
//
//   nvcc -O2 -arch=sm_90 -o fetches tests/data/hardware/ask/fetches.cu
//   ncu --clock-control none --metrics gpu__time_duration.sum,dram__sectors_read.sum,\
//   lts__t_sectors_srcunit_tex_op_read.sum ./fetches
//
// For each granularity 64, 32 and 128: one word of every 32, 64, 128 and 256 bytes, in the order of the threads, then
// in another order; then all three words of structures of 12 bytes, with a load for each.
#include <cstdio>

constexpr size_t kWords = 1 << 24, kBytes = size_t{4} << 30;
constexpr unsigned kOdd = 81007; ///< a permutation of the words

__global__ void one_of(const unsigned* in, size_t words_apart, unsigned permute, unsigned* out) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  const unsigned word = in[(permute ? i * permute & (kWords - 1) : i) * words_apart];
  if (word == 9) *out = word;
}

__global__ void whole_structures(const unsigned* in, unsigned* out) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  const unsigned sum = in[3 * i] + in[3 * i + 1] * 5 + in[3 * i + 2] * 7;
  if (sum == 9) *out = sum;
}

int main() {
  size_t bytes = 0;
  cudaDeviceGetLimit(&bytes, cudaLimitMaxL2FetchGranularity);
  std::printf("granularity %zu\n", bytes);
  unsigned *in, *out;
  cudaMalloc(&in, kBytes);
  cudaMalloc(&out, 4);
  cudaMemset(in, 0, kBytes);
  for (const int granularity : {64, 32, 128}) {
    cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, granularity);
    for (const unsigned permute : {0u, kOdd})
      for (const size_t words_apart : {8, 16, 32, 64}) one_of<<<kWords / 256, 256>>>(in, words_apart, permute, out);
    whole_structures<<<kWords / 256, 256>>>(in, out);
    cudaDeviceSynchronize();
  }
  std::puts(cudaGetErrorString(cudaGetLastError()));
}
