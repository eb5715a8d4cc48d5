// A sum over the whole grid with cooperative groups: tiles of 8 threads, then blocks, then the grid, which waits twice.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void grid_reduction(const int* in, unsigned n, int* partial, int* out) {
  __shared__ int block_sum;
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  if (block.thread_rank() == 0) block_sum = 0;
  block.sync();
  int sum = 0;
  for (unsigned i = grid.thread_rank(); i < n; i += grid.num_threads()) sum += in[i];
  sum = cg::reduce(tile, sum, cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(&block_sum, sum);
  block.sync();
  if (block.thread_rank() == 0) partial[blockIdx.x] = block_sum;
  grid.sync();
  // Every block adds up all of them, in groups of whoever is there.
  int all = 0;
  for (unsigned i = block.thread_rank(); i < gridDim.x; i += block.num_threads()) {
    const cg::coalesced_group here = cg::coalesced_threads();
    const int together = cg::reduce(here, partial[i], cg::plus<int>());
    if (here.thread_rank() == 0) all += together;
  }
  grid.sync();
  if (block.thread_rank() == 0) partial[blockIdx.x] = 0;
  atomicAdd(&out[blockIdx.x], all);
}
