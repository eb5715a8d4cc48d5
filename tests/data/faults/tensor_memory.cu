// SPDX-License-Identifier: Apache-2.0
// Tensor memory (tcgen05): missing waits and fences: synccheck and racecheck.
// nvcc: -arch=compute_100a
// device: b200
#include "faults.h"

// The matrices are ones: A is all of them, and B the first half. Each element of the product is 16.
#define ONES make_uint4(0x3c003c00u, 0x3c003c00u, 0x3c003c00u, 0x3c003c00u)
#define DESCRIPTOR(memory) ((SHARED_ADDRESS(memory) >> 4) | 0x0000401000080000ull)
#define SHAPE 0x08100010u // 128 x 64, halves, sums in single precision
#define PROXY_FENCE() FENCE("proxy.async")
#define TENSOR_ALLOC(place) \
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(place) : "memory")
#define TENSOR_DEALLOC(d) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d) : "memory")
#define TENSOR_PRODUCT(d, matrices, accumulate) \
  asm volatile("{ .reg .pred %%p; setp.ne.u32 %%p, %3, 0;\n" \
               "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %2, %%p; }" \
               ::"r"(d), "l"(matrices), "r"(SHAPE), "r"(accumulate) : "memory")
#define TENSOR_COMMIT(barrier) \
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory")
#define TENSOR_LOAD(value, d) \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(d) : "memory")
#define TENSOR_STORE(d, value) \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(d), "r"(value) : "memory")
#define TENSOR_COPY(d, matrix) asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(d), "l"(matrix) : "memory")
#define WAIT_LOADS() asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory")
#define WAIT_STORES() asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory")
#define BEFORE_SYNC() asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define AFTER_SYNC() asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")
// Relaxed operations on mbarriers order nothing but what fences of tcgen05 do.
#define ARRIVE_RELAXED(barrier) \
  asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory")
#define WAIT_RELAXED(barrier, parity) \
  do \
    asm volatile("{ .reg .pred %%p; mbarrier.test_wait.parity.relaxed.cta.shared::cta.b64 %%p, [%1], %2;\n" \
                 "selp.u32 %0, 1, 0, %%p; }" : "=r"(done) : "r"(barrier), "r"(parity) : "memory"); \
  while (!done)
#define LANES_OF_WARP(d) (d + (threadIdx.x / 32 << 21))

// What all kernels share: 128 threads, `d` with 64 columns, an mbarrier, and the matrices.
#define BEGIN(...) \
  __shared__ alignas(1024) uint4 ones[256]; \
  __shared__ unsigned place; \
  __shared__ unsigned long long barrier; \
  const unsigned i = threadIdx.x, object = SHARED_ADDRESS(&barrier); \
  unsigned done, result = 0; \
  ones[i] = ONES; \
  ones[i + 128] = ONES; \
  __VA_ARGS__ \
  if (i == 0) MBARRIER_INIT(object, 1); \
  if (i < 32) TENSOR_ALLOC(SHARED_ADDRESS(&place)); \
  BEFORE_SYNC(); \
  __syncthreads(); \
  AFTER_SYNC(); \
  const unsigned d = place
#define END() \
  BEFORE_SYNC(); \
  __syncthreads(); \
  AFTER_SYNC(); \
  if (i < 32) TENSOR_DEALLOC(d)

// CASE tensor_product_loaded_before_wait
// synccheck, tensor memory: the accumulator is loaded before the product is complete
// rule: PTX ISA, tcgen05 memory consistency: mbarrier based completion
// steps: alloc a 512; launch tensor_product_loaded_before_wait 1 128 a; want a 127 0x41800000
// expect: kind=tensor_wait blocks=0
KERNEL tensor_product_loaded_before_wait(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0); // OTHER
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  FIX(MBARRIER_WAIT(object, 0);)
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d)); // FAULT
  WAIT_LOADS();
  BREAK(MBARRIER_WAIT(object, 0);)
  a[i] = result;
  END();
}

