// SPDX-License-Identifier: Apache-2.0
// Compare-and-swaps that write what was computed from the value they found, and so repeat until no other was faster:
//
//   L: add.f32 %f2, %f1, %f3; … atom.global.cas.b32 %r1, [%rd1], %r4, %r5; setp.ne.b32 %p1, %r1, %r4; @%p1 bra L;
//
// Those that write a value of their own, such as locks, or choose the smaller or larger of two, may give up after
// another one was faster, and do not count.
#pragma once

#include "emulator/ir/module.hpp"

#include <vector>

namespace warplens::ir {

/// By instruction. Requires check().
std::vector<bool> swap_updates(const Module& module, const Function& function);

} // namespace warplens::ir
