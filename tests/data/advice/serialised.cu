// SPDX-License-Identifier: Apache-2.0
// Lanes that wait for each other at a word of shared memory, kernels that do without, and registers that launch bounds
// spill.
// samples/compile tests/data/advice/serialised.cu

static __device__ int index_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

static __device__ float sum_of_warp(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
  return value;
}

extern "C" __global__ void add_in_shared(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[index_of_thread()]); // finds ContendedAtomics of shared memory
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void add_in_shared_by_warps(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  const float own = sum_of_warp(in[index_of_thread()]);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// The keys are sorted, so that those of a warp are equal: the compiler does not know.
extern "C" __global__ void add_by_key(const int* __restrict__ keys, const int* __restrict__ values,
                                      int* __restrict__ out, int n) {
  __shared__ int sums[256];
  sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&sums[keys[i] / 1024 % 256u], values[i]); // finds ContendedAtomics of sorted keys
  __syncthreads();
  if (sums[threadIdx.x] != 0) atomicAdd(&out[threadIdx.x], sums[threadIdx.x]);
}

extern "C" __global__ void add_by_key_of_warp(const int* __restrict__ keys, const int* __restrict__ values,
                                              int* __restrict__ out, int n) {
  __shared__ int sums[256];
  sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x) {
    const int key = keys[i] / 1024 % 256u;
    int value = values[i], equal = 0;
    __match_all_sync(~0u, key, &equal);
    if (equal) {
      for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
      if (threadIdx.x % 32 == 0) atomicAdd(&sums[key], value);
    } else {
      atomicAdd(&sums[key], value);
    }
  }
  __syncthreads();
  if (sums[threadIdx.x] != 0) atomicAdd(&out[threadIdx.x], sums[threadIdx.x]);
}

// Each lane has a word: nothing to combine.
extern "C" __global__ void add_in_shared_by_lanes(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float sums[32];
  if (threadIdx.x < 32) sums[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&sums[threadIdx.x % 32], in[index_of_thread()]);
  __syncthreads();
  if (threadIdx.x < 32) {
    const float sum = sum_of_warp(sums[threadIdx.x]);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// The compiler combines these itself.
extern "C" __global__ void count_in_one_word(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (in[index_of_thread()] > 100) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count;
}

constexpr int kValues = 48;

static __device__ void mix(const float* __restrict__ in, float* __restrict__ out, int rounds) {
  const int i = index_of_thread();
  float w[kValues];
#pragma unroll
  for (int k = 0; k < kValues; ++k) w[k] = 1e-6f * in[(i + k * 4096) % 1048576u];
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int k = 0; k < kValues; ++k) w[k] = 0.5f * w[k] + 0.375f * w[(k + 17) % kValues];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kValues; ++k) sum += w[k];
  out[i] = sum;
}

extern "C" __global__ void __launch_bounds__(256, 8)
    mix_in_few_registers(const float* __restrict__ in, float* __restrict__ out, int rounds) { // finds Spills
  mix(in, out, rounds);
}

extern "C" __global__ void __launch_bounds__(256)
    mix_in_registers(const float* __restrict__ in, float* __restrict__ out, int rounds) {
  mix(in, out, rounds);
}
