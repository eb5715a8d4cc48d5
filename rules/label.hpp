// SPDX-License-Identifier: Apache-2.0
// The name and origin of a rule. They have no effect: two rules that differ only in their labels are equivalent.
#pragma once

#include <string>

namespace warplens::rules {

struct Label {
  std::string name;
  std::string title;
  std::string source; ///< publication; may be empty
  std::string text;   ///< its TOML
  std::string file;   ///< its path; empty: built in
};

} // namespace warplens::rules
