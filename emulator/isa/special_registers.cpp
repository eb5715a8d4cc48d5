// SPDX-License-Identifier: Apache-2.0
#include "emulator/isa/special_registers.hpp"

#include <unordered_map>

namespace warplens::isa {

std::optional<Special> special_register_named(std::string_view text) {
  static const auto index = [] {
    std::unordered_map<std::string_view, Special> map;
    for (int i = 0; i < kSpecialRegisterCount; ++i) map.emplace(kSpecialRegisters[i].name, static_cast<Special>(i));
    return map;
  }();
  const auto found = index.find(text);
  if (found == index.end()) return std::nullopt;
  return found->second;
}

} // namespace warplens::isa
