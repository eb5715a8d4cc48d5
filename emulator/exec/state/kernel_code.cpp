// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/kernel_code.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace warplens::exec {

namespace {

CompileMode mode_of_environment() {
  const char* const value = std::getenv(kCompileVariable);
  return parse_compile_mode(value != nullptr ? value : "").value_or(CompileMode::automatic);
}

std::atomic<CompileMode>& current_mode() {
  static std::atomic<CompileMode> mode{mode_of_environment()};
  return mode;
}

} // namespace

std::optional<CompileMode> parse_compile_mode(std::string_view word) {
  if (word == "off") return CompileMode::off;
  if (word == "auto") return CompileMode::automatic;
  if (word == "always") return CompileMode::always;
  return std::nullopt;
}

CompileMode compile_mode() { return current_mode(); }
void set_compile_mode(CompileMode mode) { current_mode() = mode; }

} // namespace warplens::exec
