// J. Cornelis (Anti-parallel Patterns in Fine-grain Data-parallel Programs, VUB 2010), listing 4.2: each element
// is copied a hundred times within shared memory. On a crossed side, all threads of a half-warp access one bank.
#define BLOCK_WIDTH 16
#define COPIES 100

#define STRAIGHT [threadIdx.y][threadIdx.x]
#define CROSSED [threadIdx.x][threadIdx.y]

#define SHARED_COPY(name, read, write)                                          \
  extern "C" __global__ void name(const float* in, float* out, int width) {     \
    __shared__ volatile float from[BLOCK_WIDTH][BLOCK_WIDTH];                   \
    __shared__ volatile float to[BLOCK_WIDTH][BLOCK_WIDTH];                     \
    const int row = BLOCK_WIDTH * blockIdx.y + threadIdx.y;                     \
    const int column = BLOCK_WIDTH * blockIdx.x + threadIdx.x;                  \
    const bool inside = row < width && column < width;                          \
    from STRAIGHT = inside ? in[row * width + column] : 0;                      \
    __syncthreads();                                                            \
    for (int i = 0; i < COPIES; ++i) to write = from read;                      \
    __syncthreads();                                                            \
    if (inside) out[row * width + column] = to STRAIGHT;                        \
  }

SHARED_COPY(copy_uu, STRAIGHT, STRAIGHT)
SHARED_COPY(copy_cu, CROSSED, STRAIGHT)  // rows and columns are swapped within a tile
SHARED_COPY(copy_uc, STRAIGHT, CROSSED)
SHARED_COPY(copy_cc, CROSSED, CROSSED)
