// Sorts words by four bits at a time, from the lowest: each pass counts the digits of each block, adds up the counts, and
// moves every word behind those that come before it. Equal digits keep their order.
constexpr unsigned kDigits = 16, kThreads = 256, kWarps = kThreads / 32;

// counts[digit * blocks + block]
extern "C" __global__ void radix_count(const unsigned* keys, unsigned n, unsigned shift, unsigned* counts) {
  __shared__ unsigned bins[kDigits];
  if (threadIdx.x < kDigits) bins[threadIdx.x] = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] >> shift & (kDigits - 1)], 1u);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Exclusive prefix sums in place, by one block.
extern "C" __global__ void radix_scan(unsigned* counts, unsigned m) {
  __shared__ unsigned sums[kThreads];
  unsigned carry = 0;
  for (unsigned first = 0; first < m; first += kThreads) {
    const unsigned i = first + threadIdx.x, own = i < m ? counts[i] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
      const unsigned other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
      __syncthreads();
      sums[threadIdx.x] += other;
      __syncthreads();
    }
    if (i < m) counts[i] = carry + sums[threadIdx.x] - own;
    carry += sums[kThreads - 1];
    __syncthreads();
  }
}

extern "C" __global__ void radix_scatter(const unsigned* keys, unsigned* sorted, unsigned n, unsigned shift,
                                         const unsigned* counts) {
  __shared__ unsigned of_warp[kWarps][kDigits];
  const unsigned i = blockIdx.x * kThreads + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < kWarps * kDigits) of_warp[threadIdx.x / kDigits][threadIdx.x % kDigits] = 0;
  __syncthreads();
  const unsigned digit = i < n ? keys[i] >> shift & (kDigits - 1) : kDigits;
  const unsigned alike = __match_any_sync(~0u, digit);
  const unsigned rank = __popc(alike & ((1u << lane) - 1));
  if (rank == 0 && digit < kDigits) of_warp[warp][digit] = __popc(alike);
  __syncthreads();
  if (digit == kDigits) return;
  unsigned place = counts[digit * gridDim.x + blockIdx.x] + rank;
  for (unsigned w = 0; w < warp; ++w) place += of_warp[w][digit];
  sorted[place] = keys[i];
}
