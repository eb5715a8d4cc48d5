// SPDX-License-Identifier: Apache-2.0
// --time-limit and --max-memory: the limits of a command.
//
//   add_limit_options(options);  …  const LimitGuard guard(values);
#pragma once

#include "api/session/watchdog.hpp"

#include <boost/program_options.hpp>

namespace warplens::tools {

void add_limit_options(boost::program_options::options_description& options);

/// Errors: UsageError.
api::RunLimits limits_of(const boost::program_options::variables_map& values);

/// Enforces the limits during its lifetime: launches stop when the time is over. If other work continues after that, or
/// uses too much memory, the process ends with a message and kFound.
class LimitGuard {
public:
  explicit LimitGuard(const boost::program_options::variables_map& values) : LimitGuard(limits_of(values)) {}
  explicit LimitGuard(const api::RunLimits& limits);

private:
  api::Watchdog watchdog_;
};

} // namespace warplens::tools
