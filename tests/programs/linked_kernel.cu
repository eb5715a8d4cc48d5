// One of two files that are linked: calls what linked_library.cu has.
extern __device__ int weights[8];
extern __device__ int weigh(int value, int (*change)(int));
static __device__ __noinline__ int change(int x) { return x + 100; }

extern "C" __global__ void linked(int* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  weights[0] = 5;
  __syncthreads();
  out[thread] = weigh(thread, change) + change(1);
}
