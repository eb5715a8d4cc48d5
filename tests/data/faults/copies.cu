// Asynchronous copies (cp.async) and mbarriers: all four tools.
// nvcc: -arch=compute_80
#include "faults.h"

// ---- asynchronous copies

// CASE async_copy_no_wait
// synccheck, missing wait: a thread reads what its asynchronous copy has not yet brought
// rule: PTX ISA, cp.async: completion mechanisms
// steps: alloc a 128; iota a 32; alloc b 128; launch async_copy_no_wait 1 32 a b; want b 31 31
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL async_copy_no_wait(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4); // OTHER
  COPY_COMMIT();
  FIX(COPY_WAIT(0);)
  b[i] = s[i]; // FAULT
}

// CASE async_copy_wait_too_short
// synccheck, missing wait: the wait leaves the last group pending
// rule: PTX ISA, cp.async.wait_group
// steps: alloc a 256; iota a 64; alloc b 256; launch async_copy_wait_too_short 1 32 a b; want b 63 63
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL async_copy_wait_too_short(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4);
  COPY_COMMIT();
  COPY_ASYNC(SHARED_ADDRESS(&s[i + 32]), a + i + 32, 4); // OTHER
  COPY_COMMIT();
  COPY_WAIT(PICK(1, 0));
  b[i] = s[i];
  b[i + 32] = s[i + 32]; // FAULT
}

// CASE async_copy_not_committed
// synccheck, missing wait: a copy that is in no group is not waited for by cp.async.wait_group
// rule: PTX ISA, cp.async.commit_group
// steps: alloc a 128; iota a 32; alloc b 128; launch async_copy_not_committed 1 32 a b; want b 31 31
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL async_copy_not_committed(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4); // OTHER
  FIX(COPY_COMMIT();)
  COPY_WAIT(0);
  b[i] = s[i]; // FAULT
}

// CASE async_copy_no_barrier
// racecheck, asynchronous copies: each thread waits for its own copy, and reads another thread's
// rule: PTX ISA, cp.async: completion mechanisms
// steps: alloc a 256; iota a 64; alloc b 256; launch async_copy_no_barrier 1 64 a b; want b 0 63
// expect: kind=raw space=shared bytes=4 blocks=0 missing=barrier
KERNEL async_copy_no_barrier(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4); // OTHER
  COPY_COMMIT();
  COPY_WAIT(0);
  FIX(__syncthreads();)
  b[i] = s[63 - i]; // FAULT
}

// CASE async_copy_buffer_reused
// racecheck, asynchronous copies: the copy of the next tile starts while slower warps still read this one
// rule: PTX ISA, cp.async: completion mechanisms
// steps: alloc a 1024; iota a 256; alloc b 256; launch async_copy_buffer_reused 1 64 a b u32:4; want b 0 636
// expect: kind=war space=shared bytes=4 blocks=0 missing=barrier
KERNEL async_copy_buffer_reused(const unsigned* a, unsigned* b, unsigned rounds) {
  __shared__ unsigned s[64];
  const unsigned i = threadIdx.x;
  unsigned sum = 0;
  for (unsigned r = 0; r < rounds; ++r) {
    COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + r * 64 + i, 4); // FAULT
    COPY_COMMIT();
    COPY_WAIT(0);
    __syncthreads();
    sum += s[63 - i]; // OTHER
    FIX(__syncthreads();)
  }
  b[i] = sum;
}

// CASE async_copy_source_overwritten
// racecheck, asynchronous copies: the source is overwritten before the copy has read it
// rule: PTX ISA, Data Movement and Conversion: Asynchronous copy
// steps: alloc a 128; iota a 32; alloc b 128; launch async_copy_source_overwritten 1 32 a b; want b 31 31
// expect: kind=war space=global bytes=4 blocks=0 missing=wait of=a
KERNEL async_copy_source_overwritten(unsigned* a, unsigned* b) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4); // OTHER
  COPY_COMMIT();
  FIX(COPY_WAIT(0);)
  a[i] = 0; // FAULT
  BREAK(COPY_WAIT(0);)
  b[i] = s[i];
}

// CASE async_copy_target_overwritten
// racecheck, asynchronous copies: the target gets another value before the copy has written it
// rule: PTX ISA, Data Movement and Conversion: Asynchronous copy
// steps: alloc a 128; iota a 32; alloc b 128; launch async_copy_target_overwritten 1 32 a b; want b 31 1
// expect: kind=waw space=shared bytes=4 blocks=0 missing=wait
KERNEL async_copy_target_overwritten(const unsigned* a, unsigned* b) {
  __shared__ volatile unsigned s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(static_cast<unsigned>(__cvta_generic_to_shared(const_cast<unsigned*>(&s[i]))), a + i, 4); // OTHER
  COPY_COMMIT();
  FIX(COPY_WAIT(0);)
  s[i] = 1; // FAULT
  BREAK(COPY_WAIT(0);)
  b[i] = s[i];
}

