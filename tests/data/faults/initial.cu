// Bytes that are read and that nobody wrote, in memory of every kind and in registers; memory that nobody uses: initcheck.
// nvcc: -arch=compute_75
#include "faults.h"

// CASE device_not_written
// initcheck, device memory: an array that nobody filled
// rule: CUDA Driver API, cuMemAlloc: the memory is not cleared
// steps: alloc a 128; alloc b 128; launch read_word 1 32 a b; sync
// fixed: alloc a 128; iota a 32; alloc b 128; launch read_word 1 32 a b; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=a at=read_word
// CASE device_tail_not_written
// initcheck, device memory: the copy from the host is one element short
// rule: CUDA Driver API, cuMemAlloc: the memory is not cleared
// steps: alloc a 128; iota a 31; alloc b 128; launch read_word 1 32 a b; sync
// fixed: alloc a 128; iota a 32; alloc b 128; launch read_word 1 32 a b; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=31 of=a at=read_word
// CASE device_set_counts_bytes
// initcheck, device memory: a fill counts elements where bytes are needed
// rule: CUDA Driver API, cuMemsetD8
// steps: alloc a 128; set a 0 32; alloc b 128; launch read_word 1 32 a b; sync
// fixed: alloc a 128; set a 0 128; alloc b 128; launch read_word 1 32 a b; want b 31 0
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=8-31 of=a at=read_word
// CASE device_one_byte_missing
// initcheck, device memory: three of the four bytes of the last word were written
// rule: CUDA Driver API, cuMemsetD8
// steps: alloc a 128; set a 0 127; alloc b 128; launch read_word 1 32 a b; sync
// fixed: alloc a 128; set a 0 128; alloc b 128; launch read_word 1 32 a b; want b 31 0
// expect: kind=uninitialized access=read space=global bytes=1 blocks=0 threads=31 of=a at=read_word
// CASE device_copy_of_nothing
// initcheck, through copies: a copy carries bytes along that nobody wrote
// rule: CUDA Driver API, cuMemcpyDtoD
// steps: alloc a 128; alloc c 128; copy c a 128; alloc b 128; launch read_word 1 32 c b; sync
// fixed: alloc a 128; iota a 32; alloc c 128; copy c a 128; alloc b 128; launch read_word 1 32 c b; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=a at=read_word
// CASE device_copy_of_half
// initcheck, through copies: of two copies in a row, the first one was too short
// rule: CUDA Driver API, cuMemcpyDtoD
// steps: alloc a 128; iota a 32; alloc c 128; copy c a 64; alloc d 128; copy d c 128; alloc b 128; launch read_word 1 32 d b; sync
// fixed: alloc a 128; iota a 32; alloc c 128; copy c a 128; alloc d 128; copy d c 128; alloc b 128; launch read_word 1 32 d b; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=16-31 of=c at=read_word
// CASE device_reused_after_free
// initcheck, device memory: what a freed allocation left behind is no content of the next one
// rule: CUDA Driver API, cuMemAlloc: the memory is not cleared
// steps: alloc a 128; iota a 32; free a; alloc c 128; alloc b 128; launch read_word 1 32 c b; sync
// fixed: alloc a 128; iota a 32; free a; alloc c 128; iota c 32; alloc b 128; launch read_word 1 32 c b; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=c at=read_word
// CASE pool_not_written
// initcheck, device memory: memory of a stream-ordered pool
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: stream s; alloc-async a 128 s; alloc b 128; launch read_word 1 32 a b stream=s; free-async a s; sync
// fixed: stream s; alloc-async a 128 s; set a 0 128 s; alloc b 128; launch read_word 1 32 a b stream=s; free-async a s; sync
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=a at=read_word
// CASE managed_not_written
// initcheck, managed memory: neither the host nor the device wrote it
// rule: CUDA C++ Programming Guide, Unified Memory Programming
// steps: managed a 128; alloc b 128; launch read_word 1 32 a b; sync
// fixed: managed a 128; iota a 32; alloc b 128; launch read_word 1 32 a b; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=a at=read_word
// CASE kernel_ran_too_late
// initcheck, device memory: the kernel that fills the array comes after the one that reads it
// rule: CUDA C++ Programming Guide, Streams
// steps: alloc a 128; alloc b 128; launch read_word 1 32 a b; launch write_word 1 32 a; sync
// fixed: alloc a 128; alloc b 128; launch write_word 1 32 a; launch read_word 1 32 a b; sync; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=a at=read_word
KERNEL read_word(const unsigned* a, unsigned* b) {
  b[threadIdx.x] = a[threadIdx.x]; // FAULT
}
KERNEL write_word(unsigned* a) {
  a[threadIdx.x] = threadIdx.x; // FAULT
}

