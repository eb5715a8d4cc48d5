// The matrix transpose of CME 213 in four steps. The input has n_rows rows of n_columns integers, stored row by row.

// One thread per element, in the order of the input's rows: loads are coalesced, stores are n_rows elements apart.
extern "C" __global__ void transpose_1d(const int* in, int* out, int n_rows, int n_columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / n_columns;
  int column = i % n_columns;
  if (row < n_rows) {
    out[column * n_rows + row] = in[i];
  }
}

// Blocks of 8 x 32 threads: a warp covers 8 columns and 4 rows, so loads and stores are both half coalesced.
extern "C" __global__ void transpose_2d(const int* in, int* out, int n_rows, int n_columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n_rows && column < n_columns) {
    out[column * n_rows + row] = in[row * n_columns + column];
  }
}

constexpr int kTile = 32;  // a block of kTile x kWarps threads moves a tile of kTile x kTile elements
constexpr int kWarps = 8;

// Transposes a tile through shared memory; `kPitch` is the pitch of its rows there, in elements.
// Both sides are coalesced in global memory. n_rows and n_columns must be multiples of kTile.
template <int kPitch>
__device__ void transpose_tile(const int* in, int* out, int n_rows, int n_columns) {
  __shared__ int tile[kTile * kPitch];
  const int lane = threadIdx.x;
  const int warp = threadIdx.y;
  const int first_row = blockIdx.y * kTile;
  const int first_column = blockIdx.x * kTile;

  for (int step = 0; step < kTile / kWarps; ++step) {
    const int row = step * kWarps + warp;
    tile[row * kPitch + lane] = in[(first_row + row) * n_columns + first_column + lane];
  }
  __syncthreads();
  for (int step = 0; step < kTile / kWarps; ++step) {
    const int column = step * kWarps + warp;
    out[(first_column + column) * n_rows + first_row + lane] = tile[lane * kPitch + column];
  }
}

// When a warp reads a column of the tile, all 32 lanes access the same bank.
extern "C" __global__ void transpose_shared(const int* in, int* out, int n_rows, int n_columns) {
  transpose_tile<kTile>(in, out, n_rows, n_columns);
}

// With one element of padding per row, the 32 lanes access 32 different banks.
extern "C" __global__ void transpose_padded(const int* in, int* out, int n_rows, int n_columns) {
  transpose_tile<kTile + 1>(in, out, n_rows, n_columns);
}