// CASE async_copy_past_end
// memcheck, out of bounds: the source of a 16-byte copy ends outside of its allocation
// rule: PTX ISA, cp.async
// steps: alloc a 500; set a 1 500; alloc b 128; launch async_copy_past_end 1 32 a b
// fixed: alloc a 512; set a 1 512; alloc b 128; launch async_copy_past_end 1 32 a b; want b 31 0x01010101
// expect: kind=out_of_bounds access=read space=global bytes=16 blocks=0 threads=31 of=a size=500
KERNEL async_copy_past_end(const uint4* a, unsigned* b) {
  __shared__ uint4 s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 16); // FAULT
  COPY_COMMIT();
  COPY_WAIT(0);
  b[i] = s[i].w;
}

// CASE async_copy_misaligned
// memcheck, misaligned: a 16-byte copy from a row that begins at a multiple of 4
// rule: PTX ISA, cp.async
// steps: alloc a 528; set a 1 528; alloc b 128; launch async_copy_misaligned 1 32 a+4 b
// fixed: alloc a 528; set a 1 528; alloc b 128; launch async_copy_misaligned 1 32 a+16 b; want b 31 0x01010101
// expect: kind=misaligned access=read space=global bytes=16 blocks=0 threads=0-31 of=a
KERNEL async_copy_misaligned(const uint4* a, unsigned* b) {
  __shared__ uint4 s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 16); // FAULT
  COPY_COMMIT();
  COPY_WAIT(0);
  b[i] = s[i].w;
}

// CASE async_copy_target_past_end
// memcheck, out of bounds: the target lies behind the shared memory of the block
// rule: PTX ISA, cp.async
// steps: alloc a 128; iota a 32; alloc b 128; launch async_copy_target_past_end 1 32 a b u32:8192
// fixed: alloc a 128; iota a 32; alloc b 128; launch async_copy_target_past_end 1 32 a b u32:0; want b 31 31
// expect: kind=out_of_bounds access=write space=shared bytes=4 blocks=0 threads=0-31
KERNEL async_copy_target_past_end(const unsigned* a, unsigned* b, unsigned offset) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  s[i] = 0;
  __syncthreads();
  COPY_ASYNC(SHARED_ADDRESS(&s[i + offset]), a + i, 4); // FAULT
  COPY_COMMIT();
  COPY_WAIT(0);
  b[i] = s[i];
}

// CASE async_copy_of_nothing
// initcheck, through copies: an asynchronous copy brings bytes that nobody wrote
// rule: PTX ISA, cp.async
// steps: alloc a 128; alloc b 128; launch async_copy_of_nothing 1 32 a b; sync
// fixed: alloc a 128; iota a 32; alloc b 128; launch async_copy_of_nothing 1 32 a b; want b 31 31
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=0-31 of=a
KERNEL async_copy_of_nothing(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4); // OTHER
  COPY_COMMIT();
  COPY_WAIT(0);
  b[i] = s[i]; // FAULT
}

// CASE async_copy_arrive_missing
// synccheck, missing wait: the mbarrier counts the thread's arrival, which does not include its copy
// rule: PTX ISA, cp.async.mbarrier.arrive
// steps: alloc a 128; iota a 32; alloc b 128; launch async_copy_arrive_missing 1 32 a b; want b 0 31
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL async_copy_arrive_missing(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x;
  unsigned done;
  if (i == 0) MBARRIER_INIT(SHARED_ADDRESS(&barrier), 32);
  __syncthreads();
  COPY_ASYNC(SHARED_ADDRESS(&s[i]), a + i, 4); // OTHER
  PICK(MBARRIER_ARRIVE(SHARED_ADDRESS(&barrier)),
       asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SHARED_ADDRESS(&barrier)) : "memory"));
  MBARRIER_WAIT(SHARED_ADDRESS(&barrier), 0);
  b[i] = s[31 - i]; // FAULT
}

// ---- mbarriers

// CASE mbarrier_not_initialised
// synccheck, mbarriers: nobody initialised the barrier; its memory holds 0
// rule: PTX ISA, mbarrier.init
// steps: alloc a 128; launch mbarrier_not_initialised 1 32 a; sync
// expect: kind=mbarrier_not_initialised blocks=0
KERNEL mbarrier_not_initialised(volatile unsigned* a) {
  __shared__ volatile unsigned long long barrier;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(const_cast<unsigned long long*>(&barrier)));
  if (threadIdx.x == 0) PICK(barrier = 0, MBARRIER_INIT(address, 32));
  __syncthreads();
  MBARRIER_ARRIVE(address); // FAULT
  a[threadIdx.x] = 1;
}