// CASE host_reads_nothing
// initcheck, copies to the host: the kernel fills half of what the host copies
// rule: CUDA Driver API, cuMemcpyDtoH
// steps: alloc a 256; launch write_word 1 32 a; host h 256; to-host h a 256
// fixed: alloc a 256; launch write_word 1 64 a; host h 256; to-host h a 256; want h 63 63
// expect: kind=uninitialized access=read space=global bytes=128 of=a
// CASE host_reads_unused_array
// initcheck, copies to the host: the kernel got another array than the one that is copied back
// rule: CUDA Driver API, cuMemcpyDtoH
// steps: alloc a 128; alloc b 128; launch write_word 1 32 a; host h 128; to-host h b 128
// fixed: alloc a 128; alloc b 128; launch write_word 1 32 b; launch write_word 1 32 a; host h 128; to-host h b 128; want h 31 31
// expect: kind=uninitialized access=read space=global bytes=128 of=b
// CASE unused_array
// initcheck, unused memory: an array that nobody touches
// rule: Compute Sanitizer, initcheck: unused memory
// steps: alloc a 128; alloc b 4096; launch write_word 1 32 a; want a 31 31; free a; free b
// fixed: alloc a 128; launch write_word 1 32 a; want a 31 31; free a
// expect: kind=unused space=global bytes=4096 of=b size=4096
// CASE unused_rest
// initcheck, unused memory: an array that is four times as long as needed
// rule: Compute Sanitizer, initcheck: unused memory
// steps: alloc a 512; launch write_word 1 32 a; want a 31 31; free a
// fixed: alloc a 128; launch write_word 1 32 a; want a 31 31; free a
// expect: kind=unused space=global bytes=384 of=a size=512

// CASE device_structure_hole
// initcheck, device memory: the padding of a structure is read with it, as words
// rule: CUDA C++ Programming Guide, Size and Alignment Requirement
// steps: alloc a 256; alloc b 256; launch device_structure_hole 1 32 a b; want b 0 1
// expect: kind=uninitialized access=read space=global bytes=3 blocks=0 threads=0-31 of=a
struct Tagged {
  unsigned char tag;
  unsigned value;
};
KERNEL device_structure_hole(Tagged* a, uint2* b) {
  const unsigned i = threadIdx.x;
  FIX(reinterpret_cast<volatile unsigned*>(&a[i])[0] = 0;)
  *static_cast<volatile unsigned char*>(&a[i].tag) = 1;
  *static_cast<volatile unsigned*>(&a[i].value) = i;
  __syncthreads();
  const volatile unsigned* const words = reinterpret_cast<unsigned*>(&a[i]);
  const unsigned first = words[0]; // FAULT
  b[i] = make_uint2(first & 0xff, words[1]);
}

// CASE device_guarded_write
// initcheck, device memory: only some threads write their element, all are read
// rule: CUDA Driver API, cuMemAlloc: the memory is not cleared
// steps: alloc a 256; alloc b 256; launch device_guarded_write 1 64 a b u32:50; want b 0 0
// fixed: alloc a 256; alloc b 256; launch device_guarded_write 1 64 a b u32:64; want b 0 63
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-13 of=a
KERNEL device_guarded_write(unsigned* a, unsigned* b, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i < n) a[i] = i;
  __syncthreads();
  b[i] = a[63 - i]; // FAULT
}

