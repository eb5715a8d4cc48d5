// SPDX-License-Identifier: Apache-2.0
// Findings, each with the speedup of the launch that its remedy promises.
//
//   advise(report, module, kernel, statistics, shared_bytes);
//   report.findings[0].remedy, *report.findings[0].speedup == 2.3
#pragma once

#include "api/launch/launch.hpp"
#include "api/launch/statistics.hpp"

namespace warplens::api {

/// Fills LaunchReport::findings from the profile and the predictions. The speedup is the predicted time, divided by the
/// prediction for the counts that the remedy changes; both are by the model to trust. It is empty if no model predicts,
/// or if the finding does not say how the counts change. `shared_bytes`: of a block, with what the device adds.
void advise(LaunchReport& report, const ir::Module& module, const ir::Function& kernel, const Statistics& statistics,
            std::int64_t shared_bytes);

} // namespace warplens::api
