// Races in shared and global memory, within a warp, within a block and between blocks: racecheck.
// nvcc: -arch=compute_75
#include "faults.h"

// ---- shared memory, between the warps of a block

// CASE shared_no_barrier
// racecheck, shared memory: an array is reversed without a barrier between the stores and the loads
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; launch shared_no_barrier 1 64 a; want a 0 63
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_no_barrier(unsigned* a) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  s[i] = i; // OTHER
  FIX(__syncthreads();)
  a[i] = s[63 - i]; // FAULT
}

// CASE shared_tile_reused
// racecheck, shared memory: the tile of the next round overwrites what slower warps still read
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 1024; iota a 256; alloc b 256; launch shared_tile_reused 1 64 a b u32:4; want b 0 636
// expect: kind=war space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_tile_reused(const unsigned* a, unsigned* b, unsigned rounds) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  unsigned sum = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    s[i] = a[r * 64 + i]; // FAULT
    __syncthreads();
    sum += s[63 - i]; // OTHER
    FIX(__syncthreads();)
  }
  b[i] = sum;
}

// CASE shared_two_writers
// racecheck, shared memory: two warps store different values to one address
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 8; launch shared_two_writers 1 64 a; want a 1 1
// expect: kind=waw space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_two_writers(unsigned* a) {
  __shared__ unsigned s[2];
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) s[PICK(0, warp)] = warp; // FAULT
  __syncthreads();
  if (threadIdx.x < 2) a[threadIdx.x] = s[PICK(0, threadIdx.x)];
}

// CASE shared_same_value
// racecheck, shared memory: all threads that find something store the same value; a benign race
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; launch shared_same_value 1 64 a; want a 0 1
// expect: kind=waw space=shared bytes=4 blocks=0 missing=barrier benign=true
KERNEL shared_same_value(unsigned* a) {
  __shared__ unsigned found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (PICK(threadIdx.x % 32 == 5, threadIdx.x == 5)) found = 1; // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = found;
}

// CASE shared_reduction_no_barrier
// racecheck, shared memory: a tree reduction without a barrier after each step
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 4; launch shared_reduction_no_barrier 1 128 a; want a 0 8128
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_reduction_no_barrier(unsigned* a) {
  __shared__ unsigned s[128];
  const unsigned i = threadIdx.x;
  s[i] = i;
  __syncthreads();
  for (unsigned step = 64; step > 0; step /= 2) {
    if (i < step) s[i] += s[i + step]; // FAULT
    FIX(__syncthreads();)
  }
  if (i == 0) *a = s[0];
}

// CASE shared_scan_in_place
// racecheck, shared memory: a scan in place reads and writes without a barrier between
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; launch shared_scan_in_place 1 64 a; want a 63 64
// expect: kind=war space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_scan_in_place(unsigned* a) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  s[i] = 1;
  __syncthreads();
  for (unsigned step = 1; step < 64; step *= 2) {
    const unsigned left = i >= step ? s[i - step] : 0; // OTHER
    FIX(__syncthreads();)
    s[i] += left; // FAULT
    __syncthreads();
  }
  a[i] = s[i];
}

// CASE shared_broadcast
// racecheck, shared memory: thread 0 reads a parameter for all, and the others do not wait for it
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; iota a 64; alloc b 256; launch shared_broadcast 1 64 a b; want b 63 7
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32-63 missing=barrier
KERNEL shared_broadcast(const unsigned* a, unsigned* b) {
  __shared__ unsigned parameter;
  if (threadIdx.x == 0) parameter = a[7]; // OTHER
  PICK(__syncwarp(), __syncthreads());
  b[threadIdx.x] = parameter; // FAULT
}

// CASE shared_histogram_cleared
// racecheck, shared memory: bins are counted before all of them were cleared
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; launch shared_histogram_cleared 1 64 a; want a 0 1
// expect: kind=waw space=shared bytes=4 blocks=0 missing=barrier other_access=atomic
KERNEL shared_histogram_cleared(unsigned* a) {
  __shared__ unsigned bins[64];
  bins[threadIdx.x] = 0; // OTHER
  FIX(__syncthreads();)
  atomicAdd(&bins[63 - threadIdx.x], 1u); // FAULT
  __syncthreads();
  a[threadIdx.x] = bins[threadIdx.x];
}