// CASE device_counter_not_cleared
// initcheck, device memory: an atomic operation reads before it writes
// rule: PTX ISA, atom
// steps: alloc a 4; launch device_counter_not_cleared 1 32 a; sync
// fixed: alloc a 4; set a 0 4; launch device_counter_not_cleared 1 32 a; want a 0 32
// expect: kind=uninitialized access=atomic space=global bytes=4 blocks=0 of=a
KERNEL device_counter_not_cleared(unsigned* a) {
  atomicAdd(a, 1u); // FAULT
}

// CASE device_vector_tail
// initcheck, device memory: the last part of a 16-byte vector was not written
// rule: PTX ISA, Vectors as Operands
// steps: alloc a 16; iota a 3; alloc b 16; launch device_vector_tail 1 1 a b; sync
// fixed: alloc a 16; iota a 4; alloc b 16; launch device_vector_tail 1 1 a b; want b 3 3
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0 of=a
KERNEL device_vector_tail(const uint4* a, uint4* b) {
  *b = *a; // FAULT
}

// CASE device_upper_half
// initcheck, device memory: a 64-bit number of which the lower half was written
// rule: PTX ISA, ld
// steps: alloc a 8; alloc b 8; launch device_upper_half 1 1 a b; want b 0 7
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0 of=a
KERNEL device_upper_half(unsigned long long* a, unsigned long long* b) {
  PICK(*reinterpret_cast<volatile unsigned*>(a), *static_cast<volatile unsigned long long*>(a)) = 7;
  *b = *static_cast<volatile unsigned long long*>(a) + 0; // FAULT
}

// CASE device_loop_reads_ahead
// initcheck, device memory: a running sum reads the element that it is about to write
// rule: CUDA Driver API, cuMemAlloc: the memory is not cleared
// steps: alloc a 64; launch device_loop_reads_ahead 1 1 a u32:16; sync
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0 of=a
KERNEL device_loop_reads_ahead(volatile unsigned* a, unsigned n) {
  FIX(a[0] = 0;)
  for (unsigned i = 1; i < n; ++i) {
    const unsigned before = a[PICK(i, i - 1)]; // FAULT
    a[i] = before + 1;
  }
}

// CASE device_pinned_not_written
// initcheck, pinned memory: the kernel reads memory of the host that nobody filled
// rule: CUDA Driver API, cuMemHostAlloc
// steps: pinned a 128; alloc b 128; launch read_pinned 1 32 a b; sync
// fixed: pinned a 128; iota a 32; alloc b 128; launch read_pinned 1 32 a b; sync; want b 31 31
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0-31 of=a at=read_pinned
KERNEL read_pinned(const volatile unsigned* a, unsigned* b) {
  b[threadIdx.x] = a[threadIdx.x]; // FAULT
}

// CASE texture_not_written
// initcheck, device memory: texels that nobody wrote
// rule: PTX ISA, tex
// steps: alloc a 128; texture t a 32; alloc b 128; launch texture_not_written 1 32 t b; sync
// fixed: alloc a 128; iota a 32; texture t a 32; alloc b 128; launch texture_not_written 1 32 t b; want b 31 31
// expect: kind=uninitialized access=read space=texture bytes=4 blocks=0 threads=0-31 of=a
KERNEL texture_not_written(cudaTextureObject_t t, unsigned* b) {
  b[threadIdx.x] = tex1Dfetch<unsigned>(t, threadIdx.x); // FAULT
}

// CASE heap_not_written
// initcheck, the device's heap: malloc does not clear
// rule: CUDA C++ Programming Guide, Dynamic Global Memory Allocation and Operations
// steps: alloc a 4; launch heap_not_written 1 1 a; want a 0 0
// expect: kind=uninitialized access=read space=global bytes=4 blocks=0 threads=0 of=heap
KERNEL heap_not_written(unsigned* a) {
  volatile unsigned* const p = static_cast<unsigned*>(malloc(64));
  for (unsigned i = 0; i < PICK(15, 16); ++i) p[i] = 0;
  *a = p[15]; // FAULT
  free(const_cast<unsigned*>(p));
}

// ---- shared memory

