// SPDX-License-Identifier: Apache-2.0
// The forward pass of causal attention, 64 elements a head: a block has 64 queries, and goes through keys and values 64
// at a time with a running maximum and sum of each row. The probabilities stay in registers.
#include "tests/programs/hopper/hopper.cuh"

#include <cuda_fp16.h>

namespace {

constexpr int kRows = 64, kHead = 64, kTile = kRows * kHead * 2;

struct Shared {
  alignas(1024) unsigned char q[kTile], k[2][kTile], v[2][kTile];
  uint64_t full[2];
};

__device__ void load(Shared& s, const CUtensorMap* k, const CUtensorMap* v, int step, int row) {
  uint64_t* const full = &s.full[step % 2];
  hopper::load(s.k[step % 2], k, full, 0, row + step * kRows);
  hopper::load(s.v[step % 2], v, full, 0, row + step * kRows);
}

__device__ unsigned halves(float low, float high) {
  const __half2 two = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&two);
}

/// A row of D is in four lanes.
template <class Operation> __device__ float of_row(float x, Operation operation) {
  x = operation(x, __shfl_xor_sync(~0u, x, 1));
  return operation(x, __shfl_xor_sync(~0u, x, 2));
}

struct Rows { // the two of a thread
  float most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};

  /// Scores, in powers of two, become probabilities; what was summed before is to be scaled.
  __device__ void take(float (&scores)[32], float (&out)[32]) {
    for (int half = 0; half < 2; ++half) {
      float top = most[half];
      for (int i = 0; i < 32; ++i)
        if (i % 4 / 2 == half) top = fmaxf(top, scores[i]);
      top = of_row(top, [](float x, float y) { return fmaxf(x, y); });
      const float scale = exp2f(most[half] - top);
      most[half] = top;
      float added = 0;
      for (int i = 0; i < 32; ++i)
        if (i % 4 / 2 == half) {
          scores[i] = exp2f(scores[i] - top);
          added += scores[i];
          out[i] *= scale;
        }
      sum[half] = sum[half] * scale + of_row(added, [](float x, float y) { return x + y; });
    }
  }
};

} // namespace

extern "C" __global__ void __launch_bounds__(128)
    attention(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v, float* o, int length, float scale) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  const int head = blockIdx.y * length, row = head + blockIdx.x * kRows, steps = blockIdx.x + 1;
  if (threadIdx.x == 0) {
    hopper::init(&s.full[0], 1);
    hopper::init(&s.full[1], 1);
    hopper::fence_init();
    hopper::expect(&s.full[0], 3 * kTile);
    hopper::load(s.q, &q, &s.full[0], 0, row);
    load(s, &k, &v, 0, head);
  }
  __syncthreads();
  float out[32] = {};
  Rows rows;
  for (int step = 0; step < steps; ++step) {
    if (threadIdx.x == 0 && step + 1 < steps) {
      hopper::expect(&s.full[(step + 1) % 2], 2 * kTile);
      load(s, &k, &v, step + 1, head);
    }
    hopper::wait(&s.full[step % 2], step / 2 % 2);
    const uint64_t in_q = hopper::descriptor(s.q, 128), in_k = hopper::descriptor(s.k[step % 2], 128);
    float scores[32];
    hopper::begin_products();
    for (int j = 0; j < kHead / 16; ++j) hopper::multiply_f16(scores, in_q + 2 * j, in_k + 2 * j, j != 0);
    hopper::end_products();
    hopper::wait_products<0>();
    for (int i = 0; i < 32; ++i) {
      const bool later = step + 1 == steps && hopper::column_of(i) > hopper::row_of(i);
      scores[i] = later ? -INFINITY : scores[i] * scale;
    }
    rows.take(scores, out);
    const uint64_t in_v = hopper::descriptor(s.v[step % 2], 128);
    unsigned a[kRows / 16][4];
    for (int i = 0; i < 16; ++i) a[i / 4][i % 4] = halves(scores[2 * i], scores[2 * i + 1]);
    hopper::begin_products();
    for (int j = 0; j < kRows / 16; ++j) hopper::multiply_transposed(out, a[j], in_v + 128 * j, 1);
    hopper::end_products();
    hopper::wait_products<0>();
    __syncthreads();
  }
  for (int i = 0; i < 32; ++i)
    o[static_cast<size_t>(row + hopper::row_of(i)) * kHead + hopper::column_of(i)] = out[i] / rows.sum[i % 4 / 2];
}
