// SPDX-License-Identifier: Apache-2.0
// D = A B^T of e4m3 factors with scales: one for each row of A and 128 of its columns, one for each 64 rows of B and
// 128 of its columns. Every 128 products, the sums of the tensor cores are scaled and added in single precision. D is
// bf16.
#include "tests/programs/hopper/hopper.cuh"

#include <cuda_bf16.h>

namespace {

constexpr int kTile = 64, kDepth = 128;

struct Shared {
  alignas(1024) unsigned char a[2][kTile * kDepth], b[2][kTile * kDepth];
  uint64_t full[2];
};

__device__ void load(Shared& s, const CUtensorMap* a, const CUtensorMap* b, int step) {
  hopper::expect(&s.full[step % 2], 2 * kTile * kDepth);
  hopper::load(s.a[step % 2], a, &s.full[step % 2], step * kDepth, blockIdx.y * kTile);
  hopper::load(s.b[step % 2], b, &s.full[step % 2], step * kDepth, blockIdx.x * kTile);
}

} // namespace

extern "C" __global__ void __launch_bounds__(128)
    fp8_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, const float* scales_a,
             const float* scales_b, __nv_bfloat16* d, int n, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const int steps = k / kDepth, row = blockIdx.y * kTile;
  if (threadIdx.x == 0) {
    hopper::init(&s.full[0], 1);
    hopper::init(&s.full[1], 1);
    hopper::fence_init();
    load(s, &a, &b, 0);
  }
  __syncthreads();
  float sums[kTile / 2] = {};
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0 && step + 1 < steps) load(s, &a, &b, step + 1);
    hopper::wait(&s.full[step % 2], step / 2 % 2);
    const uint64_t in_a = hopper::descriptor(s.a[step % 2], 128), in_b = hopper::descriptor(s.b[step % 2], 128);
    float part[kTile / 2];
    hopper::begin_products();
    for (int j = 0; j < kDepth / 32; ++j) hopper::multiply_e4m3(part, in_a + 2 * j, in_b + 2 * j, j != 0);
    hopper::end_products();
    hopper::wait_products<0>();
    const float scale_b = scales_b[blockIdx.x * steps + step];
    const float scale[2] = {scales_a[(row + hopper::row_of(0)) * steps + step] * scale_b,
                            scales_a[(row + hopper::row_of(2)) * steps + step] * scale_b};
    for (int i = 0; i < kTile / 2; ++i) sums[i] = fmaf(part[i], scale[i % 4 / 2], sums[i]);
    __syncthreads();
  }
  for (int i = 0; i < kTile / 2; i += 2) {
    __nv_bfloat16* const to = d + static_cast<size_t>(row + hopper::row_of(i)) * n + blockIdx.x * kTile;
    *reinterpret_cast<__nv_bfloat162*>(to + hopper::column_of(i)) = __floats2bfloat162_rn(sums[i], sums[i + 1]);
  }
}