// CASE shared_histogram_read
// racecheck, shared memory: bins are read while other warps still count
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; launch shared_histogram_read 1 64 a; want a 0 1
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier other_access=atomic
KERNEL shared_histogram_read(unsigned* a) {
  __shared__ unsigned bins[64];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[63 - threadIdx.x], 1u); // OTHER
  FIX(__syncthreads();)
  a[threadIdx.x] = bins[threadIdx.x]; // FAULT
}

// CASE shared_not_atomic
// racecheck, shared memory: counting with ++ where an atomic is needed
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; launch shared_not_atomic 1 64 a; want a 0 64
// expect: kind=waw space=shared bytes=4 blocks=0 missing=atomic
KERNEL shared_not_atomic(unsigned* a) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  PICK(++count, atomicAdd(&count, 1u)); // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = count;
}

// CASE shared_double_buffer
// racecheck, shared memory: two buffers used in turns; the switch comes without a barrier
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; launch shared_double_buffer 1 64 a u32:4; want a 5 13
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_double_buffer(unsigned* a, unsigned rounds) {
  __shared__ unsigned s[2][64];
  const unsigned i = threadIdx.x;
  s[0][i] = i;
  __syncthreads();
  for (unsigned r = 0; r < rounds; ++r) {
    s[(r + 1) % 2][i] = s[r % 2][(i + 33) % 64] + 1; // FAULT
    FIX(__syncthreads();)
  }
  __syncthreads();
  a[i] = s[rounds % 2][i];
}

// CASE shared_bytes_overlap
// racecheck, shared memory: a four-byte store, where two bytes are meant, overlaps the neighbour's bytes
// rule: PTX ISA, Memory Consistency Model, Overlap
// steps: alloc a 4; launch shared_bytes_overlap 1 64 a; want a 0 0x21212020
// expect: kind=waw space=shared bytes=2 blocks=0 missing=barrier
KERNEL shared_bytes_overlap(unsigned* a) {
  __shared__ unsigned words[2];
  unsigned char* const s = reinterpret_cast<unsigned char*>(words);
  if (threadIdx.x == 0) *reinterpret_cast<volatile unsigned short*>(s + 2) = 0x2121; // OTHER
  if (threadIdx.x == 32) *reinterpret_cast<volatile PICK(unsigned, unsigned short)*>(s) = PICK(0x20202020, 0x2020); // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = words[0];
}

// CASE shared_arrays_overlap
// racecheck, shared memory: two arrays in dynamic shared memory overlap, as an offset counts elements for bytes
// rule: CUDA C++ Programming Guide, __shared__
// steps: alloc a 512; launch shared_arrays_overlap 1 64 a shared=512; want a 0 0
// expect: kind=waw space=shared bytes=4 blocks=0 missing=barrier
extern __shared__ unsigned dynamic[];
KERNEL shared_arrays_overlap(unsigned* a) {
  unsigned* const first = dynamic;
  unsigned* const second = dynamic + PICK(16, 64);
  first[threadIdx.x] = threadIdx.x;        // OTHER
  second[threadIdx.x] = threadIdx.x + 100; // FAULT
  __syncthreads();
  a[threadIdx.x] = first[threadIdx.x];
  a[threadIdx.x + 64] = second[threadIdx.x];
}

// CASE shared_transpose
// racecheck, shared memory: a tile is written by rows and read by columns without a barrier
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 1024; launch shared_transpose 1 256 a; want a 1 16
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_transpose(unsigned* a) {
  __shared__ unsigned tile[16][17];
  const unsigned x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = threadIdx.x; // OTHER
  FIX(__syncthreads();)
  a[threadIdx.x] = tile[x][y]; // FAULT
}

// CASE shared_fence_is_no_barrier
// racecheck, shared memory: a fence orders a thread's own accesses, and waits for nobody
// rule: CUDA C++ Programming Guide, Memory Fence Functions
// steps: alloc a 256; launch shared_fence_is_no_barrier 1 64 a; want a 0 63
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier
KERNEL shared_fence_is_no_barrier(unsigned* a) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  s[i] = i; // OTHER
  PICK(__threadfence_block(), __syncthreads());
  a[i] = s[63 - i]; // FAULT
}

// CASE shared_volatile_flag
// racecheck, shared memory: one warp waits for another's flag; without fences, the flag does not order the data
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 4; launch shared_volatile_flag 1 64 a u32:42; want a 0 42
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32 missing=fence
KERNEL shared_volatile_flag(unsigned* a, unsigned value) {
  __shared__ unsigned data;
  __shared__ volatile unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = value; // OTHER
    FIX(__threadfence_block();)
    flag = 1;
  }
  if (threadIdx.x == 32) {
    while (flag == 0) {}
    FIX(__threadfence_block();)
    *a = data; // FAULT
  }
}

