// SPDX-License-Identifier: Apache-2.0
// Masks from truth values. The bitcode selects the bit of each lane and combines them: the processor's compare
// instructions have the mask already.
#pragma once

#include <llvm/IR/Function.h>

namespace warplens::exec::compile {

/// Replaces such reductions by the bits of the vectors of truth values.
void use_compare_masks(llvm::Function& function);

} // namespace warplens::exec::compile
