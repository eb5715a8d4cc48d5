// Clusters, distributed shared memory and bulk copies: all four tools.
// nvcc: -arch=compute_90
#include "faults.h"

#define CLUSTER_ARRIVE(...) asm volatile("barrier.cluster.arrive" __VA_ARGS__ ".aligned;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define CLUSTER_SYNC() \
  do { \
    CLUSTER_ARRIVE(); \
    CLUSTER_WAIT(); \
  } while (false)
#define MAP(address, own, rank) asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(rank))
#define LOAD_REMOTE(value, address) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory")
#define STORE_REMOTE(address, value) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory")
#define RANK(rank) asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank))
#define BULK_LOAD(to, from, bytes, barrier) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), \
               "l"(from), "r"(bytes), "r"(barrier) : "memory")
#define BULK_STORE(to, from, bytes) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes) : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define EXPECT(barrier, bytes) \
  asm volatile("{ .reg .b64 %%t; mbarrier.arrive.expect_tx.shared::cta.b64 %%t, [%0], %1; }" ::"r"(barrier), "r"(bytes) : "memory")
#define PROXY_FENCE() FENCE("proxy.async")

// ---- distributed shared memory

// CASE cluster_no_barrier
// racecheck, distributed shared memory: a block reads its neighbour's shared memory without a barrier of the cluster
// rule: CUDA C++ Programming Guide, Distributed Shared Memory
// steps: alloc a 256; launch cluster_no_barrier 2 32 a cluster=2; want a 0 100
// expect: kind=raw space=shared_cluster bytes=4 blocks=0,1 missing=barrier.cluster
KERNEL cluster_no_barrier(unsigned* a) {
  __shared__ unsigned s[32];
  unsigned rank, other, value;
  RANK(rank);
  CLUSTER_SYNC();
  s[threadIdx.x] = threadIdx.x + 100 * rank; // OTHER
  FIX(CLUSTER_SYNC();)
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), rank ^ 1);
  LOAD_REMOTE(value, other); // FAULT
  a[blockIdx.x * 32 + threadIdx.x] = value;
  CLUSTER_SYNC();
}

// CASE cluster_barrier_of_block
// racecheck, distributed shared memory: __syncthreads waits for the own block only
// rule: CUDA C++ Programming Guide, Distributed Shared Memory
// steps: alloc a 256; launch cluster_barrier_of_block 2 32 a cluster=2; want a 0 100
// expect: kind=raw space=shared_cluster bytes=4 blocks=0,1 missing=barrier.cluster
KERNEL cluster_barrier_of_block(unsigned* a) {
  __shared__ unsigned s[32];
  unsigned rank, other;
  RANK(rank);
  CLUSTER_SYNC();
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), rank ^ 1);
  STORE_REMOTE(other, threadIdx.x + 100 * rank); // OTHER
  PICK(__syncthreads(), CLUSTER_SYNC());
  a[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x]; // FAULT
  CLUSTER_SYNC();
}

// CASE cluster_two_writers
// racecheck, distributed shared memory: two blocks store to the same word of the first one
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 8; launch cluster_two_writers 2 1 a cluster=2; want a 1 1
// expect: kind=waw space=shared_cluster bytes=4 blocks=0,1 missing=barrier.cluster
KERNEL cluster_two_writers(unsigned* a) {
  __shared__ unsigned s[2];
  unsigned rank, first;
  RANK(rank);
  CLUSTER_SYNC();
  MAP(first, SHARED_ADDRESS(&s[PICK(0, rank)]), 0);
  STORE_REMOTE(first, rank); // FAULT
  CLUSTER_SYNC();
  if (rank == 0) {
    a[0] = s[0];
    FIX(a[1] = s[1];)
  }
}

// CASE cluster_arrive_relaxed
// racecheck, distributed shared memory: the arrival at the barrier is relaxed, so that it releases nothing
// rule: PTX ISA, barrier.cluster (.relaxed)
// steps: alloc a 256; launch cluster_arrive_relaxed 2 32 a cluster=2; want a 0 100
// expect: kind=raw space=shared_cluster bytes=4 blocks=0,1 missing=release
KERNEL cluster_arrive_relaxed(unsigned* a) {
  __shared__ unsigned s[32];
  unsigned rank, other;
  RANK(rank);
  CLUSTER_SYNC();
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), rank ^ 1);
  STORE_REMOTE(other, threadIdx.x + 100 * rank); // OTHER
  CLUSTER_ARRIVE(PICK(".relaxed", ".release"));
  CLUSTER_WAIT();
  a[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x]; // FAULT
  CLUSTER_SYNC();
}

