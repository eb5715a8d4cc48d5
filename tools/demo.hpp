// SPDX-License-Identifier: Apache-2.0
// The sample that is compiled in: c[i] = a[i] + b[i].
//
//   Expected<api::PlanReport> report = run_sample("c1060");
//   if (report && sample_is_right(*report)) …
#pragma once

#include "api/plan/plan.hpp"

#include <string>

namespace warplens::tools {

/// Runs the sample. `device`: a name or a device file; empty: the sample's own.
Expected<api::PlanReport> run_sample(const std::string& device);
/// Whether it ran to its end and c is the sum.
bool sample_is_right(const api::PlanReport& report);

} // namespace warplens::tools
