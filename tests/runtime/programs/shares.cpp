// SPDX-License-Identifier: Apache-2.0
// A process that shares 4096 words of device memory, 100 and up, and an event. It prints their handles, then obeys
// lines, with a line of answer each: see other_process.hpp.
#define WARPLENS_SHARES ""
#include "tests/runtime/other_process.hpp"

#include "runtime/abi/driver.hpp"

#include <atomic>
#include <iostream>
#include <numeric>
#include <sstream>
#include <vector>

namespace {

using warplens::runtime::handle_of;
using warplens::runtime::hex_of;

constexpr std::size_t kWords = 4096;
std::atomic<bool> go{false};

void wait_to_go(void*) { go.wait(false); }

unsigned word_at(CUdeviceptr address) {
  unsigned word = 0;
  const CUresult result = cuMemcpyDtoH_v2(&word, address, sizeof word);
  return result == CUDA_SUCCESS ? word : 1'000'000 + result;
}

std::string import(const std::string& text) {
  CUdeviceptr address = 0;
  const CUresult result =
      cuIpcOpenMemHandle_v2(&address, handle_of<CUipcMemHandle>(text), CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  return std::to_string(result) + " " + std::to_string(result == CUDA_SUCCESS ? word_at(address) : 0);
}

} // namespace

int main() {
  CUcontext context = nullptr;
  CUdeviceptr before = 0, memory = 0;
  CUevent event = nullptr;
  CUipcMemHandle of_memory{};
  CUipcEventHandle of_event{};
  std::vector<unsigned> words(kWords);
  std::iota(words.begin(), words.end(), 100u);
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  cuMemAlloc_v2(&before, 1000); // the memory does not begin a page
  cuMemAlloc_v2(&memory, kWords * sizeof(unsigned));
  cuMemcpyHtoD_v2(memory, words.data(), kWords * sizeof(unsigned));
  cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS);
  if (cuIpcGetMemHandle(&of_memory, memory) != CUDA_SUCCESS || cuIpcGetEventHandle(&of_event, event) != CUDA_SUCCESS)
    return 1;
  std::cout << hex_of(of_memory) << std::endl << hex_of(of_event) << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string verb, rest;
    in >> verb >> rest;
    if (verb == "word") std::cout << word_at(memory + 4 * std::stoul(rest)) << std::endl;
    if (verb == "set") std::cout << cuMemsetD32_v2(memory, static_cast<unsigned>(std::stoul(rest)), 1) << std::endl;
    if (verb == "free") std::cout << cuMemFree_v2(memory) << std::endl;
    if (verb == "import") std::cout << import(rest) << std::endl;
    if (verb == "record") { // behind work that waits
      go = false;
      cuLaunchHostFunc(nullptr, wait_to_go, nullptr);
      std::cout << cuEventRecord(event, nullptr) << std::endl;
    }
    if (verb == "go") {
      go = true;
      go.notify_all();
      std::cout << cuStreamSynchronize(nullptr) << std::endl;
    }
    if (verb == "query") std::cout << cuEventQuery(event) << std::endl;
  }
}