// ---- named barriers

// CASE named_barriers_differ
// racecheck, named barriers: the producer arrives at another barrier than the one that the consumer waits at
// rule: PTX ISA, bar, barrier
// steps: alloc a 128; launch named_barriers_differ 1 64 a; want a 0 0
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32-63 missing=barrier
KERNEL named_barriers_differ(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[lane] = lane; // OTHER
    BAR_SYNC(1, PICK(32, 64));
  } else {
    BAR_SYNC(PICK(2, 1), PICK(32, 64));
    a[lane] = s[lane]; // FAULT
  }
}

// CASE named_barrier_arrive_only
// racecheck, named barriers: the consumer only arrives where it must wait
// rule: PTX ISA, bar, barrier
// steps: alloc a 128; launch named_barrier_arrive_only 1 64 a; want a 0 0
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32-63 missing=barrier
KERNEL named_barrier_arrive_only(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    s[lane] = lane; // OTHER
    PICK(BAR_SYNC(1, 64), BAR_ARRIVE(1, 64));
  } else {
    PICK(BAR_ARRIVE(1, 64), BAR_SYNC(1, 64));
    a[lane] = s[lane]; // FAULT
  }
}

// CASE named_barrier_of_two_warps
// racecheck, named barriers: two of three warps synchronise; the third one reads as well
// rule: PTX ISA, bar, barrier
// steps: alloc a 384; launch named_barrier_of_two_warps 1 96 a; want a 95 31
// expect: kind=raw space=shared bytes=4 blocks=0 threads=64-95 missing=barrier
KERNEL named_barrier_of_two_warps(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) s[lane] = lane; // OTHER
  if (PICK(threadIdx.x < 64, true)) BAR_SYNC(1, PICK(64, 96));
  a[threadIdx.x] = s[lane]; // FAULT
}

// CASE named_barrier_buffer_not_returned
// racecheck, named barriers: a producer fills the buffer again before the consumer gave it back
// rule: PTX ISA, bar, barrier
// steps: alloc a 128; launch named_barrier_buffer_not_returned 1 64 a u32:4; want a 0 6
// expect: kind=war space=shared bytes=4 blocks=0 missing=barrier
KERNEL named_barrier_buffer_not_returned(unsigned* a, unsigned rounds) {
  __shared__ unsigned s[32];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (unsigned r = 0; r < rounds; ++r) {
      FIX(if (r > 0) BAR_SYNC(2, 64);)
      s[lane] = r; // FAULT
      PICK(BAR_SYNC(1, 64), BAR_ARRIVE(1, 64));
    }
  } else {
    unsigned sum = 0;
    for (unsigned r = 0; r < rounds; ++r) {
      BAR_SYNC(1, 64);
      sum += s[31 - lane]; // OTHER
      FIX(if (r + 1 < rounds) BAR_ARRIVE(2, 64);)
    }
    a[lane] = sum;
  }
}

// ---- within a warp

// CASE warp_no_syncwarp
// racecheck, within a warp: lanes exchange values through shared memory without __syncwarp
// rule: CUDA C++ Programming Guide, Independent Thread Scheduling
// steps: alloc a 128; launch warp_no_syncwarp 1 32 a; want a 0 31
// expect: kind=raw space=shared bytes=4 blocks=0 missing=__syncwarp
KERNEL warp_no_syncwarp(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  s[i] = i; // OTHER
  FIX(__syncwarp();)
  a[i] = s[31 - i]; // FAULT
}

// CASE warp_reduction_no_syncwarp
// racecheck, within a warp: the last steps of a reduction rely on lanes in lockstep
// rule: CUDA C++ Programming Guide, Independent Thread Scheduling
// steps: alloc a 4; launch warp_reduction_no_syncwarp 1 32 a; want a 0 496
// expect: kind=raw space=shared bytes=4 blocks=0 missing=__syncwarp
KERNEL warp_reduction_no_syncwarp(unsigned* a) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  s[i] = i;
  s[i + 32] = 0;
  __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2) {
    const unsigned other = s[i + step];
    FIX(__syncwarp();)
    s[i] += other; // FAULT
    FIX(__syncwarp();)
  }
  if (i == 0) *a = s[0];
}

