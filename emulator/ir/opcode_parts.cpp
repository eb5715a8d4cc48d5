// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/opcode_parts.hpp"

namespace warplens::ir {

bool has_part(const Instruction& instruction, std::string_view part) {
  std::string_view rest = instruction.opcode;
  for (std::size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
    rest.remove_prefix(dot + 1);
    const std::string_view own = rest.substr(0, rest.find('.'));
    if (own.substr(0, own.find("::")) == part) return true;
  }
  return false;
}

} // namespace warplens::ir
