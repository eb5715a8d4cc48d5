// What the tests of the driver API share: the primary context made current, and a module with a few kernels.
#pragma once

#include "runtime/abi/driver.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warplens::runtime {

/// scale(data, factor, count): data[i] *= factor, for i < count.
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
)";

/// A program with the primary context current.
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

  /// kProgram, loaded.
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

private:
  CUmodule module_ = nullptr;
};

} // namespace warplens::runtime
