// Where the models' input comes from: the emulator's report, a profiler's table, or a table made by hand. Three
// collectors, one kind of result, so that every model predicts from each.
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
  std::optional<double> milliseconds; ///< where somebody measured it
  std::vector<std::string> remarks;   ///< what was taken for granted
};

/// Reads a file for a device. What it is shows in its content: `{` begins a JSON report of `warplens run --json`; a CSV
/// whose titles have `method` is of the CUDA Visual Profiler; in any other CSV the titles are fields of
/// model::KernelStatistics, `kernel` and `milliseconds`. Blocks on a multiprocessor are computed for the device where
/// registers and shared memory are known. Errors: no such file; nothing in it; not of these forms; counted by the rules
/// of another device; a launch that does not fit on the device.
Expected<std::vector<CollectedLaunch>> collect(const std::filesystem::path& file, const model::Device& device);
/// The same from a text; `name` is for messages.
Expected<std::vector<CollectedLaunch>> collect_text(std::string_view text, std::string_view name,
                                                    const model::Device& device);

/// The three of them; collect() chooses.
Expected<std::vector<CollectedLaunch>> collect_report(std::string_view json, std::string_view name,
                                                      const model::Device& device);
/// Counters are of one multiprocessor (instructions, requests) or of one cluster of them (transactions, blocks): Table
/// 1 of Dasgupta divides them by the warps that ran there. Copies are passed over. Compute capability 1.x only.
Expected<std::vector<CollectedLaunch>> collect_visual_profiler(std::string_view csv, std::string_view name,
                                                               const model::Device& device);
Expected<std::vector<CollectedLaunch>> collect_fields(std::string_view csv, std::string_view name);

} // namespace warplens::api
