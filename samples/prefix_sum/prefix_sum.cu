// The five prefix sums of J. Cornelis (Anti-parallel Patterns in Fine-grain Data-parallel Programs, VUB 2010, chapter
// 7, listings 7.1 and 7.2): Blelloch's algorithm on subarrays, one per block. Each removes one pattern from the
// previous one. max_vals receives the sum of each subarray.
#define BLOCK_SIZE 256

// 7.2.1: everything in global memory; every thread computes the sum of its own element.
extern "C" __global__ void prefix_naive(const int* in, int* out, int* max_vals, int n) {
  const int index = BLOCK_SIZE * blockIdx.x + threadIdx.x;
  out[index] = in[index];
  for (int d = 2; d <= BLOCK_SIZE; d *= 2) {
    __syncthreads();
    if (threadIdx.x % d == d - 1) out[index] = out[index] + out[index - d / 2];
  }
  if (threadIdx.x == BLOCK_SIZE - 1) {
    max_vals[blockIdx.x] = out[index];
    out[index] = 0;
  }
  for (int d = BLOCK_SIZE; d >= 2; d /= 2) {
    __syncthreads();
    if (threadIdx.x % d == d - 1) {
      const int left = out[index - d / 2];
      out[index - d / 2] = out[index];
      out[index] = out[index] + left;
    }
  }
}

// 7.2.2: the sweeps in shared memory; subarrays may be incomplete.
extern "C" __global__ void prefix_shared(const int* in, int* out, int* max_vals, int n) {
  __shared__ int values[BLOCK_SIZE];
  const int index = BLOCK_SIZE * blockIdx.x + threadIdx.x, i = threadIdx.x;
  values[i] = index < n ? in[index] : 0;
  for (int d = 2; d <= BLOCK_SIZE; d *= 2) {
    __syncthreads();
    if (i % d == d - 1) values[i] += values[i - d / 2];
  }
  if (i == BLOCK_SIZE - 1) {
    max_vals[blockIdx.x] = values[i];
    values[i] = 0;
  }
  for (int d = BLOCK_SIZE; d >= 2; d /= 2) {
    __syncthreads();
    if (i % d == d - 1) {
      const int left = values[i - d / 2];
      values[i - d / 2] = values[i];
      values[i] += left;
    }
  }
  __syncthreads();
  if (index < n) out[index] = values[i];
}

// The sweeps over a tile in shared memory by the first threads of the block (7.2.3: static thread reordering). PLACE
// gives the position of an element.
#define SWEEPS(TILE, PLACE)                                                                          \
  int distance = 1, increment = threadIdx.x + 1, at = threadIdx.x;                                   \
  for (; distance < (TILE); distance *= 2, increment *= 2) {                                         \
    __syncthreads();                                                                                 \
    at += increment;                                                                                 \
    if (at < (TILE)) values[PLACE(at)] += values[PLACE(at - distance)];                              \
  }                                                                                                  \
  __syncthreads();                                                                                   \
  if (threadIdx.x == 0) {                                                                            \
    max_vals[blockIdx.x] = values[PLACE((TILE)-1)];                                                  \
    values[PLACE((TILE)-1)] = 0;                                                                     \
  }                                                                                                  \
  for (distance /= 2, increment /= 2; distance > 0; distance /= 2, increment /= 2) {                 \
    __syncthreads();                                                                                 \
    if (at < (TILE)) {                                                                               \
      const int left = values[PLACE(at - distance)];                                                 \
      values[PLACE(at - distance)] = values[PLACE(at)];                                              \
      values[PLACE(at)] += left;                                                                     \
    }                                                                                                \
    at -= increment;                                                                                 \
  }                                                                                                  \
  __syncthreads();

#define PLAIN(i) (i)
#define PADDED(i) ((i) + ((i) >> 4))  // an unused element after every 16 elements

// 7.2.3: divergence between the warps of a block, not within a warp.
extern "C" __global__ void prefix_reordered(const int* in, int* out, int* max_vals, int n) {
  __shared__ int values[BLOCK_SIZE];
  const int index = BLOCK_SIZE * blockIdx.x + threadIdx.x;
  values[threadIdx.x] = index < n ? in[index] : 0;
  SWEEPS(BLOCK_SIZE, PLAIN)
  if (index < n) out[index] = values[threadIdx.x];
}

// 7.2.4: two elements per thread.
extern "C" __global__ void prefix_two_elements(const int* in, int* out, int* max_vals, int n) {
  __shared__ int values[2 * BLOCK_SIZE];
  const int index = 2 * BLOCK_SIZE * blockIdx.x + threadIdx.x;
  values[threadIdx.x] = index < n ? in[index] : 0;
  values[threadIdx.x + BLOCK_SIZE] = index + BLOCK_SIZE < n ? in[index + BLOCK_SIZE] : 0;
  SWEEPS(2 * BLOCK_SIZE, PLAIN)
  if (index < n) out[index] = values[threadIdx.x];
  if (index + BLOCK_SIZE < n) out[index + BLOCK_SIZE] = values[threadIdx.x + BLOCK_SIZE];
}

// 7.2.5: no bank conflicts.
extern "C" __global__ void prefix_padded(const int* in, int* out, int* max_vals, int n) {
  __shared__ int values[2 * BLOCK_SIZE + 31];
  const int index = 2 * BLOCK_SIZE * blockIdx.x + threadIdx.x;
  values[PADDED(threadIdx.x)] = index < n ? in[index] : 0;
  values[PADDED(threadIdx.x + BLOCK_SIZE)] = index + BLOCK_SIZE < n ? in[index + BLOCK_SIZE] : 0;
  SWEEPS(2 * BLOCK_SIZE, PADDED)
  if (index < n) out[index] = values[PADDED(threadIdx.x)];
  if (index + BLOCK_SIZE < n) out[index + BLOCK_SIZE] = values[PADDED(threadIdx.x + BLOCK_SIZE)];
}
