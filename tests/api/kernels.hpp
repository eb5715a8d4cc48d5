// SPDX-License-Identifier: Apache-2.0
// Kernels that several tests launch.
#pragma once

#include <string_view>

namespace warplens::api::testing {

/// x[i] = x[i] * factor, for i < count.
constexpr std::string_view kScale = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 count) {
  .reg .pred %p;
  .reg .u32 %r<6>;
  .reg .f32 %f<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r5, [count];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  setp.ge.u32 %p, %r4, %r5;
  @%p bra done;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
done:
  ret;
}
)";

/// Counts its launches in a variable of the module.
constexpr std::string_view kCounter = R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 launches = 40;
.visible .entry count() {
  .reg .u32 %r<3>;
  .reg .u64 %rd1;
  mov.u64 %rd1, launches;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

/// Does not end. All threads add to the first word of x.
constexpr std::string_view kForever = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry forever(.param .u64 x) {
  .reg .u32 %r<2>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [x];
again:
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd1], %r1;
  bra again;
}
)";

} // namespace warplens::api::testing
