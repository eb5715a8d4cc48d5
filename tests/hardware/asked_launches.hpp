// The launches whose times an H200 was asked (tests/data/hardware/times_asked.jsonl), and what the models are given of
// them.
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
  std::size_t number = 0; ///< of its line in times_asked.jsonl, from 0
  std::string line;       ///< that line
  std::string module, kernel, label;
  double milliseconds = 0;                          ///< measured
  double machine_instructions = 0;                  ///< measured, of warps
  bool held_out = false;                            ///< not used for fitting
  std::optional<model::KernelStatistics> counted{}; ///< as committed in times_counted.jsonl, if it was
};

/// All of them, in order; throws where a file cannot be read or does not fit the others.
std::vector<AskedLaunch> asked_launches();
/// Those that are counted and held out, or not.
std::vector<AskedLaunch> part(const std::vector<AskedLaunch>& launches, bool held_out);

/// Kernels are held out by name, decided before anything was fitted: their SHA-1 as a number, modulo 5, is 0 or 1.
bool held_out(std::string_view kernel);

/// Emulates a launch on the H200 as `warplens run` does. Error: whatever keeps it from being launched, and traps.
Expected<model::KernelStatistics> emulate(const AskedLaunch& asked);

/// A line of times_counted.jsonl; numbers to six digits.
std::string line_of(const AskedLaunch& asked, const model::KernelStatistics& statistics);

/// What model throughput-latency says of the launch on the H200, in milliseconds, from `counted`; throws where it says
/// nothing.
double predicted_milliseconds(const AskedLaunch& asked);

/// How far predictions are off.
struct Accuracy {
  std::size_t launches = 0, kernels = 0;
  double mean_error = 0; ///< absolute difference over measured time
  double spearman = 0;   ///< rank correlation of predicted and measured times
};
Accuracy accuracy(const std::vector<AskedLaunch>& launches);

} // namespace warplens::tests
