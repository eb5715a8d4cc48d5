// SPDX-License-Identifier: Apache-2.0
// Queries about code and the device: libraries, the linker, attributes, occupancy.
#include "tests/runtime/driver/program.hpp"
#include "tests/tools/folder.hpp"

#include <sys/stat.h>

#include <cstring>
#include <string>

extern "C" int cuGraphicsMapResources();

namespace warplens::runtime {
namespace code_test {

using Code = DriverProgram;

TEST_F(Code, ALibrarysKernelsAreLaunchedLikeFunctions) {
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, kProgram, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "shrink"), CUDA_ERROR_NOT_FOUND);
  const CUdeviceptr data = allocate(4);
  ASSERT_EQ(cuMemsetD32_v2(data, 6, 1), CUDA_SUCCESS);
  CUdeviceptr address = data;
  std::uint32_t factor = 7, count = 1;
  void* arguments[] = {&address, &factor, &count};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  ASSERT_EQ(cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr), CUDA_SUCCESS);
  std::uint32_t result = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&result, data, 4), CUDA_SUCCESS);
  EXPECT_EQ(result, 42u);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  cuMemFree_v2(data);
}

TEST_F(Code, TheLinkerJoinsFiles) {
  const char* const uses = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 r) answer();
.visible .entry ask(.param .u64 where)
{
  .reg .b32 %r;
  .reg .b64 %d;
  { .param .b32 r; call.uni (r), answer; ld.param.b32 %r, [r]; }
  ld.param.u64 %d, [where];
  st.global.u32 [%d], %r;
  ret;
}
)";
  const char* const defines = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .func (.param .b32 r) answer()
{
  st.param.b32 [r], 42;
  ret;
}
)";
  CUlinkState state = nullptr;
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &state), CUDA_SUCCESS);
  for (const char* text : {uses, defines}) {
    ASSERT_EQ(cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text), "part.ptx", 0,
                               nullptr, nullptr),
              CUDA_SUCCESS);
  }
  void* image = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(cuLinkComplete(state, &image, &size), CUDA_SUCCESS);
  const std::vector<char> copy(static_cast<char*>(image), static_cast<char*>(image) + size);
  ASSERT_EQ(cuLinkDestroy(state), CUDA_SUCCESS);
  CUmodule linked = nullptr;
  ASSERT_EQ(cuModuleLoadData(&linked, copy.data()), CUDA_SUCCESS);
  CUfunction ask = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&ask, linked, "ask"), CUDA_SUCCESS);
  CUdeviceptr where = allocate(4);
  void* arguments[] = {&where};
  ASSERT_EQ(cuLaunchKernel(ask, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  std::uint32_t result = 0;
  ASSERT_EQ(cuMemcpyDtoH_v2(&result, where, 4), CUDA_SUCCESS);
  EXPECT_EQ(result, 42u);
  int target = 0;
  EXPECT_EQ(cuFuncGetAttribute(&target, CU_FUNC_ATTRIBUTE_PTX_VERSION, ask), CUDA_SUCCESS);
  EXPECT_EQ(target, 80) << "the kernel's own, not that of the newer file with which it was linked";
  cuModuleUnload(linked);
  cuMemFree_v2(where);
}

TEST_F(Code, BadPtxIsExplained) {
  char log[400] = "";
  CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{sizeof log})};
  CUmodule bad = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&bad, ".version 7.8\n.target sm_80\n.visible .entry f() { mov.u32 nonsense, 1; }", 2,
                               names, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log, "nonsense"), nullptr) << log;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log));
  EXPECT_NE(cuModuleLoadData(&bad, "\x7f"
                                   "ELF machine code and nothing else, as far as one can see"),
            CUDA_SUCCESS);
}

