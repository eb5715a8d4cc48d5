// SPDX-License-Identifier: Apache-2.0
// D = A B^T where blocks share the work evenly, not by tiles: all steps of all tiles are one line, and each block has a
// part of it. A tile that begins in one block and ends in another is summed by the last: the others leave their sums in
// memory, and raise a flag.
#include "tests/programs/hopper/hopper.cuh"

namespace {

constexpr int kTile = 64, kDepth = 64, kBytes = kTile * kDepth * 2;

struct Shared {
  alignas(1024) unsigned char a[2][kBytes], b[2][kBytes];
  uint64_t full[2];
};

struct Pipeline {
  Shared& s;
  const CUtensorMap *a, *b;
  int steps, columns; // of a tile; tiles in a row
  int loaded = 0, used = 0;

  /// The step with this number on the line.
  __device__ void load(int number) {
    if (threadIdx.x == 0) {
      const int tile = number / steps, stage = loaded % 2;
      hopper::expect(&s.full[stage], 2 * kBytes);
      hopper::load(s.a[stage], a, &s.full[stage], number % steps * kDepth, tile / columns * kTile);
      hopper::load(s.b[stage], b, &s.full[stage], number % steps * kDepth, tile % columns * kTile);
    }
    ++loaded;
  }
  __device__ void multiply(float (&sums)[32], bool first) {
    const int stage = used % 2;
    hopper::wait(&s.full[stage], used / 2 % 2);
    const uint64_t in_a = hopper::descriptor(s.a[stage], 128), in_b = hopper::descriptor(s.b[stage], 128);
    hopper::begin_products();
    for (int j = 0; j < kDepth / 16; ++j) hopper::multiply_f16(sums, in_a + 2 * j, in_b + 2 * j, !first || j != 0);
    hopper::end_products();
    hopper::wait_products<0>();
    __syncthreads();
    ++used;
  }
};

__device__ int begin_of(int block, int all) {
  return static_cast<int>(static_cast<long long>(all) * block / gridDim.x);
}

__device__ void leave(const float (&sums)[32], float* partial, unsigned* flag) {
  for (int i = 0; i < 32; ++i) partial[i * 128 + threadIdx.x] = sums[i];
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("fence.acq_rel.gpu;\nst.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ void add(float (&sums)[32], const float* partial, const unsigned* flag) {
  unsigned raised = 0;
  while (raised == 0) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(raised) : "l"(flag) : "memory");
  for (int i = 0; i < 32; ++i) sums[i] += partial[i * 128 + threadIdx.x];
}

} // namespace

/// `partials`: 4096 numbers a block; `flags`: one a block, all 0.
extern "C" __global__ void __launch_bounds__(128)
    stream_k(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* d, float* partials,
             unsigned* flags, int m, int n, int k) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& s = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) {
    hopper::init(&s.full[0], 1);
    hopper::init(&s.full[1], 1);
    hopper::fence_init();
  }
  __syncthreads();
  Pipeline pipeline{s, &a, &b, k / kDepth, n / kTile};
  const int steps = pipeline.steps, all = m / kTile * pipeline.columns * steps, block = static_cast<int>(blockIdx.x);
  const int begin = begin_of(block, all), end = begin_of(block + 1, all);
  if (begin < end) pipeline.load(begin);
  for (int at = begin; at < end;) {
    const int tile = at / steps, last = min(end, (tile + 1) * steps), first = at;
    float sums[32];
    for (; at < last; ++at) {
      if (at + 1 < end) pipeline.load(at + 1);
      pipeline.multiply(sums, at == first);
    }
    if (last < (tile + 1) * steps) {
      leave(sums, partials + block * 4096, flags + block);
      continue;
    }
    for (int from = block, start = first; start > tile * steps; start = begin_of(from, all)) {
      --from;
      add(sums, partials + from * 4096, flags + from);
    }
    for (int i = 0; i < 32; ++i) {
      const int row = tile / pipeline.columns * kTile + hopper::row_of(i);
      d[static_cast<size_t>(row) * n + tile % pipeline.columns * kTile + hopper::column_of(i)] = sums[i];
    }
  }
}
