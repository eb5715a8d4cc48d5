// SPDX-License-Identifier: Apache-2.0
// Calls of several threads at once, in the same context. A race shows with the thread sanitizer (`./dev check tsan`),
// and seldom without it.
#include "tests/runtime/driver/program.hpp"

#include <functional>
#include <latch>
#include <thread>

namespace warplens::runtime {
namespace threads_test {

class Threads : public DriverProgram {
protected:
  // Each thread has the primary context and does all of it, beginning with another part.
  static void run(const std::vector<std::function<void()>>& parts) {
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    constexpr std::size_t kThreads = 4;
    std::latch start(kThreads); // otherwise, each ends before the next one has begun
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
        start.arrive_and_wait();
        for (std::size_t i = 0; i < 40 * parts.size(); ++i) parts[(i + t) % parts.size()]();
      });
  }
  CUfunction scale() { return function("scale"); }
};

TEST_F(Threads, ChangeSettings) {
  const CUfunction kernel = scale();
  run({
      [] {
        std::size_t value = 0;
        EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
      },
      [] {
        CUfunc_cache cache{};
        CUsharedconfig shared{};
        EXPECT_EQ(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxGetCacheConfig(&cache), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxGetSharedMemConfig(&shared), CUDA_SUCCESS);
      },
      [] {
        unsigned flags = 0;
        int active = 0;
        EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_YIELD), CUDA_SUCCESS);
        EXPECT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
        EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
      },
      [&] {
        int value = 0;
        EXPECT_EQ(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024), CUDA_SUCCESS);
        EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel), CUDA_SUCCESS);
        EXPECT_EQ(cuFuncSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED), CUDA_SUCCESS);
      },
  });
}

// A limit may change while a stream's thread runs a kernel.
TEST_F(Threads, ChangeLimitsBetweenLaunches) {
  const CUdeviceptr data = allocate(128);
  ASSERT_EQ(cuMemsetD32_v2(data, 1, 32), CUDA_SUCCESS);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(launch_scale(data, 1, 32, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024 + i), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(data), CUDA_SUCCESS);
}

TEST_F(Threads, MakeAndUseObjects) {
  const CUfunction kernel = scale();
  run({
      [] {
        CUdeviceptr memory = 0, base = 0;
        std::size_t free = 0, total = 0, size = 0;
        unsigned type = 0;
        EXPECT_EQ(cuMemAlloc_v2(&memory, 1000), CUDA_SUCCESS);
        EXPECT_EQ(cuMemsetD8_v2(memory, 1, 1000), CUDA_SUCCESS);
        EXPECT_EQ(cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
        EXPECT_EQ(cuMemGetAddressRange_v2(&base, &size, memory + 10), CUDA_SUCCESS);
        EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
      },
      [&] {
        CUstream stream = nullptr;
        CUevent begin = nullptr, end = nullptr;
        CUdeviceptr data = 0;
        float time = 0;
        EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
        EXPECT_EQ(cuEventCreate(&begin, CU_EVENT_DEFAULT), CUDA_SUCCESS);
        EXPECT_EQ(cuEventCreate(&end, CU_EVENT_DEFAULT), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAllocAsync(&data, 128, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuMemsetD32Async(data, 2, 32, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(begin, stream), CUDA_SUCCESS);
        std::uint32_t factor = 3, count = 32, word = 0;
        void* arguments[] = {&data, &factor, &count};
        EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(end, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamWaitEvent(nullptr, begin, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemcpyDtoHAsync_v2(&word, data, 4, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
        EXPECT_EQ(cuEventElapsedTime(&time, begin, end), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFreeAsync(data, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        EXPECT_EQ(word, 6u);
        EXPECT_EQ(cuEventDestroy_v2(begin), CUDA_SUCCESS);
        EXPECT_EQ(cuEventDestroy_v2(end), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
      },
      [] {
        CUmodule module = nullptr;
        CUfunction hello = nullptr;
        CUdeviceptr table = 0;
        std::size_t size = 0;
        EXPECT_EQ(cuModuleLoadData(&module, kProgram), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleGetFunction(&hello, module, "hello"), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleGetGlobal_v2(&table, &size, module, "table"), CUDA_SUCCESS);
        EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
      },
      [] {
        CUstream stream = nullptr;
        CUgraph graph = nullptr;
        CUgraphExec executable = nullptr;
        CUdeviceptr data = 0;
        EXPECT_EQ(cuMemAlloc_v2(&data, 128), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
        CUDA_MEMSET_NODE_PARAMS fill{};
        fill.dst = data;
        fill.value = 7;
        fill.elementSize = 4;
        fill.width = 32;
        fill.height = 1;
        CUgraphNode node = nullptr;
        CUcontext context = nullptr;
        EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphLaunch(executable, stream), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFree_v2(data), CUDA_SUCCESS);
      },
      [] {
        CUarray array = nullptr;
        CUtexObject texture = 0;
        CUDA_ARRAY_DESCRIPTOR descriptor{};
        descriptor.Width = 16;
        descriptor.Format = CU_AD_FORMAT_FLOAT;
        descriptor.NumChannels = 1;
        EXPECT_EQ(cuArrayCreate_v2(&array, &descriptor), CUDA_SUCCESS);
        CUDA_RESOURCE_DESC resource{};
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
        CUDA_TEXTURE_DESC how{};
        EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(cuTexObjectDestroy(texture), CUDA_SUCCESS);
        EXPECT_EQ(cuArrayDestroy(array), CUDA_SUCCESS);
      },
      [] {
        void* memory = nullptr;
        EXPECT_EQ(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
        CUdeviceptr address = 0;
        EXPECT_EQ(cuMemHostGetDevicePointer_v2(&address, memory, 0), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
      },
  });
}

TEST_F(Threads, HaveContextsOfTheirOwn) {
  run({[] {
    CUcontext context = nullptr, popped = nullptr;
    CUdeviceptr data = 0;
    EXPECT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc_v2(&data, 64), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8Async(data, 1, 64, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
  }});
}

} // namespace threads_test
} // namespace warplens::runtime
