// SPDX-License-Identifier: Apache-2.0
// D = A B^T with f16 factors. Clusters of two blocks take tiles of 256 x 128 in turns: each block loads its own 128
// rows of A, and half of the rows of B for both. A warp group loads, two multiply.
#include "tests/programs/hopper/hopper.cuh"

namespace {

constexpr int kRows = 128, kColumns = 128, kDepth = 64, kStages = 4;

struct Stage {
  alignas(1024) unsigned char a[kRows * kDepth * 2], b[kColumns * kDepth * 2];
};
struct Shared {
  Stage stages[kStages];
  uint64_t full[kStages], empty[kStages];
};

struct Place {
  int stage = 0;
  unsigned phase = 0;
  __device__ void advance() {
    if (++stage < kStages) return;
    stage = 0;
    phase ^= 1;
  }
};

__device__ void load_all(Shared& s, const CUtensorMap* a, const CUtensorMap* b, int m, int n, int k) {
  const int rank = static_cast<int>(hopper::rank()), columns = n / kColumns;
  Place at;
  for (int tile = blockIdx.x / 2; tile < m / kRows / 2 * columns; tile += gridDim.x / 2) {
    const int row = (tile / columns * 2 + rank) * kRows, column = tile % columns * kColumns + rank * kColumns / 2;
    for (int i = 0; i < k; i += kDepth, at.advance()) {
      hopper::wait(&s.empty[at.stage], at.phase ^ 1);
      uint64_t* const full = &s.full[at.stage];
      hopper::expect(full, sizeof(Stage));
      hopper::load(s.stages[at.stage].a, a, full, i, row);
      hopper::load_for(3, s.stages[at.stage].b + rank * sizeof s.stages[0].b / 2, b, full, i, column);
    }
  }
}

__device__ void multiply_all(Shared& s, float* d, int m, int n, int k) {
  const int group = threadIdx.x / 128 - 1, columns = n / kColumns;
  Place at;
  for (int tile = blockIdx.x / 2; tile < m / kRows / 2 * columns; tile += gridDim.x / 2) {
    float sums[kColumns / 2];
    for (int i = 0; i < k; i += kDepth, at.advance()) {
      hopper::wait(&s.full[at.stage], at.phase);
      const uint64_t a = hopper::descriptor(s.stages[at.stage].a + group * 64 * 128, 128);
      const uint64_t b = hopper::descriptor(s.stages[at.stage].b, 128);
      hopper::begin_products();
      for (int j = 0; j < kDepth / 16; ++j) hopper::multiply_f16(sums, a + 2 * j, b + 2 * j, i + j != 0);
      hopper::end_products();
      hopper::wait_products<0>();
      if (threadIdx.x % 128 < 2) hopper::arrive_in(&s.empty[at.stage], threadIdx.x % 128);
    }
    const int row = (tile / columns * 2 + static_cast<int>(hopper::rank())) * kRows + group * 64;
    for (int i = 0; i < kColumns / 2; i += 2) {
      float* const to = d + static_cast<size_t>(row + hopper::row_of(i)) * n + tile % columns * kColumns;
      *reinterpret_cast<float2*>(to + hopper::column_of(i)) = make_float2(sums[i], sums[i + 1]);
    }
  }
}

} // namespace

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* d, int m, int n, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      hopper::init(&s.full[i], 1);
      hopper::init(&s.empty[i], 4); // two warp groups of two blocks
    }
    hopper::fence_init();
  }
  hopper::meet();
  if (threadIdx.x < 128) {
    hopper::fewer_registers<40>();
    if (threadIdx.x == 0) load_all(s, &a, &b, m, n, k);
  } else {
    hopper::more_registers<232>();
    multiply_all(s, d, m, n, k);
  }
  hopper::meet(); // no block ends while others copy to it or arrive at its barriers
}
