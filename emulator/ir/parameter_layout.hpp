// SPDX-License-Identifier: Apache-2.0
// Where the parameters of a kernel lie.
//
//   parameter_layout(kernel of .u64 a, .u32 b)   // {0, 8, 12}
#pragma once

#include "emulator/ir/module.hpp"

#include <cstdint>
#include <vector>

namespace warplens::ir {

/// The offset of each parameter, and the end of the last one.
std::vector<std::uint32_t> parameter_layout(const Function& kernel);

} // namespace warplens::ir
