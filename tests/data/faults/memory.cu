// Accesses outside of what was allocated, misaligned accesses, the device's heap, stacks, forged handles: memcheck.
// nvcc: -arch=compute_75
#include "faults.h"

// ---- global memory

// CASE global_write_past_end
// memcheck, out of bounds: a grid that is rounded up to whole blocks, and no test of the index
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 400; launch global_write_past_end 4 32 a u32:100; want a 99 99
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=3 threads=4-31 of=a size=400 distance=0
KERNEL global_write_past_end(unsigned* a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (PICK(i < n + 28, i < n)) a[i] = i; // FAULT
}

// CASE global_read_past_end
// memcheck, out of bounds: a stencil reads its right neighbour beyond the last element
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 256; alloc b 256; iota a 64; launch global_read_past_end 1 64 a b; want b 62 63
// expect: kind=out_of_bounds access=read space=global bytes=4 blocks=0 threads=63 of=a size=256 distance=0
KERNEL global_read_past_end(const unsigned* a, unsigned* b) {
  const unsigned i = threadIdx.x;
  FIX(if (i == 63) return;)
  b[i] = a[i + 1]; // FAULT
}

// CASE global_read_before_begin
// memcheck, out of bounds: a stencil reads its left neighbour before the first element
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 256; alloc b 256; iota a 64; launch global_read_before_begin 1 64 a b; want b 63 62
// expect: kind=out_of_bounds access=read space=global bytes=4 blocks=0 threads=0 of=a size=256 distance=-4
KERNEL global_read_before_begin(const int* a, int* b) {
  const int i = threadIdx.x;
  FIX(if (i == 0) return;)
  b[i] = a[i - 1]; // FAULT
}

// CASE global_vector_straddles_end
// memcheck, out of bounds: the last 16-byte store begins inside of the allocation and ends outside
// rule: PTX ISA, Vectors as Operands; st
// steps: alloc a 1016; launch global_vector_straddles_end 1 64 a u32:254; want a 251 62
// expect: kind=out_of_bounds access=write space=global bytes=16 blocks=0 threads=63 of=a size=1016
KERNEL global_vector_straddles_end(uint4* a, unsigned n) {
  const unsigned i = threadIdx.x;
  if (4 * i + PICK(1, 3) < n) a[i] = make_uint4(i, i, i, i); // FAULT
}

// CASE global_byte_past_end
// memcheck, out of bounds: one byte, the terminating 0 of a string, does not fit
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 33; launch global_byte_past_end 1 64 a u32:33
// expect: kind=out_of_bounds access=write space=global bytes=1 blocks=0 threads=33 of=a size=33 distance=0
KERNEL global_byte_past_end(char* a, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i < PICK(n, n - 1)) a[i] = 'a';
  if (i == PICK(n, n - 1)) a[i] = 0; // FAULT
}

// CASE global_atomic_past_end
// memcheck, out of bounds: a histogram of values that are one too large
// rule: PTX ISA, atom
// steps: alloc a 64; set a 0 64; alloc b 128; launch global_atomic_past_end 1 32 a b
// expect: kind=out_of_bounds access=atomic space=global bytes=4 blocks=0 threads=16,31 of=a size=64 distance=0
KERNEL global_atomic_past_end(unsigned* a, unsigned* b) {
  const unsigned i = threadIdx.x;
  const unsigned bin = PICK(i % 15 == 1 && i != 1 ? 16 : i % 16, i % 16);
  b[i] = atomicAdd(&a[bin], 1u); // FAULT
}

// CASE global_reduction_past_end
// memcheck, out of bounds: a reduction operation, which returns nothing
// rule: PTX ISA, red
// steps: alloc a 16; set a 0 16; launch global_reduction_past_end 1 32 a; want a 3 8
// expect: kind=out_of_bounds access=atomic space=global bytes=4 blocks=0 threads=4,9,14,19,24,29 of=a size=16 distance=0
KERNEL global_reduction_past_end(unsigned* a) {
  atomicAdd(&a[threadIdx.x % PICK(5, 4)], 1u); // FAULT
}

