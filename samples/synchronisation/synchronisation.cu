// J. Cornelis (Anti-parallel Patterns in Fine-grain Data-parallel Programs, VUB 2010), chapter 5: `operations` steps on
// each element, with a synchronisation after every `between` of them.
#define BLOCK_SIZE 256

static __device__ int step(int x, int i) { return x * 3 + i; }

// Within the block: __syncthreads().
extern "C" __global__ void block_barriers(const int* in, int* out, int operations, int between) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  int x = in[index];
#pragma unroll 1
  for (int done = 0; done < operations;) {
    const int end = min(done + between, operations);
#pragma unroll 1
    for (; done < end; ++done) x = step(x, done);
    if (done < operations) __syncthreads();
  }
  out[index] = x;
}

// For the whole grid: one launch does the steps first to last - 1.
extern "C" __global__ void grid_step(const int* in, int* out, int first, int last) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  int x = in[index];
#pragma unroll 1
  for (int i = first; i < last; ++i) x = step(x, i);
  out[index] = x;
}

// The same through shared memory, as in a kernel whose threads share data.
extern "C" __global__ void grid_step_shared(const int* in, int* out, int first, int last) {
  __shared__ int values[BLOCK_SIZE];
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = in[index];
  __syncthreads();
  int x = values[threadIdx.x];
#pragma unroll 1
  for (int i = first; i < last; ++i) x = step(x, i);
  values[threadIdx.x] = x;
  __syncthreads();
  out[index] = values[threadIdx.x];
}