// CASE shared_not_written
// initcheck, shared memory: an accumulator that nobody clears
// rule: PTX ISA, Shared State Space
// steps: alloc a 4; launch shared_not_written 1 32 a; want a 0 32
// expect: kind=uninitialized access=atomic space=shared bytes=4 blocks=0
KERNEL shared_not_written(unsigned* a) {
  __shared__ unsigned sum;
  FIX(if (threadIdx.x == 0) sum = 0;)
  __syncthreads();
  atomicAdd(&sum, 1u); // FAULT
  __syncthreads();
  if (threadIdx.x == 0) *a = sum;
}

// CASE shared_border_not_written
// initcheck, shared memory: the right border of a tile is not loaded
// rule: PTX ISA, Shared State Space
// steps: alloc a 260; iota a 65; alloc b 256; launch shared_border_not_written 1 64 a b; want b 63 64
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=63
KERNEL shared_border_not_written(const unsigned* a, unsigned* b) {
  __shared__ unsigned s[65];
  const unsigned i = threadIdx.x;
  s[i] = a[i];
  FIX(if (i == 0) s[64] = a[64];)
  __syncthreads();
  b[i] = s[i + 1]; // FAULT
}

// CASE shared_dynamic_tail
// initcheck, shared memory: dynamic shared memory, filled by fewer threads than read it
// rule: PTX ISA, Shared State Space
// steps: alloc a 256; launch shared_dynamic_tail 1 64 a u32:48 shared=256; want a 16 47
// fixed: alloc a 256; launch shared_dynamic_tail 1 64 a u32:64 shared=256; want a 0 63
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=0-15
extern __shared__ unsigned dynamic[];
KERNEL shared_dynamic_tail(unsigned* a, unsigned n) {
  const unsigned i = threadIdx.x;
  if (i < n) dynamic[i] = i;
  __syncthreads();
  a[i] = dynamic[63 - i]; // FAULT
}

// CASE shared_of_previous_block
// initcheck, shared memory: what another block left behind is no content
// rule: PTX ISA, Shared State Space
// steps: alloc a 8; launch shared_of_previous_block 2 32 a; want a 1 1
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=1 threads=0
KERNEL shared_of_previous_block(unsigned* a) {
  __shared__ volatile unsigned s;
  if (threadIdx.x == 0 && PICK(blockIdx.x == 0, true)) s = 1;
  __syncthreads();
  if (threadIdx.x == 0) a[blockIdx.x] = s; // FAULT
}

// CASE shared_one_byte
// initcheck, shared memory: bytes are written, a word is read
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; launch shared_one_byte 1 32 a; want a 31 0x1f1f1f1f
// expect: kind=uninitialized access=read space=shared bytes=1 blocks=0 threads=0-31
KERNEL shared_one_byte(unsigned* a) {
  __shared__ unsigned words[32];
  volatile unsigned char* const s = reinterpret_cast<unsigned char*>(words);
  const unsigned i = threadIdx.x;
  for (unsigned k = 0; k < PICK(3, 4); ++k) s[4 * i + k] = static_cast<unsigned char>(i);
  __syncthreads();
  a[i] = words[i]; // FAULT
}

// CASE shared_matrix_row
// initcheck, shared memory: ldmatrix reads a row that nobody wrote
// rule: PTX ISA, ldmatrix
// steps: alloc a 128; launch shared_matrix_row 1 32 a; want a 0 0
// expect: kind=uninitialized access=read space=shared bytes=16 blocks=0 threads=7
KERNEL shared_matrix_row(unsigned* a) {
  __shared__ __align__(16) unsigned s[32];
  const unsigned i = threadIdx.x;
  if (i < PICK(28, 32)) s[i] = i;
  __syncthreads();
  unsigned value;
  const unsigned row = SHARED_ADDRESS(s) + i % 8 * 16;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(value) : "r"(row) : "memory"); // FAULT
  a[i] = value;
}

// ---- local memory and registers

// CASE local_not_written
// initcheck, local memory: an element of a thread's array that no case sets
// rule: PTX ISA, Local State Space
// steps: alloc a 128; launch local_not_written 1 32 a u32:5; sync
// fixed: alloc a 128; launch local_not_written 1 32 a u32:4; want a 31 31
// expect: kind=uninitialized access=read space=local bytes=4 blocks=0 threads=0-31
KERNEL local_not_written(unsigned* a, unsigned which) {
  volatile unsigned mine[8];
  mine[4] = threadIdx.x;
  a[threadIdx.x] = mine[which]; // FAULT
}

