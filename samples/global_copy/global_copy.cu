// Copies in global memory in which threads access the memory in different orders.

// J. Cornelis, listing 4.1: blocks of 16 x 16 threads copy a matrix. On a crossed side (load or store), the threads
// of a half-warp access elements of one column, and their accesses are not coalesced.
#define BLOCK_WIDTH 16

static __device__ int straight(int width) {
  return (BLOCK_WIDTH * blockIdx.y + threadIdx.y) * width + BLOCK_WIDTH * blockIdx.x + threadIdx.x;
}
static __device__ int crossed(int width) {
  return (BLOCK_WIDTH * blockIdx.y + threadIdx.x) * width + BLOCK_WIDTH * blockIdx.x + threadIdx.y;
}

#define MATRIX_COPY(name, read, write)                                          \
  extern "C" __global__ void name(const float* in, float* out, int width) {     \
    if (straight(width) < width * width) out[write(width)] = in[read(width)];   \
  }
MATRIX_COPY(copy_cc, straight, straight)
MATRIX_COPY(copy_nc, crossed, straight)  // rows and columns are swapped within a tile:
MATRIX_COPY(copy_cn, straight, crossed)  // each element is still stored once
MATRIX_COPY(copy_nn, crossed, crossed)

// J. Cornelis, figure 4.2 (c): neighbouring threads swap elements. 1.0 and 1.1 do not coalesce this, 1.2 and later do.
extern "C" __global__ void copy_swapped(const float* in, float* out, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1;
  if (i < n) out[i] = in[i];
}

// J. Cornelis, 4.3.1: an array of structures and a structure of arrays.
struct Triple {
  int a, b, c;
};

extern "C" __global__ void array_of_structures(const Triple* in, Triple* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Triple t = in[i];
  out[i] = {t.a + 1, t.b + 2, t.c + 3};
}

extern "C" __global__ void structure_of_arrays(const int* a_in, const int* b_in, const int* c_in, int* a, int* b, int* c,
                                               int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  a[i] = a_in[i] + 1;
  b[i] = b_in[i] + 2;
  c[i] = c_in[i] + 3;
}

// CME 213 (E. Darve, Stanford 2019): copies with an offset, a stride, and in random order, for elements of 1, 2, 4 and
// 8 bytes.
#define EACH(i, first, length) for (unsigned i = first; i < length; i += gridDim.x * blockDim.x)

#define COPIES(type, name)                                                                                    \
  extern "C" __global__ void offset_##name(type* out, const type* __restrict__ in, int offset, int length) {  \
    EACH(i, blockIdx.x * blockDim.x + threadIdx.x + offset, length) out[i] = in[i];                           \
  }                                                                                                           \
  extern "C" __global__ void strided_##name(type* out, const type* __restrict__ in, int stride, int length) { \
    EACH(i, blockIdx.x * blockDim.x + threadIdx.x, length) out[i] = in[i * stride];                           \
  }                                                                                                           \
  extern "C" __global__ void random_##name(type* out, const type* __restrict__ in, const int* order,          \
                                           int length) {                                                      \
    EACH(i, blockIdx.x * blockDim.x + threadIdx.x, length) out[i] = in[order[i]];                             \
  }
COPIES(unsigned char, 8)
COPIES(unsigned short, 16)
COPIES(unsigned, 32)
COPIES(unsigned long long, 64)

// The slides' random copy: the input values, in random order, are the destinations. Bytes reach only 256 elements.
#define SCATTERED(type, name)                                                                                   \
  extern "C" __global__ void scattered_##name(type* out, const type* __restrict__ in, int length) {             \
    EACH(i, blockIdx.x * blockDim.x + threadIdx.x, length) out[in[i]] = in[i];                                  \
  }
SCATTERED(unsigned char, 8)
SCATTERED(unsigned short, 16)
SCATTERED(unsigned, 32)
SCATTERED(unsigned long long, 64)
