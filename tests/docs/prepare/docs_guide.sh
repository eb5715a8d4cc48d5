#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The kernel, library and rule of the user's own, and two reports.
set -euo pipefail
cat >kernel.ptx <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor) {
  .reg .u32 %r<5>;
  .reg .f32 %f<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
PTX
cat >library.ptx <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .func nothing() {
  ret;
}
PTX
cp "$WARPLENS_EXAMPLES/rules/full_warp.toml" my_rule.toml
warplens run samples/transpose/2d.toml --device gtx480 --json before.json
warplens run samples/transpose/padded.toml --device gtx480 --json after.json
