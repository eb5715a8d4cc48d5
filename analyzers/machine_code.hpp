// SPDX-License-Identifier: Apache-2.0
// What a compiler makes of the instructions of a function for a current GPU: a machine instruction often does the work
// of several instructions of PTX.
//
//   mul.wide.s32 %rd2, %r1, 4;   add.s64 %rd3, %rd1, %rd2;   ->   IMAD.WIDE
//   add.s32 %r4, %r1, %r2;       add.s32 %r5, %r4, %r3;      ->   IADD3
//   and.b32 %r4, %r1, %r2;       xor.b32 %r5, %r4, %r3;      ->   LOP3
#pragma once

#include "analyzers/machine_work.hpp"

#include <vector>

namespace warplens::analyzers {

/// By instruction: that of machine_work(), but of those that become a part of a later one, nothing. Requires check().
std::vector<MachineWork> machine_code(const ir::Module& module, const ir::Function& function);

} // namespace warplens::analyzers
