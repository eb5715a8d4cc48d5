// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/limits.hpp"

#include "api/session/environment.hpp"
#include "api/session/limits.hpp"
#include "api/session/watchdog.hpp"
#include "runtime/driver/machine/ending.hpp"
#include "runtime/driver/machine/report.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <optional>

namespace warplens::runtime {

namespace {

namespace environment = api::environment;

/// `warplens exec` has validated the variables.
std::optional<std::uint64_t> number(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::strtoull(value, nullptr, 10);
}

[[noreturn]] void end_process(const std::string& why) {
  tell(why);
  write_reports(); // has as long as it needs
  write_before_the_end();
  _exit(1);
}

} // namespace

void hold_limits() {
  if (const char* const text = std::getenv(api::environment::kLimits); text != nullptr)
    if (const std::string wrong = set_limits(text); !wrong.empty())
      throw Failure{CUDA_ERROR_NOT_INITIALIZED, "WARPLENS_LIMITS: " + wrong};
  const api::RunLimits limits{number(environment::kTimeLimit), number(environment::kMaxMemory),
                              number(environment::kTimeBegin).value_or(0)};
  if (!limits.milliseconds && !limits.bytes) return;
  // Never destroyed: it watches until the process ends.
  static const api::Watchdog* const watchdog = new api::Watchdog(limits, end_process);
  static_cast<void>(watchdog);
}

std::uint64_t max_steps() {
  static const std::uint64_t steps = number(environment::kMaxSteps).value_or(0);
  return steps;
}

} // namespace warplens::runtime
