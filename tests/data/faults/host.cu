// Faults of the host: what it allocates, frees and calls, and how it orders copies, kernels, streams and graphs. The
// kernels are correct; the steps of a case differ from those of its twin.
// nvcc: -arch=compute_75
#include "faults.h"

KERNEL count_up(unsigned* a) {
  a[threadIdx.x] = threadIdx.x; // FAULT
}
KERNEL count_down(unsigned* a) {
  a[threadIdx.x] = 31 - threadIdx.x; // FAULT
}
KERNEL double_it(const unsigned* a, unsigned* b) {
  b[threadIdx.x] = 2 * a[threadIdx.x]; // FAULT
}
// As double_it, but slowly: it ends long after the host's next call.
KERNEL double_late(const volatile unsigned* a, unsigned* b, unsigned rounds) {
  for (unsigned r = 0; r < rounds; ++r) b[threadIdx.x] = r + a[threadIdx.x];
  b[threadIdx.x] = 2 * a[threadIdx.x]; // FAULT
}

// ---- memory that was freed

// CASE kernel_reads_freed
// memcheck, use after free: a kernel reads what the host has freed
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; iota a 32; alloc b 128; free a; launch double_it 1 32 a b; sync
// fixed: alloc a 128; iota a 32; alloc b 128; launch double_it 1 32 a b; sync; free a
// expect: kind=use_after_free access=read space=global bytes=4 blocks=0 threads=0-31 of=a size=128 at=double_it
// CASE kernel_writes_freed
// memcheck, use after free: a kernel writes what the host has freed
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; alloc b 128; free a; launch count_up 1 32 a; sync; free b
// fixed: alloc a 128; alloc b 128; launch count_up 1 32 a; sync; free a; free b
// expect: kind=use_after_free access=write space=global bytes=4 blocks=0 threads=0-31 of=a size=128 at=count_up
// CASE kernel_writes_freed_and_reused
// memcheck, use after free: a new allocation may take the place of a freed one; freed memory is not given again soon
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; free a; alloc b 128; launch count_up 1 32 a; sync; free b
// fixed: alloc a 128; free a; alloc b 128; launch count_up 1 32 b; sync; free b
// expect: kind=use_after_free access=write space=global bytes=4 blocks=0 threads=0-31 of=a size=128 at=count_up
// CASE stream_freed_too_early
// memcheck, use after free: in the order of the stream, the memory is freed before the kernel runs
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: stream s; alloc-async a 128 s; free-async a s; launch count_up 1 32 a stream=s; sync
// fixed: stream s; alloc-async a 128 s; launch count_up 1 32 a stream=s; free-async a s; sync
// expect: kind=use_after_free access=write space=global bytes=4 blocks=0 threads=0-31 of=a size=128 at=count_up
// CASE copy_from_freed
// memcheck, use after free: the host copies from memory that it has freed
// rule: CUDA Driver API, cuMemcpyDtoH
// steps: alloc a 128; iota a 32; host h 128; free a; to-host h a 128
// fixed: alloc a 128; iota a 32; host h 128; to-host h a 128; free a; want h 31 31
// expect: kind=use_after_free access=read space=global bytes=128 of=a size=128
// CASE set_freed
// memcheck, use after free: the host fills memory that it has freed
// rule: CUDA Driver API, cuMemsetD8
// steps: alloc a 128; free a; set a 0 128
// fixed: alloc a 128; set a 0 128; free a
// expect: kind=use_after_free access=write space=global bytes=128 of=a size=128
// CASE pinned_freed
// memcheck, use after free: pinned memory was freed while the device still uses its address
// rule: CUDA Driver API, cuMemFreeHost
// steps: pinned a 128; alloc b 128; free-host a; launch double_it 1 32 a b; sync
// fixed: pinned a 128; iota a 32; alloc b 128; launch double_it 1 32 a b; sync; free-host a
// expect: kind=use_after_free access=read space=global bytes=4 blocks=0 threads=0-31 of=a size=128 at=double_it