// CASE local_passed_to_function
// initcheck, local memory: a function reads a field that its caller did not set
// rule: PTX ISA, Local State Space
// steps: alloc a 4; launch local_passed_to_function 1 1 a; sync
// expect: kind=uninitialized access=read space=local bytes=4 blocks=0 threads=0 function=weigh
struct Point {
  unsigned x, y, z;
};
__device__ __noinline__ unsigned weigh(const volatile Point* p) {
  return p->x + p->y * p->z; // FAULT
}
KERNEL local_passed_to_function(unsigned* a) {
  volatile Point p;
  p.x = 1;
  p.y = 2;
  FIX(p.z = 3;)
  *a = weigh(&p);
}

// CASE local_one_byte
// initcheck, local memory: the terminating 0 of a string is missing
// rule: PTX ISA, Local State Space
// steps: alloc a 4; launch local_one_byte 1 1 a u32:3; want a 0 3
// expect: kind=uninitialized access=read space=local bytes=1 blocks=0 threads=0
KERNEL local_one_byte(unsigned* a, unsigned n) {
  volatile char text[8];
  for (unsigned i = 0; i < n; ++i) text[i] = 'x';
  FIX(text[n] = 0;)
  unsigned length = 0;
  while (length < 7 && text[length] != 0) ++length; // FAULT
  *a = length;
}

// CASE register_not_written
// initcheck, registers: a register is read that nobody wrote
// rule: PTX ISA, Register State Space
// steps: alloc a 128; launch register_not_written 1 32 a; sync
// expect: kind=uninitialized access=read space=register bytes=4 blocks=0 threads=0-31
KERNEL register_not_written(unsigned* a) {
  unsigned value;
  asm volatile("{ .reg .u32 %%t; " PICK("", "mov.u32 %%t, 7;") " add.u32 %0, %%t, 1; }" : "=r"(value)); // FAULT
  a[threadIdx.x] = value;
}

// CASE register_of_one_branch
// initcheck, registers: a register is written in one branch only
// rule: PTX ISA, Register State Space
// steps: alloc a 128; launch register_of_one_branch 1 32 a; sync
// expect: kind=uninitialized access=read space=register bytes=4 blocks=0 threads=16-31
KERNEL register_of_one_branch(unsigned* a) {
  unsigned value;
  asm volatile("{ .reg .u32 %%t; .reg .pred %%p; setp.lt.u32 %%p, %1, 16; @%%p mov.u32 %%t, 7; "
               PICK("", "@!%%p mov.u32 %%t, 8;") " add.u32 %0, %%t, 1; }" : "=r"(value) : "r"(threadIdx.x)); // FAULT
  a[threadIdx.x] = value;
}

// CASE register_as_address
// initcheck, registers: an offset that nobody computed
// rule: PTX ISA, Register State Space
// steps: alloc a 128; set a 0 128; launch register_as_address 1 32 a; sync
// expect: kind=uninitialized access=read space=register bytes=4 blocks=0 threads=0-31
KERNEL register_as_address(unsigned* a) {
  unsigned offset;
  asm volatile("{ .reg .u32 %%t; " PICK("", "mov.u32 %%t, 3;") " and.b32 %0, %%t, 31; }" : "=r"(offset)); // FAULT
  a[offset] = threadIdx.x == 0 ? 1 : a[threadIdx.x];
}

// CASE predicate_not_written
// initcheck, registers: a predicate that nobody set
// rule: PTX ISA, Predicated Execution
// steps: alloc a 128; launch predicate_not_written 1 32 a; sync
// expect: kind=uninitialized access=read space=register bytes=1 blocks=0 threads=0-31
KERNEL predicate_not_written(unsigned* a) {
  unsigned value;
  asm volatile("{ .reg .pred %%p; " PICK("", "setp.eq.u32 %%p, 0, 0;") " selp.u32 %0, 1, 2, %%p; }" : "=r"(value)); // FAULT
  a[threadIdx.x] = value;
}