TEST_F(Code, FilesAreReadNoFartherThanTheyReach) {
  const warplens::testing::Folder folder;
  const std::string program = folder.write("scale.ptx", kProgram);
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  ASSERT_EQ(cuModuleLoad(&module, program.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryLoadFromFile(&library, program.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);

  // A fat binary whose header promises a gigabyte.
  const std::string cut = folder.write("cut.fatbin", std::string("\x50\xed\x55\xba\1\0\x10\0\0\0\0\x40\0\0\0\0", 16));
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::pair<std::string, CUresult> files[] = {{cut, CUDA_ERROR_INVALID_IMAGE},
                                                    {pipe, CUDA_ERROR_FILE_NOT_FOUND},
                                                    {"/dev/zero", CUDA_ERROR_FILE_NOT_FOUND},
                                                    {folder.path().string(), CUDA_ERROR_FILE_NOT_FOUND}};
  for (const auto& [file, error] : files) {
    SCOPED_TRACE(file);
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(cuModuleLoad(&module, file.c_str()), error);
    EXPECT_EQ(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), error);
    CUlinkState link = nullptr;
    ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
    EXPECT_EQ(cuLinkAddFile_v2(link, CU_JIT_INPUT_FATBINARY, file.c_str(), 0, nullptr, nullptr), error);
    EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
    EXPECT_NE(::testing::internal::GetCapturedStderr(), "");
  }
  EXPECT_EQ(cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Code, MoreSharedMemoryIsAskedFor) {
  const CUfunction scale = function("scale");
  int bytes = 0;
  ASSERT_EQ(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, scale), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 48 << 10);
  EXPECT_EQ(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 227 << 10), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (227 << 10) + 1),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_NUM_REGS, 10), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr data = 0;
  std::uint32_t factor = 1, count = 0;
  void* arguments[] = {&data, &factor, &count};
  EXPECT_EQ(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 200 << 10, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

// The limits are those of compute capability 9.0: 2048 threads and 228 KiB of shared memory a multiprocessor.
TEST_F(Code, OccupancyIsThatOfTheDevice) {
  const CUfunction scale = function("scale");
  int blocks = 0, grid = 0, block = 0;
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 8);
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 48 << 10), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 4);
  ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * 132);
  std::size_t bytes = 0;
  ASSERT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, scale, 2, 256), CUDA_SUCCESS);
  EXPECT_EQ(bytes, (std::size_t{228} << 10) / 2 - 1024);
  EXPECT_EQ(cuLaunchCooperativeKernel(scale, 132 * 8 + 1, 1, 1, 256, 1, 1, 0, nullptr, nullptr),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(Code, TheDeviceHasItsAttributes) {
  int value = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 132);
  ASSERT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 6144);
  ASSERT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 3125000); // kHz: 4800 GB/s with two transfers a cycle
  for (int a = 1; a < CU_DEVICE_ATTRIBUTE_MAX; ++a)
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(a), 0), CUDA_SUCCESS) << a;
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), CUDA_ERROR_INVALID_DEVICE);
}

/// A kernel that holds 60 words at a time.
std::string busy(const std::string& directives) {
  std::string text = ".version 6.5\n.target sm_75\n.address_size 64\n.visible .entry busy(.param .u64 p)\n" +
                     directives + "\n{\n.reg .b32 %r<60>;\n.reg .b64 %d;\nld.param.u64 %d, [p];\n";
  for (int i = 0; i < 60; ++i)
    text += "ld.volatile.global.u32 %r" + std::to_string(i) + ", [%d+" + std::to_string(4 * i) + "];\n";
  for (int i = 0; i < 60; ++i)
    text += "st.volatile.global.u32 [%d+" + std::to_string(4 * i) + "], %r" + std::to_string((7 * i + 3) % 60) + ";\n";
  return text + "ret;\n}\n";
}

/// Of the kernel that busy() defines. Unloads the module.
int registers_of(CUmodule module) {
  CUfunction function = nullptr;
  int count = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, module, "busy"), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncGetAttribute(&count, CU_FUNC_ATTRIBUTE_NUM_REGS, function), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  return count;
}

/// Of busy(), loaded with that limit. 0: it was not loaded.
int registers_with(unsigned limit, const std::string& directives = "") {
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
  void* values[] = {reinterpret_cast<void*>(std::uintptr_t{limit})};
  CUmodule module = nullptr;
  if (cuModuleLoadDataEx(&module, busy(directives).c_str(), 1, options, values) != CUDA_SUCCESS) return 0;
  return registers_of(module);
}

// As an H200's driver has it: tests/data/hardware/old_launches.txt.
TEST_F(Code, TheLimitOfRegistersIsHeeded) {
  const int own = registers_with(1000);
  EXPECT_GT(own, 60);
  EXPECT_EQ(registers_with(33), 33);
  EXPECT_EQ(registers_with(1), 24) << "the fewest";
  EXPECT_EQ(registers_with(0), 0) << "refused";
  const int bounded = registers_with(1000, ".maxntid 256");
  EXPECT_EQ(registers_with(33, ".maxntid 256"), bounded) << "the kernel's own bounds come first";
}

TEST_F(Code, TheLimitOfRegistersWhileLinkingIsHeeded) {
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
  void* values[] = {reinterpret_cast<void*>(std::uintptr_t{33})};
  CUlinkState link = nullptr;
  std::string text = busy("");
  void* image = nullptr;
  std::size_t size = 0;
  ASSERT_EQ(cuLinkCreate_v2(1, options, values, &link), CUDA_SUCCESS);
  ASSERT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text.data(), text.size(), "busy", 0, nullptr, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image), CUDA_SUCCESS);
  EXPECT_EQ(registers_of(module), 33);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

TEST_F(Code, WhatIsMissingSaysSo) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuGraphicsMapResources(), int{CUDA_ERROR_NOT_SUPPORTED});
  EXPECT_EQ(cuGraphicsMapResources(), int{CUDA_ERROR_NOT_SUPPORTED});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warplens: cuGraphicsMapResources is not supported\n") << "once";
}

} // namespace code_test
} // namespace warplens::runtime
