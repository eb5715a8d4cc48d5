// The four kernels of Karan Kumar G (Analytical Model for Kernel Performance Prediction, NYU 2023).

// A thread computes one element of the product of an n x n matrix and a vector.
extern "C" __global__ void matrix_vector(const float* matrix, const float* vector, float* product, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum += matrix[row * n + i] * vector[i];
  product[row] = sum;
}

// The sum of each block's products, by a tree in shared memory. Blocks have up to 1024 threads, a power of two.
extern "C" __global__ void dot_product(const float* a, const float* b, float* sums, int n) {
  __shared__ float products[1024];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
  for (int distance = blockDim.x / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance) products[threadIdx.x] += products[threadIdx.x + distance];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = products[0];
}

extern "C" __global__ void vector_sum(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// One thread per element; the threads of a block form a column, as in the report: uncoalesced.
extern "C" __global__ void matrix_sum(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) c[row * n + column] = a[row * n + column] + b[row * n + column];
}
