// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map (cp.async.bulk.tensor): missing waits and fences: synccheck and racecheck.
// nvcc: -arch=compute_90a
#include "faults.h"

// A tile has 8 rows of 32 numbers of 32 bits, as the step `map` makes it.
#define TILE_BYTES 1024
#define PROXY_FENCE() FENCE("proxy.async")
#define OBJECT_FENCE() FENCE("mbarrier_init.release.cluster")
#define EXPECT(barrier) \
  asm volatile("{ .reg .b64 %%t; mbarrier.arrive.expect_tx.shared.b64 %%t, [%0], %1; }" ::"r"(barrier), "n"(TILE_BYTES) : "memory")
#define TENSOR_LOAD(to, map, row, barrier) \
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" \
               ::"r"(to), "l"(map), "r"(0), "r"(row), "r"(barrier) : "memory")
#define TENSOR_STORE(map, row, from) \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" \
               ::"l"(map), "r"(0), "r"(row), "r"(from) : "memory")
#define TENSOR_ADD(map, row, from) \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" \
               ::"l"(map), "r"(0), "r"(row), "r"(from) : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(groups) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(groups) : "memory")
#define BULK_WAIT_READ(groups) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory")
#define BLOCK_OF_TILE(name) __shared__ alignas(128) volatile unsigned name[TILE_BYTES / 4]
#define ADDRESS(name) static_cast<unsigned>(__cvta_generic_to_shared(const_cast<unsigned*>(name)))

// CASE tensor_load_no_wait
// synccheck, missing wait: a thread reads the tile before the phase of its mbarrier is complete
// rule: PTX ISA, cp.async.bulk.tensor: completion mechanisms
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 128; launch tensor_load_no_wait 1 32 m b; want b 31 31
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL tensor_load_no_wait(const void* map, unsigned* b) {
  BLOCK_OF_TILE(tile);
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x, object = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (i == 0) {
    MBARRIER_INIT(object, 1);
    OBJECT_FENCE();
  }
  __syncthreads();
  if (i == 0) {
    EXPECT(object);
    TENSOR_LOAD(ADDRESS(tile), map, 0, object); // OTHER
  }
  __syncthreads();
  FIX(MBARRIER_WAIT(object, 0);)
  b[i] = tile[i]; // FAULT
  BREAK(MBARRIER_WAIT(object, 0);)
}

// CASE tensor_tile_overwritten_in_flight
// synccheck, missing wait: a thread clears the tile while the copy may still write it
// rule: PTX ISA, cp.async.bulk.tensor: completion mechanisms
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 128; launch tensor_tile_overwritten_in_flight 1 32 m b; want b 31 0
// expect: kind=missing_wait access=write space=shared bytes=4 blocks=0 threads=0-31
KERNEL tensor_tile_overwritten_in_flight(const void* map, unsigned* b) {
  BLOCK_OF_TILE(tile);
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x, object = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (i == 0) {
    MBARRIER_INIT(object, 1);
    OBJECT_FENCE();
  }
  __syncthreads();
  if (i == 0) {
    EXPECT(object);
    TENSOR_LOAD(ADDRESS(tile), map, 0, object); // OTHER
  }
  __syncthreads();
  FIX(MBARRIER_WAIT(object, 0);)
  tile[i] = 0; // FAULT
  BREAK(MBARRIER_WAIT(object, 0);)
  b[i] = tile[i];
}

// CASE tensor_load_other_object
// synccheck, missing wait: the second tile has an mbarrier of its own, and the wait for it names the first one
// rule: PTX ISA, cp.async.bulk.tensor: completion mechanisms
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 128; launch tensor_load_other_object 1 32 m b; want b 31 318
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL tensor_load_other_object(const void* map, unsigned* b) {
  __shared__ alignas(128) volatile unsigned tiles[2][TILE_BYTES / 4];
  __shared__ unsigned long long barriers[2];
  const unsigned i = threadIdx.x, object = SHARED_ADDRESS(&barriers[0]), second = SHARED_ADDRESS(&barriers[1]);
  unsigned done;
  if (i == 0) {
    MBARRIER_INIT(object, 1);
    MBARRIER_INIT(second, 1);
    OBJECT_FENCE();
  }
  __syncthreads();
  if (i == 0) {
    EXPECT(object);
    TENSOR_LOAD(ADDRESS(tiles[0]), map, 0, object);
    EXPECT(second);
    TENSOR_LOAD(ADDRESS(tiles[1]), map, 8, second); // OTHER
  }
  __syncwarp();
  MBARRIER_WAIT(object, 0);
  const unsigned first = tiles[0][i];
  MBARRIER_WAIT(PICK(object, second), 0);
  b[i] = first + tiles[1][i]; // FAULT
  BREAK(MBARRIER_WAIT(second, 0);)
}

