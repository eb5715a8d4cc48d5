// SPDX-License-Identifier: Apache-2.0
#include "tools/limit_options.hpp"

#include "api/session/limits.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace warplens::tools {

namespace po = boost::program_options;

namespace {

std::uint64_t number_of(const po::variables_map& values, const char* option,
                        Expected<std::uint64_t> (*parse)(std::string_view)) {
  const Expected<std::uint64_t> number = parse(values[option].as<std::string>());
  if (!number) throw UsageError{fmt::format("--{}: {}", option, number.error().list().front().message), ""};
  return *number;
}

/// Pending results are not written; existing files stay as they are.
[[noreturn]] void end_process(const std::string& why) {
  Diagnostics errors;
  errors.error({}, "warplens: " + why);
  print(errors);
  _exit(kFound);
}

} // namespace

void add_limit_options(po::options_description& options) {
  auto add = options.add_options();
  add("time-limit", po::value<std::string>()->value_name("SECONDS"), "stop after this time; the default is no limit");
  add("max-memory", po::value<std::string>()->value_name("SIZE"),
      "stop when memory use exceeds SIZE, such as 512M or 16G; the default is no limit");
}

api::RunLimits limits_of(const po::variables_map& values) {
  api::RunLimits limits;
  limits.begin = api::steady_milliseconds();
  if (values.count("time-limit") != 0) limits.milliseconds = number_of(values, "time-limit", api::parse_seconds);
  if (values.count("max-memory") != 0) limits.bytes = number_of(values, "max-memory", api::parse_size);
  return limits;
}

LimitGuard::LimitGuard(const api::RunLimits& limits) : watchdog_(limits, end_process) {}

} // namespace warplens::tools
