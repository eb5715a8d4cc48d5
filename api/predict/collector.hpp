// SPDX-License-Identifier: Apache-2.0
// Collects the models' input from the emulator's report, a profiler's table, or a table made by hand. All three
// collectors have the same result, so that every model can use each of them.
//
//   Expected<std::vector<CollectedLaunch>> launches = collect("profile.csv", device);
//   predict("dasgupta", launches->front().statistics, device)
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/statistics.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

struct CollectedLaunch {
  std::string kernel;
  model::KernelStatistics statistics;
  std::optional<double> milliseconds; ///< measured, if known
  std::vector<std::string> remarks;   ///< the assumptions made
};

/// Reads a file for a device. The content determines the format: `{` begins a JSON report of `warplens run --json`; a
/// CSV with a column `method` comes from the CUDA Visual Profiler; in any other CSV the titles are fields of
/// model::KernelStatistics, `kernel` and `milliseconds`. Resident blocks are computed for the device if registers and
/// shared memory are known. Errors: no such file; an empty file; another format; counted under the rules of another
/// device; a launch that does not fit on the device.
Expected<std::vector<CollectedLaunch>> collect(const std::filesystem::path& file, const model::Device& device);
/// The same for text; messages use `name`.
Expected<std::vector<CollectedLaunch>> collect_text(std::string_view text, std::string_view name,
                                                    const model::Device& device);

/// The three collectors, from which collect() chooses.
Expected<std::vector<CollectedLaunch>> collect_report(std::string_view json, std::string_view name,
                                                      const model::Device& device);
/// Counters cover one multiprocessor (instructions, requests) or one cluster of multiprocessors (transactions, blocks):
/// Table 1 of Dasgupta divides them by the warps that ran there. Skips copies. Compute capability 1.x only.
Expected<std::vector<CollectedLaunch>> collect_visual_profiler(std::string_view csv, std::string_view name,
                                                               const model::Device& device);
Expected<std::vector<CollectedLaunch>> collect_fields(std::string_view csv, std::string_view name);

} // namespace warplens::api