// CASE global_loop_one_too_far
// memcheck, out of bounds: each thread owns a row; the loop's last column is one too many
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 1024; launch global_loop_one_too_far 1 16 a u32:16; want a 255 15
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=15 of=a size=1024 distance=0
KERNEL global_loop_one_too_far(volatile unsigned* a, unsigned n) {
  const unsigned row = threadIdx.x;
  for (unsigned column = 0; PICK(row == n - 1 ? column <= n : column < n, column < n); ++column)
    a[row * n + column] = row; // FAULT
}

// CASE global_rows_and_columns_exchanged
// memcheck, out of bounds: a matrix of 8 rows and 32 columns, indexed as one of 32 rows
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 1024; launch global_rows_and_columns_exchanged 8 32 a; want a 255 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0-7 threads=8-31 of=a size=1024
KERNEL global_rows_and_columns_exchanged(unsigned* a) {
  const unsigned row = blockIdx.x, column = threadIdx.x;
  a[PICK(column * 32 + row, row * 32 + column)] = column; // FAULT
}

// CASE global_far_away
// memcheck, out of bounds: an index that overflowed, far from every allocation
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 128; launch global_far_away 1 32 a u64:0x100000000000; want a 31 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=0-31
KERNEL global_far_away(unsigned* a, unsigned long long far) {
  a[threadIdx.x + PICK(far, 0)] = threadIdx.x; // FAULT
}

// CASE global_null_read
// memcheck, out of bounds: a pointer that was never set
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 128; iota a 32; alloc b 128; launch global_null_read 1 32 0 b
// fixed: alloc a 128; iota a 32; alloc b 128; launch global_null_read 1 32 a b; want b 31 31
// expect: kind=out_of_bounds access=read space=global bytes=4 blocks=0 threads=0-31
KERNEL global_null_read(const unsigned* a, unsigned* b) {
  b[threadIdx.x] = a[threadIdx.x]; // FAULT
}

// CASE global_null_list
// memcheck, out of bounds: the end of a list is not tested; a member of a null object is written
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 64; set a 0 64; launch global_null_list 1 1 a; want a 2 7
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=0
struct Node {
  Node* next;
  unsigned value;
};
KERNEL global_null_list(Node* a) {
  a[0].value = 7;
  Node* const n = a[0].next;
  if (PICK(true, n != nullptr)) n->value = 8; // FAULT
}

__device__ unsigned variable[24];
// CASE variable_past_end
// memcheck, out of bounds: an index into a variable of the module
// rule: CUDA C++ Programming Guide, __device__
// steps: launch variable_past_end 1 25 u32:25; global v variable 96; want v 23 23
// fixed: launch variable_past_end 1 25 u32:24; global v variable 96; want v 23 23
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=24 of=variable size=96 distance=0
KERNEL variable_past_end(unsigned n) {
  if (threadIdx.x < n) variable[threadIdx.x] = threadIdx.x; // FAULT
}

__constant__ unsigned table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
// CASE constant_read_past_end
// memcheck, out of bounds: an index into constant memory, beyond all 64 KiB of it
// rule: PTX ISA, Constant State Space
// steps: alloc a 128; launch constant_read_past_end 1 32 a u32:100000
// fixed: alloc a 128; launch constant_read_past_end 1 32 a u32:7; want a 31 8
// expect: kind=out_of_bounds access=read space=constant bytes=4 blocks=0 threads=0-31
KERNEL constant_read_past_end(unsigned* a, unsigned i) {
  a[threadIdx.x] = table[i]; // FAULT
}

// CASE inlined_write
// memcheck, out of bounds: the access is in a function that was inlined; the caller's line matters, too
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 128; launch inlined_write 1 33 a
// fixed: alloc a 128; launch inlined_write 1 32 a; want a 31 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=32 of=a size=128 distance=0 function=put
__device__ __forceinline__ void put(unsigned* a, unsigned i) {
  a[i] = i; // FAULT
}
KERNEL inlined_write(unsigned* a) {
  put(a, threadIdx.x); // OTHER
}

