// What the kernels of this folder share. Each file is compiled twice, with FAULTY=1 and with FAULTY=0, so that a faulty
// kernel and its twin differ by the repair only, and have the same lines.
#pragma once

#define KERNEL extern "C" __global__ void

#if FAULTY
#define PICK(faulty, fixed) faulty
#define FIX(...)
#define BREAK(...) __VA_ARGS__
#else
#define PICK(faulty, fixed) fixed
#define FIX(...) __VA_ARGS__
#define BREAK(...)
#endif

// Instructions that C++ does not name, as macros: their line is then that of their use.
#define BAR_SYNC(barrier, threads) asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory")
#define BAR_ARRIVE(barrier, threads) asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory")
#define BARRIER_SYNC(barrier, threads) asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory")
#define LOAD(order, value, pointer) asm volatile("ld." order ".u32 %0, [%1];" : "=r"(value) : "l"(pointer) : "memory")
#define STORE(order, pointer, value) asm volatile("st." order ".u32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory")
#define FENCE(kind) asm volatile("fence." kind ";" ::: "memory")
#define SHARED_ADDRESS(pointer) static_cast<unsigned>(__cvta_generic_to_shared(pointer))

// Asynchronous copies and mbarriers; addresses are those of shared memory.
#define COPY_ASYNC(to, from, bytes) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(bytes) : "memory")
#define COPY_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define COPY_WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
#define MBARRIER_INIT(barrier, count) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory")
#define MBARRIER_INVALIDATE(barrier) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(barrier) : "memory")
#define MBARRIER_ARRIVE(barrier) \
  asm volatile("{ .reg .b64 %%t; mbarrier.arrive.shared.b64 %%t, [%0]; }" ::"r"(barrier) : "memory")
#define MBARRIER_WAIT(barrier, parity) \
  do { \
    asm volatile("{ .reg .pred %%p; mbarrier.test_wait.parity.shared.b64 %%p, [%1], %2; selp.u32 %0, 1, 0, %%p; }" \
                 : "=r"(done) : "r"(barrier), "r"(parity) : "memory"); \
  } while (done == 0)