// CASE warp_syncwarp_of_half
// racecheck, within a warp: each half synchronises by itself, and reads what the other half stored
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 128; launch warp_syncwarp_of_half 1 32 a; want a 0 31
// expect: kind=raw space=shared bytes=4 blocks=0 missing=__syncwarp
KERNEL warp_syncwarp_of_half(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  s[i] = i; // OTHER
  __syncwarp(PICK(i < 16 ? 0x0000ffffu : 0xffff0000u, 0xffffffffu));
  a[i] = s[31 - i]; // FAULT
}

// CASE warp_shuffle_is_no_barrier
// racecheck, within a warp: a shuffle synchronises lanes, but orders no memory accesses
// rule: CUDA C++ Programming Guide, Warp Shuffle Functions
// steps: alloc a 128; launch warp_shuffle_is_no_barrier 1 32 a; want a 0 62
// expect: kind=raw space=shared bytes=4 blocks=0 missing=__syncwarp
KERNEL warp_shuffle_is_no_barrier(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  s[i] = i; // OTHER
  const unsigned other = __shfl_xor_sync(0xffffffff, i, 31);
  FIX(__syncwarp();)
  a[i] = s[31 - i] + other; // FAULT
}

// CASE warp_vote_is_no_barrier
// racecheck, within a warp: a vote orders no memory accesses
// rule: CUDA C++ Programming Guide, Warp Vote Functions
// steps: alloc a 128; launch warp_vote_is_no_barrier 1 32 a; want a 0 31
// expect: kind=raw space=shared bytes=4 blocks=0 missing=__syncwarp
KERNEL warp_vote_is_no_barrier(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  s[i] = i; // OTHER
  const unsigned votes = __ballot_sync(0xffffffff, a != nullptr);
  FIX(__syncwarp();)
  a[i] = s[31 - i] + ~votes; // FAULT
}

// CASE warp_divergent_exchange
// racecheck, within a warp: one branch stores and the other one loads; nothing orders the branches
// rule: CUDA C++ Programming Guide, Independent Thread Scheduling
// steps: alloc a 128; launch warp_divergent_exchange 1 32 a; want a 31 0
// expect: kind=raw space=shared bytes=1 blocks=0 missing=__syncwarp
KERNEL warp_divergent_exchange(unsigned* a) {
  __shared__ unsigned char s[32];
  const unsigned i = threadIdx.x;
  if (i < 16) s[i] = static_cast<unsigned char>(i + 1); // OTHER
  FIX(__syncwarp();)
  a[i] = i >= 16 ? s[31 - i] - 1u : i; // FAULT
}

// CASE warp_same_address
// racecheck, within a warp: all lanes of one instruction store different values to one address
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; launch warp_same_address 1 32 a; want a 0 7
// expect: kind=waw space=shared bytes=4 blocks=0 missing=barrier
KERNEL warp_same_address(unsigned* a) {
  __shared__ unsigned s;
  if (PICK(true, threadIdx.x == 7)) s = threadIdx.x; // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = s;
}

// ---- global memory, within a block

// CASE global_in_block_no_barrier
// racecheck, global memory in a block: neighbours' results are read without a barrier
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; alloc b 256; launch global_in_block_no_barrier 1 64 a b; want b 0 63
// expect: kind=raw space=global bytes=4 blocks=0 missing=barrier of=a
KERNEL global_in_block_no_barrier(unsigned* a, unsigned* b) {
  const unsigned i = threadIdx.x;
  a[i] = i; // OTHER
  FIX(__syncthreads();)
  b[i] = a[63 - i]; // FAULT
}

// CASE global_in_block_shift
// racecheck, global memory in a block: an array is moved along by one in place
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 260; iota a 65; launch global_in_block_shift 1 64 a; want a 0 1
// expect: kind=war space=global bytes=4 blocks=0 missing=barrier of=a
KERNEL global_in_block_shift(unsigned* a) {
  const unsigned i = threadIdx.x;
  const unsigned right = a[i + 1]; // OTHER
  FIX(__syncthreads();)
  a[i] = right; // FAULT
}

// CASE global_in_block_two_writers
// racecheck, global memory in a block: two threads store to the same element
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 256; launch global_in_block_two_writers 1 64 a; want a 5 5
// expect: kind=waw space=global bytes=4 blocks=0 missing=barrier of=a
KERNEL global_in_block_two_writers(unsigned* a) {
  a[PICK(threadIdx.x % 32, threadIdx.x)] = threadIdx.x; // FAULT
}

