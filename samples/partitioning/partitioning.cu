// J. Cornelis (Anti-parallel Patterns in Fine-grain Data-parallel Programs, VUB 2010), chapter 6: how data is
// distributed to blocks and threads. Each element is read, processed `operations` times and written.

static __device__ int work(int x, int operations) {
#pragma unroll 1
  for (int i = 0; i < operations; ++i) x = x * 3 + i;
  return x;
}

// One element per thread, blocks of any size.
extern "C" __global__ void one_dimension(const int* in, int* out, int n, int operations) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = work(in[i], operations);
}

extern "C" __global__ void two_dimensions(const int* in, int* out, int width, int height, int operations) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) out[row * width + column] = work(in[row * width + column], operations);
}

// A block processes a tile of any size: its threads process several elements each, or some of them none.
extern "C" __global__ void tiles(const int* in, int* out, int n, int tile, int operations) {
  const int end = min((int)(blockIdx.x + 1) * tile, n);
  for (int i = blockIdx.x * tile + threadIdx.x; i < end; i += blockDim.x) out[i] = work(in[i], operations);
}
