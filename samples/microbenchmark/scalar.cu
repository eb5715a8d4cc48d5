// A. Dasgupta's micro-benchmark for scalar loads (CUDA Performance Analyzer, appendix A.1): a load of a warp takes two
// transactions, all of one size, and no two warps access the same memory. dm_src holds the distance to the next load.
#define WARPSIZE 32
#define CONFIG 4   // loads per iteration
#define ITERS 100  // iterations that the layout of dm_src has room for

// Two multiply-adds. They rotate (a, b) by a small angle, so that the values neither vanish nor overflow.
#define FMAD2(a, b) a = b * 0.0625f + a; b = a * -0.0625f + b;
#define EIGHT_FMADS(a, b) FMAD2(a, b) FMAD2(a, b) FMAD2(a, b) FMAD2(a, b)

// Uses all results at no cost, so that the compiler keeps their computation.
static __device__ void keep(float a, float b, int index) {
  __shared__ float result[520];
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    result[threadIdx.x] = a + b + index;
  }
}

static __device__ void compute_and_load(int num_iterations, int index, const float* dm_src) {
  float a = 0.5f, b = 0.25f, loadregister;
  for (int i = 1; i <= num_iterations; i++) {
    EIGHT_FMADS(a, b)
    loadregister = dm_src[index];
    index += loadregister;  // the next load depends on this one
    EIGHT_FMADS(a, b)
    loadregister = dm_src[index];
    index += loadregister;
    EIGHT_FMADS(a, b)
    loadregister = dm_src[index];
    index += loadregister;
    EIGHT_FMADS(a, b)
    loadregister = dm_src[index];
    index += loadregister;
    EIGHT_FMADS(a, b)
  }
  keep(a, b, index);
}

// The start of the loads of this thread's warp, where each load of a warp has its own WARPSIZE elements.
static __device__ int first_of_warp(int blocksize) {
  return (blockIdx.x * (blocksize / WARPSIZE) + threadIdx.x / WARPSIZE) * (CONFIG * ITERS * WARPSIZE);
}

// 32-byte transactions: the 16 threads of a half-warp share 8 elements (Table 17, Figure 9). dm_src holds 32.
extern "C" __global__ void scalar_32b(int num_iterations, int blocksize, const float* dm_src) {
  int lane = threadIdx.x % WARPSIZE;
  int index = first_of_warp(blocksize) + lane / 16 * 8 + lane % 8;
  compute_and_load(num_iterations, index, dm_src);
}

// 64-byte transactions: a half-warp loads 16 consecutive elements (Table 17, Figure 11). dm_src holds 32.
extern "C" __global__ void scalar_64b(int num_iterations, int blocksize, const float* dm_src) {
  int lane = threadIdx.x % WARPSIZE;
  int index = first_of_warp(blocksize) + lane;
  compute_and_load(num_iterations, index, dm_src);
}

// 128-byte transactions: a half-warp loads every second of 32 elements (Table 17, Figure 33). dm_src holds 64.
extern "C" __global__ void scalar_128b(int num_iterations, int blocksize, const float* dm_src) {
  int lane = threadIdx.x % WARPSIZE;
  int index = first_of_warp(blocksize) * 2 + lane * 2;
  compute_and_load(num_iterations, index, dm_src);
}

// CONFIG 0: the same computation without the loads (Table 6).
extern "C" __global__ void scalar_config0(int num_iterations, int blocksize, const float* dm_src) {
  int index = blockIdx.x * blocksize + threadIdx.x;
  float a = 0.5f, b = 0.25f;
  for (int i = 1; i <= num_iterations; i++) {
    EIGHT_FMADS(a, b)
    EIGHT_FMADS(a, b)
    EIGHT_FMADS(a, b)
    EIGHT_FMADS(a, b)
    EIGHT_FMADS(a, b)
  }
  keep(a, b, index);
}