// CASE global_in_block_accumulate
// racecheck, global memory in a block: += where an atomic is needed
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 16; set a 0 16; launch global_in_block_accumulate 1 64 a; want a 3 16
// expect: kind=waw space=global bytes=4 blocks=0 missing=atomic of=a
KERNEL global_in_block_accumulate(unsigned* a) {
  PICK(a[threadIdx.x % 4] += 1, atomicAdd(&a[threadIdx.x % 4], 1u)); // FAULT
}

// ---- global memory, between blocks

// CASE global_blocks_two_writers
// racecheck, between blocks: the index forgets the block
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 512; launch global_blocks_two_writers 2 64 a; want a 5 5
// expect: kind=waw space=global bytes=4 blocks=0,1 missing=none of=a
KERNEL global_blocks_two_writers(unsigned* a) {
  const unsigned i = threadIdx.x + PICK(0, blockIdx.x * blockDim.x);
  a[i] = threadIdx.x + blockIdx.x * blockDim.x; // FAULT
}

// CASE global_blocks_same_value
// racecheck, between blocks: each block clears the same result; a benign race
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; launch global_blocks_same_value 4 32 a; want a 0 9
// expect: kind=waw space=global bytes=4 blocks=0-3 missing=none of=a benign=true
KERNEL global_blocks_same_value(unsigned* a) {
  if (threadIdx.x == 0 && PICK(true, blockIdx.x == 0)) *a = 9; // FAULT
}

// CASE global_blocks_halo
// racecheck, between blocks: a stencil in place reads the neighbouring block's element
// rule: CUDA C++ Programming Guide, Thread Hierarchy
// steps: alloc a 260; iota a 65; alloc b 260; launch global_blocks_halo 2 32 a b
// expect: kind=war space=global bytes=4 blocks=0,1 missing=none of=a
KERNEL global_blocks_halo(unsigned* a, unsigned* b) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned right = a[i + 1]; // OTHER
  __syncthreads();
  PICK(a, b)[i] = right; // FAULT
}

// CASE global_blocks_histogram
// racecheck, between blocks: bins of global memory are counted with ++
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 128; set a 0 128; launch global_blocks_histogram 4 32 a; want a 31 4
// expect: kind=waw space=global bytes=4 blocks=0-3 missing=atomic of=a
KERNEL global_blocks_histogram(unsigned* a) {
  PICK(++a[threadIdx.x], atomicAdd(&a[threadIdx.x], 1u)); // FAULT
}

// CASE global_blocks_bytes_overlap
// racecheck, between blocks: words of neighbouring blocks overlap, as the offset counts bytes
// rule: PTX ISA, Memory Consistency Model, Overlap
// steps: alloc a 64; launch global_blocks_bytes_overlap 2 1 a
// expect: kind=waw space=global bytes=2 blocks=0,1 missing=none of=a
KERNEL global_blocks_bytes_overlap(unsigned short* a) {
  unsigned short* const p = a + blockIdx.x * PICK(1, 2);
  *reinterpret_cast<volatile unsigned short*>(p) = 1; // OTHER
  p[1] = static_cast<unsigned short>(2 + blockIdx.x); // FAULT
}

// CASE atomic_of_block_scope
// racecheck, scopes: atomics of block scope on a counter of the whole grid
// rule: PTX ISA, Memory Consistency Model, Morally Strong Operations
// steps: alloc a 4; set a 0 4; launch atomic_of_block_scope 4 32 a; want a 0 128
// expect: kind=waw space=global bytes=4 access=atomic other_access=atomic blocks=0-3 missing=scope of=a
KERNEL atomic_of_block_scope(unsigned* a) {
  PICK(atomicAdd_block, atomicAdd)(a, 1u); // FAULT
}

// CASE atomic_and_plain_store
// racecheck, atomics: one block counts with atomics, the other one resets with a plain store
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; set a 0 4; launch atomic_and_plain_store 2 1 a
// expect: kind=waw space=global bytes=4 blocks=0,1 missing=atomic of=a other_access=atomic
KERNEL atomic_and_plain_store(unsigned* a) {
  if (blockIdx.x == 0)
    atomicAdd(a, 1u); // OTHER
  else
    PICK(*a = 0, atomicExch(a, 0u)); // FAULT
}

