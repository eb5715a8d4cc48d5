// SPDX-License-Identifier: Apache-2.0
// Merges several PTX files into one module, as a linker does: one file defines what another declares .extern.
//
//   a.ptx: .extern .func f; .visible .entry k { call f; }   b.ptx: .visible .func f { … }
//   ->  one module in which k calls f
//
// Names without a linkage directive stay local to their file: if two files use the same name, the later one is renamed.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// Takes at least one module. Each must have passed check(); call check() on the result. Errors: two definitions of one
/// name, declarations that do not match the definition, different address sizes.
Expected<Module> merge(std::vector<Module> modules);

} // namespace warplens::ir
