// SPDX-License-Identifier: Apache-2.0
// Asks a GPU how long two units take that are busy at the same time, and how fast it fetches instructions.
//
//   nvcc -O3 -std=c++17 -arch=native -o overlaps tests/data/hardware/ask/overlaps.cu
//   python3 tests/data/hardware/ask/calibration.py ./overlaps > answers.csv        needs ncu
//
// For 64 MB and 512 MB of device memory that are read, or written, 16 bytes a thread: multiplications and additions of
// each thread, or loads of shared memory, from none to so many that they take longer. Then loops of `Count`
// instructions of 16 bytes, on each multiprocessor.
#include <cstdio>
#include <cstdlib>
#include <utility>

#define CHECK(call)                                                                                                    \
  do {                                                                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                              \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

namespace {

__device__ void compute(float& x, float y) { asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)); }

template <int Count> __global__ void read_and_compute(const float4* in, float4* out, float y, float never) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float4 four = __ldcg(in + i);
  float x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
  for (int k = 0; k < Count; ++k) compute(x[k % 4], y);
  if (x[0] + x[1] + x[2] + x[3] == never) out[0].x = 1;
}

template <int Count> __global__ void write_and_compute(const float4*, float4* out, float y, float) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  float x[4] = {float(i), 1, 2, 3};
#pragma unroll
  for (int k = 0; k < Count; ++k) compute(x[k % 4], y);
  out[i] = make_float4(x[0], x[1], x[2], x[3]);
}

template <int Count> __global__ void read_and_load_shared(const float4* in, float4* out, float, float never) {
  __shared__ volatile float words[256];
  words[threadIdx.x] = 1;
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float4 four = __ldcg(in + i);
  float sum = four.x + four.y + four.z + four.w;
#pragma unroll
  for (int k = 0; k < Count; ++k) sum += words[threadIdx.x];
  if (sum == never) out[0].x = sum;
}

template <int Count> __global__ void run_code(float* out, float y, int turns) {
  float x[8];
  for (int i = 0; i < 8; ++i) x[i] = threadIdx.x + i;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) {
#pragma unroll
    for (int i = 0; i < Count; ++i) compute(x[i % 8], y);
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += x[i];
  if (sum == -1) *out = sum;
}

int launches = 0;

void timed(const char* name, int first, int second, int third, double times) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("%d,%s %d %d %d,%.0f,0\n", launches++, name, first, second, third, times);
}

template <int... Counts> void units(int blocks, const float4* in, float4* out, std::integer_sequence<int, Counts...>) {
  ((read_and_compute<Counts><<<blocks, 256>>>(in, out, 0.5f, -1.f), timed("read_and_compute", blocks, 256, Counts, Counts)), ...);
  ((write_and_compute<Counts><<<blocks, 256>>>(in, out, 0.5f, -1.f), timed("write_and_compute", blocks, 256, Counts, Counts)), ...);
  ((read_and_load_shared<Counts / 4><<<blocks, 256>>>(in, out, 0.5f, -1.f), timed("read_and_load_shared", blocks, 256, Counts / 4, Counts / 4)), ...);
}

template <int... Counts> void code(int blocks, float* out, std::integer_sequence<int, Counts...>) {
  for (const int threads : {32, 128, 256, 1024})
    ((run_code<Counts><<<blocks, threads>>>(out, 0.5f, (1 << 17) / Counts), timed("run_code", blocks, threads, Counts, 1 << 17)), ...);
}

} // namespace

int main() {
  void* room = nullptr;
  CHECK(cudaMalloc(&room, size_t(2) << 30));
  CHECK(cudaMemset(room, 0, size_t(2) << 30));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  std::fprintf(stderr, "%s\n", device.name);
  auto* const in = static_cast<float4*>(room);
  for (const int blocks : {1 << 14, 1 << 17})
    units(blocks, in, in + (size_t(1) << 26), std::integer_sequence<int, 0, 16, 32, 48, 64, 80, 96, 128, 192, 256>());
  code(device.multiProcessorCount, static_cast<float*>(room), std::integer_sequence<int, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768>());
}
