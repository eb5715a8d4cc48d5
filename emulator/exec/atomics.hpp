// atom and red on 32- and 64-bit integers: lane by lane, in lane order.
#pragma once

#include "emulator/exec/warp.hpp"
#include "emulator/isa/table.hpp"

namespace warplens::exec {

/// The handler of an `atom` or `red` spelling; nullptr where there is none. Operands: dst[0] the old value (atom),
/// src[0] addresses, src[1] and src[2] values.
Handler atomic_handler(const isa::Spelling& spelling);

} // namespace warplens::exec
