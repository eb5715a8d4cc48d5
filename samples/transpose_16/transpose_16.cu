// The matrix transpose of J. Cornelis (Anti-parallel Patterns in Fine-grain Data-parallel Programs, VUB 2010, listings
// 4.3 and 4.4) in three steps. A square matrix; one block per 16 x 16 submatrix, one thread per element.
#define BLOCK_WIDTH 16

// Loads are coalesced; the stores of neighbouring threads are one row apart.
extern "C" __global__ void transpose_direct(const float* in, float* out, int width) {
  const int row = BLOCK_WIDTH * blockIdx.y + threadIdx.y;
  const int column = BLOCK_WIDTH * blockIdx.x + threadIdx.x;
  if (row < width && column < width) out[column * width + row] = in[row * width + column];
}

// Through shared memory, where `pitch` is the pitch of the rows: loads and stores are coalesced.
template <int pitch>
static __device__ void by_shared_memory(const float* in, float* out, int width) {
  __shared__ float tile[BLOCK_WIDTH][pitch];
  const int in_row = BLOCK_WIDTH * blockIdx.y + threadIdx.y;
  const int in_column = BLOCK_WIDTH * blockIdx.x + threadIdx.x;
  if (in_row < width && in_column < width) tile[threadIdx.y][threadIdx.x] = in[in_row * width + in_column];
  __syncthreads();
  const int out_row = BLOCK_WIDTH * blockIdx.x + threadIdx.y;
  const int out_column = BLOCK_WIDTH * blockIdx.y + threadIdx.x;
  if (out_row < width && out_column < width) out[out_row * width + out_column] = tile[threadIdx.x][threadIdx.y];
}

// A half-warp reads a column of the tile: all its elements are in one bank.
extern "C" __global__ void transpose_shared(const float* in, float* out, int width) {
  by_shared_memory<BLOCK_WIDTH>(in, out, width);
}

// With rows of 17 elements, a column is spread over 16 banks.
extern "C" __global__ void transpose_padded(const float* in, float* out, int width) {
  by_shared_memory<BLOCK_WIDTH + 1>(in, out, width);
}
