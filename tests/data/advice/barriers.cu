// SPDX-License-Identifier: Apache-2.0
// Barriers that no data crosses in kernels that exchange data elsewhere, each with a kernel without them; and barriers
// that look alike, but are needed (tests/api/advice_barriers_test.cpp).
// samples/compile tests/data/advice/barriers.cu

#define ROUNDS 32

static __device__ int index_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Two barriers with nothing between them.
template <bool twice> __device__ void neighbours(const float* in, float* out) {
  __shared__ float words[256];
  const int t = threadIdx.x;
  float sum = in[index_of_thread()];
#pragma unroll 1
  for (int k = 0; k < ROUNDS; ++k) {
    words[t] = sum;
    __syncthreads(); // finds UnneededBarrier before another
    if (twice) __syncthreads();
    sum += words[(t + 37) % 256];
    __syncthreads();
  }
  out[index_of_thread()] = sum;
}
extern "C" __global__ void two_barriers(const float* __restrict__ in, float* __restrict__ out) {
  neighbours<true>(in, out);
}
extern "C" __global__ void one_barrier(const float* __restrict__ in, float* __restrict__ out) {
  neighbours<false>(in, out);
}

// Nothing follows the last barrier but the result.
template <bool last> __device__ void reversed(const float* in, float* out) {
  __shared__ float words[256];
  words[threadIdx.x] = in[index_of_thread()];
  __syncthreads();
  const float found = words[255 - threadIdx.x];
  if (last) __syncthreads(); // finds UnneededBarrier at the end
  out[index_of_thread()] = found;
}
extern "C" __global__ void barrier_at_the_end(const float* __restrict__ in, float* __restrict__ out) {
  reversed<true>(in, out);
}
extern "C" __global__ void no_barrier_at_the_end(const float* __restrict__ in, float* __restrict__ out) {
  reversed<false>(in, out);
}

// Each thread has a column of its own, as a small stack.
template <bool wait> __device__ void columns(const float* in, float* out) {
  __shared__ float stack[16][256];
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    stack[k][t] = in[index_of_thread()] * k;
    if (wait) __syncthreads(); // finds UnneededBarrier between own words
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    sum = sum * 0.5f + stack[15 - k][t];
    if (wait) __syncthreads();
  }
  out[index_of_thread()] = sum;
}
extern "C" __global__ void own_columns_wait(const float* __restrict__ in, float* __restrict__ out) {
  columns<true>(in, out);
}
extern "C" __global__ void own_columns(const float* __restrict__ in, float* __restrict__ out) {
  columns<false>(in, out);
}

// Needed: the next round overwrites what this one reads.
extern "C" __global__ void needed_before_stores(const float* __restrict__ in, float* __restrict__ out) {
  neighbours<false>(in, out);
}

// Needed: the rows that are read move to other threads in the second round.
extern "C" __global__ void needed_for_second_store(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float words[256];
  const int t = threadIdx.x;
  words[t] = in[index_of_thread()];
  __syncthreads();
  words[255 - t] = in[index_of_thread()] + 1;
  __syncthreads();
  out[index_of_thread()] = words[t];
}

// Needed: data crosses in global memory, and the last block is the one that reads.
extern "C" __global__ void needed_for_ticket(const float* __restrict__ in, float* out, unsigned* tickets) {
  __shared__ unsigned ticket;
  out[index_of_thread()] = in[index_of_thread()];
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  if (ticket == gridDim.x - 1) out[threadIdx.x] += out[threadIdx.x + 256];
}

// Needed: a tree that halves the threads, and the pass over its result.
extern "C" __global__ void needed_in_tree(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float words[256];
  const int t = threadIdx.x;
  words[t] = in[index_of_thread()];
#pragma unroll 1
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) words[t] += words[t + half];
  }
  __syncthreads();
  out[index_of_thread()] = words[0];
}
