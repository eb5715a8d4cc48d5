// Exclusive prefix sums in one pass: each block takes a tile, publishes its sum, and adds up the sums of the tiles
// before it, from the nearest on, until it meets one that has published all of them (Merrill and Garland, "Single-pass
// Parallel Prefix Scan with Decoupled Look-back", 2016). Blocks wait for blocks that have begun before them.
#include <cuda/atomic>

constexpr unsigned kThreads = 128, kItems = 4;
enum State : unsigned long long { kInvalid, kPartial, kInclusive }; // in the upper half; the sum is in the lower one

__device__ unsigned long long packed(State state, unsigned sum) { return state << 32 | sum; }

extern "C" __global__ void lookback_scan(const unsigned* in, unsigned* out, unsigned n, unsigned* ticket,
                                         unsigned long long* tiles) {
  __shared__ unsigned tile, before, warp_sums[kThreads / 32];
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  const unsigned first = (tile * kThreads + threadIdx.x) * kItems;
  unsigned items[kItems], sum = 0;
  for (unsigned i = 0; i < kItems; ++i) {
    items[i] = first + i < n ? in[first + i] : 0;
    sum += items[i];
  }
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned inclusive = sum;
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(~0u, inclusive, d);
    if (lane >= d) inclusive += other;
  }
  if (lane == 31) warp_sums[warp] = inclusive;
  __syncthreads();
  unsigned in_block = 0, total = 0;
  for (unsigned w = 0; w < kThreads / 32; ++w) {
    if (w < warp) in_block += warp_sums[w];
    total += warp_sums[w];
  }
  if (threadIdx.x == 0) {
    using Tile = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
    Tile own(tiles[tile]);
    unsigned sum_before = 0;
    if (tile != 0) {
      own.store(packed(kPartial, total), cuda::memory_order_release);
      for (unsigned t = tile - 1;; --t) {
        unsigned long long state;
        do state = Tile(tiles[t]).load(cuda::memory_order_acquire);
        while (state >> 32 == kInvalid);
        sum_before += static_cast<unsigned>(state);
        if (state >> 32 == kInclusive) break;
      }
    }
    own.store(packed(kInclusive, sum_before + total), cuda::memory_order_release);
    before = sum_before;
  }
  __syncthreads();
  unsigned running = before + in_block + inclusive - sum;
  for (unsigned i = 0; i < kItems; ++i) {
    if (first + i < n) out[first + i] = running;
    running += items[i];
  }
}
