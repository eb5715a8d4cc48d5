// SPDX-License-Identifier: Apache-2.0
// Environment variables that pass the options of `warplens exec` to the drop-in libraries, and settings of libraries
// that have no other way to get them. Child processes inherit them.
//
//   std::getenv(environment::kDevice)
//   for (const environment::Variable& variable : environment::kVariables) … variable.name == "WARPLENS_DEVICE"
#pragma once

#include <cstdlib>
#include <string_view>

namespace warplens::api::environment {

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define OF_EXEC(constant, name, meaning) constexpr const char* constant = name;
#define OF_USER OF_EXEC
#include "api/session/environment.def"

struct Variable {
  const char* name;
  std::string_view meaning; ///< one phrase
  bool of_exec;             ///< `warplens exec` passes an option with it
};
constexpr Variable kVariables[] = {
#define OF_EXEC(constant, name, meaning) {name, meaning, true},
#define OF_USER(constant, name, meaning) {name, meaning, false},
#include "api/session/environment.def"
};

/// Whether a variable that switches something on is set: not empty, and not 0.
inline bool is_on(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' && std::string_view(value) != "0";
}

} // namespace warplens::api::environment
