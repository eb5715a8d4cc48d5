// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/parameter_layout.hpp"

#include "emulator/base/checked.hpp"

namespace warplens::ir {

std::vector<std::uint32_t> parameter_layout(const Function& kernel) {
  std::vector<std::uint32_t> offsets;
  Checked end = 0;
  const auto place = [&] { offsets.push_back(end.as<std::uint32_t>().value_or(~std::uint32_t{0})); };
  for (const Variable& p : kernel.params) { // the parser ensures that they fit
    end = end.aligned(p.alignment);
    place();
    end += p.size;
  }
  place();
  return offsets;
}

} // namespace warplens::ir
