// SPDX-License-Identifier: Apache-2.0
// Products of warp groups (wgmma): missing waits and fences: synccheck; what they read in shared memory: racecheck.
// nvcc: -arch=compute_90a
#include "faults.h"

// The matrices are ones: A is all of them, and B the first 256 bytes. Each element of the product is 16.
#define ONES make_uint4(0x3c003c00u, 0x3c003c00u, 0x3c003c00u, 0x3c003c00u)
#define TWOS make_uint4(0x40004000u, 0x40004000u, 0x40004000u, 0x40004000u)
#define DESCRIPTOR(memory) ((SHARED_ADDRESS(memory) >> 4) | 0x0000001000080000ull)
#define PROXY_FENCE() FENCE("proxy.async")
// What the compiler must not move from one side to the other are operands of both.
#define ELEMENTS(d) "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define GROUP_FENCE(d) asm volatile("wgmma.fence.sync.aligned;" : ELEMENTS(d)::"memory")
#define GROUP_COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define GROUP_WAIT(groups, d) asm volatile("wgmma.wait_group.sync.aligned %4;" : ELEMENTS(d) : "n"(groups) : "memory")
#define PRODUCT(d, matrices) \
  asm volatile("{ .reg .pred %%p; setp.eq.u32 %%p, 0, 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %4, %%p, 1, 1, 0, 0; }" \
               : ELEMENTS(d) : "l"(matrices) : "memory")

// CASE product_stored_before_wait
// synccheck, products of warp groups: an accumulator is stored before wgmma.wait_group
// rule: PTX ISA, wgmma.wait_group
// steps: alloc a 512; launch product_stored_before_wait 1 128 a; sync
// fixed: alloc a 512; launch product_stored_before_wait 1 128 a; want a 127 16
// expect: kind=group_wait blocks=0
KERNEL product_stored_before_wait(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  float d[4] = {};
  ones[threadIdx.x] = ONES;
  PROXY_FENCE();
  __syncthreads();
  GROUP_FENCE(d);
  PRODUCT(d, DESCRIPTOR(ones));
  GROUP_COMMIT();
  FIX(GROUP_WAIT(0, d);)
  a[threadIdx.x] = static_cast<unsigned>(d[0]); // FAULT
  BREAK(GROUP_WAIT(0, d);)
}

// CASE product_waits_for_older_group
// synccheck, products of warp groups: the wait leaves the group running whose accumulator is stored
// rule: PTX ISA, wgmma.wait_group
// steps: alloc a 512; launch product_waits_for_older_group 1 128 a; sync
// fixed: alloc a 512; launch product_waits_for_older_group 1 128 a; want a 127 80
// expect: kind=group_wait blocks=0
KERNEL product_waits_for_older_group(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128], twos[128];
  float d[4] = {}, e[4] = {};
  ones[threadIdx.x] = ONES;
  twos[threadIdx.x] = TWOS; // ptxas makes no code of a second product of the same matrices
  PROXY_FENCE();
  __syncthreads();
  GROUP_FENCE(d);
  GROUP_FENCE(e);
  PRODUCT(d, DESCRIPTOR(ones));
  GROUP_COMMIT();
  PRODUCT(e, DESCRIPTOR(twos));
  GROUP_COMMIT();
  GROUP_WAIT(PICK(1, 0), d);
  FIX(GROUP_WAIT(0, e);)
  a[threadIdx.x] = static_cast<unsigned>(d[0] + e[0]); // FAULT
  GROUP_WAIT(0, e);
}

// CASE product_matrix_overwritten
// synccheck, products of warp groups: the matrix in shared memory is overwritten while the product may read it
// rule: PTX ISA, wgmma.wait_group
// steps: alloc a 512; launch product_matrix_overwritten 1 128 a; sync
// fixed: alloc a 512; launch product_matrix_overwritten 1 128 a; want a 127 16
// expect: kind=group_wait access=write space=shared blocks=0
KERNEL product_matrix_overwritten(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  float d[4] = {};
  ones[threadIdx.x] = ONES;
  PROXY_FENCE();
  __syncthreads();
  GROUP_FENCE(d);
  PRODUCT(d, DESCRIPTOR(ones));
  GROUP_COMMIT();
  FIX(GROUP_WAIT(0, d);)
  FIX(__syncthreads();)
  *reinterpret_cast<volatile unsigned*>(ones + threadIdx.x) = 0; // FAULT
  BREAK(GROUP_WAIT(0, d);)
  a[threadIdx.x] = static_cast<unsigned>(d[0]);
}