// CASE tensor_product_not_committed
// synccheck, tensor memory: the second product is issued after the commit, and not waited for
// rule: PTX ISA, tcgen05.commit
// steps: alloc a 512; launch tensor_product_not_committed 1 128 a; want a 127 0x42000000
// expect: kind=tensor_wait blocks=0
KERNEL tensor_product_not_committed(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0);
    BREAK(TENSOR_COMMIT(object);)
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 1); // OTHER
    FIX(TENSOR_COMMIT(object);)
  }
  __syncthreads();
  MBARRIER_WAIT(object, 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d)); // FAULT
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_matrix_overwritten
// synccheck, tensor memory: a matrix in shared memory is overwritten while the product may still read it
// rule: PTX ISA, tcgen05 memory consistency: mbarrier based completion
// steps: alloc a 512; launch tensor_matrix_overwritten 1 128 a; want a 127 0x41800000
// expect: kind=tensor_wait access=write space=shared blocks=0
KERNEL tensor_matrix_overwritten(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0); // OTHER
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  FIX(MBARRIER_WAIT(object, 0);)
  ones[i] = make_uint4(0, 0, 0, 0); // FAULT
  BREAK(MBARRIER_WAIT(object, 0);)
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_matrix_no_fence
// synccheck, missing fence: the product reads matrices through the asynchronous proxy, without a fence after the stores
// rule: PTX ISA, Memory Consistency Model: proxies; fence.proxy.async
// steps: alloc a 512; launch tensor_matrix_no_fence 1 128 a; want a 127 0x41800000
// expect: kind=missing_fence blocks=0 threads=0
KERNEL tensor_matrix_no_fence(unsigned* a) {
  BEGIN(FIX(PROXY_FENCE();));
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0); // FAULT
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  MBARRIER_WAIT(object, 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_store_not_waited_for
// synccheck, tensor memory: a product accumulates in columns that stores may still write
// rule: PTX ISA, tcgen05.wait
// steps: alloc a 512; launch tensor_store_not_waited_for 1 128 a; want a 127 0x41880000
// expect: kind=tensor_wait blocks=0 threads=0
KERNEL tensor_store_not_waited_for(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  TENSOR_STORE(LANES_OF_WARP(d), 0x3f800000u); // OTHER
  FIX(WAIT_STORES();)
  BEFORE_SYNC();
  __syncthreads();
  AFTER_SYNC();
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 1); // FAULT
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  MBARRIER_WAIT(object, 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_load_not_waited_for
// synccheck, tensor memory: the next product overwrites columns that loads may still read
// rule: PTX ISA, tcgen05.wait
// steps: alloc a 512; launch tensor_load_not_waited_for 1 128 a; want a 127 0x41800000
// expect: kind=tensor_wait blocks=0 threads=0
KERNEL tensor_load_not_waited_for(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0);
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  MBARRIER_WAIT(object, 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d)); // OTHER
  FIX(WAIT_LOADS();)
  BEFORE_SYNC();
  __syncthreads();
  AFTER_SYNC();
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0); // FAULT
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  MBARRIER_WAIT(object, 1);
  BREAK(WAIT_LOADS();)
  a[i] = result;
  END();
}

