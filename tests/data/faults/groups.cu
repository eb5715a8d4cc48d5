// Cooperative groups: grids, blocks and tiles that synchronise wrongly: racecheck and synccheck.
// nvcc: -arch=compute_80
#include "faults.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

// CASE grid_no_sync
// racecheck, between blocks: the second step reads other blocks' results without a barrier of the grid
// rule: CUDA C++ Programming Guide, Grid Synchronization
// steps: alloc a 512; alloc b 512; launch grid_no_sync 4 32 a b cooperative; want b 0 127
// expect: kind=raw space=global bytes=4 missing=grid.sync of=a
KERNEL grid_no_sync(unsigned* a, unsigned* b) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  a[i] = i; // OTHER
  FIX(cg::this_grid().sync();)
  b[i] = a[127 - i]; // FAULT
}

// CASE grid_sync_of_some_blocks
// synccheck, grid barriers: blocks without work return before the barrier of the grid
// rule: CUDA C++ Programming Guide, Grid Synchronization
// steps: alloc a 512; launch grid_sync_of_some_blocks 4 32 a cooperative; sync
// expect: kind=grid_sync blocks=0-2 hangs=true
KERNEL grid_sync_of_some_blocks(unsigned* a) {
  if (PICK(blockIdx.x == 3, false)) return;
  a[blockIdx.x * 32 + threadIdx.x] = 1;
  cg::this_grid().sync(); // FAULT
  a[blockIdx.x * 32 + threadIdx.x] = 2;
}

// CASE grid_sync_of_some_threads
// synccheck, grid barriers: one thread of each block synchronises the grid
// rule: CUDA C++ Programming Guide, Grid Synchronization
// steps: alloc a 512; launch grid_sync_of_some_threads 4 32 a cooperative; sync
// expect: kind=divergent_barrier blocks=0-3 threads=0
KERNEL grid_sync_of_some_threads(volatile unsigned* a) {
  a[blockIdx.x * 32 + threadIdx.x] = 1;
  if (PICK(threadIdx.x == 0, true)) cg::this_grid().sync(); // FAULT
  a[blockIdx.x * 32 + threadIdx.x] = 2;
}

// CASE grid_sync_without_cooperative_launch
// synccheck, grid barriers: a plain launch of a kernel that synchronises its grid
// rule: CUDA C++ Programming Guide, Grid Synchronization
// steps: alloc a 512; launch grid_sync_without_cooperative_launch 4 32 a; sync
// fixed: alloc a 512; launch grid_sync_without_cooperative_launch 4 32 a cooperative; sync
// expect: kind=grid_sync blocks=0-3 hangs=true
KERNEL grid_sync_without_cooperative_launch(unsigned* a) {
  a[blockIdx.x * 32 + threadIdx.x] = 1;
  cg::this_grid().sync(); // FAULT
  a[blockIdx.x * 32 + threadIdx.x] = 2;
}

// CASE block_group_sync_in_branch
// synccheck, divergent barrier: the group of the block is synchronised by half of a warp
// rule: CUDA C++ Programming Guide, Thread Block Group
// steps: alloc a 128; launch block_group_sync_in_branch 1 32 a; sync
// expect: kind=divergent_barrier blocks=0 threads=0-15
KERNEL block_group_sync_in_branch(volatile unsigned* a) {
  a[threadIdx.x] = 1;
  if (PICK(threadIdx.x < 16, true)) cg::this_thread_block().sync(); // FAULT
  a[threadIdx.x] = 2;
}

// CASE tile_sync_in_branch
// synccheck, masks: a tile of 32 is synchronised by half of its lanes
// rule: CUDA C++ Programming Guide, Thread Block Tile
// steps: alloc a 128; launch tile_sync_in_branch 1 32 a; sync
// expect: kind=lanes_missing blocks=0 threads=0-15
KERNEL tile_sync_in_branch(volatile unsigned* a) {
  const auto tile = cg::tiled_partition<PICK(32, 16)>(cg::this_thread_block());
  a[threadIdx.x] = 1;
  if (threadIdx.x < 16) {
    a[threadIdx.x] = 3;
    tile.sync(); // FAULT
  }
  a[threadIdx.x] = 2;
}

// CASE tile_shuffle_in_branch
// synccheck, masks: a shuffle of a tile whose other lanes are in another branch
// rule: CUDA C++ Programming Guide, Thread Block Tile
// steps: alloc a 128; launch tile_shuffle_in_branch 1 32 a; sync
// expect: kind=lanes_missing blocks=0 threads=0-15
KERNEL tile_shuffle_in_branch(volatile unsigned* a) {
  const auto tile = cg::tiled_partition<PICK(32, 16)>(cg::this_thread_block());
  a[threadIdx.x] = 1;
  if (threadIdx.x < 16) a[threadIdx.x] = tile.shfl_xor(threadIdx.x, 1); // FAULT
}

// CASE tile_too_small
// racecheck, within a warp: tiles of 16 synchronise, and read what the other tile wrote
// rule: CUDA C++ Programming Guide, Thread Block Tile
// steps: alloc a 128; launch tile_too_small 1 32 a; want a 0 31
// expect: kind=raw space=shared bytes=4 blocks=0 missing=__syncwarp
KERNEL tile_too_small(unsigned* a) {
  __shared__ unsigned s[32];
  const auto tile = cg::tiled_partition<PICK(16, 32)>(cg::this_thread_block());
  s[threadIdx.x] = threadIdx.x; // OTHER
  tile.sync();
  a[threadIdx.x] = s[31 - threadIdx.x]; // FAULT
}

// CASE group_copy_not_waited_for
// synccheck, missing wait: memcpy_async of a group without cg::wait
// rule: CUDA C++ Programming Guide, memcpy_async
// steps: alloc a 128; iota a 32; alloc b 128; launch group_copy_not_waited_for 1 32 a b; want b 31 31
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0
KERNEL group_copy_not_waited_for(const unsigned* a, unsigned* b) {
  __shared__ __align__(16) unsigned s[32];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, reinterpret_cast<uint4*>(s), reinterpret_cast<const uint4*>(a), 128); // OTHER
  PICK(block.sync(), cg::wait(block));
  b[threadIdx.x] = s[threadIdx.x]; // FAULT
}
