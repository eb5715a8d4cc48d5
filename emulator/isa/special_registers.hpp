// SPDX-License-Identifier: Apache-2.0
// The special registers of PTX (manual, chapter 10): name, type, number of components.
//
//   special_register_named("%tid") -> 0;  kSpecialRegisters[0].components == 4
#pragma once

#include "emulator/isa/types.hpp"

#include <optional>

namespace warplens::isa {

/// The enumerators spell the registers without '%'.
enum class Special : std::uint8_t {
#define SPECIAL(name, type, components, ptx, sm) name,
#include "emulator/isa/special_registers.def"
#undef SPECIAL
};

struct SpecialRegisterInfo {
  std::string_view name; ///< with the '%'
  Type type;
  int components; ///< 4 for %tid and its kind (.x .y .z .w), 1 otherwise
  int ptx;        ///< PTX version times ten that introduced it
  int sm;         ///< first target that has it
};

constexpr SpecialRegisterInfo kSpecialRegisters[] = {
#define SPECIAL(name, type, components, ptx, sm) {"%" #name, Type::type, components, ptx, sm},
#include "emulator/isa/special_registers.def"
#undef SPECIAL
};
constexpr int kSpecialRegisterCount = sizeof(kSpecialRegisters) / sizeof(kSpecialRegisters[0]);

constexpr const SpecialRegisterInfo& info(Special special) { return kSpecialRegisters[static_cast<int>(special)]; }

/// Whether mov (or with `converts`, cvt) may read the register as `type`. Thread and block numbers were 16 bits wide
/// before PTX 2.0, and %gridid 16, then 32; these widths are still allowed. cvt allows all types that are not wider.
constexpr bool readable_as(Special special, Type type, bool converts) {
  const Type own = info(special).type;
  if (own == Type::pred || type == Type::pred) return own == type && !converts;
  if (is_float(type)) return false;
  if (converts) return bits(type) <= bits(own);
  const bool numbers = special == Special::tid || special == Special::ntid || special == Special::ctaid ||
                       special == Special::nctaid || special == Special::gridid;
  return bits(type) == bits(own) || (numbers && bits(type) == 16) || (special == Special::gridid && bits(type) == 32);
}

/// The register spelled `text` (with '%', without component), if there is one. `%envreg0` to `%envreg31` and
/// `%pm0` to `%pm7` are entries of their own.
std::optional<Special> special_register_named(std::string_view text);

} // namespace warplens::isa
