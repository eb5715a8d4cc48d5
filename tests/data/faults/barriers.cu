// Barriers, masks and warp-level functions that are used wrongly: synccheck.
// nvcc: -arch=compute_75
#include "faults.h"

// ---- barriers in divergent code

// CASE barrier_in_branch
// synccheck, divergent barrier: half of a warp runs into __syncthreads, the other half does not
// rule: CUDA C++ Programming Guide, Synchronization Functions; PTX ISA, bar, barrier (.aligned)
// steps: alloc a 128; launch barrier_in_branch 1 32 a; sync
// expect: kind=divergent_barrier blocks=0 threads=0-15
KERNEL barrier_in_branch(unsigned* a) {
  a[threadIdx.x] = 1;
  if (PICK(threadIdx.x < 16, true)) __syncthreads(); // FAULT
  a[threadIdx.x] += 1;
}

// CASE barrier_in_both_branches
// synccheck, divergent barrier: both branches have a __syncthreads of their own
// rule: CUDA C++ Programming Guide, Synchronization Functions; PTX ISA, bar, barrier (.aligned)
// steps: alloc a 128; launch barrier_in_both_branches 1 32 a; sync
// expect: kind=divergent_barrier blocks=0
KERNEL barrier_in_both_branches(volatile unsigned* a) {
  if (threadIdx.x % 2 == 0) {
    a[threadIdx.x] = 1;
    BREAK(__syncthreads();) // FAULT
    a[threadIdx.x] = 3;
  } else {
    a[threadIdx.x] = 2;
    BREAK(__syncthreads();) // OTHER
    a[threadIdx.x] = 4;
  }
  FIX(__syncthreads();)
}

// CASE barrier_in_loop
// synccheck, divergent barrier: a loop whose number of rounds depends on the thread
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 256; launch barrier_in_loop 1 64 a u32:4; sync
// expect: kind=divergent_barrier blocks=0
KERNEL barrier_in_loop(volatile unsigned* a, unsigned rounds) {
  const unsigned i = threadIdx.x, mine = PICK(i % rounds, rounds);
  for (unsigned r = 0; r < mine; ++r) {
    a[i] = r;
    __syncthreads(); // FAULT
  }
}

// CASE barrier_skipped_by_lanes
// synccheck, divergent barrier: some lanes skip the barrier and go on; had they exited, it would be correct
// rule: PTX ISA, bar, barrier
// steps: alloc a 256; launch barrier_skipped_by_lanes 1 64 a u32:50; sync
// expect: kind=divergent_barrier blocks=0 threads=32-49
KERNEL barrier_skipped_by_lanes(volatile unsigned* a, unsigned n) {
  const unsigned i = threadIdx.x;
  FIX(if (i >= n) return;)
  if (i < n) {
    a[i] = i;
    __syncthreads(); // FAULT
  }
  a[i] = i + 1;
}

// CASE barrier_in_switch
// synccheck, divergent barrier: each case of a switch ends with a barrier, and lanes take different cases
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 128; launch barrier_in_switch 1 32 a; sync
// expect: kind=divergent_barrier blocks=0 hangs=true
KERNEL barrier_in_switch(volatile unsigned* a) {
  const unsigned i = threadIdx.x;
  switch (i % 3) {
  case 0:
    a[i] = 10;
    BREAK(BAR_SYNC(0, 32);) // FAULT
    break;
  case 1:
    a[i] = 11;
    BREAK(BAR_SYNC(0, 32);) // OTHER
    break;
  default: a[i] = 12;
  }
  FIX(BAR_SYNC(0, 32);)
}

// CASE barrier_in_function
// synccheck, divergent barrier: a function with a barrier is called by some lanes only
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 128; launch barrier_in_function 1 32 a; sync
// expect: kind=divergent_barrier blocks=0 threads=0-7 function=wait_here
__device__ __noinline__ void wait_here(volatile unsigned* a) {
  a[threadIdx.x] = 1;
  __syncthreads(); // FAULT
  a[threadIdx.x] = 2;
}
KERNEL barrier_in_function(volatile unsigned* a) {
  if (PICK(threadIdx.x < 8, true)) wait_here(a); // OTHER
}

// CASE barrier_count_in_branch
// synccheck, divergent barrier: __syncthreads_count is called by some lanes only
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 128; launch barrier_count_in_branch 1 32 a; sync
// expect: kind=divergent_barrier blocks=0 threads=0-9
KERNEL barrier_count_in_branch(unsigned* a) {
  unsigned n = 0;
  if (PICK(threadIdx.x < 10, true)) n = __syncthreads_count(threadIdx.x % 2); // FAULT
  a[threadIdx.x] = n;
}