// CASE product_without_fence
// synccheck, products of warp groups: the first product of a warp without wgmma.fence before it
// rule: PTX ISA, wgmma.fence
// steps: alloc a 512; launch product_without_fence 1 128 a; sync
// fixed: alloc a 512; launch product_without_fence 1 128 a; want a 127 16
// expect: kind=group_fence blocks=0
KERNEL product_without_fence(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  float d[4] = {};
  ones[threadIdx.x] = ONES;
  PROXY_FENCE();
  __syncthreads();
  FIX(GROUP_FENCE(d);)
  PRODUCT(d, DESCRIPTOR(ones)); // FAULT
  GROUP_COMMIT();
  GROUP_WAIT(0, d);
  a[threadIdx.x] = static_cast<unsigned>(d[0]);
}

// CASE product_of_new_accumulator
// synccheck, products of warp groups: an accumulator is written after the last wgmma.fence, and used by a product
// rule: PTX ISA, wgmma.fence
// steps: alloc a 512; launch product_of_new_accumulator 1 128 a; sync
// fixed: alloc a 512; launch product_of_new_accumulator 1 128 a; want a 127 18
// expect: kind=group_fence blocks=0
KERNEL product_of_new_accumulator(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  float d[4] = {};
  ones[threadIdx.x] = ONES;
  a[threadIdx.x] = 2;
  PROXY_FENCE();
  __syncthreads();
  BREAK(GROUP_FENCE(d);)
  d[0] = static_cast<float>(a[threadIdx.x]);
  FIX(GROUP_FENCE(d);)
  PRODUCT(d, DESCRIPTOR(ones)); // FAULT
  GROUP_COMMIT();
  GROUP_WAIT(0, d);
  a[threadIdx.x] = static_cast<unsigned>(d[0]);
}

// CASE product_without_proxy_fence
// synccheck, products of warp groups: threads write the matrices, and no fence makes this visible to the product
// rule: PTX ISA, wgmma, asynchronous proxy
// steps: alloc a 512; launch product_without_proxy_fence 1 128 a; sync
// fixed: alloc a 512; launch product_without_proxy_fence 1 128 a; want a 127 16
// expect: kind=missing_fence blocks=0
KERNEL product_without_proxy_fence(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  float d[4] = {};
  ones[threadIdx.x] = ONES;
  FIX(PROXY_FENCE();)
  __syncthreads();
  GROUP_FENCE(d);
  PRODUCT(d, DESCRIPTOR(ones)); // FAULT
  GROUP_COMMIT();
  GROUP_WAIT(0, d);
  a[threadIdx.x] = static_cast<unsigned>(d[0]);
}

// CASE product_matrix_no_barrier
// racecheck, asynchronous copies: a product reads what other warps have stored, without a barrier in between
// rule: PTX ISA, wgmma.mma_async; Memory Consistency Model
// steps: alloc a 512; launch product_matrix_no_barrier 1 128 a; sync
// fixed: alloc a 512; launch product_matrix_no_barrier 1 128 a; want a 127 16
// expect: kind=raw space=shared bytes=16 blocks=0
KERNEL product_matrix_no_barrier(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  float d[4] = {};
  ones[threadIdx.x] = ONES; // OTHER
  PROXY_FENCE();
  FIX(__syncthreads();)
  GROUP_FENCE(d);
  PRODUCT(d, DESCRIPTOR(ones)); // FAULT
  GROUP_COMMIT();
  GROUP_WAIT(0, d);
  a[threadIdx.x] = static_cast<unsigned>(d[0]);
}

// CASE product_matrix_freed_too_early
// racecheck, asynchronous copies: a warp overwrites the matrix without a barrier behind the wait of the warp group
// rule: PTX ISA, wgmma.wait_group; Memory Consistency Model
// steps: alloc a 512; launch product_matrix_freed_too_early 1 160 a; sync
// fixed: alloc a 512; launch product_matrix_freed_too_early 1 160 a; want a 127 16
// expect: kind=war space=shared bytes=4 blocks=0
KERNEL product_matrix_freed_too_early(volatile unsigned* a) {
  __shared__ alignas(1024) uint4 ones[128];
  if (threadIdx.x < 128) ones[threadIdx.x] = ONES;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x < 128) {
    float d[4] = {};
    GROUP_FENCE(d);
    PRODUCT(d, DESCRIPTOR(ones)); // OTHER
    GROUP_COMMIT();
    GROUP_WAIT(0, d);
    a[threadIdx.x] = static_cast<unsigned>(d[0]);
    FIX(asm volatile("bar.arrive 1, 160;" ::: "memory");)
  } else {
    FIX(asm volatile("bar.sync 1, 160;" ::: "memory");)
    *reinterpret_cast<volatile unsigned*>(ones + threadIdx.x % 32) = 0; // FAULT
  }
}