// CASE tensor_copy_source_reused
// synccheck, tensor memory: the source of tcgen05.cp is overwritten while it may still be read
// rule: PTX ISA, tcgen05.cp; tcgen05 memory consistency: mbarrier based completion
// steps: alloc a 512; launch tensor_copy_source_reused 1 128 a; want a 127 0x3c003c00
// expect: kind=tensor_wait access=write space=shared blocks=0
KERNEL tensor_copy_source_reused(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  if (i == 0) {
    TENSOR_COPY(d, DESCRIPTOR(ones)); // OTHER
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  FIX(MBARRIER_WAIT(object, 0);)
  ones[i] = make_uint4(0, 0, 0, 0); // FAULT
  BREAK(MBARRIER_WAIT(object, 0);)
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_matrix_no_barrier
// racecheck, asynchronous copies: a product reads what another warp has stored, without a barrier in between
// rule: PTX ISA, tcgen05.mma; Memory Consistency Model
// steps: alloc a 512; launch tensor_matrix_no_barrier 1 128 a; sync
// fixed: alloc a 512; launch tensor_matrix_no_barrier 1 128 a; want a 127 0x41800000
// expect: kind=raw space=shared bytes=16 blocks=0 threads=64
KERNEL tensor_matrix_no_barrier(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  ones[i] = ONES; // OTHER
  PROXY_FENCE();
  PICK(__syncwarp(), __syncthreads());
  if (i == 64) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0); // FAULT
    TENSOR_COMMIT(object);
  }
  __syncthreads();
  MBARRIER_WAIT(object, 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_load_no_fence
// synccheck, tensor memory: no tcgen05.fence between a relaxed wait for the product and the loads of its accumulator
// rule: PTX ISA, tcgen05 memory consistency: non-pipelined instructions
// steps: alloc a 512; launch tensor_load_no_fence 1 128 a; want a 127 0x41800000
// expect: kind=tensor_fence blocks=0
KERNEL tensor_load_no_fence(unsigned* a) {
  BEGIN(PROXY_FENCE(););
  if (i == 0) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 0); // OTHER
    TENSOR_COMMIT(object);
  }
  WAIT_RELAXED(object, 0);
  FIX(AFTER_SYNC();)
  TENSOR_LOAD(result, LANES_OF_WARP(d)); // FAULT
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_store_no_fence_before_arrival
// synccheck, tensor memory: no tcgen05.fence between the stores of warps and their relaxed arrivals
// rule: PTX ISA, tcgen05 memory consistency: non-pipelined instructions, different thread
// steps: alloc a 512; launch tensor_store_no_fence_before_arrival 1 128 a; want a 127 0x41880000
// expect: kind=tensor_fence blocks=0 threads=0
KERNEL tensor_store_no_fence_before_arrival(unsigned* a) {
  __shared__ unsigned long long stored;
  BEGIN(PROXY_FENCE(); if (i == 0) MBARRIER_INIT(SHARED_ADDRESS(&stored), 128););
  TENSOR_STORE(LANES_OF_WARP(d), 0x3f800000u); // OTHER
  WAIT_STORES();
  FIX(BEFORE_SYNC();)
  ARRIVE_RELAXED(SHARED_ADDRESS(&stored));
  if (i == 0) {
    WAIT_RELAXED(SHARED_ADDRESS(&stored), 0);
    AFTER_SYNC();
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 1); // FAULT
    TENSOR_COMMIT(object);
  }
  MBARRIER_WAIT(object, 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}

// CASE tensor_copy_no_fence
// synccheck, tensor memory: a thread copies to tensor memory, and another one multiplies, without tcgen05.fence
// rule: PTX ISA, tcgen05 memory consistency: pipelined instructions, different thread
// steps: alloc a 512; launch tensor_copy_no_fence 1 128 a; sync
// expect: kind=tensor_fence blocks=0 threads=32
KERNEL tensor_copy_no_fence(unsigned* a) {
  __shared__ unsigned long long copied;
  BEGIN(PROXY_FENCE(); if (i == 0) MBARRIER_INIT(SHARED_ADDRESS(&copied), 1););
  if (i == 0) {
    TENSOR_COPY(d, DESCRIPTOR(ones)); // OTHER
    FIX(BEFORE_SYNC();)
  }
  __syncthreads();
  AFTER_SYNC();
  if (i == 32) {
    TENSOR_PRODUCT(d, DESCRIPTOR(ones), 1); // FAULT
    TENSOR_COMMIT(object);
  }
  if (i == 0) TENSOR_COMMIT(SHARED_ADDRESS(&copied));
  MBARRIER_WAIT(object, 0);
  MBARRIER_WAIT(SHARED_ADDRESS(&copied), 0);
  AFTER_SYNC();
  TENSOR_LOAD(result, LANES_OF_WARP(d));
  WAIT_LOADS();
  a[i] = result;
  END();
}