// CASE cluster_atomic_and_plain
// racecheck, distributed shared memory: one block counts in another one's memory, whose owner reads it meanwhile
// rule: PTX ISA, Memory Consistency Model, Conflict and Data-races
// steps: alloc a 4; launch cluster_atomic_and_plain 2 32 a cluster=2; want a 0 32
// expect: kind=raw space=shared_cluster bytes=4 missing=barrier.cluster other_access=atomic
KERNEL cluster_atomic_and_plain(unsigned* a) {
  __shared__ unsigned s;
  unsigned rank, first;
  RANK(rank);
  if (threadIdx.x == 0) s = 0;
  CLUSTER_SYNC();
  MAP(first, SHARED_ADDRESS(&s), 0);
  if (rank == 1) asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(first) : "memory"); // OTHER
  FIX(CLUSTER_SYNC();)
  if (rank == 0 && threadIdx.x == 0) *a = s; // FAULT
  CLUSTER_SYNC();
}

// CASE cluster_exits_too_early
// memcheck, distributed shared memory: a block has exited while another one still reads its shared memory
// rule: CUDA C++ Programming Guide, Distributed Shared Memory
// steps: alloc a 4; launch cluster_exits_too_early 2 32 a cluster=2; sync
// expect: kind=exited_block access=read space=shared_cluster bytes=4 blocks=0
KERNEL cluster_exits_too_early(unsigned* a) {
  __shared__ unsigned s[32];
  unsigned rank, other, value, sum = 0;
  RANK(rank);
  s[threadIdx.x] = threadIdx.x;
  CLUSTER_SYNC();
  if (rank == 0)
    for (unsigned r = 0; r < 2000; ++r) {
      MAP(other, SHARED_ADDRESS(&s[(threadIdx.x + r) % 32]), 1);
      LOAD_REMOTE(value, other); // FAULT
      sum += value;
    }
  FIX(CLUSTER_SYNC();)
  if (rank == 0 && threadIdx.x == 0) *a = sum;
}

// CASE cluster_not_started
// synccheck, cluster barriers: the neighbour's memory is written before it is known that the neighbour runs
// rule: CUDA C++ Programming Guide, Distributed Shared Memory
// steps: alloc a 256; launch cluster_not_started 2 32 a cluster=2; want a 0 100
// expect: kind=cluster_barrier access=write space=shared_cluster bytes=4 blocks=0,1
KERNEL cluster_not_started(unsigned* a) {
  __shared__ unsigned s[32];
  unsigned rank, other;
  RANK(rank);
  FIX(CLUSTER_SYNC();)
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), rank ^ 1);
  STORE_REMOTE(other, threadIdx.x + 100 * rank); // FAULT
  CLUSTER_SYNC();
  a[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}

// CASE cluster_past_end
// memcheck, distributed shared memory: an index behind the neighbour's shared memory
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; launch cluster_past_end 2 32 a u32:100000 cluster=2; sync
// fixed: alloc a 128; launch cluster_past_end 2 32 a u32:0 cluster=2; sync
// expect: kind=out_of_bounds access=read space=shared_cluster bytes=4 blocks=0,1 threads=0-31
KERNEL cluster_past_end(unsigned* a, unsigned offset) {
  __shared__ unsigned s[32];
  unsigned rank, other, value;
  RANK(rank);
  s[threadIdx.x] = threadIdx.x;
  CLUSTER_SYNC();
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), rank ^ 1);
  LOAD_REMOTE(value, other + offset); // FAULT
  if (rank == 0) a[threadIdx.x] = value;
  CLUSTER_SYNC();
}

// CASE cluster_rank_too_large
// memcheck, distributed shared memory: the rank of a block that the cluster does not have
// rule: PTX ISA, mapa
// steps: alloc a 128; launch cluster_rank_too_large 2 32 a u32:5 cluster=2; sync
// fixed: alloc a 128; launch cluster_rank_too_large 2 32 a u32:1 cluster=2; sync
// expect: kind=out_of_bounds access=read space=shared_cluster bytes=4 blocks=0,1 threads=0-31
KERNEL cluster_rank_too_large(unsigned* a, unsigned target) {
  __shared__ unsigned s[32];
  unsigned rank, other, value;
  RANK(rank);
  s[threadIdx.x] = threadIdx.x;
  CLUSTER_SYNC();
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), target);
  LOAD_REMOTE(value, other); // FAULT
  if (rank == 0) a[threadIdx.x] = value;
  CLUSTER_SYNC();
}