// ---- double and foreign free

// CASE freed_twice
// memcheck, double free: the same memory is freed again
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; free a; free a
// fixed: alloc a 128; free a
// expect: kind=double_free space=global of=a size=128
// CASE freed_twice_in_stream
// memcheck, double free: in the order of a stream
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: stream s; alloc-async a 128 s; free-async a s; free-async a s; sync
// fixed: stream s; alloc-async a 128 s; free-async a s; sync
// expect: kind=double_free space=global of=a size=128
// CASE freed_twice_in_two_ways
// memcheck, double free: once in the order of a stream, and once at once
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: stream s; alloc-async a 128 s; free-async a s; sync; free a
// fixed: stream s; alloc-async a 128 s; sync; free a
// expect: kind=double_free space=global of=a size=128
// CASE runtime_freed_twice
// memcheck, double free: cudaFree
// rule: CUDA Runtime API, cudaFree
// steps: cudaMalloc a 128; cudaFree a; cudaFree a
// fixed: cudaMalloc a 128; cudaFree a
// expect: kind=double_free space=global of=a size=128
// CASE pinned_freed_twice
// memcheck, double free: pinned memory
// rule: CUDA Driver API, cuMemFreeHost
// steps: pinned a 128; free-host a; free-host a
// fixed: pinned a 128; free-host a
// expect: kind=double_free space=host of=a size=128
// CASE middle_freed
// memcheck, foreign free: an address within an allocation
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 1024; free a+256; free a
// fixed: alloc a 1024; free a
// expect: kind=foreign_free space=global of=a size=1024 distance=256
// CASE unknown_freed
// memcheck, foreign free: an address that no call gave
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; free 0x123400; free a
// fixed: alloc a 128; free a
// expect: kind=foreign_free space=global
// CASE host_memory_freed_as_device
// memcheck, foreign free: memory of malloc
// rule: CUDA Driver API, cuMemFree
// steps: host h 128; free h
// fixed: alloc h 128; free h
// expect: kind=foreign_free space=host
// CASE variable_freed
// memcheck, foreign free: a variable of a module
// rule: CUDA Driver API, cuMemFree
// steps: global v module_variable 128; free v
// fixed: global v module_variable 128; set v 0 128
// expect: kind=foreign_free space=global of=module_variable size=128
// CASE runtime_frees_host_memory
// memcheck, foreign free: cudaFree of memory of malloc
// rule: CUDA Runtime API, cudaFree
// steps: cudaMalloc a 128; host h 128; cudaFree h; cudaFree a
// fixed: cudaMalloc a 128; host h 128; cudaFree a
// expect: kind=foreign_free space=host
__device__ unsigned module_variable[32];

// ---- leaks

// CASE leak_device
// memcheck, leak: device memory that nobody freed
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; alloc b 256; launch count_up 1 32 a; launch count_up 1 32 b; sync; free a
// fixed: alloc a 128; alloc b 256; launch count_up 1 32 a; launch count_up 1 32 b; sync; free a; free b
// expect: kind=leak space=global bytes=256 of=b size=256
// CASE leak_overwritten_pointer
// memcheck, leak: the only pointer to an allocation is replaced
// rule: CUDA Driver API, cuMemFree
// steps: alloc a 128; alloc a 512; launch count_up 1 32 a; sync; free a
// fixed: alloc a 128; free a; alloc a 512; launch count_up 1 32 a; sync; free a
// expect: kind=leak space=global bytes=128 of=a size=128
// CASE leak_pool
// memcheck, leak: memory of a stream-ordered pool
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: stream s; alloc-async a 128 s; launch count_up 1 32 a stream=s; sync
// fixed: stream s; alloc-async a 128 s; launch count_up 1 32 a stream=s; free-async a s; sync
// expect: kind=leak space=global bytes=128 of=a size=128
// CASE leak_managed
// memcheck, leak: managed memory
// rule: CUDA Driver API, cuMemFree
// steps: managed a 128; launch count_up 1 32 a; sync
// fixed: managed a 128; launch count_up 1 32 a; sync; free a
// expect: kind=leak space=global bytes=128 of=a size=128
// CASE leak_pinned
// memcheck, leak: pinned memory of the host
// rule: CUDA Driver API, cuMemFreeHost
// steps: pinned a 128; launch count_up 1 32 a; sync
// fixed: pinned a 128; launch count_up 1 32 a; sync; free-host a
// expect: kind=leak space=host bytes=128 of=a size=128
// CASE leak_runtime
// memcheck, leak: cudaMalloc without cudaFree
// rule: CUDA Runtime API, cudaFree
// steps: cudaMalloc a 128; launch count_up 1 32 a; sync
// fixed: cudaMalloc a 128; launch count_up 1 32 a; sync; cudaFree a
// expect: kind=leak space=global bytes=128 of=a size=128

