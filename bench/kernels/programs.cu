// Kernels that are typical of programs, for bench_programs:
//   nvcc -arch=sm_75 -ptx programs.cu
extern "C" {

// Each thread processes a row of a matrix: neighbouring loads are a row apart.
__global__ void matrix_vector(const float* a, const float* x, float* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  y[row] = sum;
}

// A sparse matrix with 16 elements a row; each thread processes a row.
__global__ void sparse_matrix_vector(const float* values, const unsigned* columns, const float* x, float* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = row * 16; k < row * 16 + 16; ++k) sum += values[k] * x[columns[k] % n];
  y[row] = sum;
}

__global__ void stencil3d(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  for (int z = 1; z < n - 1; ++z) {
    const int at = (z * n + y) * n + x;
    out[at] =
        0.4f * in[at] + 0.1f * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n] + in[at - n * n] + in[at + n * n]);
  }
}

__global__ void reduction(const float* in, float* out, int n) {
  __shared__ float partial[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  partial[threadIdx.x] = sum;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__global__ void shared_histogram(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&bins[in[i] & 255], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void bitonic_sort(unsigned* keys) {
  __shared__ unsigned s[512];
  unsigned* const mine = keys + blockIdx.x * 512;
  s[threadIdx.x] = mine[threadIdx.x];
  s[threadIdx.x + 256] = mine[threadIdx.x + 256];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      const bool up = (at & size) == 0;
      const unsigned a = s[at], b = s[at + stride];
      if ((a > b) == up) {
        s[at] = b;
        s[at + stride] = a;
      }
    }
  __syncthreads();
  mine[threadIdx.x] = s[threadIdx.x];
  mine[threadIdx.x + 256] = s[threadIdx.x + 256];
}

__global__ void nbody_double(const double* bodies, double* forces, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double x = bodies[3 * i], y = bodies[3 * i + 1], z = bodies[3 * i + 2];
  double fx = 0, fy = 0, fz = 0;
  for (int j = 0; j < n; ++j) {
    const double dx = bodies[3 * j] - x, dy = bodies[3 * j + 1] - y, dz = bodies[3 * j + 2] - z;
    const double inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
    const double cube = inverse * inverse * inverse;
    fx += dx * cube;
    fy += dy * cube;
    fz += dz * cube;
  }
  forces[3 * i] = fx;
  forces[3 * i + 1] = fy;
  forces[3 * i + 2] = fz;
}

__global__ void mandelbrot_double(unsigned* counts, int width, int most) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  const double cx = -2.0 + 3.0 * px / width, cy = -1.5 + 3.0 * py / width;
  double x = 0, y = 0;
  int count = 0;
  while (count < most && x * x + y * y < 4.0) {
    const double next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++count;
  }
  counts[py * width + px] = count;
}

// Bytes in local memory: a table is cleared and then traversed by its own contents.
__global__ void state_machine(const unsigned* seeds, unsigned* out, int steps) {
  unsigned char table[32768];
  for (int i = 0; i < 32768; ++i) table[i] = 0;
  unsigned state = seeds[blockIdx.x * blockDim.x + threadIdx.x];
  for (int i = 0; i < steps; ++i) {
    state = state * 1664525u + 1013904223u + table[(state >> 9) & 32767];
    table[(state >> 9) & 32767] = (unsigned char)(state >> 24);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = state;
}

// One level of a breadth-first search over a graph with eight neighbours per node.
__global__ void search_level(const unsigned* neighbours, unsigned* levels, int n, int level) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node % 3 != level % 3) return;
  for (int e = 0; e < 8; ++e) {
    const unsigned other = neighbours[8 * node + e] % n;
    if (levels[other] > (unsigned)level) levels[other] = level;
  }
}

// Each block factors its own 64 x 64 matrix.
__global__ void lu_decomposition(double* matrices) {
  double* const a = matrices + (size_t)blockIdx.x * 64 * 64;
  for (int k = 0; k < 63; ++k) {
    const int row = threadIdx.x;
    if (row > k) {
      const double factor = a[row * 64 + k] / (a[k * 64 + k] + 64);
      a[row * 64 + k] = factor;
      for (int column = k + 1; column < 64; ++column) a[row * 64 + column] -= factor * a[k * 64 + column];
    }
    __syncthreads();
  }
}