// CASE called_write
// memcheck, out of bounds: the access is two calls down; the call stack of the device says who called
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 128; launch called_write 1 33 a
// fixed: alloc a 128; launch called_write 1 32 a; want a 31 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=32 of=a size=128 distance=0 function=store_inner
__device__ __noinline__ void store_inner(unsigned* a, unsigned i) {
  a[i] = i; // FAULT
}
__device__ __noinline__ void store_outer(unsigned* a, unsigned i) {
  store_inner(a, i);
  if (i == 1000) store_inner(a, i + 1);
}
KERNEL called_write(unsigned* a) {
  store_outer(a, threadIdx.x); // OTHER
}

// CASE two_faults_in_one_kernel
// memcheck, out of bounds: a run must not stop at the first of several faults; the read is reported as well
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 128; iota a 32; alloc b 128; launch two_faults_in_one_kernel 1 32 a b; want b 31 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=0 of=b size=128 distance=0 other_access=read
KERNEL two_faults_in_one_kernel(const unsigned* a, unsigned* b) {
  const unsigned i = threadIdx.x;
  b[PICK(i == 0 ? 32 : i, i)] = i;                       // FAULT
  b[PICK(31, i)] = a[PICK(i == 31 ? i + 1 : i, i)]; // OTHER
}

// CASE pinned_past_end
// memcheck, out of bounds: pinned memory of the host, through its address on the device
// rule: CUDA C++ Programming Guide, Mapped Memory
// steps: pinned a 128; launch fill 1 33 a; sync
// fixed: pinned a 128; launch fill 1 32 a; sync; want a 31 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=32 of=a size=128 distance=0 at=fill
// CASE managed_past_end
// memcheck, out of bounds: managed memory
// rule: CUDA C++ Programming Guide, Unified Memory Programming
// steps: managed a 128; launch fill 1 33 a; sync
// fixed: managed a 128; launch fill 1 32 a; sync; want a 31 31
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=32 of=a size=128 distance=0 at=fill
// CASE pool_past_end
// memcheck, out of bounds: memory of a stream-ordered pool
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: stream s; alloc-async a 128 s; launch fill 1 33 a stream=s; free-async a s; sync s
// fixed: stream s; alloc-async a 128 s; launch fill 1 32 a stream=s; free-async a s; sync s
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=32 of=a size=128 distance=0 at=fill
// CASE padding_between_allocations
// memcheck, out of bounds: neighbours are rounded up to 256 bytes; what lies between belongs to neither
// rule: CUDA C++ Programming Guide, Device Memory Accesses
// steps: alloc a 100; alloc b 100; launch fill 1 50 a
// fixed: alloc a 100; alloc b 100; launch fill 1 25 a; want a 24 24
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=25-49 of=a size=100 distance=0 at=fill
KERNEL fill(unsigned* a) {
  a[threadIdx.x] = threadIdx.x; // FAULT
}

// ---- shared memory

// CASE shared_past_end
// memcheck, out of bounds: an index behind all shared memory of the block
// rule: PTX ISA, Shared State Space
// steps: alloc a 4; launch shared_past_end 1 32 a u32:4096
// fixed: alloc a 4; launch shared_past_end 1 32 a u32:0; want a 0 31
// expect: kind=out_of_bounds access=write space=shared bytes=4 blocks=0 threads=0-31
KERNEL shared_past_end(unsigned* a, unsigned offset) {
  __shared__ unsigned s[32];
  s[threadIdx.x + offset] = threadIdx.x; // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = s[31];
}

// CASE shared_dynamic_too_small
// memcheck, out of bounds: the launch gives half of the dynamic shared memory that the kernel uses
// rule: CUDA C++ Programming Guide, Execution Configuration
// steps: alloc a 256; launch shared_dynamic_too_small 1 64 a shared=128
// fixed: alloc a 256; launch shared_dynamic_too_small 1 64 a shared=256; want a 0 63
// expect: kind=out_of_bounds access=write space=shared bytes=4 blocks=0 threads=32-63
extern __shared__ unsigned dynamic[];
KERNEL shared_dynamic_too_small(unsigned* a) {
  dynamic[threadIdx.x] = threadIdx.x; // FAULT
  __syncthreads();
  a[threadIdx.x] = dynamic[63 - threadIdx.x];
}