// CASE cluster_not_written
// initcheck, distributed shared memory: a block reads of its neighbour what that one did not write
// rule: PTX ISA, Shared State Space
// steps: alloc a 256; launch cluster_not_written 2 32 a cluster=2; sync
// expect: kind=uninitialized access=read space=shared_cluster bytes=4 blocks=0 threads=0-31
KERNEL cluster_not_written(unsigned* a) {
  __shared__ unsigned s[32];
  unsigned rank, other, value;
  RANK(rank);
  if (PICK(rank == 0, true)) s[threadIdx.x] = threadIdx.x;
  CLUSTER_SYNC();
  MAP(other, SHARED_ADDRESS(&s[threadIdx.x]), rank ^ 1);
  LOAD_REMOTE(value, other); // FAULT
  a[blockIdx.x * 32 + threadIdx.x] = value;
  CLUSTER_SYNC();
}

// CASE cluster_arrives_twice
// synccheck, cluster barriers: two arrivals without a wait between
// rule: PTX ISA, barrier.cluster
// steps: alloc a 256; launch cluster_arrives_twice 2 32 a cluster=2; sync
// expect: kind=cluster_barrier blocks=0,1 threads=0-31
KERNEL cluster_arrives_twice(volatile unsigned* a) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  CLUSTER_ARRIVE();
  a[i] = 1;
  FIX(CLUSTER_WAIT();)
  CLUSTER_ARRIVE(); // FAULT
  CLUSTER_WAIT();
  a[i] = 2;
}

// CASE cluster_waits_without_arrival
// synccheck, cluster barriers: a wait without an arrival of the thread
// rule: PTX ISA, barrier.cluster
// steps: alloc a 256; launch cluster_waits_without_arrival 2 32 a cluster=2; sync
// expect: kind=cluster_barrier blocks=0,1 threads=0-31 hangs=true
KERNEL cluster_waits_without_arrival(volatile unsigned* a) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  a[i] = 1;
  FIX(CLUSTER_ARRIVE();)
  CLUSTER_WAIT(); // FAULT
  a[i] = 2;
}

// CASE cluster_barrier_in_branch
// synccheck, cluster barriers: the aligned barrier in divergent code
// rule: PTX ISA, barrier.cluster (.aligned)
// steps: alloc a 256; launch cluster_barrier_in_branch 2 32 a cluster=2; sync
// expect: kind=divergent_barrier blocks=0,1 threads=0-15 hangs=true
KERNEL cluster_barrier_in_branch(volatile unsigned* a) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  a[i] = 1;
  if (PICK(threadIdx.x < 16, true)) CLUSTER_ARRIVE(); // FAULT
  a[i] = 2;
  BREAK(if (threadIdx.x >= 16) CLUSTER_ARRIVE();)
  CLUSTER_WAIT();
  a[i] = 3;
}

// CASE cluster_block_does_not_arrive
// synccheck, cluster barriers: one block waits for the cluster a second time, the other one waits for something else
// rule: PTX ISA, barrier.cluster
// steps: alloc a 8; set a 0 8; launch cluster_block_does_not_arrive 2 32 a cluster=2; sync
// expect: kind=cluster_barrier blocks=0 hangs=true
KERNEL cluster_block_does_not_arrive(volatile unsigned* a) {
  unsigned rank;
  RANK(rank);
  CLUSTER_SYNC();
  if (PICK(rank == 0, true)) CLUSTER_SYNC(); // FAULT
  if (rank == 0 && threadIdx.x == 0) *a = 1;
  if (rank == 1)
    while (*a == 0) {} // OTHER
}

// CASE remote_store_not_waited_for
// synccheck, missing wait: st.async completes at an mbarrier, which the reader does not wait for
// rule: PTX ISA, st.async
// steps: alloc a 8; launch remote_store_not_waited_for 2 1 a cluster=2; want a 0 8
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0,1 threads=0
KERNEL remote_store_not_waited_for(unsigned* a) {
  __shared__ unsigned s;
  __shared__ unsigned long long barrier;
  unsigned rank, other, remote, done;
  RANK(rank);
  s = 0;
  MBARRIER_INIT(SHARED_ADDRESS(&barrier), 1);
  FENCE("mbarrier_init.release.cluster");
  EXPECT(SHARED_ADDRESS(&barrier), 4);
  CLUSTER_SYNC();
  MAP(other, SHARED_ADDRESS(&s), rank ^ 1);
  MAP(remote, SHARED_ADDRESS(&barrier), rank ^ 1);
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(other), "r"(7 + rank), "r"(remote) : "memory"); // OTHER
  FIX(MBARRIER_WAIT(SHARED_ADDRESS(&barrier), 0);)
  a[blockIdx.x] = s; // FAULT
  BREAK(MBARRIER_WAIT(SHARED_ADDRESS(&barrier), 0);)
  CLUSTER_SYNC();
}

