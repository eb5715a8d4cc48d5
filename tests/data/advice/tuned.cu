// SPDX-License-Identifier: Apache-2.0
// Kernels as experts write them: no finding applies to them (tests/api/advice_table_test.cpp). Most have bounds checks,
// broadcasts, tails and small reductions, which must not be taken for problems.
// samples/compile tests/data/advice/tuned.cu

#define TILE 32

extern "C" __global__ void saxpy(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

extern "C" __global__ void copy4(const float4* __restrict__ in, float4* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

static __device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
  return value;
}

static __device__ float block_sum(float value) {
  __shared__ float sums[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? sums[lane] : 0;
  if (warp == 0) value = warp_sum(value);
  return value;
}

extern "C" __global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void dot(const float* __restrict__ a, const float* __restrict__ b, float* sum, int n) {
  float part = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) part += a[i] * b[i];
  part = block_sum(part);
  if (threadIdx.x == 0) atomicAdd(sum, part);
}

extern "C" __global__ void transpose(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int column = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) out[(row + j) * width + column] = tile[threadIdx.x][threadIdx.y + j];
}

// Each thread computes four elements of a column of the product.
extern "C" __global__ void matrix_product(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y * 4;
  float sum[4] = {};
  for (int k = 0; k < n; k += TILE) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      as[threadIdx.y * 4 + j][threadIdx.x] = a[(row + j) * n + k + threadIdx.x];
      bs[threadIdx.y * 4 + j][threadIdx.x] = b[(k + threadIdx.y * 4 + j) * n + column];
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] += as[threadIdx.y * 4 + j][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) c[(row + j) * n + column] = sum[j];
}

extern "C" __global__ void heat(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const bool inside = x > 0 && y > 0 && x < width - 1 && y < height - 1;
  const float here = in[i];
  float sum = 4 * here;
  if (inside) sum = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
  out[i] = here + 0.25f * (sum - 4 * here);
}

// Each warp has a row.
extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float most = -1e30f;
  for (int i = lane; i < columns; i += 32) most = fmaxf(most, in[row * columns + i]);
  for (int offset = 16; offset > 0; offset /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += __expf(in[row * columns + i] - most);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  for (int i = lane; i < columns; i += 32) out[row * columns + i] = __expf(in[row * columns + i] - most) / sum;
}

// The matrix in compressed rows; each warp has a row.
extern "C" __global__ void matrix_vector(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                                         int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = lane; i < columns; i += 32) sum += a[row * columns + i] * x[i];
  sum = warp_sum(sum);
  if (lane == 0) y[row] = sum;
}

__constant__ float filter[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};

// The halo is loaded by the first and the last threads.
extern "C" __global__ void convolve(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[256 + 8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x + 4] = i < n ? in[i] : 0;
  if (threadIdx.x < 4) {
    tile[threadIdx.x] = i >= 4 ? in[i - 4] : 0;
    tile[blockDim.x + 4 + threadIdx.x] = i + blockDim.x < n ? in[i + blockDim.x] : 0;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 9; ++j) sum += filter[j] * tile[threadIdx.x + j];
  if (i < n) out[i] = sum;
}

// Inclusive prefix sums within blocks, by shuffles.
extern "C" __global__ void scan(const int* __restrict__ in, int* __restrict__ out, int n) {
  __shared__ int sums[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = i < n ? in[i] : 0;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(~0u, value, offset);
    if (lane >= offset) value += other;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    int sum = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_up_sync(~0u, sum, offset);
      if (lane >= offset) sum += other;
    }
    sums[lane] = sum;
  }
  __syncthreads();
  if (warp > 0) value += sums[warp - 1];
  if (i < n) out[i] = value;
}

extern "C" __global__ void black_scholes(const float* __restrict__ price, float* __restrict__ call, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float s = price[i], d = (__logf(s * 0.01f) + 0.08f) * 4.0f, e = d - 0.25f;
    const float p = 1.0f / (1.0f + __expf(-1.702f * d)), q = 1.0f / (1.0f + __expf(-1.702f * e));
    call[i] = s * p - 97.0f * q;
  }
}

extern "C" __global__ void axpby_double(const double* __restrict__ x, double* __restrict__ y, double a, double b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + b * y[i];
}

// Complex numbers are structures of eight bytes, which one access loads.
extern "C" __global__ void complex_product(const float2* __restrict__ a, const float2* __restrict__ b,
                                           float2* __restrict__ c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float2 u = a[i], v = b[i];
  c[i] = make_float2(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x);
}

// Each body interacts with all others, tile by tile.
extern "C" __global__ void bodies(const float4* __restrict__ body, float4* __restrict__ force, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = body[i];
  float x = 0, y = 0, z = 0;
  for (int first = 0; first < n; first += 128) {
    tile[threadIdx.x] = body[first + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 128; ++j) {
      const float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[j].w * r * r * r;
      x += dx * f;
      y += dy * f;
      z += dz * f;
    }
    __syncthreads();
  }
  force[i] = make_float4(x, y, z, 0);
}

// Bytes, four by four.
extern "C" __global__ void brighten(const uchar4* __restrict__ in, uchar4* __restrict__ out, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = in[i];
  p.x = min(p.x + by, 255);
  p.y = min(p.y + by, 255);
  p.z = min(p.z + by, 255);
  p.w = min(p.w + by, 255);
  out[i] = p;
}
