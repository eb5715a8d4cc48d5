// SPDX-License-Identifier: Apache-2.0
// For most kinds of findings, a kernel with the problem and one without it. The line that a finding must name says so
// (tests/api/advice_speech_test.cpp).
// samples/compile tests/data/advice/speech.cu

static __device__ int index_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

#define STEPS 64

extern "C" __global__ void polynomial_double(const float* __restrict__ in, float* __restrict__ out) {
  const int i = index_of_thread();
  const float x = in[i];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < STEPS; ++k) sum = sum * x + 0.7; // finds DoublePrecisionInFloat
  out[i] = sum;
}

extern "C" __global__ void polynomial_float(const float* __restrict__ in, float* __restrict__ out) {
  const int i = index_of_thread();
  const float x = in[i];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < STEPS; ++k) sum = sum * x + 0.7f;
  out[i] = sum;
}

// The index is not known at compile time: the words lie in local memory.
extern "C" __global__ void window_local(const float* __restrict__ in, float* __restrict__ out, int step) {
  const int i = index_of_thread();
  const float x = in[i];
  float window[16], sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) window[k] = x * k;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum = sum * 0.5f + window[k * step % 16u]; // finds LocalMemory
  out[i] = sum;
}

extern "C" __global__ void window_registers(const float* __restrict__ in, float* __restrict__ out, int) {
  const int i = index_of_thread();
  const float x = in[i];
  float window[16], sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) window[k] = x * k;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum = sum * 0.5f + window[k];
  out[i] = sum;
}

__constant__ float table[256];

extern "C" __global__ void look_up_constant(const int* __restrict__ in, float* __restrict__ out) {
  const int i = index_of_thread();
  const int first = in[i];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += table[(first + k * 7) % 256u]; // finds ConstantSerialized
  out[i] = sum;
}

extern "C" __global__ void look_up_shared(const int* __restrict__ in, float* __restrict__ out) {
  __shared__ float copy[256];
  copy[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int i = index_of_thread();
  const int first = in[i];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += copy[(first + k * 7) % 256u];
  out[i] = sum;
}

extern "C" __global__ void sums_and_products(const float* a, const float* b, float* sums, float* products) {
  const int i = index_of_thread();
  sums[i] = a[i] + b[i];
  products[i] = a[i] * b[i]; // finds RepeatedLoad
}

extern "C" __global__ void sums_and_products_restrict(const float* __restrict__ a, const float* __restrict__ b,
                                                      float* __restrict__ sums, float* __restrict__ products) {
  const int i = index_of_thread();
  sums[i] = a[i] + b[i];
  products[i] = a[i] * b[i];
}

// The factor may be a part of what is stored, as far as the compiler knows.
extern "C" __global__ void scale_by_memory(const float* in, float* out, const float* factor, int steps) {
  const int i = index_of_thread(), n = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) {
    sum += in[(i + k) & 1023] * factor[i]; // finds RepeatedLoad
    if ((k & 15) == 15) out[k / 16 * n + i] = sum;
  }
}

extern "C" __global__ void scale_by_register(const float* __restrict__ in, float* __restrict__ out,
                                             const float* __restrict__ factor, int steps) {
  const int i = index_of_thread(), n = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) {
    sum += in[(i + k) & 1023] * factor[i];
    if ((k & 15) == 15) out[k / 16 * n + i] = sum;
  }
}

extern "C" __global__ void add_up_in_memory(const float* in, float* out, int steps) {
  const int i = index_of_thread();
#pragma unroll 4
  for (int k = 0; k < steps; ++k) out[i] += in[(i + k) & 1023]; // finds UnusedResult
}

extern "C" __global__ void add_up_in_register(const float* in, float* out, int steps) {
  const int i = index_of_thread();
  float sum = out[i];
#pragma unroll 4
  for (int k = 0; k < steps; ++k) sum += in[(i + k) & 1023];
  out[i] = sum;
}

extern "C" __global__ void warm_up(const volatile float* in, float* out) {
  const int i = index_of_thread();
  in[i + 1048576 / 2]; // finds UnusedResult, too
  out[i] = in[i];
}

