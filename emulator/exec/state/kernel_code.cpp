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

namespace {
std::atomic<bool>& any_pairs() {
  static std::atomic<bool> any{false};
  return any;
}
std::atomic<bool>& any_divided() {
  static std::atomic<bool> any{false};
  return any;
}
std::atomic<std::uint64_t>& all_paired_turns() {
  static std::atomic<std::uint64_t> turns{0};
  return turns;
}
} // namespace

bool pairs_anyhow() { return any_pairs(); }
void set_pairs_anyhow(bool anyhow) { any_pairs() = anyhow; }
bool divided_anyhow() { return any_divided(); }
void set_divided_anyhow(bool anyhow) { any_divided() = anyhow; }
std::uint64_t paired_turns() { return all_paired_turns(); }
void add_paired_turns(std::uint64_t turns) {
  if (turns != 0) all_paired_turns() += turns;
}

} // namespace warplens::exec
