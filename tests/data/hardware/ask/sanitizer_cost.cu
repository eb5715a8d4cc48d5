// SPDX-License-Identifier: Apache-2.0
// Times the kernels of bench/ on a GPU, to compare the slow-downs of compute-sanitizer with those of Warplens.
// Prints the milliseconds of a launch of each, the median of 20 after 3 launches; under a tool of compute-sanitizer these are
// slower.
//
//   nvcc -O2 -I. -o sanitizer_cost tests/data/hardware/ask/sanitizer_cost.cu
//   ./sanitizer_cost; compute-sanitizer --tool racecheck ./sanitizer_cost
#include "bench/kernels/fma_loop.cu"
#include "bench/kernels/matmul_tiled.cu"
#include "bench/kernels/nbody_ulist.cu"
#include "bench/kernels/scan_blelloch.cu"
#include "bench/kernels/transpose_naive.cu"
#include "bench/kernels/vec_add.cu"

#include "bench/kernels/gather.cu"
#include "bench/kernels/histogram.cu"
#include "bench/kernels/scatter.cu"

#include <algorithm>
#include <cstdio>
#include <vector>

template <class Launch> void time_of(const char* name, Launch&& launch) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < 23; ++i) {
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (i >= 3) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"kernel\": \"%s\", \"milliseconds\": %.5f, \"error\": \"%s\"}\n", name, times[times.size() / 2],
              cudaGetErrorName(cudaGetLastError()));
}

int main() {
  constexpr size_t kBytes = 4194304 * sizeof(float);
  void *a, *b, *c;
  cudaMalloc(&a, kBytes);
  cudaMalloc(&b, kBytes);
  cudaMalloc(&c, kBytes);
  cudaMemset(a, 0, kBytes);
  cudaMemset(b, 0, kBytes);
  cudaMemset(c, 0, kBytes);
  const auto f = [](void* p) { return static_cast<float*>(p); };
  const auto i = [](void* p) { return static_cast<int*>(p); };
  const auto f4 = [](void* p) { return static_cast<float4*>(p); };
  const dim3 tile(16, 16);
  time_of("fma_loop", [&] { fma_loop<<<64, 256>>>(f(a), 0.999f, 0.001f, 1000); });
  time_of("vec_add", [&] { vec_add<<<4096, 256>>>(f(a), f(b), f(c), 1048576); });
  time_of("matmul256", [&] { matmul_tiled<<<dim3(16, 16), tile>>>(f(a), f(b), f(c), 256); });
  time_of("transpose1024", [&] { transpose_naive<<<dim3(64, 64), tile>>>(f(a), f(b), 1024, 1024); });
  time_of("nbody4096", [&] { nbody_ulist<<<16, 256>>>(f4(a), f4(b), f(c), 4096); });
  time_of("scan4M", [&] { scan_blelloch<<<8192, 256>>>(f(a), f(b), f(c)); });
  time_of("gather", [&] { gather<<<4096, 256>>>(i(a), i(b), 1048576); });
  time_of("scatter", [&] { scatter<<<4096, 256>>>(i(a), 1048576); });
  time_of("histogram", [&] { histogram<<<4096, 256>>>(static_cast<unsigned*>(a)); });
}
