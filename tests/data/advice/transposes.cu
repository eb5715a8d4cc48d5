// SPDX-License-Identifier: Apache-2.0
// A transpose whose loop the compiler unrolls, so that each store has a part of the columns, and the same with a tile in
// shared memory (tests/api/advice_speech_test.cpp).
// samples/compile tests/data/advice/transposes.cu

#define TILE 32
#define ROWS 16

extern "C" __global__ void rows_to_columns(const float* __restrict__ in, float* __restrict__ out, int width) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS)
    out[x * width + y + j] = in[(y + j) * width + x]; // finds rows that are staged
}

extern "C" __global__ void staged_rows(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float tile[TILE][TILE + 1];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int column = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) out[(row + j) * width + column] = tile[threadIdx.x][threadIdx.y + j];
}
