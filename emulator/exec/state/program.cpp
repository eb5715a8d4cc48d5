// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/program.hpp"

#include "emulator/ir/parameter_layout.hpp"

namespace warplens::exec {

std::vector<std::uint32_t> parameter_layout(const ir::Function& kernel) { return ir::parameter_layout(kernel); }

} // namespace warplens::exec