// ---- API calls that fail, and nobody looks

// CASE launch_of_too_many_threads
// memcheck, API error: a block of 2048 threads
// rule: CUDA C++ Programming Guide, Features and Technical Specifications
// steps: alloc a 8192; launch count_up 1 2048 a; sync; free a
// fixed: alloc a 8192; launch count_up 1 1024 a; sync; free a
// expect: kind=api_error call=cuLaunchKernel error=1
// CASE launch_of_no_block
// memcheck, API error: an empty grid, computed from an element count of 0
// rule: CUDA Driver API, cuLaunchKernel
// steps: alloc a 128; launch count_up 0 32 a; sync; free a
// fixed: alloc a 128; launch count_up 1 32 a; sync; free a
// expect: kind=api_error call=cuLaunchKernel error=1
// CASE launch_of_too_much_shared
// memcheck, API error: more dynamic shared memory than the kernel is permitted
// rule: CUDA C++ Programming Guide, Shared Memory
// steps: alloc a 128; launch count_up 1 32 a shared=1000000; sync; free a
// fixed: alloc a 128; launch count_up 1 32 a shared=1024; sync; free a
// expect: kind=api_error call=cuLaunchKernel error=1
// CASE kernel_not_in_module
// memcheck, API error: a kernel's name is wrong, and what is launched is nothing
// rule: CUDA Driver API, cuModuleGetFunction
// steps: alloc a 128; launch count_upp 1 32 a; sync; free a
// fixed: alloc a 128; launch count_up 1 32 a; sync; free a
// expect: kind=api_error call=cuModuleGetFunction error=500
// CASE copy_to_null
// memcheck, API error: a copy to a null pointer
// rule: CUDA Driver API, cuMemcpyHtoD
// steps: host h 128; to-device 0 h 128
// fixed: host h 128; alloc a 128; to-device a h 128; free a
// expect: kind=api_error call=cuMemcpyHtoD error=1
// CASE copy_too_long
// memcheck, API error: a copy longer than the allocation
// rule: CUDA Driver API, cuMemcpyHtoD
// steps: host h 8388608; alloc a 128; to-device a h 8388608; free a
// fixed: host h 8388608; alloc a 8388608; to-device a h 8388608; free a
// expect: kind=out_of_bounds access=write space=global bytes=8388608 of=a size=128
// CASE copy_a_little_too_long
// memcheck, out of bounds: a copy that ends in the padding, which the driver lets pass
// rule: CUDA Driver API, cuMemcpyHtoD
// steps: host h 160; alloc a 128; to-device a h 160; free a
// fixed: host h 160; alloc a 160; to-device a h 160; free a
// expect: kind=out_of_bounds access=write space=global bytes=160 of=a size=128
// CASE set_too_long
// memcheck, out of bounds: a fill that ends in the padding
// rule: CUDA Driver API, cuMemsetD8
// steps: alloc a 100; set a 0 128; free a
// fixed: alloc a 128; set a 0 128; free a
// expect: kind=out_of_bounds access=write space=global bytes=128 of=a size=100
// CASE allocation_too_large
// memcheck, API error: more memory than there is; the null pointer is used
// rule: CUDA Driver API, cuMemAlloc
// steps: alloc a 0x1000000000000; set a 0 16
// fixed: alloc a 0x100000; set a 0 16; free a
// expect: kind=api_error call=cuMemAlloc error=2
// CASE cluster_too_large
// memcheck, API error: clusters of 64 blocks
// rule: CUDA C++ Programming Guide, Thread Block Clusters
// steps: alloc a 128; launch count_up 64 32 a cluster=64; sync; free a
// fixed: alloc a 128; launch count_up 1 32 a cluster=1; sync; free a
// expect: kind=api_error call=cuLaunchKernelEx error=912
// CASE grid_too_large_to_cooperate
// memcheck, API error: a cooperative grid whose blocks cannot all be resident
// rule: CUDA C++ Programming Guide, Grid Synchronization
// steps: alloc a 4096; launch count_up 100000 1024 a cooperative; sync; free a
// fixed: alloc a 4096; launch count_up 1 1024 a cooperative; sync; free a
// expect: kind=api_error call=cuLaunchKernelEx error=720
// CASE fault_ignored
// memcheck, out of bounds: a kernel has failed; all later calls fail, and the program ends with 0
// rule: CUDA C++ Programming Guide, Error Checking
// steps: alloc a 128; launch count_up 1 32 0x10; sync; set a 0 128; free a
// fixed: alloc a 128; launch count_up 1 32 a; sync; set a 0 128; free a
// expect: kind=out_of_bounds access=write space=global bytes=4 blocks=0 threads=0-31 at=count_up