// ---- bulk copies

// CASE bulk_load_not_waited_for
// synccheck, missing wait: the target of a bulk copy is read before the mbarrier says that it has come
// rule: PTX ISA, cp.async.bulk: completion mechanisms
// steps: alloc a 128; iota a 32; alloc b 128; launch bulk_load_not_waited_for 1 32 a b; want b 31 31
// expect: kind=missing_wait access=read space=shared bytes=4 blocks=0 threads=0-31
KERNEL bulk_load_not_waited_for(const unsigned* a, unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(address, 1);
    PROXY_FENCE();
    EXPECT(address, 128);
    BULK_LOAD(SHARED_ADDRESS(s), a, 128, address); // OTHER
  }
  __syncthreads();
  FIX(MBARRIER_WAIT(address, 0);)
  b[threadIdx.x] = s[threadIdx.x]; // FAULT
  BREAK(MBARRIER_WAIT(address, 0);)
}

// CASE bulk_load_expects_too_few_bytes
// synccheck, mbarriers: fewer bytes are announced than the copy brings; the phase does not end properly
// rule: PTX ISA, mbarrier: tracking asynchronous operations
// steps: alloc a 128; iota a 32; alloc b 128; launch bulk_load_expects_too_few_bytes 1 32 a b; sync
// expect: kind=mbarrier_phase blocks=0 hangs=true
KERNEL bulk_load_expects_too_few_bytes(const unsigned* a, unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(address, 1);
    PROXY_FENCE();
    EXPECT(address, PICK(64, 128)); // OTHER
    BULK_LOAD(SHARED_ADDRESS(s), a, 128, address);
  }
  __syncthreads();
  MBARRIER_WAIT(address, 0); // FAULT
  b[threadIdx.x] = s[threadIdx.x];
}

// CASE bulk_load_past_end
// memcheck, out of bounds: a bulk copy reads behind its source
// rule: PTX ISA, cp.async.bulk
// steps: alloc a 112; set a 1 112; alloc b 128; launch bulk_load_past_end 1 32 a b; sync
// fixed: alloc a 128; set a 1 128; alloc b 128; launch bulk_load_past_end 1 32 a b; want b 31 0x01010101
// expect: kind=out_of_bounds access=read space=global bytes=128 blocks=0 threads=0 of=a size=112
KERNEL bulk_load_past_end(const unsigned* a, unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(address, 1);
    PROXY_FENCE();
    EXPECT(address, 128);
    BULK_LOAD(SHARED_ADDRESS(s), a, 128, address); // FAULT
  }
  __syncthreads();
  MBARRIER_WAIT(address, 0);
  b[threadIdx.x] = s[threadIdx.x];
}

// CASE bulk_load_misaligned
// memcheck, misaligned: the source of a bulk copy begins at a multiple of 8
// rule: PTX ISA, cp.async.bulk
// steps: alloc a 256; set a 1 256; alloc b 128; launch bulk_load_misaligned 1 32 a+8 b; sync
// fixed: alloc a 256; set a 1 256; alloc b 128; launch bulk_load_misaligned 1 32 a+16 b; want b 31 0x01010101
// expect: kind=misaligned access=read space=global bytes=128 blocks=0 threads=0 of=a
KERNEL bulk_load_misaligned(const unsigned* a, unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(address, 1);
    PROXY_FENCE();
    EXPECT(address, 128);
    BULK_LOAD(SHARED_ADDRESS(s), a, 128, address); // FAULT
  }
  __syncthreads();
  MBARRIER_WAIT(address, 0);
  b[threadIdx.x] = s[threadIdx.x];
}