// CASE tensor_store_no_fence
// synccheck, missing fence: a copy reads the tile through the asynchronous proxy, without a fence after the stores
// rule: PTX ISA, Memory Consistency Model: proxies; fence.proxy.async
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; launch tensor_store_no_fence 1 256 m; want a 255 510
// expect: kind=missing_fence blocks=0 threads=0
KERNEL tensor_store_no_fence(const void* map) {
  BLOCK_OF_TILE(tile);
  const unsigned i = threadIdx.x;
  tile[i] = 2 * i; // OTHER
  FIX(PROXY_FENCE();)
  __syncthreads();
  if (i == 0) {
    TENSOR_STORE(map, 0, ADDRESS(tile)); // FAULT
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

// CASE tensor_store_source_reused
// synccheck, missing wait: the next tile is written before the copy of this one has read it
// rule: PTX ISA, cp.async.bulk.wait_group
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; launch tensor_store_source_reused 1 256 m; want a 511 258
// expect: kind=missing_wait access=write space=shared bytes=4 blocks=0 threads=0-255
KERNEL tensor_store_source_reused(const void* map) {
  BLOCK_OF_TILE(tile);
  const unsigned i = threadIdx.x;
  tile[i] = i + 2;
  PROXY_FENCE();
  __syncthreads();
  if (i == 0) {
    TENSOR_STORE(map, 0, ADDRESS(tile)); // OTHER
    BULK_COMMIT();
    FIX(BULK_WAIT_READ(0);)
  }
  __syncthreads();
  tile[i] = i + 3; // FAULT
  PROXY_FENCE();
  __syncthreads();
  if (i == 0) {
    TENSOR_STORE(map, 8, ADDRESS(tile));
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}

// CASE tensor_store_block_exits
// synccheck, missing wait: the block exits, and its shared memory ends, while a copy may still read it
// rule: PTX ISA, cp.async.bulk.wait_group
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; launch tensor_store_block_exits 1 256 m; want a 255 510
// expect: kind=missing_wait space=shared blocks=0 threads=0
KERNEL tensor_store_block_exits(const void* map) {
  BLOCK_OF_TILE(tile);
  const unsigned i = threadIdx.x;
  tile[i] = 2 * i;
  PROXY_FENCE();
  __syncthreads();
  if (i == 0) {
    TENSOR_STORE(map, 0, ADDRESS(tile)); // FAULT
    BULK_COMMIT();
    FIX(BULK_WAIT_READ(0);)
  }
}

// CASE tensor_object_no_fence
// synccheck, missing fence: a copy completes at an mbarrier whose initialisation was not fenced
// rule: PTX ISA, fence.mbarrier_init; Memory Consistency Model: proxies
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 128; launch tensor_object_no_fence 1 32 m b; want b 31 31
// expect: kind=missing_fence blocks=0 threads=0
KERNEL tensor_object_no_fence(const void* map, unsigned* b) {
  BLOCK_OF_TILE(tile);
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x, object = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (i == 0) {
    MBARRIER_INIT(object, 1); // OTHER
    FIX(OBJECT_FENCE();)
  }
  __syncthreads();
  if (i == 0) {
    EXPECT(object);
    TENSOR_LOAD(ADDRESS(tile), map, 0, object); // FAULT
  }
  __syncwarp();
  MBARRIER_WAIT(object, 0);
  b[i] = tile[i];
}

// CASE tensor_sum_read_too_early
// synccheck, missing wait: .read waits until the tile has been read, not until the sums are in the tensor
// rule: PTX ISA, cp.async.bulk.wait_group (.read)
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 1024; launch tensor_sum_read_too_early 1 256 m a b; want b 255 510
// expect: kind=missing_wait access=read space=global bytes=4 blocks=0 threads=0-255
KERNEL tensor_sum_read_too_early(const void* map, volatile unsigned* a, unsigned* b) {
  BLOCK_OF_TILE(tile);
  const unsigned i = threadIdx.x;
  tile[i] = i;
  PROXY_FENCE();
  __syncthreads();
  if (i == 0) {
    TENSOR_ADD(map, 0, ADDRESS(tile)); // OTHER
    BULK_COMMIT();
    PICK(BULK_WAIT_READ(0), BULK_WAIT(0));
  }
  __syncthreads();
  b[i] = a[i]; // FAULT
}

// CASE tensor_load_waited_for_by_others
// racecheck, asynchronous copies: only the other warp waits for the tile, and no barrier follows
// rule: PTX ISA, mbarrier.test_wait: visibility to the waiting thread
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 256; launch tensor_load_waited_for_by_others 1 64 m b; want b 63 63
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32-63
KERNEL tensor_load_waited_for_by_others(const void* map, unsigned* b) {
  BLOCK_OF_TILE(tile);
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x, object = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (i == 0) {
    MBARRIER_INIT(object, 1);
    OBJECT_FENCE();
  }
  __syncthreads();
  if (i == 0) {
    EXPECT(object);
    TENSOR_LOAD(ADDRESS(tile), map, 0, object); // OTHER
  }
  __syncwarp();
  if (PICK(i < 32, true)) MBARRIER_WAIT(object, 0);
  b[i] = tile[i]; // FAULT
}

// CASE tensor_tile_returned_too_early
// racecheck, asynchronous copies: consumers return the tile before they have read it, and the next copy overwrites it
// rule: CUDA C++ Programming Guide, Asynchronous Barrier: producer and consumer
// steps: alloc a 2048; iota a 512; map m a 32 16 32 8; alloc b 256; launch tensor_tile_returned_too_early 1 64 m b; want b 63 318
// expect: kind=war space=shared blocks=0
KERNEL tensor_tile_returned_too_early(const void* map, unsigned* b) {
  BLOCK_OF_TILE(tile);
  __shared__ unsigned long long full, empty;
  const unsigned i = threadIdx.x, filled = SHARED_ADDRESS(&full), emptied = SHARED_ADDRESS(&empty);
  unsigned done, sum = 0;
  if (i == 0) {
    MBARRIER_INIT(filled, 1);
    MBARRIER_INIT(emptied, 32);
    OBJECT_FENCE();
  }
  __syncthreads();
  for (unsigned r = 0; r < 2; ++r) {
    if (i == 0) {
      if (r == 1) MBARRIER_WAIT(emptied, 0);
      EXPECT(filled);
      TENSOR_LOAD(ADDRESS(tile), map, 8 * r, filled); // FAULT
    }
    if (i >= 32) {
      MBARRIER_WAIT(filled, r);
      BREAK(MBARRIER_ARRIVE(emptied);)
      sum += tile[i - 32]; // OTHER
      FIX(MBARRIER_ARRIVE(emptied);)
    }
  }
  b[i] = sum;
}
