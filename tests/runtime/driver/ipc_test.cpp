// SPDX-License-Identifier: Apache-2.0
// Memory and events of several processes: the program `shares` is the other one.
#include "tests/runtime/driver/program.hpp"
#include "tests/runtime/other_process.hpp"

#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

namespace warplens::runtime {
namespace ipc_test {

constexpr unsigned kLazy = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

class Ipc : public DriverProgram {
protected:
  OtherProcess other;
  CUdeviceptr open() {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuIpcOpenMemHandle_v2(&address, other.memory<CUipcMemHandle>(), kLazy), CUDA_SUCCESS);
    return address;
  }
  CUevent open_event() {
    CUevent event = nullptr;
    EXPECT_EQ(cuIpcOpenEventHandle(&event, other.event<CUipcEventHandle>()), CUDA_SUCCESS);
    return event;
  }
};

TEST_F(Ipc, KernelsOfBothProcessesUseTheMemory) {
  const CUdeviceptr a = open();
  ASSERT_EQ(launch_scale(a, 3, 1024, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(other.ask("word 0"), "300");
  EXPECT_EQ(other.ask("word 1023"), "3369");
  EXPECT_EQ(other.ask("set 7"), "0");
  unsigned words[2] = {};
  EXPECT_EQ(cuMemcpyDtoH_v2(words, a, sizeof words), CUDA_SUCCESS);
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1], 303u);
}

// The pages hold more than the memory, but what follows it is no memory of this process.
TEST_F(Ipc, AccessesBeyondTheMemoryAreFaults) {
  const CUdeviceptr beyond = open() + 32768;
  unsigned word = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&word, beyond, sizeof word), CUDA_ERROR_INVALID_VALUE);
  CUcontext context = nullptr; // the fault stays in it
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kProgram), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&scale, module, "scale"), CUDA_SUCCESS);
  std::uint32_t factor = 3, count = 32;
  void* arguments[] = {const_cast<CUdeviceptr*>(&beyond), &factor, &count};
  ASSERT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuCtxDestroy_v2(context), CUDA_SUCCESS);
}

// Pages that the memory has in common with other memory become zeros.
TEST_F(Ipc, FreedMemoryStaysWhereItIsMapped) {
  const CUdeviceptr a = open();
  EXPECT_EQ(other.ask("free"), "0");
  unsigned words[4096] = {};
  EXPECT_EQ(cuMemcpyDtoH_v2(words, a, sizeof words), CUDA_SUCCESS);
  EXPECT_EQ(words[2000], 2100u);
  EXPECT_EQ(cuIpcCloseMemHandle(a), CUDA_SUCCESS);
  CUdeviceptr b = 0;
  EXPECT_EQ(cuIpcOpenMemHandle_v2(&b, other.memory<CUipcMemHandle>(), kLazy), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Ipc, MemoryOfThisProcessKeepsItsContents) {
  CUdeviceptr a = 0, b = 0, c = 0;
  const std::vector<unsigned> words(3000, 42);
  for (CUdeviceptr* memory : {&a, &b, &c}) {
    ASSERT_EQ(cuMemAlloc_v2(memory, 12000), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD_v2(*memory, words.data(), 12000), CUDA_SUCCESS);
  }
  CUipcMemHandle handle{}, again{};
  ASSERT_EQ(cuIpcGetMemHandle(&handle, b), CUDA_SUCCESS);
  ASSERT_EQ(cuIpcGetMemHandle(&again, b + 600), CUDA_SUCCESS);
  EXPECT_EQ(std::memcmp(&handle, &again, sizeof handle), 0);
  EXPECT_EQ(other.ask("import " + hex_of(handle)), "0 42");
  for (const CUdeviceptr memory : {a, b, c}) {
    std::vector<unsigned> got(3000);
    ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), memory, 12000), CUDA_SUCCESS);
    EXPECT_EQ(got, words);
  }
  ASSERT_EQ(cuMemFree_v2(b), CUDA_SUCCESS);
  CUdeviceptr next = 0;
  std::vector<unsigned> got(3000);
  ASSERT_EQ(cuMemAlloc_v2(&next, 12000), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH_v2(got.data(), next, 12000), CUDA_SUCCESS);
  EXPECT_EQ(got, std::vector<unsigned>(3000)) << "as all new memory";
  ASSERT_EQ(cuIpcGetMemHandle(&again, next), CUDA_SUCCESS);
  EXPECT_NE(std::memcmp(&handle, &again, sizeof handle), 0);
  EXPECT_EQ(other.ask("import " + hex_of(again)), "0 0");
}

