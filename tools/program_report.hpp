// SPDX-License-Identifier: Apache-2.0
// Runs a CUDA program as `warplens exec` does, and reads the report of its launches.
//
//   Expected<api::ReportFile> report = report_of_program({"--device", "a100"}, {"./vectorAdd", "1000"});
//   report->name == "./vectorAdd 1000"
#pragma once

#include "api/sweep/compare.hpp"

#include <string>
#include <vector>

namespace warplens::tools {

/// `options`: of `warplens exec`. The output of the program is not shown. Errors: the program failed, with what it said
/// last; it launched no kernel.
Expected<api::ReportFile> report_of_program(const std::vector<std::string>& options,
                                            const std::vector<std::string>& program);

} // namespace warplens::tools