extern "C" __global__ void add_to_one_word(const float* __restrict__ in, float* total) {
  atomicAdd(total, in[index_of_thread()]); // finds ContendedAtomics
}

extern "C" __global__ void add_by_warps(const float* __restrict__ in, float* total) {
  float sum = in[index_of_thread()];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, sum);
}

// Shared memory for a whole block of a larger size than this one has.
extern "C" __global__ void shared_for_few(const float* __restrict__ in, float* __restrict__ out, int rows) {
  __shared__ float tile[8192];
  const int i = index_of_thread(), n = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < rows; ++k) {
    tile[threadIdx.x] = in[(k * n + i) & 1048575];
    __syncthreads();
    sum += tile[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
  }
  out[i] = sum;
}

// Each thread visits 64 of 1024 points, which the first-level cache keeps.
extern "C" __global__ void norms(const float* __restrict__ in, float* __restrict__ out) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) {
    const float* const p = in + 4 * ((threadIdx.x + k) & 1023);
    sum += p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]; // finds NarrowLoads
  }
  out[index_of_thread()] = sum;
}

extern "C" __global__ void norms_of_vectors(const float4* __restrict__ in, float* __restrict__ out) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) {
    const float4 p = in[(threadIdx.x + k) & 1023];
    sum += p.x * p.x + p.y * p.y + p.z * p.z + p.w * p.w;
  }
  out[index_of_thread()] = sum;
}

#define ROUNDS 16

extern "C" __global__ void rotate_in_shared(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float row[256];
  const int next = (threadIdx.x & ~31) | ((threadIdx.x + 1) & 31);
  float value = in[index_of_thread()];
#pragma unroll 1
  for (int k = 0; k < ROUNDS; ++k) {
    row[threadIdx.x] = value;
    __syncthreads();
    value = 0.5f * (value + row[next]); // finds SharedWithinWarp
    __syncthreads();
  }
  out[index_of_thread()] = value;
}

extern "C" __global__ void rotate_by_shuffles(const float* __restrict__ in, float* __restrict__ out) {
  float value = in[index_of_thread()];
#pragma unroll 1
  for (int k = 0; k < ROUNDS; ++k) value = 0.5f * (value + __shfl_sync(~0u, value, threadIdx.x + 1));
  out[index_of_thread()] = value;
}

extern "C" __global__ void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                   int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x]; // finds RedundantLoads
  c[y * n + x] = sum;
}

#define TILE 16

extern "C" __global__ void product_of_tiles(const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int t = 0; t < n; t += TILE) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

#define BODIES 128  // threads of a block, bodies of a tile

// All threads of the block load the same body at the same time.
extern "C" __global__ void attract(const float* __restrict__ xs, const float* __restrict__ ys,
                                   const float* __restrict__ masses, float* __restrict__ out, int n) {
  const float x = xs[index_of_thread()], y = ys[index_of_thread()];
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    const float dx = xs[k] - x, dy = ys[k] - y; // finds RedundantLoads, too
    sum += masses[k] * rsqrtf(dx * dx + dy * dy + 1.0f);
  }
  out[index_of_thread()] = sum;
}

extern "C" __global__ void attract_by_tiles(const float* __restrict__ xs, const float* __restrict__ ys,
                                            const float* __restrict__ masses, float* __restrict__ out, int n) {
  __shared__ float tile_x[BODIES], tile_y[BODIES], tile_mass[BODIES];
  const float x = xs[index_of_thread()], y = ys[index_of_thread()];
  float sum = 0;
#pragma unroll 1
  for (int first = 0; first < n; first += BODIES) {
    tile_x[threadIdx.x] = xs[first + threadIdx.x];
    tile_y[threadIdx.x] = ys[first + threadIdx.x];
    tile_mass[threadIdx.x] = masses[first + threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < BODIES; ++k) {
      const float dx = tile_x[k] - x, dy = tile_y[k] - y;
      sum += tile_mass[k] * rsqrtf(dx * dx + dy * dy + 1.0f);
    }
    __syncthreads();
  }
  out[index_of_thread()] = sum;
}