// CASE shared_dynamic_missing
// memcheck, out of bounds: a launch without any dynamic shared memory
// rule: CUDA C++ Programming Guide, Execution Configuration
// steps: alloc a 128; launch shared_dynamic_missing 1 32 a
// fixed: alloc a 128; launch shared_dynamic_missing 1 32 a shared=128; want a 0 31
// expect: kind=out_of_bounds access=write space=shared bytes=4 blocks=0 threads=0-31
KERNEL shared_dynamic_missing(unsigned* a) {
  dynamic[threadIdx.x] = threadIdx.x; // FAULT
  __syncthreads();
  a[threadIdx.x] = dynamic[31 - threadIdx.x];
}

// CASE shared_before_begin
// memcheck, out of bounds: a negative index into the first array of shared memory
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; launch shared_before_begin 1 32 a shared=128
// expect: kind=out_of_bounds access=read space=shared bytes=4 blocks=0 threads=0
KERNEL shared_before_begin(unsigned* a) {
  const int i = threadIdx.x;
  dynamic[i] = i;
  __syncthreads();
  a[i] = dynamic[PICK(i - 1, i == 0 ? 0 : i - 1)]; // FAULT
}

// CASE shared_generic_past_end
// memcheck, out of bounds: through a generic address, in a function that does not know the space
// rule: PTX ISA, Generic Addressing
// steps: alloc a 4; launch shared_generic_past_end 1 32 a u32:8192
// fixed: alloc a 4; launch shared_generic_past_end 1 32 a u32:0; want a 0 31
// expect: kind=out_of_bounds access=write space=shared bytes=4 blocks=0 threads=0-31 function=store_generic
__device__ __noinline__ void store_generic(unsigned* p, unsigned value) {
  *p = value; // FAULT
}
KERNEL shared_generic_past_end(unsigned* a, unsigned offset) {
  __shared__ unsigned s[32];
  store_generic(&s[threadIdx.x + offset], threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *a = s[31];
}

// CASE shared_atomic_past_end
// memcheck, out of bounds: an atomic operation on shared memory
// rule: PTX ISA, atom
// steps: alloc a 4; launch shared_atomic_past_end 1 32 a u32:64 shared=128
// fixed: alloc a 4; launch shared_atomic_past_end 1 32 a u32:0 shared=128; want a 0 32
// expect: kind=out_of_bounds access=atomic space=shared bytes=4 blocks=0 threads=0-31
KERNEL shared_atomic_past_end(unsigned* a, unsigned i) {
  dynamic[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&dynamic[i], 1u); // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = dynamic[0];
}

// ---- local memory and stacks

// CASE local_index_far_away
// memcheck, out of bounds: an index far outside of a thread's array, and of all its local memory
// rule: PTX ISA, Local State Space
// steps: alloc a 128; launch local_index_far_away 1 32 a u32:0x40000
// fixed: alloc a 128; launch local_index_far_away 1 32 a u32:3; want a 31 34
// expect: kind=out_of_bounds access=write space=local bytes=4 blocks=0 threads=0-31
KERNEL local_index_far_away(unsigned* a, unsigned i) {
  volatile unsigned mine[16];
  for (unsigned k = 0; k < 16; ++k) mine[k] = k;
  mine[i] = threadIdx.x + 3; // FAULT
  a[threadIdx.x] = mine[3];
}

// CASE stack_overflow
// memcheck, stack overflow: recursion that is deeper than the stack
// rule: CUDA C++ Programming Guide, cudaLimitStackSize
// steps: stack 4096; alloc a 128; launch stack_overflow 1 32 a u32:2000; sync
// fixed: stack 4096; alloc a 128; launch stack_overflow 1 32 a u32:4; sync; want a 31 10
// expect: kind=stack_overflow access=write space=local blocks=0 threads=0-31 function=deep
__device__ __noinline__ unsigned deep(unsigned n) {
  volatile unsigned frame[16];
  frame[n % 16] = n; // FAULT
  return n == 0 ? 0 : deep(n - 1) + frame[n % 16];
}
KERNEL stack_overflow(unsigned* a, unsigned n) {
  a[threadIdx.x] = deep(n);
}

// CASE stack_overflow_alloca
// memcheck, stack overflow: alloca of a size that is an argument
// rule: PTX ISA, alloca
// steps: stack 4096; alloc a 128; launch stack_overflow_alloca 1 32 a u32:0x100000; sync
// fixed: stack 4096; alloc a 128; launch stack_overflow_alloca 1 32 a u32:256; sync; want a 31 31
// expect: kind=stack_overflow access=write space=local blocks=0 threads=0-31
KERNEL stack_overflow_alloca(unsigned* a, unsigned bytes) {
  volatile unsigned* const p = static_cast<unsigned*>(__builtin_alloca(bytes));
  for (unsigned i = 0; i < bytes / 4; i += 32) p[i] = threadIdx.x; // FAULT
  a[threadIdx.x] = p[0];
}

// ---- alignment

// CASE misaligned_read
// memcheck, misaligned: a 4-byte read at an odd address
// rule: CUDA C++ Programming Guide, Size and Alignment Requirement
// steps: alloc a 132; iota a 33; alloc b 128; launch misaligned_read 1 32 a+1 b
// fixed: alloc a 132; iota a 33; alloc b 128; launch misaligned_read 1 32 a+4 b; want b 0 1
// expect: kind=misaligned access=read space=global bytes=4 blocks=0 threads=0-31 of=a
KERNEL misaligned_read(const unsigned* a, unsigned* b) {
  b[threadIdx.x] = a[threadIdx.x]; // FAULT
}

// CASE misaligned_wide_write
// memcheck, misaligned: 8-byte stores at multiples of 4
// rule: CUDA C++ Programming Guide, Size and Alignment Requirement
// steps: alloc a 512; launch misaligned_wide_write 1 32 a
// expect: kind=misaligned access=write space=global bytes=8 blocks=0 threads=1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 of=a
KERNEL misaligned_wide_write(char* a) {
  *reinterpret_cast<unsigned long long*>(a + threadIdx.x * PICK(4, 8)) = threadIdx.x; // FAULT
}

// CASE misaligned_vector
// memcheck, misaligned: a float4 in a row whose pitch is not a multiple of 16
// rule: CUDA C++ Programming Guide, Size and Alignment Requirement
// steps: alloc a 1024; set a 0 1024; alloc b 128; launch misaligned_vector 1 8 a b u32:9
// fixed: alloc a 1024; set a 0 1024; alloc b 128; launch misaligned_vector 1 8 a b u32:12; want b 7 0
// expect: kind=misaligned access=read space=global bytes=16 blocks=0 threads=1-3,5-7 of=a
KERNEL misaligned_vector(const float* a, float* b, unsigned pitch) {
  const float4 v = *reinterpret_cast<const float4*>(a + threadIdx.x * pitch); // FAULT
  b[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// CASE misaligned_shared
// memcheck, misaligned: two arrays in dynamic shared memory, the second one not aligned
// rule: CUDA C++ Programming Guide, __shared__
// steps: alloc a 8; launch misaligned_shared 1 1 a u32:12 shared=64
// fixed: alloc a 8; launch misaligned_shared 1 1 a u32:16 shared=64; want a 0 5
// expect: kind=misaligned access=write space=shared bytes=8 blocks=0 threads=0
KERNEL misaligned_shared(unsigned long long* a, unsigned offset) {
  volatile unsigned long long* const second =
      reinterpret_cast<unsigned long long*>(reinterpret_cast<char*>(dynamic) + offset);
  *second = 5; // FAULT
  *a = *second;
}

// CASE misaligned_local
// memcheck, misaligned: a number is read from the middle of an array of bytes
// rule: CUDA C++ Programming Guide, Size and Alignment Requirement
// steps: alloc a 4; launch misaligned_local 1 1 a u32:6
// fixed: alloc a 4; launch misaligned_local 1 1 a u32:8; want a 0 0x0b0a0908
// expect: kind=misaligned access=read space=local bytes=4 blocks=0 threads=0
KERNEL misaligned_local(unsigned* a, unsigned offset) {
  __align__(8) volatile unsigned char bytes[16];
  for (unsigned i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(i);
  *a = *reinterpret_cast<volatile unsigned*>(&bytes[offset]); // FAULT
}

// CASE misaligned_atomic
// memcheck, misaligned: an atomic operation on a packed structure
// rule: PTX ISA, atom
// steps: alloc a 64; set a 0 64; launch misaligned_atomic 1 32 a+2; want a 0 0
// fixed: alloc a 64; set a 0 64; launch misaligned_atomic 1 32 a; want a 0 32
// expect: kind=misaligned access=atomic space=global bytes=4 blocks=0 threads=0-31 of=a
KERNEL misaligned_atomic(unsigned* a) {
  atomicAdd(a, 1u); // FAULT
}

// CASE misaligned_constant
// memcheck, misaligned: constant memory at a computed address
// rule: PTX ISA, ld
// steps: alloc a 4; launch misaligned_constant 1 1 a u32:2
// fixed: alloc a 4; launch misaligned_constant 1 1 a u32:4; want a 0 2
// expect: kind=misaligned access=read space=constant bytes=4 blocks=0 threads=0
KERNEL misaligned_constant(unsigned* a, unsigned offset) {
  *a = *reinterpret_cast<const volatile unsigned*>(reinterpret_cast<const char*>(table) + offset); // FAULT
}

// CASE misaligned_matrix_rows
// memcheck, misaligned: ldmatrix reads rows of 16 bytes, which begin at multiples of 16
// rule: PTX ISA, ldmatrix
// steps: alloc a 128; launch misaligned_matrix_rows 1 32 a u32:8
// fixed: alloc a 128; launch misaligned_matrix_rows 1 32 a u32:0; want a 0 0
// expect: kind=misaligned access=read space=shared bytes=16 blocks=0 threads=0-7
KERNEL misaligned_matrix_rows(unsigned* a, unsigned offset) {
  __shared__ __align__(16) unsigned s[64];
  s[threadIdx.x] = s[threadIdx.x + 32] = 0;
  __syncthreads();
  unsigned value;
  const unsigned row = SHARED_ADDRESS(s) + threadIdx.x % 8 * 16 + offset;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(row) : "memory"); // FAULT
  a[threadIdx.x] = value;
}

// ---- the device's heap

// CASE heap_past_end
// memcheck, out of bounds: behind a block of the device's malloc
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: alloc a 4; launch heap_past_end 1 1 a u32:10
// fixed: alloc a 4; launch heap_past_end 1 1 a u32:9; want a 0 9
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=0 of=heap size=40 distance=0
KERNEL heap_past_end(unsigned* a, unsigned i) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(40));
  p[i] = 9; // FAULT
  *a = p[i];
  free(const_cast<unsigned*>(p));
}

// CASE heap_use_after_free
// memcheck, use after free: a block of the heap is read after it was freed
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: alloc a 4; launch heap_use_after_free 1 1 a
// expect: kind=use_after_free access=read space=global bytes=4 blocks=0 threads=0 of=heap size=40
KERNEL heap_use_after_free(unsigned* a) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(40));
  p[3] = 7;
  BREAK(free(const_cast<unsigned*>(p));)
  *a = p[3]; // FAULT
  FIX(free(const_cast<unsigned*>(p));)
}