// CASE named_barrier_in_branch
// synccheck, divergent barrier: bar.sync, which is aligned, in divergent code; barrier.sync is made for that
// rule: PTX ISA, bar, barrier (.aligned)
// steps: alloc a 128; launch named_barrier_in_branch 1 32 a; sync
// expect: kind=divergent_barrier blocks=0
KERNEL named_barrier_in_branch(volatile unsigned* a) {
  const unsigned i = threadIdx.x;
  if (i < 16) {
    a[i] = 1;
    PICK(BAR_SYNC(1, 32), BARRIER_SYNC(1, 32)); // FAULT
  } else {
    a[i] = 2;
    PICK(BAR_SYNC(1, 32), BARRIER_SYNC(1, 32)); // OTHER
  }
}

// ---- numbers of threads

// CASE barrier_count_no_multiple
// synccheck, thread counts: the number of threads is no multiple of the warp's size
// rule: PTX ISA, bar, barrier
// steps: alloc a 256; launch barrier_count_no_multiple 1 64 a u32:40; sync
// fixed: alloc a 256; launch barrier_count_no_multiple 1 64 a u32:64; sync
// expect: kind=thread_count blocks=0
KERNEL barrier_count_no_multiple(unsigned* a, unsigned n) {
  a[threadIdx.x] = 1;
  BAR_SYNC(1, n); // FAULT
}

// CASE barrier_count_too_large
// synccheck, thread counts: the barrier waits for more threads than the block has
// rule: PTX ISA, bar, barrier
// steps: alloc a 256; launch barrier_count_too_large 1 64 a u32:128; sync
// fixed: alloc a 256; launch barrier_count_too_large 1 64 a u32:64; sync
// expect: kind=thread_count blocks=0 hangs=true
KERNEL barrier_count_too_large(unsigned* a, unsigned n) {
  a[threadIdx.x] = 1;
  BAR_SYNC(1, n); // FAULT
}

// CASE barrier_count_too_small
// synccheck, thread counts: three warps come to a barrier of two; the third one waits for ever
// rule: PTX ISA, bar, barrier
// steps: alloc a 384; launch barrier_count_too_small 1 96 a u32:64; sync
// fixed: alloc a 384; launch barrier_count_too_small 1 96 a u32:96; sync
// expect: kind=thread_count blocks=0 hangs=true
KERNEL barrier_count_too_small(unsigned* a, unsigned n) {
  a[threadIdx.x] = 1;
  BAR_SYNC(1, n); // FAULT
}

// CASE barrier_counts_differ
// synccheck, thread counts: warps name different numbers at one barrier
// rule: PTX ISA, bar, barrier
// steps: alloc a 256; launch barrier_counts_differ 1 64 a; sync
// expect: kind=thread_count blocks=0 hangs=true
KERNEL barrier_counts_differ(unsigned* a) {
  a[threadIdx.x] = 1;
  BAR_SYNC(1, PICK(threadIdx.x < 32 ? 64 : 96, 64)); // FAULT
}

// CASE barrier_number_too_large
// synccheck, thread counts: there are 16 barriers, 0 to 15
// rule: PTX ISA, bar, barrier
// steps: alloc a 128; launch barrier_number_too_large 1 32 a u32:16; sync
// fixed: alloc a 128; launch barrier_number_too_large 1 32 a u32:15; sync
// expect: kind=thread_count blocks=0
KERNEL barrier_number_too_large(unsigned* a, unsigned barrier) {
  a[threadIdx.x] = 1;
  BAR_SYNC(barrier, 32); // FAULT
}

// CASE barriers_crossed
// synccheck, thread counts: two warps wait at different barriers for each other
// rule: PTX ISA, bar, barrier
// steps: alloc a 256; launch barriers_crossed 1 64 a; sync
// expect: kind=thread_count blocks=0 hangs=true
KERNEL barriers_crossed(unsigned* a) {
  a[threadIdx.x] = 1;
  BAR_SYNC(PICK(1 + threadIdx.x / 32, 1), 64); // FAULT
}

