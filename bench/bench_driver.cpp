// SPDX-License-Identifier: Apache-2.0
// Measures the overhead of calls to libcuda.so.1: launches of an empty kernel with one synchronisation at the end, or
// with one after each launch, and copies of 4 bytes.
#include "runtime/abi/driver.hpp"

#include <benchmark/benchmark.h>

namespace {

constexpr const char* kEmpty = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry empty(.param .u64 a, .param .u32 b) { ret; }
)";

/// Makes the primary context current, makes `allocations` allocations, and returns the kernel.
CUfunction prepare(long allocations) {
  cuInit(0);
  CUcontext context = nullptr;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  CUdeviceptr memory = 0;
  for (long i = 0; i < allocations; ++i) cuMemAlloc_v2(&memory, 4096);
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  cuModuleLoadData(&module, kEmpty);
  cuModuleGetFunction(&function, module, "empty");
  return function;
}

void launch(CUfunction function) {
  CUdeviceptr a = 0;
  unsigned b = 0;
  void* arguments[] = {&a, &b};
  cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
}

void launches_in_a_row(benchmark::State& state) {
  const CUfunction function = prepare(state.range(0));
  for (auto _ : state) launch(function);
  cuCtxSynchronize();
}
BENCHMARK(launches_in_a_row)->Arg(10)->Arg(1000)->UseRealTime();

void launches_one_by_one(benchmark::State& state) {
  const CUfunction function = prepare(state.range(0));
  for (auto _ : state) {
    launch(function);
    cuCtxSynchronize();
  }
}
BENCHMARK(launches_one_by_one)->Arg(10)->UseRealTime();

void small_copies(benchmark::State& state) {
  prepare(state.range(0));
  CUdeviceptr memory = 0;
  cuMemAlloc_v2(&memory, 4);
  unsigned word = 0;
  for (auto _ : state) cuMemcpyHtoD_v2(memory, &word, 4);
}
BENCHMARK(small_copies)->Arg(10)->UseRealTime();

} // namespace

BENCHMARK_MAIN();