// CASE heap_double_free
// memcheck, double free: both threads free a block that one of them allocated
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: alloc a 8; launch heap_double_free 1 2 a
// expect: kind=double_free space=global blocks=0 of=heap size=40
KERNEL heap_double_free(void** a) {
  if (threadIdx.x == 0) *a = malloc(40);
  __syncthreads();
  if (PICK(true, threadIdx.x == 0)) free(*a); // FAULT
}

// CASE heap_free_of_middle
// memcheck, foreign free: a pointer that was moved along is freed
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: alloc a 8; launch heap_free_of_middle 1 1 a
// expect: kind=foreign_free space=global blocks=0 threads=0 of=heap size=64
KERNEL heap_free_of_middle(char** a) {
  *a = static_cast<char*>(malloc(64));
  volatile char* const p = *a;
  p[0] = 1;
  free(const_cast<char*>(p) + PICK(16, 0)); // FAULT
}

// CASE heap_free_of_host_memory
// memcheck, foreign free: the device frees memory that the host allocated
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: alloc a 128; launch heap_free_of_host_memory 1 1 a
// fixed: launch heap_free_of_host_memory 1 1 0
// expect: kind=foreign_free space=global blocks=0 threads=0 of=a
KERNEL heap_free_of_host_memory(void* a) {
  free(a); // FAULT
}

