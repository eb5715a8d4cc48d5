// SPDX-License-Identifier: Apache-2.0
// The targets of the program: WARPLENS_TARGET, or those in the file WARPLENS_TARGETS.
#include "tests/fuzz/target.hpp"

namespace warplens::fuzz {

std::span<const Target* const> targets() {
  static const Target* const all[] = {
#define TARGET(name) &target::name,
#ifdef WARPLENS_TARGET
      TARGET(WARPLENS_TARGET)
#else
#include WARPLENS_TARGETS
#endif
#undef TARGET
  };
  return all;
}

} // namespace warplens::fuzz
