// SPDX-License-Identifier: Apache-2.0
// Linking at run time, and the compiler logs, although there is no compiler.
#include "tests/runtime/driver/program.hpp"

#include <array>
#include <cstring>
#include <string>

namespace warplens::runtime {
namespace link_test {

constexpr char kCaller[] = R"(
.version 7.8
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry k(.param .u64 out, .param .u32 x)
{
  .reg .b32 %r<3>; .reg .b64 %d;
  .param .b32 argument; .param .b32 result;
  ld.param.u64 %d, [out];
  ld.param.u32 %r1, [x];
  st.param.b32 [argument], %r1;
  call (result), twice, (argument);
  ld.param.b32 %r2, [result];
  st.global.u32 [%d], %r2;
  ret;
}
)";
constexpr char kCallee[] = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x)
{
  .reg .b32 %r;
  ld.param.b32 %r, [x];
  add.u32 %r, %r, %r;
  st.param.b32 [r], %r;
  ret;
}
)";
constexpr char kWrong[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { bogus.u32 %r; ret; }\n";

/// Two buffers for logs, and the options that name them.
struct Logs {
  std::array<char, 500> info{"old"}, error{"old"};
  std::array<CUjit_option, 4> options{CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 4> values{info.data(), reinterpret_cast<void*>(info.size()), error.data(),
                              reinterpret_cast<void*>(error.size())};
};

class Linking : public DriverProgram {
protected:
  CUlinkState link = nullptr;
  CUresult add(const char* ptx) {
    return cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx), std::strlen(ptx) + 1, "part", 0, nullptr,
                            nullptr);
  }
};

TEST_F(Linking, WhatOneFileDeclaresAnotherDefines) {
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  EXPECT_EQ(add(kCaller), CUDA_SUCCESS);
  EXPECT_EQ(add(kCallee), CUDA_SUCCESS);
  void* image = nullptr;
  size_t size = 0;
  ASSERT_EQ(cuLinkComplete(link, &image, &size), CUDA_SUCCESS);
  const std::string copy(static_cast<const char*>(image), size); // programs keep the bytes, not the state
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);

  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, copy.data()), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  CUdeviceptr out = 0;
  ASSERT_EQ(cuMemAlloc_v2(&out, 4), CUDA_SUCCESS);
  unsigned x = 21;
  void* arguments[] = {&out, &x};
  EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoH_v2(&x, out, 4), CUDA_SUCCESS);
  EXPECT_EQ(x, 42u);
  EXPECT_EQ(cuMemFree_v2(out), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleLoadData(&module, copy.substr(0, copy.size() / 2).c_str()), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(Linking, ErrorsGoIntoTheProgramsLog) {
  Logs logs;
  ASSERT_EQ(cuLinkCreate_v2(4, logs.options.data(), logs.values.data(), &link), CUDA_SUCCESS);
  EXPECT_EQ(add(kWrong), CUDA_SUCCESS);
  void* image = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuLinkComplete(link, &image, nullptr), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(std::strstr(logs.error.data(), "bogus"), nullptr) << logs.error.data();
  EXPECT_EQ(reinterpret_cast<std::size_t>(logs.values[3]), std::strlen(logs.error.data()));
  EXPECT_STREQ(logs.info.data(), "");
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

TEST_F(Linking, ModulesHaveLogsToo) {
  Logs logs;
  CUmodule module = nullptr;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadDataEx(&module, kWrong, 4, logs.options.data(), logs.values.data()), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(std::strstr(logs.error.data(), "bogus"), nullptr);
  // What does not fit is cut off.
  Logs small;
  small.values[3] = reinterpret_cast<void*>(8);
  EXPECT_EQ(cuModuleLoadDataEx(&module, kWrong, 4, small.options.data(), small.values.data()), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(std::strlen(small.error.data()), 7u);
  // Without a log the user is told.
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadDataEx(&module, kWrong, 0, nullptr, nullptr), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("bogus"), std::string::npos);
  EXPECT_EQ(cuModuleLoadDataEx(&module, kWrong, 1, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Linking, WhatCannotBeLinked) {
  ASSERT_EQ(cuLinkCreate_v2(0, nullptr, nullptr, &link), CUDA_SUCCESS);
  void* image = nullptr;
  EXPECT_EQ(cuLinkComplete(link, &image, nullptr), CUDA_ERROR_INVALID_VALUE); // nothing added
  EXPECT_EQ(add(kCaller), CUDA_SUCCESS);
  char object[] = "!<arch>";
  EXPECT_EQ(cuLinkAddData_v2(link, CU_JIT_INPUT_LIBRARY, object, sizeof object, "libmine.a", 0, nullptr, nullptr),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, "/nonexistent", 0, nullptr, nullptr), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuLinkAddData_v2(nullptr, CU_JIT_INPUT_PTX, object, 1, "", 0, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
}

} // namespace link_test
} // namespace warplens::runtime