// The bodies lie in groups of `size`; tiles hold the first of each group, and the rest is less than a tile.
extern "C" __global__ void attract_groups(const float4* __restrict__ bodies, float* __restrict__ out, int n, int size) {
  __shared__ float4 tile[BODIES];
  const float4 own = bodies[index_of_thread() & 1023];
  float sum = 0;
#pragma unroll 1
  for (int group = 0; group < n; group += size) {
    int k = 0;
#pragma unroll 1
    for (; k + BODIES <= size; k += BODIES) {
      tile[threadIdx.x] = bodies[group + k + threadIdx.x];
      __syncthreads();
#pragma unroll 1
      for (int i = 0; i < BODIES; ++i) {
        const float dx = tile[i].x - own.x, dy = tile[i].y - own.y, dz = tile[i].z - own.z;
        sum += tile[i].w * rsqrtf(dx * dx + dy * dy + dz * dz + 1.0f);
      }
      __syncthreads();
    }
#pragma unroll 1
    for (; k < size; ++k) {
      const float4 body = bodies[group + k];
      const float dx = body.x - own.x, dy = body.y - own.y, dz = body.z - own.z;
      sum += body.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1.0f);
    }
  }
  out[index_of_thread()] = sum;
}

extern "C" __global__ void attract_groups_in_tiles(const float4* __restrict__ bodies, float* __restrict__ out, int n,
                                                   int size) {
  __shared__ float4 tile[BODIES];
  const float4 own = bodies[index_of_thread() & 1023];
  float sum = 0;
#pragma unroll 1
  for (int group = 0; group < n; group += size) {
#pragma unroll 1
    for (int k = 0; k < size; k += BODIES) {
      if (k + threadIdx.x < size) tile[threadIdx.x] = bodies[group + k + threadIdx.x];
      __syncthreads();
      const int count = min(BODIES, size - k);
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        const float dx = tile[i].x - own.x, dy = tile[i].y - own.y, dz = tile[i].z - own.z;
        sum += tile[i].w * rsqrtf(dx * dx + dy * dy + dz * dz + 1.0f);
      }
      __syncthreads();
    }
  }
  out[index_of_thread()] = sum;
}

// The same with an array for each component.
extern "C" __global__ void attract_rests(const float* __restrict__ xs, const float* __restrict__ ys,
                                         const float* __restrict__ masses, float* __restrict__ out, int n, int size) {
  __shared__ float tile_x[BODIES], tile_y[BODIES], tile_mass[BODIES];
  const float x = xs[index_of_thread()], y = ys[index_of_thread()];
  float sum = 0;
#pragma unroll 1
  for (int group = 0; group < n; group += size) {
    int k = 0;
#pragma unroll 1
    for (; k + BODIES <= size; k += BODIES) {
      tile_x[threadIdx.x] = xs[group + k + threadIdx.x];
      tile_y[threadIdx.x] = ys[group + k + threadIdx.x];
      tile_mass[threadIdx.x] = masses[group + k + threadIdx.x];
      __syncthreads();
#pragma unroll 1
      for (int i = 0; i < BODIES; ++i) {
        const float dx = tile_x[i] - x, dy = tile_y[i] - y;
        sum += tile_mass[i] * rsqrtf(dx * dx + dy * dy + 1.0f);
      }
      __syncthreads();
    }
#pragma unroll 1
    for (; k < size; ++k) {
      const float dx = xs[group + k] - x, dy = ys[group + k] - y; // finds RedundantLoads in the rest
      sum += masses[group + k] * rsqrtf(dx * dx + dy * dy + 1.0f);
    }
  }
  out[index_of_thread()] = sum;
}

