// SPDX-License-Identifier: Apache-2.0
// Implements the report options of `warplens exec` (api/session/environment.hpp): which launches to analyze, and where
// to write the reports.
//
//   set_observer(observer_from_environment(device));       in cuInit(); null: no reports requested
//
// Reports are written when the process calls exit() or returns from main(), as soon as a kernel has failed, and at the
// other ends of runtime/driver/machine/ending.hpp. The JSON file is replaced atomically. Its name is FILE for the
// process that `warplens exec` became, and FILE.<process> for all others that launched something.
#pragma once

#include "runtime/driver/machine/launch.hpp"

namespace warplens::runtime {

std::shared_ptr<Observer> observer_from_environment(const model::Device& device);

/// Writes the reports of that observer, once, for processes that end without exit().
void write_reports();
/// What was compiled of the kernels, if the user wants to know; once.
void explain_compiled();

} // namespace warplens::runtime
