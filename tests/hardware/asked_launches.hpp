// SPDX-License-Identifier: Apache-2.0
// The launches that were timed on an H200 (tests/data/hardware/times_asked.jsonl), and the statistics that the models
// receive for them.
//
//   std::vector<AskedLaunch> asked = asked_launches();
//   asked[0].kernel, asked[0].milliseconds, asked[0].held_out
//   model::KernelStatistics now = *emulate(asked[0]), committed = *asked[0].counted;
#pragma once

#include "emulator/base/expected.hpp"
#include "model/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace warplens::tests {

struct AskedLaunch {
  std::size_t number = 0; ///< index of the line in times_asked.jsonl
  std::string line;       ///< that line
  std::string module, kernel, label;
  double milliseconds = 0;                          ///< measured
  double machine_instructions = 0;                  ///< measured warp instructions
  bool held_out = false;                            ///< not used for fitting
  std::optional<model::KernelStatistics> counted{}; ///< from times_counted.jsonl, if present
};

/// All launches, in order; throws if a file cannot be read or does not match the others.
std::vector<AskedLaunch> asked_launches();
/// The counted launches that are, or are not, held out.
std::vector<AskedLaunch> part(const std::vector<AskedLaunch>& launches, bool held_out);

/// A kernel is held out if the SHA-1 of its name, modulo 5, is 0 or 1. This was fixed before any fitting.
bool held_out(std::string_view kernel);

/// Emulates a launch on the H200 as `warplens run` does. Errors: failures to launch, and traps.
Expected<model::KernelStatistics> emulate(const AskedLaunch& asked);

/// A line of times_counted.jsonl; numbers have six digits.
std::string line_of(const AskedLaunch& asked, const model::KernelStatistics& statistics);

/// The time of the launch on the H200 that model throughput-latency predicts from `counted`, in milliseconds; throws if
/// there is no prediction.
double predicted_milliseconds(const AskedLaunch& asked);

/// The accuracy of the predictions.
struct Accuracy {
  std::size_t launches = 0, kernels = 0;
  double mean_error = 0; ///< of absolute difference / measured time
  double spearman = 0;   ///< rank correlation of predicted and measured times
};
Accuracy accuracy(const std::vector<AskedLaunch>& launches);

} // namespace warplens::tests
