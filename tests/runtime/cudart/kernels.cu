// The kernels of the tests of the runtime. kernels.fatbin is this file compiled by nvcc 13.0:
//   nvcc -fatbin -gencode arch=compute_75,code=compute_75 kernels.cu -o kernels.fatbin
#include <cooperative_groups.h>

__constant__ int scale = 3;
__device__ int counter;
__managed__ int managed = 7;

extern "C" {

__global__ void multiply(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * scale;
  if (i == 0) atomicAdd(&counter, 1);
}

__global__ void add_managed(int* out) { out[threadIdx.x] += managed; }

__global__ void store(int* where, int value) { *where = value; }

// Waits until the host writes to `flag`, then adds one to `result`.
__global__ void wait_for(volatile int* flag, int* result) {
  while (*flag == 0) {}
  *result += 1;
}

__global__ void reverse(int* data) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

// Each block adds its number to sum[0]; after the grid's barrier every thread reads the whole sum.
__global__ void grid_sum(int* sum, int* out) {
  if (threadIdx.x == 0) atomicAdd(sum, static_cast<int>(blockIdx.x));
  cooperative_groups::this_grid().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = *sum;
}

__global__ void fetch(cudaTextureObject_t texture, float* out, float x, float y) { *out = tex2D<float>(texture, x, y); }

__global__ void write_surface(cudaSurfaceObject_t surface, int value) {
  surf2Dwrite(value, surface, static_cast<int>(threadIdx.x * sizeof(int)), static_cast<int>(blockIdx.x));
}
}