// CASE atomic_and_plain_load
// racecheck, atomics: a counter that others still count with atomics is read with a plain load
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; set a 0 4; alloc b 4; launch atomic_and_plain_load 2 1 a b
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=atomic of=a other_access=atomic
KERNEL atomic_and_plain_load(unsigned* a, unsigned* b) {
  if (blockIdx.x == 0)
    atomicAdd(a, 1u); // OTHER
  else
    *b = PICK(*a, *static_cast<volatile unsigned*>(a)); // FAULT
}

// CASE atomics_of_two_sizes
// racecheck, atomics: one block adds to 8 bytes, the other one to the lower 4 of them
// rule: PTX ISA, Memory Consistency Model, Morally Strong Operations
// steps: alloc a 8; set a 0 8; launch atomics_of_two_sizes 2 1 a; want a 0 2
// expect: kind=waw space=global bytes=4 access=atomic other_access=atomic blocks=0,1 missing=size of=a
KERNEL atomics_of_two_sizes(unsigned long long* a) {
  if (blockIdx.x == 0)
    atomicAdd(a, 1ull); // OTHER
  else
    PICK(atomicAdd(reinterpret_cast<unsigned*>(a), 1u), atomicAdd(a, 1ull)); // FAULT
}

// ---- messages between blocks

// CASE message_without_fences
// racecheck, messages: data and a volatile flag, no fence at all
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_without_fences 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=fence of=a
KERNEL message_without_fences(unsigned* a, unsigned* b) {
  volatile unsigned* const flag = a + 1;
  if (blockIdx.x == 0) {
    *a = 42; // OTHER
    FIX(__threadfence();)
    *flag = 1;
  } else {
    while (*flag == 0) {}
    FIX(__threadfence();)
    *b = *a; // FAULT
  }
}

// CASE message_no_fence_of_producer
// racecheck, messages: the producer's fence is missing
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_no_fence_of_producer 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=release of=a
KERNEL message_no_fence_of_producer(unsigned* a, unsigned* b) {
  volatile unsigned* const flag = a + 1;
  if (blockIdx.x == 0) {
    *a = 42; // OTHER
    FIX(__threadfence();)
    *flag = 1;
  } else {
    while (*flag == 0) {}
    __threadfence();
    *b = *a; // FAULT
  }
}

// CASE message_no_fence_of_consumer
// racecheck, messages: the consumer's fence is missing
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_no_fence_of_consumer 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=acquire of=a
KERNEL message_no_fence_of_consumer(unsigned* a, unsigned* b) {
  volatile unsigned* const flag = a + 1;
  if (blockIdx.x == 0) {
    *a = 42; // OTHER
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    FIX(__threadfence();)
    *b = *a; // FAULT
  }
}

// CASE message_fence_of_block_scope
// racecheck, scopes: fences that reach the own block only, between two blocks
// rule: CUDA C++ Programming Guide, Memory Fence Functions
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_fence_of_block_scope 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=scope of=a
KERNEL message_fence_of_block_scope(unsigned* a, unsigned* b) {
  volatile unsigned* const flag = a + 1;
  if (blockIdx.x == 0) {
    *a = 42; // OTHER
    PICK(__threadfence_block(), __threadfence());
    *flag = 1;
  } else {
    while (*flag == 0) {}
    PICK(__threadfence_block(), __threadfence());
    *b = *a; // FAULT
  }
}

// CASE message_release_of_block_scope
// racecheck, scopes: release and acquire of block scope between two blocks
// rule: PTX ISA, Memory Consistency Model, Scope
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_release_of_block_scope 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=scope of=a
KERNEL message_release_of_block_scope(unsigned* a, unsigned* b) {
  unsigned seen = 0;
  if (blockIdx.x == 0) {
    *a = 42; // OTHER
    STORE(PICK("release.cta.global", "release.gpu.global"), a + 1, 1);
  } else {
    for (unsigned i = 0; seen == 0 && i < 1000000; ++i) LOAD(PICK("acquire.cta.global", "acquire.gpu.global"), seen, a + 1);
    *b = *a; // FAULT
  }
}

// CASE message_relaxed
// racecheck, messages: a relaxed store and relaxed loads where release and acquire are needed
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_relaxed 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=release of=a
KERNEL message_relaxed(unsigned* a, unsigned* b) {
  unsigned seen = 0;
  if (blockIdx.x == 0) {
    *a = 42; // OTHER
    STORE(PICK("relaxed.gpu.global", "release.gpu.global"), a + 1, 1);
  } else {
    while (seen == 0) LOAD(PICK("relaxed.gpu.global", "acquire.gpu.global"), seen, a + 1);
    *b = *a; // FAULT
  }
}