// Whatever the bytes of a handle are, opening it fails, and does nothing else.
TEST_F(Ipc, ForgedHandlesAreRefused) {
  const auto valid = other.memory<CUipcMemHandle>();
  const auto valid_event = other.event<CUipcEventHandle>();
  const std::set<CUresult> allowed = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_CONTEXT,
                                      CUDA_ERROR_MAP_FAILED};
  std::mt19937 random(1);
  const auto check = [&](const CUipcMemHandle& forged, const std::string& what) {
    CUdeviceptr address = 0;
    CUevent event = nullptr;
    EXPECT_TRUE(allowed.contains(cuIpcOpenMemHandle_v2(&address, forged, kLazy))) << what;
    CUipcEventHandle of_event{};
    std::memcpy(&of_event, &forged, sizeof forged);
    EXPECT_TRUE(allowed.contains(cuIpcOpenEventHandle(&event, of_event))) << what;
  };
  for (std::size_t i = 0; i < sizeof valid; ++i)
    for (const unsigned change : {1u, 2u, 4u, 0x10u, 0x80u, 0xffu}) {
      CUipcMemHandle forged = valid;
      forged.reserved[i] = static_cast<char>(static_cast<unsigned char>(forged.reserved[i]) ^ change);
      check(forged, "byte " + std::to_string(i) + " ^ " + std::to_string(change));
      std::memcpy(&forged, &valid_event, sizeof forged);
      forged.reserved[i] = static_cast<char>(static_cast<unsigned char>(forged.reserved[i]) ^ change);
      check(forged, "byte " + std::to_string(i) + " of an event ^ " + std::to_string(change));
    }
  for (int i = 0; i < 2000; ++i) {
    CUipcMemHandle forged = valid;
    const std::size_t first = random() % sizeof forged;
    for (std::size_t k = first; k < sizeof forged; ++k) forged.reserved[k] = static_cast<char>(random());
    forged.reserved[first] = static_cast<char>(~static_cast<unsigned char>(valid.reserved[first]));
    check(forged, "random " + std::to_string(i));
  }
  // Each file of this process and of the other one, with the rest of a handle that is valid.
  for (std::int32_t file = 0; file < 64; ++file)
    for (const pid_t process : {getpid(), getppid(), pid_t{1}}) {
      CUipcMemHandle forged = valid;
      std::memcpy(&forged.reserved[8], &process, 4);
      std::memcpy(&forged.reserved[12], &file, 4);
      check(forged, "file " + std::to_string(file) + " of " + std::to_string(process));
    }
  EXPECT_NE(open(), 0u) << "the valid one";
  EXPECT_NE(open_event(), nullptr);
}

TEST_F(Ipc, EventsOrderWorkOfTwoProcesses) {
  const CUevent event = open_event();
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS) << "never recorded";
  EXPECT_EQ(other.ask("record"), "0");
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(other.ask("go"), "0");
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS) << "both may record";
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(other.ask("query"), "0");
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
}

TEST_F(Ipc, WorkOfAProcessThatIsKilledHasEnded) {
  const CUevent event = open_event();
  const CUdeviceptr a = open();
  EXPECT_EQ(other.ask("record"), "0");
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  other.end(SIGKILL);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  unsigned word = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&word, a, sizeof word), CUDA_SUCCESS);
  EXPECT_EQ(word, 100u);
  CUevent late = nullptr;
  EXPECT_EQ(cuIpcOpenEventHandle(&late, other.event<CUipcEventHandle>()), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Ipc, ManyAllocationsCanBeSharedAndTheLimitIsAnError) {
  std::vector<CUdeviceptr> all;
  CUipcMemHandle handle{};
  CUresult result = CUDA_SUCCESS;
  while (result == CUDA_SUCCESS && all.size() < 5000) {
    ASSERT_EQ(cuMemAlloc_v2(&all.emplace_back(), 512), CUDA_SUCCESS);
    result = cuIpcGetMemHandle(&handle, all.back());
  }
  EXPECT_EQ(result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(all.size(), 4097u) << "docs/limits.md";
  for (const CUdeviceptr a : all) EXPECT_EQ(cuMemFree_v2(a), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAlloc_v2(all.data(), 512), CUDA_SUCCESS);
  EXPECT_EQ(cuIpcGetMemHandle(&handle, all.front()), CUDA_SUCCESS);
}

std::vector<std::string> lines_of(std::istream&& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(IpcCalls, AnswerAsAnH200Does) {
  const std::vector<std::string> hardware = lines_of(std::ifstream(WARPLENS_SOURCE_DIR "/tests/data/hardware/ipc.txt"));
  std::string text;
  FILE* const pipe = popen(WARPLENS_ASK_IPC " " WARPLENS_LIBCUDA " 2>/dev/null", "r");
  ASSERT_NE(pipe, nullptr);
  char part[4096];
  while (const std::size_t bytes = std::fread(part, 1, sizeof part, pipe)) text.append(part, bytes);
  pclose(pipe);
  const std::vector<std::string> ours = lines_of(std::istringstream(text));
  ASSERT_GT(hardware.size(), 130u);
  ASSERT_EQ(ours.size(), hardware.size());
  std::vector<std::string> differ;
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (ours[i] != hardware[i]) differ.push_back(hardware[i] + " | " + ours[i]);
  // Handles of freed memory, and of events of a process that has ended: CUDA leaves open what happens.
  EXPECT_EQ(differ, (std::vector<std::string>{"open late: 0 | open late: 400", "open late: 0 | open late: 400"}));
}

} // namespace ipc_test
} // namespace warplens::runtime
