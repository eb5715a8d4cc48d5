// SPDX-License-Identifier: Apache-2.0
// Stencils: their checks of borders and halos are no divergence, but they can have real divergence, too
// (tests/api/advice_stencils_test.cpp).
// samples/compile tests/data/advice/stencils.cu

#define SIDE 16
#define HALO 18

// One check of four borders.
extern "C" __global__ void inside(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    const float* const p = in + y * width + x;
    out[y * width + x] = 0.2f * (p[0] + p[-1] + p[1] + p[-width] + p[width]);
  }
}

// Each neighbour has a check of its own.
extern "C" __global__ void neighbours(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx)
      if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) sum += sqrtf(in[(y + dy) * width + x + dx]);
  out[y * width + x] = sum;
}

// The threads at the edge of the block load the halo.
extern "C" __global__ void edges_load(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float tile[HALO][HALO];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const int at = (blockIdx.y * SIDE + ty) * width + blockIdx.x * SIDE + tx;
  tile[ty][tx] = in[at];
  if (tx == 1) tile[ty][0] = in[at - 1];
  if (tx == SIDE) tile[ty][SIDE + 1] = in[at + 1];
  if (ty == 1) tile[0][tx] = in[at - width];
  if (ty == SIDE) tile[SIDE + 1][tx] = in[at + width];
  __syncthreads();
  out[at] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

// The tiles of the blocks overlap: the threads at the edge load only. For blocks of 16 x 16, and of 18 x 18.
template <int SIZE> __device__ void overlap(const float* in, float* out, int width) {
  __shared__ float tile[SIZE][SIZE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int at = (blockIdx.y * (SIZE - 2) + ty) * width + blockIdx.x * (SIZE - 2) + tx;
  tile[ty][tx] = in[at];
  __syncthreads();
  if (tx > 0 && tx < SIZE - 1 && ty > 0 && ty < SIZE - 1)
    out[at] = 0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}
extern "C" __global__ void overlap_16(const float* __restrict__ in, float* __restrict__ out, int width) {
  overlap<16>(in, out, width);
}
extern "C" __global__ void overlap_18(const float* __restrict__ in, float* __restrict__ out, int width) {
  overlap<18>(in, out, width);
}

// As edges_load, but half of the lanes of a warp load the left halo, the others the right one; not beyond the grid.
extern "C" __global__ void lanes_take_turns(const float* __restrict__ in, float* __restrict__ out, int width,
                                            int height) {
  __shared__ float tile[HALO][HALO];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, k = threadIdx.y * SIDE + threadIdx.x;
  const int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y;
  tile[ty][tx] = in[y * width + x];
  if (k < 2 * SIDE) {
    const int column = blockIdx.x * SIDE + (k % 2) * (SIDE + 1) - 1, row = blockIdx.y * SIDE + k / 2;
    if (column >= 0 && column < width) tile[k / 2 + 1][k % 2 * (SIDE + 1)] = in[row * width + column];
  }
  __syncthreads();
  if (x > 0 && x < width - 1) out[y * width + x] = 0.25f * (tile[ty][tx - 1] + 2 * tile[ty][tx] + tile[ty][tx + 1]);
}

// All threads load the halo in a loop.
extern "C" __global__ void loop_loads(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float tile[HALO][HALO];
  for (int i = threadIdx.y * SIDE + threadIdx.x; i < HALO * HALO; i += SIDE * SIDE)
    tile[i / HALO][i % HALO] = in[(blockIdx.y * SIDE + i / HALO) * width + blockIdx.x * SIDE + i % HALO];
  __syncthreads();
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  out[(blockIdx.y * SIDE + ty) * width + blockIdx.x * SIDE + tx] =
      0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

// The points of the border have a rule of their own.
extern "C" __global__ void border_rule(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float* const p = in + y * width + x;
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1)
    out[y * width + x] = 1 / (1 + p[0]);
  else
    out[y * width + x] = 0.2f * (p[0] + p[-1] + p[1] + p[-width] + p[width]);
}

extern "C" __global__ void inside_3d(const float* __restrict__ in, float* __restrict__ out, int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
            z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x == 0 || y == 0 || z == 0 || x >= side - 1 || y >= side - 1 || z >= side - 1) return;
  const float* const p = in + (z * side + y) * side + x;
  out[(z * side + y) * side + x] =
      p[-1] + p[1] + p[-side] + p[side] + p[-side * side] + p[side * side] - 6 * p[0];
}

// Real divergence: half of the lanes of each warp wait. "red" is the colour of the points that change.
extern "C" __global__ void red_black(float* in_out, int width, int height, int red) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
    if ((x + y) % 2 == red) { // finds ThreadDivergence
      float* const p = in_out + y * width + x;
      p[0] = sqrtf(p[0] * p[0] + p[-1] * p[1]) / (1 + p[-width] * p[-width] + p[width] * p[width]) + expf(-p[0]);
    }
}

// Real divergence: the cells of an obstacle are anywhere.
extern "C" __global__ void obstacles(const float* __restrict__ in, const int* __restrict__ flags,
                                     float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
    const int i = y * width + x;
    if (flags[i] > 127) // finds ThreadDivergence of data
      out[i] = sqrtf(in[i]) / (1 + in[i - 1]) + expf(in[i + 1]) / (2 + in[i]);
    else
      out[i] = logf(1 + in[i - width]) / (3 + in[i + width]) + sqrtf(in[i]) / (4 + in[i]);
  }
}

// Real divergence, and rare: one cell of a warp is a source, at any place.
extern "C" __global__ void sources(const float* __restrict__ in, const int* __restrict__ flags,
                                   float* __restrict__ out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int i = y * width + x;
  float sum = in[i];
  if (flags[i] < 10) // finds ThreadDivergence of a few
    for (int k = 0; k < 50; ++k) sum = sqrtf(sum * sum + k);
  out[i] = sum;
}

// The first threads of a block load the frame of its tile, which the neighbouring blocks load with whole warps.
extern "C" __global__ void frame_of_planes(const float* __restrict__ in, float* __restrict__ out, int width, int height,
                                           int planes) {
  __shared__ float tile[10][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, thread = threadIdx.y * 32 + threadIdx.x;
  const int x = blockIdx.x * 32, y = blockIdx.y * 8;
  const int column = thread < 64 ? thread % 32 + 1 : thread % 2 * 33,
            row = thread < 64 ? thread / 32 * 9 : (thread - 64) / 2 + 1;
  const int framed_x = x + column - 1, framed_y = y + row - 1;
  const bool frames = thread < 80 && framed_x >= 0 && framed_x < width && framed_y >= 0 && framed_y < height;
  for (int plane = 0; plane < planes; ++plane) {
    const float* const from = in + plane * width * height;
    __syncthreads();
    tile[ty][tx] = from[(y + threadIdx.y) * width + x + threadIdx.x];
    if (frames) tile[row][column] = from[framed_y * width + framed_x];
    __syncthreads();
    out[plane * width * height + (y + threadIdx.y) * width + x + threadIdx.x] =
        0.2f * (tile[ty][tx] + tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
  }
}