// CASE bulk_init_no_fence
// synccheck, missing fence: the initialised barrier is not made visible to the asynchronous proxy
// rule: CUDA C++ Programming Guide, Asynchronous Data Copies using the Tensor Memory Accelerator; PTX ISA, Proxies
// steps: alloc a 128; iota a 32; alloc b 128; launch bulk_init_no_fence 1 32 a b; want b 31 31
// expect: kind=missing_fence space=shared blocks=0 threads=0
KERNEL bulk_init_no_fence(const unsigned* a, unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(address, 1); // OTHER
    FIX(PROXY_FENCE();)
    EXPECT(address, 128);
    BULK_LOAD(SHARED_ADDRESS(s), a, 128, address); // FAULT
  }
  __syncthreads();
  MBARRIER_WAIT(address, 0);
  b[threadIdx.x] = s[threadIdx.x];
}

// CASE bulk_store_no_fence
// synccheck, missing fence: the bulk copy may not see what ordinary stores wrote to shared memory
// rule: PTX ISA, Memory Consistency Model, Proxies
// steps: alloc b 128; launch bulk_store_no_fence 1 32 b; want b 31 31
// expect: kind=missing_fence space=shared blocks=0 threads=0
KERNEL bulk_store_no_fence(unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  s[threadIdx.x] = threadIdx.x; // OTHER
  FIX(PROXY_FENCE();)
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED_ADDRESS(s), 128); // FAULT
    BULK_COMMIT();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// CASE bulk_store_source_reused
// racecheck, asynchronous copies: the source of a bulk copy is overwritten before it was read
// rule: PTX ISA, cp.async.bulk.wait_group (.read)
// steps: alloc b 128; launch bulk_store_source_reused 1 32 b; want b 31 31
// expect: kind=war space=shared bytes=4 blocks=0 missing=wait
KERNEL bulk_store_source_reused(unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  s[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED_ADDRESS(s), 128); // OTHER
    BULK_COMMIT();
    FIX(asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");)
  }
  __syncthreads();
  *static_cast<volatile unsigned*>(&s[threadIdx.x]) = 77; // FAULT
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// CASE bulk_store_not_waited_for
// synccheck, missing wait: the block exits, and its shared memory ends, while a bulk copy may still read it
// rule: PTX ISA, cp.async.bulk.wait_group
// steps: alloc b 128; launch bulk_store_not_waited_for 1 32 b; sync
// expect: kind=missing_wait space=shared blocks=0 threads=0
KERNEL bulk_store_not_waited_for(unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  s[threadIdx.x] = threadIdx.x;
  PROXY_FENCE();
  __syncthreads();
  if (threadIdx.x == 0) {
    BULK_STORE(b, SHARED_ADDRESS(s), 128); // FAULT
    BULK_COMMIT();
    FIX(asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");)
  }
}

// CASE bulk_load_of_nothing
// initcheck, through copies: a bulk copy brings bytes that nobody wrote
// rule: PTX ISA, cp.async.bulk
// steps: alloc a 128; alloc b 128; launch bulk_load_of_nothing 1 32 a b; sync
// fixed: alloc a 128; iota a 32; alloc b 128; launch bulk_load_of_nothing 1 32 a b; want b 31 31
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=0-31 of=a
KERNEL bulk_load_of_nothing(const unsigned* a, unsigned* b) {
  __shared__ __align__(128) unsigned s[32];
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  unsigned done;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(address, 1);
    PROXY_FENCE();
    EXPECT(address, 128);
    BULK_LOAD(SHARED_ADDRESS(s), a, 128, address); // OTHER
  }
  __syncthreads();
  MBARRIER_WAIT(address, 0);
  b[threadIdx.x] = s[threadIdx.x]; // FAULT
}

// CASE mbarrier_arrivals_beyond_count
// synccheck, mbarriers: one arrival counts for more threads than are still expected
// rule: PTX ISA, mbarrier.arrive: count
// steps: alloc a 4; launch mbarrier_arrivals_beyond_count 1 1 a u32:3; sync
// fixed: alloc a 4; launch mbarrier_arrivals_beyond_count 1 1 a u32:2; sync
// expect: kind=mbarrier_count blocks=0 threads=0
KERNEL mbarrier_arrivals_beyond_count(unsigned* a, unsigned count) {
  __shared__ unsigned long long barrier;
  const unsigned address = SHARED_ADDRESS(&barrier);
  MBARRIER_INIT(address, 2);
  asm volatile("{ .reg .b64 %%t; mbarrier.arrive.shared.b64 %%t, [%0], %1; }" ::"r"(address), "r"(count) : "memory"); // FAULT
  *a = 1;
}
