// SPDX-License-Identifier: Apache-2.0
// Common parts of the driver API tests: sets the primary context, and has a module with a few kernels.
#pragma once

#include "runtime/abi/driver.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warplens::runtime {

/// scale(data, factor, count): data[i] *= factor, for i < count. wait(flag, data): waits until *flag is not 0, then
/// stores it in *data. hello(): printf("hello\n").
constexpr const char* kProgram = R"(
.version 7.8
.target sm_80
.address_size 64
.global .align 4 .u32 table[4] = {10, 20, 30, 40};
.visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [factor];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r3, %r3, %r4, %r5;
  setp.ge.u32 %p, %r3, %r2;
  @%p bra done;
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r3, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.u32 %r4, [%d1];
  mul.lo.u32 %r4, %r4, %r1;
  st.global.u32 [%d1], %r4;
done:
  ret;
}
.visible .entry wait(.param .u64 flag, .param .u64 data)
{
  .reg .pred %p;
  .reg .b32 %r;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [flag];
  ld.param.u64 %d2, [data];
again:
  ld.volatile.global.u32 %r, [%d1];
  setp.eq.u32 %p, %r, 0;
  @%p bra again;
  st.global.u32 [%d2], %r;
  ret;
}
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello()
{
  .reg .b32 %r;
  .reg .b64 %d<3>;
  mov.u64 %d1, text;
  cvta.global.u64 %d1, %d1;
  mov.u64 %d2, 0;
  {
  .param .b64 format;
  .param .b64 arguments;
  .param .b32 result;
  st.param.b64 [format], %d1;
  st.param.b64 [arguments], %d2;
  call.uni (result), vprintf, (format, arguments);
  ld.param.b32 %r, [result];
  }
  ret;
}
)";

/// A program whose current context is the primary context.
class DriverProgram : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (module_ != nullptr) {
      EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    }
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  }

  /// Loads kProgram.
  CUmodule module() {
    if (module_ == nullptr) {
      EXPECT_EQ(cuModuleLoadData(&module_, kProgram), CUDA_SUCCESS);
    }
    return module_;
  }
  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, module(), name), CUDA_SUCCESS);
    return found;
  }

  /// Launches wait() with one thread.
  CUresult launch_wait(CUdeviceptr flag, CUdeviceptr data, CUstream stream) {
    void* arguments[] = {&flag, &data};
    return cuLaunchKernel(function("wait"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }
  CUresult launch_scale(CUdeviceptr data, std::uint32_t factor, std::uint32_t count, CUstream stream) {
    void* arguments[] = {&data, &factor, &count};
    return cuLaunchKernel(function("scale"), (count + 31) / 32, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
  }
  static CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, bytes), CUDA_SUCCESS);
    return address;
  }

private:
  CUmodule module_ = nullptr;
};

} // namespace warplens::runtime