__device__ unsigned rotated(unsigned x, int by) { return x << by | x >> (32 - by); }

__global__ void hash_rounds(unsigned* words, int rounds) {
  unsigned* const mine = words + blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = *mine, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
  for (int i = 0; i < rounds; ++i) {
    const unsigned f = (b & c) | (~b & d), sum = a + f + 0x5a827999u + i;
    a = d;
    d = c;
    c = rotated(b, 30);
    b += rotated(sum, 7) ^ rotated(sum, 18) ^ (sum >> 3);
  }
  *mine = a ^ b ^ c ^ d;
}

__global__ void monte_carlo(const unsigned* seeds, float* out, int samples) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = seeds[i] | 1;
  float sum = 0;
  for (int s = 0; s < samples; ++s) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const float u = (state >> 8) * 0x1p-24f + 0x1p-25f;
    const float normal = sqrtf(-2.0f * __logf(u)) * __cosf(6.2831853f * u);
    sum += fmaxf(100.0f * __expf(0.2f * normal) - 100.0f, 0.0f);
  }
  out[i] = sum / samples;
}

// An alignment in tiles of 32 by 32, one warp each, along the diagonals.
__global__ void alignment_tile(const unsigned* letters, int* out, int rounds) {
  __shared__ int score[33][33];
  const int t = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    score[0][t + 1] = -t;
    score[t + 1][0] = -t;
    if (t == 0) score[0][0] = 0;
    __syncwarp();
    for (int d = 0; d < 63; ++d) {
      const int column = d - t;
      if (column >= 0 && column < 32) {
        const int same = letters[blockIdx.x * 32 + t] % 4 == letters[r * 32 + column] % 4 ? 1 : -1;
        const int diagonal = score[t][column] + same, up = score[t][column + 1] - 1, left = score[t + 1][column] - 1;
        score[t + 1][column + 1] = max(diagonal, max(up, left));
      }
      __syncwarp();
    }
  }
  out[blockIdx.x * 32 + t] = score[t + 1][32];
}

__constant__ float weights[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};

__global__ void convolution(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) {
      const int sx = min(max(x + dx, 0), width - 1), sy = min(max(y + dy, 0), height - 1);
      sum += weights[(dy + 2) * 5 + dx + 2] * in[sy * width + sx];
    }
  out[y * width + x] = sum / 256;
}

// Blocks of one thread, as machine-learning compilers emit them.
__global__ void one_thread_matrix_product(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y, column = 4 * blockIdx.x;
  float sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; ++k) {
    const float left = a[row * n + k];
    for (int i = 0; i < 4; ++i) sum[i] += left * b[k * n + column + i];
  }
  for (int i = 0; i < 4; ++i) c[row * n + column + i] = sum[i];
}

// Only arithmetic, with 32 and 64 bits.
__global__ void one_thread_arithmetic(float* out, int n) {
  float x = out[blockIdx.x], y = 1.5f;
  double z = x;
  unsigned long long u = blockIdx.x;
  for (int i = 0; i < n; ++i) {
    x = x * 0.999f + y;
    y = fminf(y * x, 1e6f) - 0.25f;
    z = z * 0.5 + y;
    u = u * 6364136223846793005ull + 1442695040888963407ull;
    u ^= u >> 33;
  }
  out[blockIdx.x] = x + y + (float)z + (float)u;
}

// Only loads; each loads the address of the next.
__global__ void one_thread_loads(const unsigned* links, unsigned* out, int n) {
  unsigned at = blockIdx.x;
  for (int i = 0; i < n; ++i) at = links[at & 16383];
  out[blockIdx.x] = at;
}

// Almost no work: measures the cost of starting a block.
__global__ void one_thread_block(const float* in, float* out) { out[blockIdx.x] = in[blockIdx.x] * 2; }

// Only one lane of each warp works.
__global__ void one_lane(const float* in, float* out, int n) {
  if ((threadIdx.x & 31) != 5) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * 0.5f + in[(threadIdx.x + i) & 1023];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
}
