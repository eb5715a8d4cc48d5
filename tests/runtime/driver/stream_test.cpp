// SPDX-License-Identifier: Apache-2.0
// Concurrency and ordering of streams and events.
#include "tests/runtime/driver/program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace warplens::runtime {
namespace stream_test {

/// Host memory that kernels access: a flag that they wait for, and their answer.
class Streams : public DriverProgram {
protected:
  void SetUp() override {
    DriverProgram::SetUp();
    void* memory = nullptr;
    ASSERT_EQ(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
    words_ = static_cast<volatile std::uint32_t*>(memory);
    for (int i = 0; i < 16; ++i) words_[i] = 0;
    EXPECT_EQ(cuMemHostGetDevicePointer_v2(&flag_, memory, 0), CUDA_SUCCESS);
    answer_ = flag_ + 4;
  }
  void TearDown() override {
    words_[0] = 1;
    EXPECT_EQ(cuMemFreeHost(const_cast<std::uint32_t*>(words_)), CUDA_SUCCESS);
    DriverProgram::TearDown();
  }
  CUstream stream(unsigned flags) {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }

  volatile std::uint32_t* words_ = nullptr;
  CUdeviceptr flag_ = 0, answer_ = 0;
};

TEST_F(Streams, ALaunchReturnsBeforeTheKernelEnds) {
  ASSERT_EQ(launch_wait(flag_, answer_, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(words_[1], 0u);
  words_[0] = 7; // the kernel waits for this
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(words_[1], 7u);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS);
}

TEST_F(Streams, TheLegacyStreamWaitsForBlockingStreamsOnly) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT), free = stream(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr data = allocate(4);
  ASSERT_EQ(launch_wait(flag_, data, blocking), CUDA_SUCCESS);
  ASSERT_EQ(launch_scale(data, 3, 1, nullptr), CUDA_SUCCESS);  // after the kernel in `blocking`
  ASSERT_EQ(launch_scale(data, 2, 1, blocking), CUDA_SUCCESS); // after the one in the legacy stream
  ASSERT_EQ(cuMemsetD32Async(answer_, 5, 1, free), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(free), CUDA_SUCCESS) << "waits for nobody";
  EXPECT_EQ(words_[1], 5u);
  EXPECT_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
  words_[0] = 10;
  std::uint32_t result = 0;
  ASSERT_EQ(cuStreamSynchronize(blocking), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH_v2(&result, data, 4), CUDA_SUCCESS);
  EXPECT_EQ(result, 60u);
  EXPECT_EQ(cuStreamDestroy_v2(blocking), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(blocking), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy_v2(free), CUDA_SUCCESS);
  cuMemFree_v2(data);
}

TEST_F(Streams, EachThreadMayHaveItsDefaultStream) {
  CUdeviceptr flag = flag_, answer = answer_;
  void* arguments[] = {&flag, &answer};
  ASSERT_EQ(cuLaunchKernel_ptsz(function("wait"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD32Async_ptsz(answer_ + 4, 9, 1, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize_ptsz(nullptr), CUDA_SUCCESS) << "does not wait for the other thread's kernel";
  }).join();
  EXPECT_EQ(words_[2], 9u);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
  words_[0] = 1;
  EXPECT_EQ(cuStreamSynchronize_ptsz(nullptr), CUDA_SUCCESS);
}

TEST_F(Streams, EventsMarkPoints) {
  const CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
  CUevent start = nullptr, end = nullptr, untimed = nullptr;
  ASSERT_EQ(cuEventCreate(&start, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(end), CUDA_SUCCESS) << "never recorded";
  ASSERT_EQ(cuEventRecord(start, a), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(start), CUDA_SUCCESS);
  ASSERT_EQ(launch_wait(flag_, answer_, a), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end, a), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(b, end, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoDAsync_v2(answer_ + 4, answer_, 4, b), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventQuery(end), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventElapsedTime_v2(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventElapsedTime_v2(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  words_[0] = 4;
  EXPECT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
  EXPECT_EQ(words_[2], 4u) << "b waited for a";
  EXPECT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  ASSERT_EQ(cuEventElapsedTime_v2(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 3.f);
  for (const CUevent event : {start, end, untimed}) EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(end), CUDA_ERROR_INVALID_HANDLE);
  cuStreamDestroy_v2(a);
  cuStreamDestroy_v2(b);
}

TEST_F(Streams, TheHostIsCalledInOrder) {
  const CUstream s = stream(CU_STREAM_DEFAULT);
  ASSERT_EQ(launch_wait(flag_, answer_, s), CUDA_SUCCESS);
  static std::vector<std::uint32_t> seen;
  seen.clear();
  ASSERT_EQ(cuLaunchHostFunc(
                s, [](void* answer) { seen.push_back(*static_cast<std::uint32_t*>(answer)); },
                const_cast<std::uint32_t*>(words_ + 1)),
            CUDA_SUCCESS);
  ASSERT_EQ(
      cuStreamAddCallback(
          s, [](CUstream, CUresult status, void*) { seen.push_back(100 + static_cast<unsigned>(status)); }, nullptr, 0),
      CUDA_SUCCESS);
  EXPECT_TRUE(seen.empty());
  words_[0] = 8;
  ASSERT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{8, 100}));
  cuStreamDestroy_v2(s);
}

TEST_F(Streams, PageableMemoryMayChangeAfterTheCopyReturns) {
  const CUstream s = stream(CU_STREAM_DEFAULT);
  const CUdeviceptr data = allocate(4);
  ASSERT_EQ(launch_wait(flag_, answer_, s), CUDA_SUCCESS);
  std::uint32_t value = 11;
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(data, &value, 4, s), CUDA_SUCCESS);
  value = 12;
  words_[0] = 1;
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&value, data, 4, s), CUDA_SUCCESS);
  EXPECT_EQ(value, 11u) << "a copy to pageable memory has ended when it returns";
  cuStreamDestroy_v2(s);
  cuMemFree_v2(data);
}

TEST_F(Streams, AStreamWaitsForAWord) {
  const CUstream s = stream(CU_STREAM_NON_BLOCKING);
  ASSERT_EQ(cuStreamWaitValue32_v2(s, flag_, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue64_v2(s, answer_ + 4, 77, 0), CUDA_SUCCESS);
  words_[0] = 4;
  EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
  words_[0] = 6;
  EXPECT_EQ(cuStreamSynchronize(s), CUDA_SUCCESS);
  EXPECT_EQ(words_[2], 77u);
  EXPECT_EQ(cuStreamWaitValue32_v2(s, flag_ + 1, 0, 0), CUDA_ERROR_INVALID_VALUE) << "misaligned";
  cuStreamDestroy_v2(s);
}

TEST_F(Streams, PrintedTextAppearsWhenWaitedFor) {
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(cuLaunchKernel(function("hello"), 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  std::fputs("launched\n", stdout);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "launched\nhello\nhello\n");
}

TEST_F(Streams, PrioritiesAndFlagsAreKept) {
  CUstream s = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100), CUDA_SUCCESS);
  int least = 1, greatest = 1, priority = 1;
  EXPECT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetPriority(s, &priority), CUDA_SUCCESS);
  EXPECT_EQ(priority, greatest) << "clamped";
  unsigned flags = 0;
  EXPECT_EQ(cuStreamGetFlags(s, &flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(cuStreamCreate(&s, 2), CUDA_ERROR_INVALID_VALUE);
  cuStreamDestroy_v2(s);
}

// As with CUDA, a child cannot go on where its parent was.
TEST_F(Streams, AChildOfForkIsNotInitialised) {
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr address = 0;
    const bool right =
        cuMemAlloc_v2(&address, 4) == CUDA_ERROR_NOT_INITIALIZED && cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace stream_test
} // namespace warplens::runtime