// CASE barrier_never_completed
// synccheck, thread counts: a warp arrives where nobody ever waits
// rule: PTX ISA, bar, barrier
// steps: alloc a 256; launch barrier_never_completed 1 64 a; sync
// expect: kind=thread_count blocks=0 threads=0-31
KERNEL barrier_never_completed(unsigned* a) {
  a[threadIdx.x] = 1;
  if (threadIdx.x < 32)
    BAR_ARRIVE(1, 64); // FAULT
  FIX(else BAR_SYNC(1, 64);)
}

// ---- masks

// CASE syncwarp_without_caller
// synccheck, masks: lanes call __syncwarp with a mask that does not name them
// rule: CUDA C++ Programming Guide, Synchronization Functions; PTX ISA, bar.warp.sync
// steps: alloc a 128; launch syncwarp_without_caller 1 32 a; sync
// expect: kind=mask_without_caller blocks=0 threads=16-31
KERNEL syncwarp_without_caller(volatile unsigned* a) {
  a[threadIdx.x] = 1;
  __syncwarp(PICK(0x0000ffffu, 0xffffffffu)); // FAULT
  a[threadIdx.x] = 2;
}

// CASE syncwarp_exited_lanes
// synccheck, exited lanes: half of the lanes have returned, and the mask still names them
// rule: CUDA C++ Programming Guide, Synchronization Functions
// steps: alloc a 128; launch syncwarp_exited_lanes 1 32 a; sync
// expect: kind=exited_lanes blocks=0 threads=0-15
KERNEL syncwarp_exited_lanes(volatile unsigned* a) {
  if (threadIdx.x >= 16) return;
  a[threadIdx.x] = 1;
  __syncwarp(PICK(0xffffffffu, 0x0000ffffu)); // FAULT
  a[threadIdx.x] = 2;
}

// CASE syncwarp_masks_differ
// synccheck, masks: lanes that synchronise with each other name different sets
// rule: PTX ISA, bar.warp.sync
// steps: alloc a 128; launch syncwarp_masks_differ 1 32 a; sync
// expect: kind=masks_differ blocks=0 hangs=true
KERNEL syncwarp_masks_differ(volatile unsigned* a) {
  const unsigned i = threadIdx.x;
  a[i] = 1;
  if (i < 16)
    __syncwarp(PICK(0x0001ffffu, 0x0000ffffu)); // FAULT
  else
    __syncwarp(0xffff0000u); // OTHER
  a[i] = 2;
}

// CASE shuffle_without_caller
// synccheck, masks: a shuffle whose mask leaves the caller out
// rule: CUDA C++ Programming Guide, Warp Shuffle Functions; PTX ISA, shfl.sync
// steps: alloc a 128; launch shuffle_without_caller 1 32 a; sync
// expect: kind=mask_without_caller blocks=0 threads=31
KERNEL shuffle_without_caller(unsigned* a) {
  a[threadIdx.x] = __shfl_down_sync(PICK(0x7fffffffu, 0xffffffffu), threadIdx.x, 1); // FAULT
}

// CASE shuffle_in_branch
// synccheck, masks: a shuffle in a branch names lanes that are in the other one
// rule: CUDA C++ Programming Guide, Warp Shuffle Functions
// steps: alloc a 128; launch shuffle_in_branch 1 32 a; sync
// expect: kind=lanes_missing blocks=0 threads=0-15
KERNEL shuffle_in_branch(volatile unsigned* a) {
  const unsigned i = threadIdx.x;
  a[i] = i;
  if (i < 16) {
    a[i] = __shfl_xor_sync(PICK(0xffffffffu, 0x0000ffffu), i, 1); // FAULT
  } else {
    a[i] = 5;
  }
}

// CASE shuffle_from_lane_outside
// synccheck, masks: the value of a lane is wanted that the mask does not name
// rule: CUDA C++ Programming Guide, Warp Shuffle Functions
// steps: alloc a 128; launch shuffle_from_lane_outside 1 32 a; sync
// expect: kind=inactive_source blocks=0 threads=0-15
KERNEL shuffle_from_lane_outside(unsigned* a) {
  unsigned value = threadIdx.x;
  if (threadIdx.x < 16) value = __shfl_sync(0x0000ffffu, threadIdx.x, PICK(20, 10)); // FAULT
  a[threadIdx.x] = value;
}

// CASE shuffle_exited_lanes
// synccheck, exited lanes: a reduction by shuffles after some lanes have returned
// rule: CUDA C++ Programming Guide, Warp Shuffle Functions
// steps: alloc a 128; set a 0 128; launch shuffle_exited_lanes 1 32 a u32:20; sync
// fixed: alloc a 128; set a 0 128; launch shuffle_exited_lanes 1 32 a u32:32; want a 0 496
// expect: kind=exited_lanes blocks=0 threads=0-19
KERNEL shuffle_exited_lanes(unsigned* a, unsigned n) {
  if (threadIdx.x >= n) return;
  unsigned sum = threadIdx.x;
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step); // FAULT
  if (threadIdx.x == 0) *a = sum;
}

