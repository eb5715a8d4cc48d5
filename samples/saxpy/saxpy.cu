// y[i] = a * x[i] + y[i], as a grid-stride loop: a thread's next element is one grid size away.
__global__ void saxpy(int n, float a, const float* x, float* y) {
  unsigned int stride = __umul24(blockDim.x, gridDim.x);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = a * x[i] + y[i];
  }
}