extern "C" __global__ void attract_rests_in_tiles(const float* __restrict__ xs, const float* __restrict__ ys,
                                                  const float* __restrict__ masses, float* __restrict__ out, int n,
                                                  int size) {
  __shared__ float tile_x[BODIES], tile_y[BODIES], tile_mass[BODIES];
  const float x = xs[index_of_thread()], y = ys[index_of_thread()];
  float sum = 0;
#pragma unroll 1
  for (int group = 0; group < n; group += size) {
#pragma unroll 1
    for (int k = 0; k < size; k += BODIES) {
      if (k + threadIdx.x < size) {
        tile_x[threadIdx.x] = xs[group + k + threadIdx.x];
        tile_y[threadIdx.x] = ys[group + k + threadIdx.x];
        tile_mass[threadIdx.x] = masses[group + k + threadIdx.x];
      }
      __syncthreads();
      const int count = min(BODIES, size - k);
#pragma unroll 1
      for (int i = 0; i < count; ++i) {
        const float dx = tile_x[i] - x, dy = tile_y[i] - y;
        sum += tile_mass[i] * rsqrtf(dx * dx + dy * dy + 1.0f);
      }
      __syncthreads();
    }
  }
  out[index_of_thread()] = sum;
}

// One load of four words for each body: little to save.
extern "C" __global__ void attract_vectors(const float4* __restrict__ bodies, float* __restrict__ out, int n) {
  const float4 own = bodies[index_of_thread() & 1023];
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    const float4 body = bodies[k]; // finds RedundantLoads of vectors
    const float dx = body.x - own.x, dy = body.y - own.y, dz = body.z - own.z;
    sum += body.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1.0f);
  }
  out[index_of_thread()] = sum;
}

// A row of 16 KB for each block, from the first to the last word, again and again: more than the first-level cache has
// for all resident blocks.
extern "C" __global__ void passes_over_rows(const float* __restrict__ in, float* __restrict__ out, int words,
                                            int passes) {
  const float* const row = in + blockIdx.x * words;
  float sum = 0;
#pragma unroll 1
  for (int p = 0; p < passes; ++p)
#pragma unroll 1
    for (int k = threadIdx.x; k < words; k += blockDim.x) sum = sum * 0.5f + row[k]; // finds LowCacheReuse
  out[index_of_thread()] = sum;
}

extern "C" __global__ void passes_over_words(const float* __restrict__ in, float* __restrict__ out, int words,
                                             int passes) {
  const float* const row = in + blockIdx.x * words;
  float sum = 0;
#pragma unroll 1
  for (int k = threadIdx.x; k < words; k += blockDim.x)
#pragma unroll 1
    for (int p = 0; p < passes; ++p) sum = sum * 0.5f + row[k];
  out[index_of_thread()] = sum;
}

// Brightens an image, one pixel in each iteration; then four.
extern "C" __global__ void brighten_bytes(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int n) {
#pragma unroll 1
  for (int i = index_of_thread(); i < n; i += gridDim.x * blockDim.x)
    out[i] = min(in[i] + 9, 255); // finds NarrowAccesses
}

extern "C" __global__ void brighten_words(const uchar4* __restrict__ in, uchar4* __restrict__ out, int n) {
#pragma unroll 1
  for (int i = index_of_thread(); i < n / 4; i += gridDim.x * blockDim.x) {
    uchar4 p = in[i];
    p.x = min(p.x + 9, 255);
    p.y = min(p.y + 9, 255);
    p.z = min(p.z + 9, 255);
    p.w = min(p.w + 9, 255);
    out[i] = p;
  }
}

extern "C" __global__ void halve_shorts(const short* __restrict__ in, short* __restrict__ out) {
  const int i = index_of_thread();
  out[i] = in[i] / 2; // finds NarrowAccesses of shorts
}

extern "C" __global__ void halve_pairs(const short2* __restrict__ in, short2* __restrict__ out) {
  const int i = index_of_thread();
  const short2 p = in[i];
  out[i] = make_short2(p.x / 2, p.y / 2);
}

// From here on, kernels that look like those above, but have no such problem.

// Consecutive words that no thread can load at once, because they begin at any multiple of four bytes.
extern "C" __global__ void neighbours(const float* __restrict__ in, float* __restrict__ out) {
  const float* const p = in + index_of_thread();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) sum += p[k] * p[k + 1] + p[k + 2] * p[k + 3];
  out[index_of_thread()] = sum;
}