// ---- streams and events

// CASE streams_two_writers
// racecheck, streams: two kernels in two streams write the same array
// rule: CUDA C++ Programming Guide, Streams
// steps: nonblocking s; nonblocking t; alloc a 128; launch count_up 1 32 a stream=s; launch count_down 1 32 a stream=t; sync
// fixed: nonblocking s; nonblocking t; alloc a 128; launch count_up 1 32 a stream=s; launch count_down 1 32 a stream=s; sync; want a 0 31
// expect: kind=waw space=global bytes=4 of=a missing=event at=count_down other_at=count_up
// CASE streams_write_and_read
// racecheck, streams: the reader is in another stream, without an event
// rule: CUDA C++ Programming Guide, Events
// steps: nonblocking s; nonblocking t; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; launch double_it 1 32 a b stream=t; sync
// fixed: nonblocking s; nonblocking t; event e; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; record e s; wait t e; launch double_it 1 32 a b stream=t; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=event at=double_it other_at=count_down
// CASE event_recorded_too_early
// racecheck, events: the event is recorded before the kernel that it should wait for
// rule: CUDA C++ Programming Guide, Events
// steps: nonblocking s; nonblocking t; event e; alloc a 128; iota a 32; alloc b 128; sync; record e s; launch count_down 1 32 a stream=s; wait t e; launch double_it 1 32 a b stream=t; sync
// fixed: nonblocking s; nonblocking t; event e; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; record e s; wait t e; launch double_it 1 32 a b stream=t; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=event at=double_it other_at=count_down
// CASE event_of_wrong_stream
// racecheck, events: the event is recorded in a stream without work
// rule: CUDA C++ Programming Guide, Events
// steps: nonblocking s; nonblocking t; nonblocking u; event e; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; record e u; wait t e; launch double_it 1 32 a b stream=t; sync
// fixed: nonblocking s; nonblocking t; nonblocking u; event e; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; record e s; wait t e; launch double_it 1 32 a b stream=t; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=event at=double_it other_at=count_down
// CASE event_waited_by_wrong_stream
// racecheck, events: another stream than the reader's waits
// rule: CUDA Driver API, cuStreamWaitEvent
// steps: nonblocking s; nonblocking t; nonblocking u; event e; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; record e s; wait u e; launch double_it 1 32 a b stream=t; sync
// fixed: nonblocking s; nonblocking t; nonblocking u; event e; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a stream=s; record e s; wait t e; launch double_it 1 32 a b stream=t; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=event at=double_it other_at=count_down
// CASE buffer_refilled_too_early
// racecheck, streams: the next input is computed while the other stream still reads the last one
// rule: CUDA C++ Programming Guide, Events
// steps: nonblocking s; nonblocking t; alloc a 128; iota a 32; alloc b 128; sync; launch double_late 1 32 a b u32:20000 stream=t; launch count_down 1 32 a stream=s; sync
// fixed: nonblocking s; nonblocking t; event e; alloc a 128; iota a 32; alloc b 128; sync; launch double_late 1 32 a b u32:20000 stream=t; record e t; wait s e; launch count_down 1 32 a stream=s; sync; want b 0 0
// expect: kind=war space=global bytes=4 of=a missing=event at=count_down other_at=double_late
// CASE nonblocking_and_default_stream
// racecheck, streams: a non-blocking stream does not wait for the default stream
// rule: CUDA C++ Programming Guide, Default Stream
// steps: nonblocking s; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a; launch double_it 1 32 a b stream=s; sync
// fixed: stream s; alloc a 128; iota a 32; alloc b 128; sync; launch count_down 1 32 a; launch double_it 1 32 a b stream=s; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=event at=double_it other_at=count_down
// CASE fill_in_another_stream
// racecheck, copies: a fill and a kernel in two streams
// rule: CUDA C++ Programming Guide, Streams
// steps: nonblocking s; nonblocking t; alloc a 128; set a 0 128 s; launch count_up 1 32 a stream=t; sync
// fixed: nonblocking s; nonblocking t; alloc a 128; set a 0 128 s; launch count_up 1 32 a stream=s; sync; want a 31 31
// expect: kind=waw space=global bytes=4 of=a missing=event at=count_up
// CASE upload_in_another_stream
// racecheck, copies: the kernel does not wait for its input
// rule: CUDA C++ Programming Guide, Asynchronous Concurrent Execution
// steps: nonblocking s; nonblocking t; pinned h 128; poke h 3 5; alloc a 128; set a 0 128; alloc b 128; sync; to-device a h 128 s; launch double_it 1 32 a b stream=t; sync
// fixed: nonblocking s; nonblocking t; event e; pinned h 128; poke h 3 5; alloc a 128; set a 0 128; alloc b 128; sync; to-device a h 128 s; record e s; wait t e; launch double_it 1 32 a b stream=t; sync; want b 3 10
// expect: kind=raw space=global bytes=4 of=a missing=event at=double_it
// CASE download_in_another_stream
// racecheck, copies: the results are copied before they are computed
// rule: CUDA C++ Programming Guide, Asynchronous Concurrent Execution
// steps: nonblocking s; nonblocking t; pinned h 128; alloc a 128; set a 0 128; sync; launch count_up 1 32 a stream=s; to-host h a 128 t; sync
// fixed: nonblocking s; nonblocking t; event e; pinned h 128; alloc a 128; set a 0 128; sync; launch count_up 1 32 a stream=s; record e s; wait t e; to-host h a 128 t; sync; want h 31 31
// expect: kind=raw space=global bytes=128 of=a missing=event other_at=count_up
// CASE copies_in_two_streams
// racecheck, copies: two copies on the device overlap by half
// rule: CUDA C++ Programming Guide, Streams
// steps: nonblocking s; nonblocking t; alloc a 256; iota a 64; alloc b 256; alloc c 256; iota b 64; sync; copy c a 256 s; copy c+128 b 128 t; sync
// fixed: nonblocking s; nonblocking t; alloc a 256; iota a 64; alloc b 256; alloc c 256; iota b 64; sync; copy c a 128 s; copy c+128 b 128 t; sync; want c 32 0
// expect: kind=waw space=global bytes=128 of=c missing=event
// CASE freed_in_another_stream
// racecheck, streams: memory is freed in the order of one stream while another one uses it
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: nonblocking s; nonblocking t; event e; alloc-async a 128 s; set a 0 128 s; alloc b 128; record e s; wait t e; launch double_late 1 32 a b u32:20000 stream=t; free-async a s; sync
// fixed: nonblocking s; nonblocking t; event e; event f; alloc-async a 128 s; set a 0 128 s; alloc b 128; record e s; wait t e; launch double_late 1 32 a b u32:20000 stream=t; record f t; wait s f; free-async a s; sync
// expect: kind=war space=global of=a missing=event other_at=double_late
// CASE allocated_in_another_stream
// racecheck, streams: memory is used in a stream that does not wait for its allocation
// rule: CUDA C++ Programming Guide, Stream Ordered Memory Allocator
// steps: nonblocking s; nonblocking t; alloc-async a 128 s; launch count_up 1 32 a stream=t; sync; free-async a s; sync
// fixed: nonblocking s; nonblocking t; event e; alloc-async a 128 s; record e s; wait t e; launch count_up 1 32 a stream=t; sync; free-async a s; sync
// expect: kind=waw space=global bytes=4 of=a missing=event at=count_up

