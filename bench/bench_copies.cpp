// SPDX-License-Identifier: Apache-2.0
// Measures asynchronous bulk copies: gigabytes per second that one block moves between global and shared memory, by
// tensor map or without. Each copy waits for the one before it. docs/performance.md has the results.
#include "runtime/abi/driver.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace {

constexpr int kCopies = 20'000; ///< so many that the launch, about 50 µs, takes no part

constexpr const char* kHead = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 1024 .b8 s[];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 from) {
  .reg .b32 %s, %b, %i, %phase; .reg .b64 %map, %from; .reg .pred %p;
  mov.u32 %s, s; add.u32 %b, %s, BYTES; mov.u32 %i, 0;
  mov.b64 %map, map; cvta.param.u64 %map, %map;
  ld.param.u64 %from, [from];
  mbarrier.init.shared::cta.b64 [%b], 1;
again:
)";
constexpr const char* kTail = R"(
  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, COUNT; @%p bra again;
  ret;
}
)";
constexpr const char* kWait = R"(
  and.b32 %phase, %i, 1;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%b], %phase; @!%p bra wait;
)";

// The mbarrier follows the bytes of a copy.
std::string loop(const std::string& body, int bytes) {
  std::string text = kHead + body + kTail;
  text.replace(text.find("BYTES"), 5, std::to_string(bytes));
  return text.replace(text.find("COUNT"), 5, std::to_string(kCopies));
}
std::string load(const std::string& copy, int bytes) {
  return loop("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], " + std::to_string(bytes) + ";\n" + copy + kWait,
              bytes);
}

CUdeviceptr memory() {
  static const CUdeviceptr at = [] {
    cuInit(0);
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    CUdeviceptr p = 0;
    cuMemAlloc_v2(&p, 1 << 20);
    return p;
  }();
  return at;
}

void measure(benchmark::State& state, const std::string& text, const CUtensorMap& tensor, int bytes) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr from = memory();
  CUtensorMap map = tensor;
  if (cuModuleLoadData(&module, text.c_str()) != CUDA_SUCCESS) return state.SkipWithError("the module does not load");
  cuModuleGetFunction(&function, module, "k");
  const auto shared = static_cast<unsigned>(bytes) + 8;
  cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared));
  void* arguments[] = {&map, &from};
  for (auto _ : state) {
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, shared, nullptr, arguments, nullptr);
    if (cuCtxSynchronize() != CUDA_SUCCESS) return state.SkipWithError("the kernel stopped");
  }
  state.SetBytesProcessed(state.iterations() * kCopies * bytes);
  cuModuleUnload(module);
}

// Boxes of `rows` rows of halves, of a tensor whose rows are `pitch` bytes apart.
CUtensorMap halves(unsigned swizzle, unsigned rows, unsigned columns, unsigned pitch = 2048) {
  const cuuint64_t sizes[] = {pitch / 2, 512}, strides[] = {pitch};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  CUtensorMap map{};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<void*>(memory()), sizes, strides,
                         box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(swizzle),
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

// Arguments: swizzle (0: none, 1 to 3: of 32, 64, 128 bytes), rows and columns of the box, pitch of the tensor.
void load_box(benchmark::State& state) {
  const auto swizzle = static_cast<unsigned>(state.range(0)), rows = static_cast<unsigned>(state.range(1)),
             columns = static_cast<unsigned>(state.range(2)), pitch = static_cast<unsigned>(state.range(3));
  const int bytes = static_cast<int>(2 * rows * columns);
  measure(state,
          load("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], "
               "[%map, {0, 0}], [%b];\n",
               bytes),
          halves(swizzle, rows, columns, pitch), bytes);
}
BENCHMARK(load_box)
    ->ArgsProduct({{0, 3}, {64, 128, 256}, {64}, {2048}})
    ->ArgsProduct({{1}, {128, 256}, {16}, {32, 2048}})
    ->Args({2, 128, 32, 2048})
    ->Args({0, 64, 256, 2048})
    ->MeasureProcessCPUTime();

void store_box(benchmark::State& state) {
  const auto swizzle = static_cast<unsigned>(state.range(0)), rows = static_cast<unsigned>(state.range(1));
  const int bytes = static_cast<int>(128 * rows);
  measure(state,
          loop("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {0, 0}], [%s];\n"
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
               bytes),
          halves(swizzle, rows, 64), bytes);
}
BENCHMARK(store_box)->ArgsProduct({{0, 3}, {64, 128}})->MeasureProcessCPUTime();

void load_bytes(benchmark::State& state) {
  const int bytes = static_cast<int>(state.range(0));
  measure(state,
          load("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%from], " +
                   std::to_string(bytes) + ", [%b];\n",
               bytes),
          {}, bytes);
}
BENCHMARK(load_bytes)->Arg(1024)->Arg(16384)->MeasureProcessCPUTime();

} // namespace

BENCHMARK_MAIN();
