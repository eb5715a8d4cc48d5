// uBench (Y. Torres, A. Gonzalez-Escribano, D. R. Llanos: Measuring the Impact of Configuration Parameters in CUDA
// Through Benchmarking), the eight benchmarks that the paper describes. Each thread has one element of a square
// matrix; the sides of a block must divide the matrix's.
#define VALUE 7
#define LOOP 1000  // iterations of the benchmarks with a high load

// A mode: the thread's coordinates in the grid are those of its element.
static __device__ int a_mode(int width) {
  return (blockIdx.y * blockDim.y + threadIdx.y) * width + blockIdx.x * blockDim.x + threadIdx.x;
}

// B mode: consecutive blocks get consecutive elements, whatever the shape of the blocks.
static __device__ int b_mode() {
  return (blockIdx.y * gridDim.x + blockIdx.x) * (blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;
}

// Work that the compiler cannot remove.
static __device__ int load(int value) {
#pragma unroll 1
  for (int i = 0; i < LOOP; ++i) value = value * 5 + i;
  return value;
}

extern "C" __global__ void ubench_1(int* matrix, int width) { matrix[a_mode(width)] = VALUE; }

extern "C" __global__ void ubench_3(int* vector, int width) { vector[b_mode()] = VALUE; }

// Each thread adds the elements of its block.
extern "C" __global__ void ubench_5(const int* input, int* vector, int width) {
  const int size = blockDim.x * blockDim.y, first = (blockIdx.y * gridDim.x + blockIdx.x) * size;
  int sum = VALUE;
#pragma unroll 1
  for (int i = 0; i < size; ++i) sum += input[first + i];
  vector[b_mode()] = sum;
}

extern "C" __global__ void ubench_6(int* matrix, int width) {}

// Each thread adds the elements of its row of the block.
extern "C" __global__ void ubench_7(const int* input, int* matrix, int width) {
  const int first = (blockIdx.y * blockDim.y + threadIdx.y) * width + blockIdx.x * blockDim.x;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < blockDim.x; ++i) sum += input[first + i];
  matrix[a_mode(width)] = sum;
}

// C mode: only one thread of a block stores.
extern "C" __global__ void ubench_9(int* matrix, int width) {
  if (threadIdx.x == 0 && threadIdx.y == 0) matrix[a_mode(width)] = VALUE;
}

extern "C" __global__ void ubench_10(int* matrix, int width) { matrix[a_mode(width)] = load(VALUE); }

extern "C" __global__ void ubench_11(int* vector, int width) { vector[b_mode()] = load(VALUE); }
