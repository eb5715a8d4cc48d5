// SPDX-License-Identifier: Apache-2.0
// The targets of the program: those of targets.def that WARPLENS_TARGETS, a header, names.
#include "tests/fuzz/target.hpp"

namespace warplens::fuzz {

std::span<const Target* const> targets() {
  static const Target* const all[] = {
#define TARGET(name) &target::name,
#include WARPLENS_TARGETS
#undef TARGET
  };
  return all;
}

} // namespace warplens::fuzz
