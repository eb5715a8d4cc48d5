// SPDX-License-Identifier: Apache-2.0
// A kernel that sets the condition of a conditional graph node.
#pragma once

/// PTX of sm_60 or later, without a header. count(data, handle): decrements *data, and sets the condition to the
/// result.
constexpr char kCounting[] = R"(
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count(.param .u64 data, .param .u64 handle)
{
  .reg .b32 %r;
  .reg .b64 %d<3>;
  .param .b64 condition;
  .param .b32 value;
  ld.param.u64 %d1, [data];
  ld.param.u64 %d2, [handle];
  ld.u32 %r, [%d1];
  sub.u32 %r, %r, 1;
  st.u32 [%d1], %r;
  st.param.b64 [condition], %d2;
  st.param.b32 [value], %r;
  call.uni cudaGraphSetConditional, (condition, value);
  ret;
}
)";
