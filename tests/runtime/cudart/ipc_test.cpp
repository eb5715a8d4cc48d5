// SPDX-License-Identifier: Apache-2.0
// Memory and events of several processes: the program `shares`, which uses the driver API, is the other one.
#include "tests/runtime/cudart/program.hpp"
#include "tests/runtime/other_process.hpp"

#include <gtest/gtest.h>

// Handles are 64 bytes in both APIs.
extern "C" {
cudaError_t cudaIpcGetMemHandle(CUipcMemHandle* handle, void* memory);
cudaError_t cudaIpcOpenMemHandle(void** memory, CUipcMemHandle handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* memory);
cudaError_t cudaIpcGetEventHandle(CUipcEventHandle* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, CUipcEventHandle handle);
}

namespace {

using warplens::runtime::hex_of;
using warplens::runtime::OtherProcess;

TEST(CudartIpc, MemoryOfTheOtherProcess) {
  OtherProcess other;
  void* memory = nullptr;
  const auto handle = other.memory<CUipcMemHandle>();
  EXPECT_EQ(cudaIpcOpenMemHandle(&memory, handle, 0), cudaErrorInvalidValue) << "needs the flag";
  ASSERT_EQ(cudaIpcOpenMemHandle(&memory, handle, 1), cudaSuccess);
  unsigned words[4] = {};
  EXPECT_EQ(cudaMemcpy(words, memory, sizeof words, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(words[3], 103u);
  EXPECT_EQ(cudaMemset(memory, 1, 8), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(other.ask("word 1"), std::to_string(0x01010101));
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), cudaSuccess);
  EXPECT_EQ(cudaIpcCloseMemHandle(memory), cudaErrorInvalidValue);
}

TEST(CudartIpc, MemoryOfThisProcess) {
  OtherProcess other;
  void* memory = nullptr;
  const unsigned word = 4711;
  CUipcMemHandle handle{};
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(memory, &word, sizeof word, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaSuccess);
  EXPECT_EQ(other.ask("import " + hex_of(handle)), "0 4711");
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, &handle), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST(CudartIpc, Events) {
  OtherProcess other;
  cudaEvent_t event = nullptr, own = nullptr;
  CUipcEventHandle handle{};
  ASSERT_EQ(cudaIpcOpenEventHandle(&event, other.event<CUipcEventHandle>()), cudaSuccess);
  EXPECT_EQ(other.ask("record"), "0");
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(other.ask("go"), "0");
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventCreateWithFlags(&own, 4), cudaErrorInvalidValue) << "cudaEventInterprocess needs DisableTiming";
  ASSERT_EQ(cudaEventCreateWithFlags(&own, 6), cudaSuccess);
  EXPECT_EQ(cudaIpcGetEventHandle(&handle, own), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(own), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

} // namespace