// CASE mbarrier_initialised_twice
// synccheck, mbarriers: a valid barrier is initialised again without mbarrier.inval
// rule: PTX ISA, mbarrier.init
// steps: alloc a 128; launch mbarrier_initialised_twice 1 32 a; sync
// expect: kind=mbarrier_double_init blocks=0 threads=0
KERNEL mbarrier_initialised_twice(unsigned* a) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  for (unsigned r = 0; r < 2; ++r) {
    if (threadIdx.x == 0) MBARRIER_INIT(address, 32); // FAULT
    __syncthreads();
    MBARRIER_ARRIVE(address);
    MBARRIER_WAIT(address, 0);
    __syncthreads();
    FIX(if (threadIdx.x == 0) MBARRIER_INVALIDATE(address);)
    a[threadIdx.x] = r;
  }
}

// CASE mbarrier_init_not_waited_for
// racecheck, mbarriers: other warps arrive before they know that the barrier was initialised
// rule: PTX ISA, mbarrier.init
// steps: alloc a 256; launch mbarrier_init_not_waited_for 1 64 a; sync
// expect: kind=raw space=shared bytes=8 blocks=0 missing=barrier hangs=true
KERNEL mbarrier_init_not_waited_for(unsigned* a) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) MBARRIER_INIT(address, 64); // OTHER
  PICK(__syncwarp(), __syncthreads());
  MBARRIER_ARRIVE(address); // FAULT
  MBARRIER_WAIT(address, 0);
  a[threadIdx.x] = 1;
}

// CASE mbarrier_count_of_zero
// synccheck, mbarriers: the count must be at least 1
// rule: PTX ISA, mbarrier.init
// steps: alloc a 128; launch mbarrier_count_of_zero 1 32 a u32:0; sync
// fixed: alloc a 128; launch mbarrier_count_of_zero 1 32 a u32:32; sync
// expect: kind=mbarrier_count blocks=0 threads=0
KERNEL mbarrier_count_of_zero(unsigned* a, unsigned count) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  if (threadIdx.x == 0) MBARRIER_INIT(address, count); // FAULT
  __syncthreads();
  if (count != 0) MBARRIER_ARRIVE(address);
  a[threadIdx.x] = 1;
}

// CASE mbarrier_wrong_parity
// racecheck, mbarriers: the parity is that of the phase before, so that the wait ends at once
// rule: PTX ISA, mbarrier.test_wait: phase parity
// steps: alloc a 256; launch mbarrier_wrong_parity 1 64 a; want a 32 31
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32-63 missing=mbarrier
KERNEL mbarrier_wrong_parity(unsigned* a) {
  __shared__ unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x, address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (i == 0) MBARRIER_INIT(address, 32);
  __syncthreads();
  if (i < 32) {
    s[i] = i; // OTHER
    MBARRIER_ARRIVE(address);
  } else {
    MBARRIER_WAIT(address, PICK(1, 0));
    a[i] = s[63 - i]; // FAULT
  }
}

// CASE mbarrier_parity_not_flipped
// racecheck, mbarriers: the consumer waits for the same parity in each round, which ends at once, or never
// rule: PTX ISA, mbarrier.test_wait: phase parity
// steps: alloc a 256; launch mbarrier_parity_not_flipped 1 64 a; want a 32 63
// expect: kind=raw space=shared bytes=4 blocks=0 threads=32-63 missing=mbarrier hangs=true
KERNEL mbarrier_parity_not_flipped(unsigned* a) {
  __shared__ unsigned s[2][32];
  __shared__ unsigned long long barrier;
  const unsigned i = threadIdx.x, address = SHARED_ADDRESS(&barrier);
  unsigned done, sum = 0;
  if (i == 0) MBARRIER_INIT(address, 64);
  __syncthreads();
  for (unsigned r = 0; r < 2; ++r) {
    if (i < 32) s[r][i] = i + r; // OTHER
    MBARRIER_ARRIVE(address);
    MBARRIER_WAIT(address, PICK(i < 32 ? r : 0, r));
    if (i >= 32) sum += s[r][63 - i]; // FAULT
  }
  a[i] = sum;
}

