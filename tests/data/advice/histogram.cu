// SPDX-License-Identifier: Apache-2.0
// Updates of few words by all blocks, in global and in shared memory, and updates that look alike
// (tests/api/advice_atomics_test.cpp).
// samples/compile tests/data/advice/histogram.cu

static __device__ int index_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void count_in_global(const int* __restrict__ in, int* bins, int n) {
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1); // finds ContendedAtomics of all blocks
}

extern "C" __global__ void count_in_shared(const int* __restrict__ in, int* bins, int n) {
  __shared__ int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Each block has words of its own.
extern "C" __global__ void count_for_block(const int* __restrict__ in, int* bins, int n) {
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[blockIdx.x * 256 + in[i]], 1);
}

// More words than shared memory has.
extern "C" __global__ void count_pairs(const int* __restrict__ in, int* bins, int n) {
  for (int i = index_of_thread(); i < n - 1; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i] * 256 + in[i + 1]], 1);
}

// A block updates each word about once.
extern "C" __global__ void count_once(const int* __restrict__ in, int* bins) {
  atomicAdd(&bins[in[index_of_thread()]], 1);
}

// The result is used: the words are positions in an output.
extern "C" __global__ void take_places(const int* __restrict__ in, int* bins, int* __restrict__ out, int n) {
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x) out[i] = atomicAdd(&bins[in[i]], 1);
}
