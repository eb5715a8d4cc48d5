// SPDX-License-Identifier: Apache-2.0
// Arithmetic in single precision makes each NaN the canonical one. Where the result of one operation goes only into
// others, that is needed once, at the end: a NaN of any kind gives a NaN.
#pragma once

#include <llvm/IR/Function.h>

namespace warplens::exec::compile {

/// Lets operations whose result is made canonical take operands that are not.
void make_nans_canonical_once(llvm::Function& function);

} // namespace warplens::exec::compile
