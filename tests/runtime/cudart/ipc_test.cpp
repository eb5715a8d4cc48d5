// SPDX-License-Identifier: Apache-2.0
// Memory and events of several processes: the program `shares`, which uses the driver API, is the other one. Pointers
// are numbers here, as in the functions of the driver API that these functions call.
#include "tests/runtime/cudart/program.hpp"
#include "tests/runtime/other_process.hpp"

#include <gtest/gtest.h>

namespace ipc_test {

using warplens::runtime::hex_of;
using warplens::runtime::OtherProcess;

TEST(CudartIpc, MemoryOfTheOtherProcess) {
  OtherProcess other;
  CUdeviceptr address = 0;
  const auto handle = other.memory<CUipcMemHandle>();
  EXPECT_EQ(cudaIpcOpenMemHandle(&address, handle, 0), cudaErrorInvalidValue) << "needs the flag";
  ASSERT_EQ(cudaIpcOpenMemHandle(&address, handle, 1), cudaSuccess);
  void* const memory = reinterpret_cast<void*>(address);
  unsigned words[4] = {};
  EXPECT_EQ(cudaMemcpy(words, memory, sizeof words, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(words[3], 103u);
  EXPECT_EQ(cudaMemset(memory, 1, 8), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(other.ask("word 1"), std::to_string(0x01010101));
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaIpcCloseMemHandle(address), cudaSuccess);
  EXPECT_EQ(cudaIpcCloseMemHandle(address), cudaErrorInvalidValue);
}

TEST(CudartIpc, MemoryOfThisProcess) {
  OtherProcess other;
  void* memory = nullptr;
  const unsigned word = 4711;
  CUipcMemHandle handle{};
  ASSERT_EQ(cudaMalloc(&memory, 100), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(memory, &word, sizeof word, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, reinterpret_cast<CUdeviceptr>(memory)), cudaSuccess);
  EXPECT_EQ(other.ask("import " + hex_of(handle)), "0 4711");
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, reinterpret_cast<CUdeviceptr>(&handle)), cudaErrorInvalidValue);
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

} // namespace ipc_test