// CASE heap_exhausted
// memcheck, out of bounds: malloc returned null, which is not tested
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: launch heap_exhausted 1 1 u64:0x10000000000
// fixed: launch heap_exhausted 1 1 u64:64
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=0
KERNEL heap_exhausted(unsigned long long bytes) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(bytes));
  *p = 1; // FAULT
  free(const_cast<unsigned*>(p));
}

// CASE heap_leak
// memcheck, leak: each thread leaves a block of the heap behind
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: launch heap_leak 1 4 u32:48; sync
// expect: kind=leak space=global bytes=48 blocks=0 threads=0-3 of=heap size=48
KERNEL heap_leak(unsigned bytes) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(bytes)); // FAULT
  *p = 1;
  FIX(free(const_cast<unsigned*>(p));)
}

// ---- handles

// CASE forged_texture
// memcheck, forged handle: a texture object that nobody made
// rule: PTX ISA, Texture Sampler and Surface Types
// steps: alloc a 128; iota a 32; alloc b 128; launch forged_texture 1 32 u64:0x123456 b; sync
// fixed: alloc a 128; iota a 32; alloc b 128; texture t a 32; launch forged_texture 1 32 t b; sync; want b 31 31
// expect: kind=forged_handle access=read space=texture blocks=0 threads=0-31
KERNEL forged_texture(cudaTextureObject_t texture, unsigned* b) {
  b[threadIdx.x] = tex1Dfetch<unsigned>(texture, threadIdx.x); // FAULT
}

