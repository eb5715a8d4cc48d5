// Several PTX files as one module, as a linker makes them: what one declares .extern another defines.
//
//   a.ptx: .extern .func f; .visible .entry k { call f; }   b.ptx: .visible .func f { … }
//   ->  one module in which k calls f
//
// Names without a linkage directive stay apart: where two files have the same one, the later file's is renamed.
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/ir/module.hpp"

namespace warplens::ir {

/// At least one module; each has passed check(), which the result has yet to do. Errors: two definitions of one name,
/// declarations that do not fit the definition, addresses of different sizes.
Expected<Module> merge(std::vector<Module> modules);

} // namespace warplens::ir
