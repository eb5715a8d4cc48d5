// The cost of branch divergence: the benchmark of J. Cornelis (Anti-parallel Patterns in Fine-grain Data-parallel
// Programs, VUB 2010, chapter 3, listings 3.1 and 3.2) and its remedies.
// The value of an element, 0 to 9, selects the branch of its thread.
#define BLOCK_WIDTH 16
#define BLOCK_SIZE (BLOCK_WIDTH * BLOCK_WIDTH)
#define NUMBER_OF_BRANCHES 10
#define ROUNDS 64  // rounds of the compute-bound operation

// The weight of a neighbour, by branch: the lookup table that replaces the branches.
__constant__ int weights[NUMBER_OF_BRANCHES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

typedef int Tile[BLOCK_WIDTH][BLOCK_WIDTH];

// Data-bound: the mean over the 3 x 3 neighbours in the tile, which wraps around.
static __device__ int convolve(const Tile& tile, int row, int column, int weight) {
  int sum = 0;
  for (int j = -1; j <= 1; ++j)
    for (int i = -1; i <= 1; ++i) sum += tile[(row + j) & (BLOCK_WIDTH - 1)][(column + i) & (BLOCK_WIDTH - 1)] * weight;
  return sum;
}

// Compute-bound: a chain of multiplications and additions.
static __device__ int compute(int x, int weight, int rounds) {
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) x = x * 3 + weight;
  return x;
}

enum Work { data_bound, compute_bound, unequal };

template <int work, int branch>
static __device__ __noinline__ int operation(const Tile& tile, int row, int column) {
  if (work == data_bound) return convolve(tile, row, column, branch + 1);
  // Unequal: branch n takes n + 1 times as long as branch 0.
  return compute(tile[row][column], branch + 1, work == unequal ? ROUNDS * (branch + 1) : ROUNDS);
}

template <int work>
static __device__ int branch(const Tile& tile, int row, int column) {
  switch (tile[row][column]) {
    case 0: return operation<work, 0>(tile, row, column);
    case 1: return operation<work, 1>(tile, row, column);
    case 2: return operation<work, 2>(tile, row, column);
    case 3: return operation<work, 3>(tile, row, column);
    case 4: return operation<work, 4>(tile, row, column);
    case 5: return operation<work, 5>(tile, row, column);
    case 6: return operation<work, 6>(tile, row, column);
    case 7: return operation<work, 7>(tile, row, column);
    case 8: return operation<work, 8>(tile, row, column);
    case 9: return operation<work, 9>(tile, row, column);
    default: return 0;
  }
}

// Remedy 1: the branches differ only in a number, which comes from a table.
template <int work>
static __device__ int look_up(const Tile& tile, int row, int column) {
  const int weight = weights[tile[row][column]];
  if (work == data_bound) return convolve(tile, row, column, weight);
  return compute(tile[row][column], weight, work == unequal ? ROUNDS * weight : ROUNDS);
}

// The index of a thread's element in the matrix.
static __device__ int place(int width) {
  return (blockIdx.y * BLOCK_WIDTH + threadIdx.y) * width + blockIdx.x * BLOCK_WIDTH + threadIdx.x;
}

#define BRANCHING(work)                                                                         \
  extern "C" __global__ void branch_##work(const int* in, int* out, int width) {                \
    __shared__ Tile tile;                                                                       \
    tile[threadIdx.y][threadIdx.x] = in[place(width)];                                          \
    __syncthreads();                                                                            \
    out[place(width)] = branch<work>(tile, threadIdx.y, threadIdx.x);                           \
  }                                                                                             \
  extern "C" __global__ void lookup_##work(const int* in, int* out, int width) {                \
    __shared__ Tile tile;                                                                       \
    tile[threadIdx.y][threadIdx.x] = in[place(width)];                                          \
    __syncthreads();                                                                            \
    out[place(width)] = look_up<work>(tile, threadIdx.y, threadIdx.x);                          \
  }                                                                                             \
  /* Remedy 2: the threads of a block are sorted by the branch that they take. */               \
  extern "C" __global__ void reorder_##work(const int* in, int* out, int width) {               \
    __shared__ Tile tile;                                                                       \
    __shared__ int from[BLOCK_SIZE];                                                            \
    tile[threadIdx.y][threadIdx.x] = in[place(width)];                                          \
    __syncthreads();                                                                            \
    sort_threads(from, tile[threadIdx.y][threadIdx.x]);                                         \
    const int mine = from[threadIdx.y * BLOCK_WIDTH + threadIdx.x];                             \
    const int row = mine / BLOCK_WIDTH, column = mine % BLOCK_WIDTH;                            \
    out[(blockIdx.y * BLOCK_WIDTH + row) * width + blockIdx.x * BLOCK_WIDTH + column] =         \
        branch<work>(tile, row, column);                                                        \
  }

// Listing 3.2: counting sort of the threads by their element.
static __device__ void sort_threads(int* from, int element) {
  __shared__ int counts[NUMBER_OF_BRANCHES];
  const int thread = threadIdx.y * BLOCK_WIDTH + threadIdx.x;
  if (thread < NUMBER_OF_BRANCHES) counts[thread] = 0;
  __syncthreads();
  atomicAdd(&counts[element], 1);
  __syncthreads();
  if (thread == 0) {  // exclusive prefix sum
    int sum = 0;
    for (int i = 0; i < NUMBER_OF_BRANCHES; ++i) {
      const int count = counts[i];
      counts[i] = sum;
      sum += count;
    }
  }
  __syncthreads();
  from[atomicAdd(&counts[element], 1)] = thread;
  __syncthreads();
}

BRANCHING(data_bound)
BRANCHING(compute_bound)
BRANCHING(unequal)

// Remedy 3, figures 3.3 and 3.4: the sum of BLOCK_SIZE elements. In the first version, the threads at the remaining
// elements add; in the second, statically reordered, the first threads of the block add.
extern "C" __global__ void sum_in_place(const int* in, int* out) {
  __shared__ int values[BLOCK_SIZE];
  values[threadIdx.x] = in[blockIdx.x * BLOCK_SIZE + threadIdx.x];
  for (int distance = 1; distance < BLOCK_SIZE; distance *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * distance) == 0) values[threadIdx.x] += values[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

extern "C" __global__ void sum_reordered(const int* in, int* out) {
  __shared__ int values[BLOCK_SIZE];
  values[threadIdx.x] = in[blockIdx.x * BLOCK_SIZE + threadIdx.x];
  for (int distance = BLOCK_SIZE / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) values[threadIdx.x] += values[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}

// CME 213 (E. Darve, Stanford 2019): the two halves of each warp, or of the warps, take different branches.
extern "C" __global__ void branch_per_thread(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 2 == 0)
    out[i] = in[i] * 2 + 1;
  else
    out[i] = sqrtf(in[i]) + 3;
}

extern "C" __global__ void branch_per_warp(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x / warpSize % 2 == 0)
    out[i] = in[i] * 2 + 1;
  else
    out[i] = sqrtf(in[i]) + 3;
}
