// Kernels of many kinds whose times a GPU was asked, besides those of samples/ and bench/: see times_asked.py.
//
//   nvcc -O3 -arch=sm_90 -ptx -o ../times.ptx times.cu

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" {

__global__ void double_polynomial(const double* in, double* out, int terms) {
  const double x = in[INDEX];
  double sum = 1;
  for (int k = 0; k < terms; ++k) sum = sum * x + 0.5;
  out[INDEX] = sum;
}

__global__ void double_quotients(const double* a, const double* b, double* out) { out[INDEX] = a[INDEX] / b[INDEX]; }

__global__ void fast_functions(const float* in, float* out, int times) {
  float x = in[INDEX];
  for (int k = 0; k < times; ++k) x = __expf(rsqrtf(x + 1.0f)) + __logf(x + 2.0f);
  out[INDEX] = x;
}

__global__ void sines(const float* in, float* out, int times) {
  float x = in[INDEX];
  for (int k = 0; k < times; ++k) x = sinf(x) + 1.5f;
  out[INDEX] = x;
}

__global__ void roots_and_quotients(const float* in, float* out, int times) {
  float x = in[INDEX];
  for (int k = 0; k < times; ++k) x = sqrtf(x + 2.0f) / (x + 1.0f);
  out[INDEX] = x;
}

__global__ void digits(const unsigned* in, unsigned* out, unsigned base, int times) {
  unsigned x = in[INDEX] + 1000000007u, sum = 0;
  for (int k = 0; k < times; ++k) {
    sum += x % base;
    x = x / base + 1000003u;
  }
  out[INDEX] = sum;
}

__global__ void count_globally(unsigned* counts, int mask) { atomicAdd(&counts[INDEX * 7 & mask], 1u); }

__global__ void take_tickets(unsigned* counter, unsigned* out, int mask) {
  out[INDEX] = atomicAdd(&counter[blockIdx.x & mask], 1u);
}

__global__ void sum_by_shuffles(const float* in, float* out) {
  float x = in[INDEX];
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(~0u, x, distance);
  __shared__ float sums[32];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) x += sums[w];
    out[blockIdx.x] = x;
  }
}

__global__ void five_points(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) return;
  const int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void seven_points(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  for (int z = 1; z < n - 1; ++z) {
    const int i = (z * n + y) * n + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
  }
}

__global__ void sparse_rows(const unsigned* columns, const float* values, const float* v, float* out, int each) {
  float sum = 0;
  for (int k = 0; k < each; ++k) sum += values[INDEX * each + k] * v[columns[INDEX * each + k]];
  out[INDEX] = sum;
}

__global__ void follow(const unsigned* next, unsigned* out, int steps) {
  unsigned at = INDEX;
  for (int k = 0; k < steps; ++k) at = next[at];
  out[INDEX] = at;
}

// 64 x 64 of the product by 256 threads, 4 x 4 each.
__global__ void product_by_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float rows[16][65], columns[16][64];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, x = blockIdx.x * 64, y = blockIdx.y * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      rows[i % 16][i / 16] = a[(y + i / 16) * n + k + i % 16];
      columns[i / 64][i % 64] = b[(k + i / 64) * n + x + i % 64];
    }
    __syncthreads();
    for (int j = 0; j < 16; ++j)
      for (int r = 0; r < 4; ++r)
        for (int q = 0; q < 4; ++q) sum[r][q] += rows[j][ty + 16 * r] * columns[j][tx + 16 * q];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int q = 0; q < 4; ++q) c[(y + ty + 16 * r) * n + x + tx + 16 * q] = sum[r][q];
}

__global__ void local_table(const unsigned* in, unsigned* out, int times) {
  unsigned table[32];
  for (int k = 0; k < 32; ++k) table[k] = in[INDEX] + k;
  unsigned at = threadIdx.x;
  for (int k = 0; k < times; ++k) {
    at = table[at % 32] * 5 + 1;
    table[at / 32 % 32] = at;
  }
  out[INDEX] = at;
}

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float part[256];
  const float* row = in + blockIdx.x * columns;
  float most = -1e30f;
  for (int i = threadIdx.x; i < columns; i += 256) most = fmaxf(most, row[i]);
  part[threadIdx.x] = most;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + half]);
  }
  __syncthreads();
  most = part[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 256) sum += expf(row[i] - most);
  part[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += 256) out[blockIdx.x * columns + i] = expf(row[i] - most) / part[0];
}

__global__ void scaled_sum(const float* x, float* y, float a, int n) {
  for (int i = INDEX; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

__global__ void copy_of_four(const float4* in, float4* out) { out[INDEX] = in[INDEX]; }

__global__ void look_up(const unsigned* table, unsigned* out, int mask, int times) {
  unsigned at = INDEX;
  for (int k = 0; k < times; ++k) at = table[at & mask] * 1664525u + 1013904223u;
  out[INDEX] = at;
}

__global__ void sort_blocks(unsigned* keys) {
  __shared__ unsigned row[1024];
  for (int i = threadIdx.x; i < 1024; i += 512) row[i] = keys[blockIdx.x * 1024 + i] * 2654435761u;
  for (int size = 2; size <= 1024; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const int i = 2 * threadIdx.x - (threadIdx.x & (step - 1));
      const bool up = (i & size) == 0;
      const unsigned a = row[i], b = row[i + step];
      if ((a > b) == up) {
        row[i] = b;
        row[i + step] = a;
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 512) keys[blockIdx.x * 1024 + i] = row[i];
}

__global__ void collatz(unsigned* steps, int most) {
  unsigned x = INDEX + 1, n = 0;
  while (x != 1 && n < most) {
    x = x % 2 ? 3 * x + 1 : x / 2;
    ++n;
  }
  steps[INDEX] = n;
}

__global__ void convolution(const float* in, float* out, int n) {
  __shared__ float row[256 + 32];
  const int first = blockIdx.x * 256 - 16;
  for (int i = threadIdx.x; i < 288; i += 256) row[i] = first + i >= 0 && first + i < n ? in[first + i] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 33 && k + threadIdx.x < 288; ++k) sum += row[threadIdx.x + k] * (k * 0.03f - 0.4f);
  out[INDEX] = sum;
}

__global__ void product_by_warps(const float* m, const float* v, float* out, int n) {
  const int row = INDEX / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = lane; i < n; i += 32) sum += m[row * n + i] * v[i];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance);
  if (lane == 0) out[row] = sum;
}

__global__ void mandelbrot(unsigned* out, int width, int most) {
  const float x0 = (INDEX % width) * 3.0f / width - 2.0f, y0 = (INDEX / width) * 3.0f / width - 1.5f;
  float x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y < 4.0f) {
    const float t = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = t;
    ++n;
  }
  out[INDEX] = n;
}
}
