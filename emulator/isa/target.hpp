// SPDX-License-Identifier: Apache-2.0
// The target of a module (`.target sm_100a`), and the targets that a line of the instruction table requires.
//
//   Targets(90)                     sm_90 or higher
//   Targets("100f 110f")            sm_100f, sm_100a, sm_103f, sm_103a … of the family of sm_100, or likewise sm_110f
//   Targets("100a 103a")            sm_100a or sm_103a, no other
//   Targets("100a").allow(target_named("sm_103a")) == false
//
// Manual, section 11.1.2 (.target): features of one architecture (suffix a) and of a family of them (suffix f).
#pragma once

#include <string_view>

namespace warplens::isa {

struct Target {
  int sm = 0;
  char suffix = '\0'; ///< 'a', 'f' or none
  constexpr Target() = default;
  constexpr Target(int number, char letter = '\0') : sm(number), suffix(letter) {} // NOLINT: sm_90 is 90
};

/// Has every feature: for the decoder, which may use the whole table.
constexpr Target kEveryTarget{1000, '*'};

/// The first number of `text` and the letter after it; 0 where there is none. PTX 9.0 renamed sm_101 to sm_110.
constexpr Target target_named(std::string_view text) {
  Target target;
  while (!text.empty() && (text[0] < '0' || text[0] > '9')) text.remove_prefix(1);
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
    target.sm = 10 * target.sm + (text[0] - '0');
  if (target.sm == 101) target.sm = 110;
  if (!text.empty() && (text[0] == 'a' || text[0] == 'f')) target.suffix = text[0];
  return target;
}

/// Architectures of one family: sm_100 and sm_103, sm_120 and sm_121.
constexpr int family(int sm) { return sm / 10; }

struct Targets {
  int least = 10;           ///< the lowest number
  std::string_view special; ///< empty: all from `least` on; otherwise as above

  constexpr Targets(int sm) : least(sm) {} // NOLINT: the usual notation of the table
  constexpr Targets(const char* list) : least(target_named(list).sm), special(list) {}

  constexpr bool allow(Target target) const {
    if (special.empty() || target.suffix == kEveryTarget.suffix) return target.sm >= least;
    for (std::string_view rest = special; !rest.empty();) {
      const Target one = target_named(rest);
      const std::size_t space = rest.find(' ');
      rest.remove_prefix(space == std::string_view::npos ? rest.size() : space + 1);
      if (one.suffix == 'a' && target.suffix == 'a' && target.sm == one.sm) return true;
      if (one.suffix == 'f' && target.suffix != '\0' && target.sm >= one.sm && family(target.sm) == family(one.sm))
        return true;
    }
    return false;
  }
  /// One of the allowed targets.
  constexpr Target first() const { return special.empty() ? Target(least) : target_named(special); }
};

} // namespace warplens::isa