// CASE message_plain_flag
// racecheck, messages: the flag itself is a plain variable; the wait is bounded, as it may never see the store
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 8; set a 0 8; alloc b 4; launch message_plain_flag 2 1 a b; want b 0 42
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=release of=a
KERNEL message_plain_flag(unsigned* a, unsigned* b) {
  unsigned seen = 0;
  if (blockIdx.x == 0) {
    *a = 42;
    __threadfence();
    STORE(PICK("weak.global", "relaxed.gpu.global"), a + 1, 1); // OTHER
  } else {
    for (unsigned i = 0; seen == 0 && i < 1000000; ++i) {
      LOAD(PICK("weak.global", "relaxed.gpu.global"), seen, a + 1); // FAULT
    }
    __threadfence();
    *b = seen != 0 ? *a : 0;
  }
}

// CASE message_by_one_thread_of_block
// racecheck, messages: all threads store, thread 0 sets the flag without waiting for them
// rule: PTX ISA, Memory Consistency Model, Causality Order
// steps: alloc a 256; set a 0 256; alloc b 4; set b 0 4; alloc c 256; launch message_by_one_thread_of_block 2 64 a b c; want c 63 63
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=barrier of=a
KERNEL message_by_one_thread_of_block(unsigned* a, volatile unsigned* flag, unsigned* c) {
  const unsigned i = threadIdx.x;
  if (blockIdx.x == 0) {
    a[i] = i; // OTHER
    FIX(__syncthreads();)
    __threadfence();
    if (i == 0) *flag = 1;
  } else {
    if (i == 0)
      while (*flag == 0) {}
    __threadfence();
    __syncthreads();
    c[i] = a[i]; // FAULT
  }
}

// CASE message_waited_by_one_thread
// racecheck, messages: one thread of the consumers waits for the flag, the others read at once
// rule: PTX ISA, Memory Consistency Model, Causality Order
// steps: alloc a 256; set a 0 256; alloc b 4; set b 0 4; alloc c 256; launch message_waited_by_one_thread 2 64 a b c; want c 63 63
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=barrier of=a
KERNEL message_waited_by_one_thread(unsigned* a, volatile unsigned* flag, unsigned* c) {
  const unsigned i = threadIdx.x;
  if (blockIdx.x == 0) {
    a[i] = i; // OTHER
    __syncthreads();
    __threadfence();
    if (i == 0) *flag = 1;
  } else {
    if (i == 0)
      while (*flag == 0) {}
    __threadfence();
    FIX(__syncthreads();)
    c[i] = a[i]; // FAULT
  }
}

// CASE queue_item_after_counter
// racecheck, messages: a work queue whose counter grows before the item is stored
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; alloc b 4; launch queue_item_after_counter 2 1 a b; want b 0 17
// expect: kind=raw space=global bytes=4 blocks=0,1 missing=release of=a
KERNEL queue_item_after_counter(unsigned* a, unsigned* b) {
  if (blockIdx.x == 0) {
    BREAK(atomicAdd(a, 1u);)
    BREAK(__threadfence();)
    a[1] = 17; // OTHER
    FIX(__threadfence();)
    FIX(atomicAdd(a, 1u);)
  } else {
    while (atomicAdd(a, 0u) == 0) {}
    __threadfence();
    *b = a[1]; // FAULT
  }
}

// CASE last_block_no_fence
// racecheck, messages: the last block adds up the others' results; the fence before the ticket is missing
// rule: CUDA C++ Programming Guide, Memory Fence Functions
// steps: alloc a 16; alloc b 8; set b 0 8; launch last_block_no_fence 4 32 a b; want b 1 10
// expect: kind=raw space=global bytes=4 missing=release of=a
KERNEL last_block_no_fence(unsigned* a, unsigned* b) {
  if (threadIdx.x != 0) return;
  a[blockIdx.x] = blockIdx.x + 1; // OTHER
  FIX(__threadfence();)
  const unsigned ticket = atomicAdd(b, 1u);
  __threadfence();
  if (ticket != gridDim.x - 1) return;
  unsigned sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += a[i]; // FAULT
  b[1] = sum;
}