// CASE mbarrier_buffer_not_returned
// racecheck, mbarriers: the producer fills the buffer again without waiting until it is empty
// rule: CUDA C++ Programming Guide, Asynchronous Barrier: producer and consumer
// steps: alloc a 256; launch mbarrier_buffer_not_returned 1 64 a; want a 32 65
// expect: kind=war space=shared bytes=4 blocks=0 threads=0-31 missing=mbarrier
KERNEL mbarrier_buffer_not_returned(unsigned* a) {
  __shared__ unsigned s[32];
  __shared__ unsigned long long full, empty;
  const unsigned i = threadIdx.x, filled = SHARED_ADDRESS(&full), emptied = SHARED_ADDRESS(&empty);
  unsigned done;
  if (i == 0) {
    MBARRIER_INIT(filled, 32);
    MBARRIER_INIT(emptied, 32);
  }
  __syncthreads();
  unsigned sum = 0;
  for (unsigned r = 0; r < 2; ++r) {
    if (i < 32) {
      if (r == 1) MBARRIER_WAIT(PICK(filled, emptied), 0);
      s[i] = i + 3 * r; // FAULT
      MBARRIER_ARRIVE(filled);
    } else {
      MBARRIER_WAIT(filled, r);
      sum += s[63 - i]; // OTHER
      MBARRIER_ARRIVE(emptied);
    }
  }
  a[i] = sum;
}

// CASE mbarrier_arrival_missing
// synccheck, mbarriers: 32 arrivals are expected, one thread does not arrive
// rule: PTX ISA, mbarrier: phases
// steps: alloc a 128; launch mbarrier_arrival_missing 1 32 a; sync
// expect: kind=mbarrier_phase blocks=0 hangs=true
KERNEL mbarrier_arrival_missing(unsigned* a) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) MBARRIER_INIT(address, 32);
  __syncthreads();
  if (PICK(threadIdx.x != 5, true)) MBARRIER_ARRIVE(address);
  MBARRIER_WAIT(address, 0); // FAULT
  a[threadIdx.x] = 1;
}

// CASE mbarrier_memory_reused
// synccheck, mbarriers: the memory of a valid barrier becomes data without mbarrier.inval
// rule: PTX ISA, mbarrier.inval
// steps: alloc a 128; launch mbarrier_memory_reused 1 32 a; want a 31 5
// expect: kind=mbarrier_overwritten access=write space=shared bytes=8 blocks=0 threads=0
KERNEL mbarrier_memory_reused(unsigned* a) {
  __shared__ volatile unsigned long long memory;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(const_cast<unsigned long long*>(&memory)));
  unsigned done;
  if (threadIdx.x == 0) MBARRIER_INIT(address, 32);
  __syncthreads();
  MBARRIER_ARRIVE(address);
  MBARRIER_WAIT(address, 0);
  __syncthreads();
  FIX(if (threadIdx.x == 0) MBARRIER_INVALIDATE(address);)
  if (threadIdx.x == 0) memory = 5; // FAULT
  __syncthreads();
  a[threadIdx.x] = static_cast<unsigned>(memory);
}

// CASE mbarrier_used_after_inval
// synccheck, mbarriers: an arrival at a barrier that was made invalid
// rule: PTX ISA, mbarrier.inval
// steps: alloc a 128; launch mbarrier_used_after_inval 1 32 a; sync
// expect: kind=mbarrier_not_initialised blocks=0
KERNEL mbarrier_used_after_inval(unsigned* a) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  if (threadIdx.x == 0) MBARRIER_INIT(address, 64);
  __syncthreads();
  BREAK(if (threadIdx.x == 0) MBARRIER_INVALIDATE(address);)
  BREAK(__syncthreads();)
  MBARRIER_ARRIVE(address); // FAULT
  a[threadIdx.x] = 1;
}

// CASE mbarrier_no_complete_completes
// synccheck, mbarriers: an arrival that promised not to complete the phase completes it
// rule: PTX ISA, mbarrier.arrive (.noComplete)
// steps: alloc a 4; launch mbarrier_no_complete_completes 1 1 a u32:2; sync
// fixed: alloc a 4; launch mbarrier_no_complete_completes 1 1 a u32:1; sync
// expect: kind=mbarrier_count blocks=0 threads=0
KERNEL mbarrier_no_complete_completes(unsigned* a, unsigned count) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  MBARRIER_INIT(address, 2);
  asm volatile("{ .reg .b64 %%t; mbarrier.arrive.noComplete.shared.b64 %%t, [%0], %1; }" ::"r"(address), "r"(count) : "memory"); // FAULT
  *a = 1;
}

// CASE reduce_in_branch
// synccheck, masks: a reduction over the warp names lanes that do not take part
// rule: CUDA C++ Programming Guide, Warp Reduce Functions
// steps: alloc a 128; launch reduce_in_branch 1 32 a; sync
// expect: kind=lanes_missing blocks=0 threads=0-7
KERNEL reduce_in_branch(volatile unsigned* a) {
  const unsigned i = threadIdx.x;
  a[i] = i;
  if (i < 8) a[i] = __reduce_add_sync(PICK(0xffffffffu, 0xffu), i); // FAULT
}
