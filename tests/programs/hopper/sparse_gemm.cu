// SPDX-License-Identifier: Apache-2.0
// D = A B^T where two of four consecutive elements of A are 0 and left out. D leaves by a tensor map, too.
#include "tests/programs/hopper/hopper.cuh"

namespace {

constexpr int kTile = 64, kDepth = 64; // of A as if it were dense

struct Shared {
  alignas(1024) unsigned char a[2][kTile * kDepth], b[2][kTile * kDepth * 2];
  alignas(1024) float d[2][kTile][32];
  uint64_t full[2];
};

__device__ void load(Shared& s, const CUtensorMap* a, const CUtensorMap* b, int step) {
  uint64_t* const full = &s.full[step % 2];
  hopper::expect(full, 3 * kTile * kDepth);
  hopper::load(s.a[step % 2], a, full, step * kDepth / 2, blockIdx.y * kTile);
  hopper::load(s.b[step % 2], b, full, step * kDepth, blockIdx.x * kTile);
}

} // namespace

/// `kept`: a word for each 32 columns of A, by tile of rows, 32 columns and thread.
extern "C" __global__ void __launch_bounds__(128)
    sparse_gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap d, const unsigned* kept, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const int steps = k / kDepth;
  if (threadIdx.x == 0) {
    hopper::init(&s.full[0], 1);
    hopper::init(&s.full[1], 1);
    hopper::fence_init();
    load(s, &a, &b, 0);
  }
  __syncthreads();
  float sums[kTile / 2];
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0 && step + 1 < steps) load(s, &a, &b, step + 1);
    const unsigned* const words = kept + (blockIdx.y * steps + step) * 256 + threadIdx.x;
    hopper::wait(&s.full[step % 2], step / 2 % 2);
    const uint64_t in_a = hopper::descriptor(s.a[step % 2], 64), in_b = hopper::descriptor(s.b[step % 2], 128);
    const unsigned e[2] = {words[0], words[128]};
    hopper::begin_products();
    for (int j = 0; j < 2; ++j) hopper::multiply_sparse(sums, in_a + 2 * j, in_b + 4 * j, e[j], step + j != 0);
    hopper::end_products();
    hopper::wait_products<0>();
    __syncthreads();
  }
  for (int i = 0; i < kTile / 2; ++i)
    s.d[hopper::column_of(i) / 32][hopper::row_of(i)][hopper::column_of(i) % 32] = sums[i];
  hopper::fence_copies();
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; ++i) hopper::store(&d, s.d[i], blockIdx.x * kTile + 32 * i, blockIdx.y * kTile);
}