// ---- the host itself

// CASE host_writes_input_of_running_kernel
// racecheck, host: pinned memory is written while a kernel reads it
// rule: CUDA C++ Programming Guide, Mapped Memory
// steps: nonblocking s; pinned h 128; iota h 32; alloc b 128; sync; launch double_late 1 32 h b u32:2000 stream=s; poke h 3 99; sync
// fixed: nonblocking s; pinned h 128; iota h 32; alloc b 128; sync; launch double_late 1 32 h b u32:2000 stream=s; sync; poke h 3 99; want b 3 6
// expect: kind=war space=host bytes=4 of=h missing=synchronize other_at=double_late
// CASE host_reads_result_of_running_kernel
// racecheck, host: managed memory is read without waiting for the kernel
// rule: CUDA C++ Programming Guide, Unified Memory Programming, Coherency and Concurrency
// steps: managed a 128; iota a 32; sync; launch count_down 1 32 a; peek a 3; sync
// fixed: managed a 128; iota a 32; sync; launch count_down 1 32 a; sync; want a 3 28
// expect: kind=raw space=global bytes=4 of=a missing=synchronize other_at=count_down
// CASE host_reads_copy_too_early
// racecheck, host: the buffer of an asynchronous copy is read before the copy has ended
// rule: CUDA C++ Programming Guide, Asynchronous Concurrent Execution
// steps: nonblocking s; pinned h 128; alloc a 128; iota a 32; sync; to-host h a 128 s; peek h 3; sync
// fixed: nonblocking s; pinned h 128; alloc a 128; iota a 32; sync; to-host h a 128 s; sync s; want h 3 3
// expect: kind=raw space=host bytes=4 of=h missing=synchronize
// CASE host_reuses_copy_buffer
// racecheck, host: the buffer of an asynchronous copy is filled again before the copy has read it
// rule: CUDA C++ Programming Guide, Asynchronous Concurrent Execution
// steps: nonblocking s; pinned h 128; poke h 3 5; alloc a 128; sync; to-device a h 128 s; poke h 3 6; sync
// fixed: nonblocking s; pinned h 128; poke h 3 5; alloc a 128; sync; to-device a h 128 s; sync s; poke h 3 6; want a 3 5
// expect: kind=war space=host bytes=4 of=h missing=synchronize
// CASE host_waits_for_wrong_stream
// racecheck, host: the host waits for another stream than the one with the kernel
// rule: CUDA Driver API, cuStreamSynchronize
// steps: nonblocking s; nonblocking t; pinned h 128; iota h 32; sync; launch count_down 1 32 h stream=s; sync t; peek h 3; sync
// fixed: nonblocking s; nonblocking t; pinned h 128; iota h 32; sync; launch count_down 1 32 h stream=s; sync s; want h 3 28
// expect: kind=raw space=host bytes=4 of=h missing=synchronize other_at=count_down

