// SPDX-License-Identifier: Apache-2.0
// What Warplens finds on this machine, for `warplens doctor`.
//
//   for (const Check& check : checks()) … check.name == "nvcc", check.state == Check::State::missing, check.hint
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

struct Check {
  enum class State { ok, missing, broken }; ///< missing: something optional, without which less works
  std::string name;
  State state = State::ok;
  std::string value;
  std::string hint{}; ///< what to do; empty: nothing
};

std::string_view to_string(Check::State state);

std::vector<Check> checks();

} // namespace warplens::tools
