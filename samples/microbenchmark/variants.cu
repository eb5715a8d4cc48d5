// The other micro-benchmarks of A. Dasgupta (CUDA Performance Analyzer, tables 2 to 5, 17 and 18): scalar loads that
// merge, because a warp loads what its neighbour loads an iteration earlier, and loads of four-element vectors.
// scalar.cu has the loads that do not merge. Here thread 0 stores its result, so that it can be checked.
#define WARPSIZE 32
#define CONFIG 4   // loads per iteration
#define ITERS 100  // iterations that the layout of dm_src has room for

// Two multiply-adds. They rotate (a, b) by a small angle, so that the values neither vanish nor overflow.
#define FMAD2(a, b) a = b * 0.0625f + a; b = a * -0.0625f + b;
#define EIGHT_FMADS(a, b) FMAD2(a, b) FMAD2(a, b) FMAD2(a, b) FMAD2(a, b)

static __device__ void keep(float a, float b, float index, float* result) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *result = a + b + index;
}

static __device__ void scalar_loads(int num_iterations, int index, const float* dm_src, float* result) {
  float a = 0.5f, b = 0.25f;
#pragma unroll 1
  for (int i = 1; i <= num_iterations; i++) {
    EIGHT_FMADS(a, b)
#pragma unroll
    for (int j = 0; j < CONFIG; ++j) {
      index += dm_src[index];  // the next load depends on this one
      EIGHT_FMADS(a, b)
    }
  }
  keep(a, b, index, result);
}

static __device__ void vector_loads(int num_iterations, int index, const float4* dm_src, float* result) {
  float a = 0.5f, b = 0.25f, index3 = 0;
#pragma unroll 1
  for (int i = 1; i <= num_iterations; i++) {
    EIGHT_FMADS(a, b)
#pragma unroll
    for (int j = 0; j < CONFIG; ++j) {
      const float4 loadregister = dm_src[index];
      index += loadregister.w;
      a += loadregister.x;
      b += loadregister.y;
      index3 += loadregister.z;
      EIGHT_FMADS(a, b)
    }
  }
  keep(a, b, index + index3, result);
}

// Table 2, with merging: 32-byte transactions. dm_src holds 32.
extern "C" __global__ void scalar_32b_merging(int num_iterations, int blocksize, const float* dm_src, float* result) {
  scalar_loads(num_iterations, blockIdx.x * blocksize + threadIdx.x / 16 * 8 + threadIdx.x % 8, dm_src, result);
}

// Table 3, with merging: 64-byte transactions. dm_src holds 32.
extern "C" __global__ void scalar_64b_merging(int num_iterations, int blocksize, const float* dm_src, float* result) {
  scalar_loads(num_iterations, blockIdx.x * blocksize + threadIdx.x, dm_src, result);
}

// The start of this block's vectors: all lanes of a warp load the same vector. dm_src
// holds 2 everywhere.
static __device__ int first_of_block(int blocksize) { return blockIdx.x * (blocksize / WARPSIZE) * ITERS * CONFIG * 2; }

// Tables 4, 5 and 18, no merging: each warp has its own vectors.
extern "C" __global__ void vector_own(int num_iterations, int blocksize, const float4* dm_src, float* result) {
  const int index = first_of_block(blocksize) + threadIdx.x / WARPSIZE * ITERS * CONFIG * 2;
  vector_loads(num_iterations, index, dm_src, result);
}

// Table 18, overlapping: a warp loads what the previous warp loads one step earlier.
extern "C" __global__ void vector_overlapping(int num_iterations, int blocksize, const float4* dm_src, float* result) {
  const int index = first_of_block(blocksize) + threadIdx.x / WARPSIZE * 2;
  vector_loads(num_iterations, index, dm_src, result);
}

// Table 5, with merging: all warps of a block load the same vectors at the same time.
extern "C" __global__ void vector_same(int num_iterations, int blocksize, const float4* dm_src, float* result) {
  vector_loads(num_iterations, first_of_block(blocksize), dm_src, result);
}