// CASE shuffle_masks_differ
// synccheck, masks: lanes of one shuffle name different sets
// rule: PTX ISA, shfl.sync
// steps: alloc a 128; launch shuffle_masks_differ 1 32 a; sync
// expect: kind=masks_differ blocks=0
KERNEL shuffle_masks_differ(unsigned* a) {
  const unsigned i = threadIdx.x;
  a[i] = __shfl_xor_sync(PICK(i < 16 ? 0xffffffffu : 0xffff0000u, 0xffffffffu), i, 1); // FAULT
}

// CASE ballot_in_branch
// synccheck, masks: a vote of the whole warp in a branch that half of it takes
// rule: CUDA C++ Programming Guide, Warp Vote Functions
// steps: alloc a 128; launch ballot_in_branch 1 32 a; sync
// expect: kind=lanes_missing blocks=0 threads=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31
KERNEL ballot_in_branch(volatile unsigned* a) {
  const unsigned i = threadIdx.x;
  a[i] = i;
  if (i % 2 == 1) a[i] = __ballot_sync(PICK(0xffffffffu, 0xaaaaaaaau), a[i] > 8); // FAULT
}

// CASE any_without_caller
// synccheck, masks: a vote by lanes that its mask leaves out
// rule: CUDA C++ Programming Guide, Warp Vote Functions
// steps: alloc a 128; launch any_without_caller 1 32 a; sync
// expect: kind=mask_without_caller blocks=0 threads=0
KERNEL any_without_caller(unsigned* a) {
  a[threadIdx.x] = __any_sync(PICK(0xfffffffeu, 0xffffffffu), threadIdx.x == 3); // FAULT
}

// CASE match_exited_lanes
// synccheck, exited lanes: __match_any_sync of all lanes after one has returned
// rule: CUDA C++ Programming Guide, Warp Match Functions
// steps: alloc a 128; launch match_exited_lanes 1 32 a; sync
// expect: kind=exited_lanes blocks=0 threads=1-31
KERNEL match_exited_lanes(unsigned* a) {
  if (threadIdx.x == 0) return;
  a[threadIdx.x] = __match_any_sync(PICK(0xffffffffu, 0xfffffffeu), threadIdx.x % 4); // FAULT
}

// CASE partial_warp_full_mask
// synccheck, exited lanes: the last warp of a block of 48 threads has 16 lanes; the mask names 32
// rule: CUDA C++ Programming Guide, Warp Shuffle Functions
// steps: alloc a 192; launch partial_warp_full_mask 1 48 a; sync
// expect: kind=exited_lanes blocks=0 threads=32-47
KERNEL partial_warp_full_mask(unsigned* a) {
  const unsigned i = threadIdx.x;
  a[i] = __shfl_xor_sync(PICK(0xffffffffu, i < 32 ? 0xffffffffu : 0x0000ffffu), i, 1); // FAULT
}

// CASE mask_empty
// synccheck, masks: a mask without any lane
// rule: PTX ISA, vote.sync
// steps: alloc a 128; launch mask_empty 1 32 a u32:0; sync
// fixed: alloc a 128; launch mask_empty 1 32 a u32:0xffffffff; want a 0 1
// expect: kind=mask_without_caller blocks=0 threads=0-31
KERNEL mask_empty(unsigned* a, unsigned mask) {
  a[threadIdx.x] = __all_sync(mask, true); // FAULT
}

// CASE matrix_in_branch
// synccheck, divergent code: ldmatrix needs the whole warp
// rule: PTX ISA, ldmatrix (.aligned)
// steps: alloc a 128; launch matrix_in_branch 1 32 a; sync
// expect: kind=divergent_aligned blocks=0 threads=0-15
KERNEL matrix_in_branch(volatile unsigned* a) {
  __shared__ __align__(16) unsigned s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  unsigned value = 0;
  const unsigned row = SHARED_ADDRESS(s) + threadIdx.x % 8 * 16;
  if (PICK(threadIdx.x < 16, true)) {
    a[threadIdx.x] = 1;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(row) : "memory"); // FAULT
  }
  a[threadIdx.x] = value;
}