// ---- graphs

// CASE graph_no_edge_between_kernels
// racecheck, graphs: a kernel that reads another one's results has no edge from it
// rule: CUDA C++ Programming Guide, CUDA Graphs
// steps: alloc a 128; iota a 32; alloc b 128; sync; graph g; node g n - launch count_down 1 32 a; node g m - launch double_it 1 32 a b; play g; sync
// fixed: alloc a 128; iota a 32; alloc b 128; sync; graph g; node g n - launch count_down 1 32 a; node g m n launch double_it 1 32 a b; play g; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=edge at=double_it other_at=count_down
// CASE graph_no_edge_from_fill
// racecheck, graphs: a fill and a kernel write the same array, without an edge
// rule: CUDA C++ Programming Guide, CUDA Graphs
// steps: alloc a 128; graph g; node g n - set a 0 128; node g m - launch count_up 1 32 a; play g; sync
// fixed: alloc a 128; graph g; node g n - set a 0 128; node g m n launch count_up 1 32 a; play g; sync; want a 31 31
// expect: kind=waw space=global bytes=4 of=a missing=edge at=count_up
// CASE graph_edge_from_one_of_two
// racecheck, graphs: a node depends on one of the two that it needs
// rule: CUDA C++ Programming Guide, CUDA Graphs
// steps: alloc a 128; alloc b 128; iota a 32; iota b 32; sync; graph g; node g n - launch count_down 1 32 a; node g m - launch count_down 1 32 b; node g o n launch double_it 1 32 b a; play g; sync
// fixed: alloc a 128; alloc b 128; iota a 32; iota b 32; sync; graph g; node g n - launch count_down 1 32 a; node g m - launch count_down 1 32 b; node g o n,m launch double_it 1 32 b a; play g; sync; want a 0 62
// expect: kind=raw space=global bytes=4 of=b missing=edge at=double_it other_at=count_down
// CASE graph_captured_without_join
// racecheck, graphs: two captured streams fork, and the second one does not wait for the first one's kernel
// rule: CUDA C++ Programming Guide, Cross-stream Dependencies and Events
// steps: nonblocking s; nonblocking t; event e; event f; alloc a 128; iota a 32; alloc b 128; sync; capture s; record e s; wait t e; launch count_down 1 32 a stream=s; launch double_it 1 32 a b stream=t; record f t; wait s f; end-capture s g; play g s; sync
// fixed: nonblocking s; nonblocking t; event e; event f; alloc a 128; iota a 32; alloc b 128; sync; capture s; launch count_down 1 32 a stream=s; record e s; wait t e; launch double_it 1 32 a b stream=t; record f t; wait s f; end-capture s g; play g s; sync; want b 0 62
// expect: kind=raw space=global bytes=4 of=a missing=edge at=double_it other_at=count_down
// CASE graph_launched_twice
// racecheck, graphs: two graphs that write the same array are launched in two streams
// rule: CUDA C++ Programming Guide, CUDA Graphs
// steps: nonblocking s; nonblocking t; alloc a 128; graph g; node g n - launch count_up 1 32 a; graph h; node h m - launch count_down 1 32 a; play g s; play h t; sync
// fixed: nonblocking s; nonblocking t; alloc a 128; graph g; node g n - launch count_up 1 32 a; graph h; node h m - launch count_down 1 32 a; play g s; play h s; sync; want a 0 31
// expect: kind=waw space=global bytes=4 of=a missing=event at=count_down other_at=count_up
