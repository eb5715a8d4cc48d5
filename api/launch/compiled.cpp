// SPDX-License-Identifier: Apache-2.0
#include "api/launch/compiled.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/state/kernel_code.hpp"

namespace warplens::api {

bool set_compile_mode(std::string_view word) {
  const std::optional<exec::CompileMode> mode = exec::parse_compile_mode(word);
  if (mode) exec::set_compile_mode(*mode);
  return mode.has_value();
}

std::string compiler_library() { return exec::compiler_library(); }
std::string explain_compiled() { return exec::explain_compiled(); }

} // namespace warplens::api