// CASE initialised_twice
// racecheck, messages: double-checked initialisation with a plain load of the flag
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 12; set a 0 12; alloc b 16; launch initialised_twice 4 1 a b; want b 3 5
// expect: kind=raw space=global bytes=4 missing=acquire of=a
KERNEL initialised_twice(unsigned* a, unsigned* b) {
  unsigned ready;
  LOAD(PICK("weak.global", "acquire.gpu.global"), ready, a); // FAULT
  if (ready == 0) {
    while (atomicCAS(a + 2, 0u, 1u) != 0) {}
    __threadfence();
    LOAD("acquire.gpu.global", ready, a);
    if (ready == 0) {
      a[1] = 5;
      STORE("release.gpu.global", a, 1); // OTHER
    }
    __threadfence();
    atomicExch(a + 2, 0u);
  }
  b[blockIdx.x] = a[1];
}

// ---- locks

// CASE lock_no_acquire
// racecheck, locks: no fence after the lock was taken
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; launch lock_no_acquire 4 1 a; want a 1 4
// expect: kind=raw space=global bytes=4 blocks=0-3 missing=acquire of=a
KERNEL lock_no_acquire(unsigned* a) {
  while (atomicCAS(a, 0u, 1u) != 0) {}
  FIX(__threadfence();)
  a[1] += 1; // FAULT
  __threadfence();
  atomicExch(a, 0u);
}

// CASE lock_no_release
// racecheck, locks: no fence before the lock is given back
// rule: PTX ISA, Memory Consistency Model, Release and Acquire Patterns
// steps: alloc a 8; set a 0 8; launch lock_no_release 4 1 a; want a 1 4
// expect: kind=raw space=global bytes=4 blocks=0-3 missing=release of=a
KERNEL lock_no_release(unsigned* a) {
  while (atomicCAS(a, 0u, 1u) != 0) {}
  __threadfence();
  a[1] += 1; // FAULT
  FIX(__threadfence();)
  atomicExch(a, 0u);
}

// CASE lock_plain_unlock
// racecheck, locks: a plain store gives the lock back
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 8; set a 0 8; launch lock_plain_unlock 4 1 a; want a 1 4
// expect: kind=waw space=global bytes=4 blocks=0-3 missing=atomic of=a other_access=atomic
KERNEL lock_plain_unlock(unsigned* a) {
  while (atomicCAS(a, 0u, 1u) != 0) {} // OTHER
  __threadfence();
  a[1] += 1;
  __threadfence();
  STORE(PICK("weak.global", "relaxed.gpu.global"), a, 0); // FAULT
}

// CASE lock_of_block_scope
// racecheck, locks: a lock whose atomics have block scope, between blocks
// rule: PTX ISA, Memory Consistency Model, Morally Strong Operations
// steps: alloc a 8; set a 0 8; launch lock_of_block_scope 4 1 a; want a 1 4
// expect: kind=raw space=global bytes=4 blocks=0-3 missing=scope of=a
KERNEL lock_of_block_scope(unsigned* a) {
  while (PICK(atomicCAS_block, atomicCAS)(a, 0u, 1u) != 0) {} // OTHER
  __threadfence();
  a[1] += 1; // FAULT
  __threadfence();
  PICK(atomicExch_block, atomicExch)(a, 0u);
}

// CASE lock_two_locks
// racecheck, locks: two blocks protect the same data with different locks
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 12; set a 0 12; launch lock_two_locks 4 1 a; want a 2 4
// expect: kind=waw space=global bytes=4 missing=lock of=a
KERNEL lock_two_locks(unsigned* a) {
  unsigned* const lock = a + PICK(blockIdx.x % 2, 0);
  while (atomicCAS(lock, 0u, 1u) != 0) {}
  __threadfence();
  a[2] += 1; // FAULT
  __threadfence();
  atomicExch(lock, 0u);
}

// CASE lock_read_outside
// racecheck, locks: the sum is read after the lock was given back
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 8; set a 0 8; alloc b 16; launch lock_read_outside 4 1 a b
// expect: kind=raw space=global bytes=4 missing=lock of=a
KERNEL lock_read_outside(unsigned* a, unsigned* b) {
  while (atomicCAS(a, 0u, 1u) != 0) {}
  __threadfence();
  a[1] += 1; // OTHER
  FIX(b[blockIdx.x] = a[1];)
  __threadfence();
  atomicExch(a, 0u);
  BREAK(b[blockIdx.x] = *static_cast<unsigned*>(a + 1);) // FAULT
}
