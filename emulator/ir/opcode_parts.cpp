// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>

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

bool has_any_part(const Instruction& instruction, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return has_part(instruction, part); });
}

bool of_doubles(const Instruction& instruction) { return has_part(instruction, "f64"); }
bool of_wide_integers(const Instruction& instruction) { return has_any_part(instruction, {"s64", "u64", "b64"}); }
bool rounds(const Instruction& instruction) { return has_any_part(instruction, {"rn", "rz", "rm", "rp"}); }

} // namespace warplens::ir
