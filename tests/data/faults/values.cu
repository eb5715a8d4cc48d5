// SPDX-License-Identifier: Apache-2.0
// Values that are loaded from bytes that nobody wrote, and what the program then does with them: initcheck. The twins
// load the same bytes, or let the compiler load them in advance, and do not use them.
// nvcc: -arch=compute_75
#include "faults.h"

#include <cstdio>

// A load that the compiler neither narrows nor moves behind a condition.
#define LOAD_SHARED(value, pointer) \
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(SHARED_ADDRESS(pointer)) : "memory")

// CASE value_of_missing_warp
// initcheck, shared memory: a sum over more warps than the block has; the compiler loads the results of all warps before it selects
// rule: PTX ISA, Shared State Space
// steps: alloc a 4; launch value_of_missing_warp 1 64 a u32:3; sync
// fixed: alloc a 4; launch value_of_missing_warp 1 64 a u32:2; want a 0 3
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=0
KERNEL value_of_missing_warp(unsigned* a, unsigned warps) {
  __shared__ unsigned results[8];
  const unsigned i = threadIdx.x;
  if (i % 32 == 0) results[i / 32] = i / 32 + 2;
  __syncthreads();
  if (i != 0) return;
  unsigned most = results[0];
#pragma unroll
  for (unsigned w = 1; w < 8; ++w)
    if (w < warps) most = max(most, results[w]); // FAULT
  *a = most;
}

// CASE value_of_other_lane
// initcheck, shared memory: a lane takes a value from a lane that has loaded an unwritten element
// rule: PTX ISA, shfl.sync
// steps: alloc a 128; launch value_of_other_lane 1 32 a u32:31; sync
// fixed: alloc a 128; launch value_of_other_lane 1 32 a u32:15; want a 31 15
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=16-31
KERNEL value_of_other_lane(unsigned* a, unsigned last) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  if (i < 16) s[i] = i;
  __syncthreads();
  const unsigned mine = s[i]; // FAULT
  a[i] = __shfl_sync(0xffffffffu, mine, i & last);
}

// CASE value_byte_of_word
// initcheck, shared memory: of a word, the byte that nobody wrote is used
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; launch value_byte_of_word 1 32 a; sync
// fixed: alloc a 128; launch value_byte_of_word 1 32 a; want a 31 0x1f1f
// expect: kind=uninitialized access=read space=shared bytes=2 blocks=0 threads=0-31
KERNEL value_byte_of_word(unsigned* a) {
  __shared__ unsigned words[32];
  volatile unsigned short* const halves = reinterpret_cast<unsigned short*>(words);
  const unsigned i = threadIdx.x;
  halves[2 * i] = static_cast<unsigned short>(i << 8 | i);
  __syncthreads();
  unsigned word;
  LOAD_SHARED(word, &words[i]); // FAULT
  a[i] = PICK(word >> 16, word & 0xffff);
}

// CASE value_moved_in_shared
// initcheck, shared memory: an array is moved by one element, with an element that nobody wrote, which is then used
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; launch value_moved_in_shared 1 32 a; sync
// fixed: alloc a 128; launch value_moved_in_shared 1 32 a; want a 30 31
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=31
KERNEL value_moved_in_shared(unsigned* a) {
  __shared__ unsigned s[33];
  const unsigned i = threadIdx.x;
  s[i] = i;
  __syncthreads();
  const unsigned next = s[i + 1]; // FAULT
  __syncthreads();
  s[i] = next;
  __syncthreads();
  a[i] = s[PICK(i, i % 31)];
}

// CASE value_in_condition
// initcheck, shared memory: a flag that nobody set decides a branch; in the twin, its index is tested first
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; set a 0 128; launch value_in_condition 1 32 a u32:5; sync
// fixed: alloc a 128; set a 0 128; launch value_in_condition 1 32 a u32:4; want a 3 1
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=4
KERNEL value_in_condition(unsigned* a, unsigned n) {
  __shared__ unsigned flags[32];
  const unsigned i = threadIdx.x;
  if (i < 4) flags[i] = 1;
  __syncthreads();
  unsigned flag;
  LOAD_SHARED(flag, &flags[i]); // FAULT
  if (i < n && flag != 0) a[i] = 1;
}

// CASE value_of_local_array
// initcheck, local memory: the compiler loads an element before it knows whether the program reads it
// rule: PTX ISA, Local State Space
// steps: alloc a 128; launch value_of_local_array 1 32 a u32:3 u32:1; sync
// fixed: alloc a 128; launch value_of_local_array 1 32 a u32:3 u32:0; want a 31 31
// expect: kind=uninitialized access=read space=local bytes=4 blocks=0 threads=0-31
KERNEL value_of_local_array(unsigned* a, unsigned where, unsigned both) {
  unsigned mine[8];
  mine[where] = threadIdx.x;
  unsigned sum = mine[where];
  if (both != 0) sum += mine[5]; // FAULT
  a[threadIdx.x] = sum;
}

// CASE value_printed
// initcheck, shared memory: the program prints a number that nobody wrote
// rule: CUDA C++ Programming Guide, Formatted Output
// steps: alloc a 4; launch value_printed 1 1 a; sync
// fixed: alloc a 4; launch value_printed 1 1 a; want a 0 7
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=0
KERNEL value_printed(unsigned* a) {
  __shared__ unsigned s[2];
  s[0] = 7;
  unsigned number;
  LOAD_SHARED(number, &s[PICK(1, 0)]); // FAULT
  printf("%u\n", number);
  *a = s[0];
}

// CASE value_as_index
// initcheck, shared memory: an index that nobody wrote
// rule: PTX ISA, Shared State Space
// steps: alloc a 128; set a 0 128; launch value_as_index 1 32 a; sync
// fixed: alloc a 128; set a 0 128; launch value_as_index 1 32 a; want a 31 31
// expect: kind=uninitialized access=read space=shared bytes=4 blocks=0 threads=31
KERNEL value_as_index(unsigned* a) {
  __shared__ unsigned s[32];
  const unsigned i = threadIdx.x;
  if (i < PICK(31, 32)) s[i] = i;
  __syncthreads();
  const unsigned index = s[i]; // FAULT
  atomicAdd(&a[index % 32], i);
}