// CASE forged_surface
// memcheck, forged handle: a surface object that nobody made
// rule: PTX ISA, Texture Sampler and Surface Types
// steps: launch forged_surface 1 32 u64:0x123456; sync
// fixed: surface t 32; launch forged_surface 1 32 t; sync
// expect: kind=forged_handle access=write space=surface blocks=0 threads=0-31
KERNEL forged_surface(cudaSurfaceObject_t surface) {
  surf1Dwrite<unsigned>(threadIdx.x, surface, threadIdx.x * 4); // FAULT
}

// CASE surface_past_end
// memcheck, out of bounds: a surface that traps outside of its array
// rule: CUDA C++ Programming Guide, Surface Functions
// steps: surface t 32; launch surface_past_end 1 33 t; sync
// fixed: surface t 32; launch surface_past_end 1 32 t; sync
// expect: kind=out_of_bounds access=write space=surface blocks=0 threads=32
KERNEL surface_past_end(cudaSurfaceObject_t surface) {
  surf1Dwrite<unsigned>(threadIdx.x, surface, threadIdx.x * 4, cudaBoundaryModeTrap); // FAULT
}

// CASE forged_function
// memcheck, forged handle: a call through a pointer that is no function's
// rule: PTX ISA, call
// steps: alloc a 4; launch forged_function 1 1 a u64:0x1230; sync
// fixed: alloc a 4; launch forged_function 1 1 a u64:0; sync; want a 0 42
// expect: kind=forged_handle space=code blocks=0 threads=0 hangs=true
using Function = unsigned (*)(unsigned);
__device__ __noinline__ unsigned twice(unsigned x) { return 2 * x; }
__device__ Function some_function = twice;
KERNEL forged_function(unsigned* a, unsigned long long forged) {
  const Function f = forged == 0 ? some_function : reinterpret_cast<Function>(forged);
  *a = f(21); // FAULT
}
