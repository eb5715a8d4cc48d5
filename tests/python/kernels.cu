// SPDX-License-Identifier: Apache-2.0
// The kernels of the tests of the Python package. kernels.ptx: nvcc 13, -ptx -arch=sm_90 -lineinfo.
#include <cstdio>

__device__ float table[4];

extern "C" __global__ void nothing() {}

__global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Without types in its name.
extern "C" __global__ void increment(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

struct Line {
  double slope;
  int offset;
};

__global__ void evaluate(Line line, double* y) { y[threadIdx.x] = line.slope * threadIdx.x + line.offset; }

__global__ void numbers(char a, unsigned short b, long long c, double d, bool e, double* out) {
  out[0] = a;
  out[1] = b;
  out[2] = static_cast<double>(c);
  out[3] = d;
  out[4] = e;
}

// Reverses a block by way of dynamic shared memory.
__global__ void reverse(int* x) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void write_at(float* x, long long index) { x[index] = 1; }

__global__ void fill_table(float value) { table[threadIdx.x] = value; }

__global__ void say(int n) { printf("thread %d of %d\n", threadIdx.x, n); }

// Runs until the host stops it: no instruction of the loop repeats a state.
__global__ void count_for_ever(unsigned long long* x) {
  unsigned long long n = 0;
  while (n != ~0ull) {
    n += 2;
    *reinterpret_cast<volatile unsigned long long*>(x) = n;
  }
}

__global__ void work(unsigned* x, unsigned n) {
  unsigned v = threadIdx.x;
  for (unsigned i = 0; i < n; ++i) v = v * 1664525u + 1013904223u;
  x[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void rank_in_cluster(unsigned* x) {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) x[blockIdx.x] = rank;
}

__global__ void strided(const float* in, float* out, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}

__global__ void sample(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f);
}

__global__ void draw(cudaSurfaceObject_t surface) {
  surf2Dwrite(static_cast<float>(threadIdx.x), surface, threadIdx.x * 4, blockIdx.x);
}

__global__ void pointer_bits(unsigned long long address, unsigned long long* out) { *out = address; }