// Three words: no load has twelve bytes.
extern "C" __global__ void triples(const float* __restrict__ in, float* __restrict__ out) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) {
    const float* const p = in + 3 * ((threadIdx.x + k) & 1023);
    sum += p[0] * p[1] + p[2];
  }
  out[index_of_thread()] = sum;
}

// In each iteration, another thread writes the word that all threads read.
extern "C" __global__ void hand_over(float* words, float* out) {
  float* const word = words + blockIdx.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) {
    if (threadIdx.x == k) *word = sum + k;
    __syncthreads();
    sum += *word;
    __syncthreads();
  }
  out[index_of_thread()] = sum;
}

// The words of a thread come from the other end of the block.
extern "C" __global__ void reverse_in_shared(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float row[256];
  float value = in[index_of_thread()];
#pragma unroll 1
  for (int k = 0; k < ROUNDS; ++k) {
    row[threadIdx.x] = value;
    __syncthreads();
    value = 0.5f * (value + row[blockDim.x - 1 - threadIdx.x]);
    __syncthreads();
  }
  out[index_of_thread()] = value;
}

// A warp stores the rows of a tile and loads its columns: 32 instructions store what one loads.
extern "C" __global__ void transpose_in_warp(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[32][33];
  const int first = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll 4
  for (int k = 0; k < 32; ++k) tile[k][threadIdx.x] = in[first + 32 * k];
  __syncwarp();
#pragma unroll 4
  for (int k = 0; k < 32; ++k) out[first + 32 * k] = tile[threadIdx.x][k];
}

// Bytes whose neighbours are loaded, too, begin at any address.
extern "C" __global__ void smooth_bytes(const unsigned char* __restrict__ in, unsigned char* __restrict__ out) {
  const int i = index_of_thread();
  out[i] = (in[i] + in[i + 1]) / 2;
}

// The threads of a warp exchange bytes.
extern "C" __global__ void swap_bytes(const unsigned char* __restrict__ in, unsigned char* __restrict__ out) {
  const int i = index_of_thread();
  out[i] = __shfl_xor_sync(~0u, in[i], 1);
}

// What happens depends on the byte.
extern "C" __global__ void mark_bytes(const unsigned char* __restrict__ in, unsigned char* __restrict__ out) {
  const int i = index_of_thread();
  if (in[i] > 127) out[i] = 1;
}

// Each iteration is a row of bytes: fewer iterations do not process wider words.
extern "C" __global__ void sum_columns(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int pitch) {
  const int i = index_of_thread();
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) sum += in[k * pitch + i];
  out[i] = sum;
}

// Grey of pixels of three bytes: each sector is used as a whole.
extern "C" __global__ void grey_of_pixels(const uchar3* __restrict__ in, unsigned char* __restrict__ out) {
  const int i = index_of_thread();
  const uchar3 pixel = in[i]; // finds structures that are used as a whole
  out[i] = (77 * pixel.x + 150 * pixel.y + 29 * pixel.z) >> 8;
}

// Two fields of eight: three quarters of each sector are of no use.
struct Particle {
  float place[3], speed[3], mass, charge;
};
extern "C" __global__ void weights(const Particle* __restrict__ in, float* __restrict__ out) {
  const int i = index_of_thread();
  out[i] = in[i].mass * in[i].charge; // finds structures of which little is used
}

// One lane of each warp stores somewhere else: of all the work, that is little.
extern "C" __global__ void edges(const float* __restrict__ in, float* __restrict__ out, float* __restrict__ edge) {
  const int i = index_of_thread();
  float x = in[i];
#pragma unroll 1
  for (int k = 0; k < STEPS; ++k) x = x * 0.5f + 0.1f;
  if (threadIdx.x % 32 == 0) // finds a short path
    edge[i] = x;
  else
    out[i] = sqrtf(x);
}

// Each thread adds up a row. The compiler unrolls the loop: an instruction skips what its neighbours load.
extern "C" __global__ void sums_of_rows(const unsigned char* __restrict__ in, int* __restrict__ out, int columns) {
  const int i = index_of_thread();
  int sum = 0;
  for (int k = 0; k < columns; ++k) sum += in[i * columns + k] * in[i * columns + k]; // finds rows of threads
  out[i] = sum;
}
