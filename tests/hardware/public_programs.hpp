// SPDX-License-Identifier: Apache-2.0
// Times of kernels of public programs on an H200 and an H100 (tests/data/hardware/*_programs.jsonl), and what the
// models predict from the emulator's counts of the same launches. No parameter was fitted to any of them.
//
//   for (const TimedLaunch& launch : public_programs())
//     launch.*kH100.milliseconds, predicted(model::kCriticalPath, launch, kH100).milliseconds …
//   errors(model::kCriticalPath, public_programs(), kH200).mean
#pragma once

#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::tests {

struct TimedLaunch {
  std::string program, kernel; ///< the kernel as the compiler names it
  std::string versions;        ///< kernels of the program with the same text do the same work; empty: none does
  int launch = 0;
  bool judges = false; ///< not looked at while the model was developed
  bool waits = false;  ///< blocks wait for others in loops, so that the counts are of the emulator's order of blocks
  std::string not_modelled; ///< what the launch does that no model knows; mostly empty
  double milliseconds = 0, milliseconds_h100 = 0;
  model::KernelStatistics counted;
};
const std::vector<TimedLaunch>& public_programs();
/// Launches of other programs, which were measured after the model was finished; on an H100 only.
const std::vector<TimedLaunch>& later_programs();
/// Launches of yet other programs, which judged the version of the model before the term `port`; on an H200 only.
const std::vector<TimedLaunch>& newest_programs();
/// Launches that were predicted before anybody looked at their times: of more programs of HeCBench, and of samples that
/// come with CUDA; on an H200 only.
const std::vector<TimedLaunch>& more_programs();
const std::vector<TimedLaunch>& sample_programs();
/// Launches of PolyBench-ACC and others that were predicted before anybody looked at their times, by the version of the
/// model with constants and special operands; on an H200 only.
const std::vector<TimedLaunch>& stranger_programs();
/// Launches of llm.c and of tutorials, predicted before anybody looked at their times by the version of the model with
/// loads in flight; on an H200 only.
const std::vector<TimedLaunch>& tutorial_programs();
/// Launches of Rodinia, SHOC and HeCBench, predicted before anybody looked at their times by the version of the model
/// with compare-and-swaps of several warps; on an H200 only.
const std::vector<TimedLaunch>& suite_programs();
/// Launches of versions of the kernels in samples/, on an H200 (tests/data/hardware/times.jsonl).
const std::vector<TimedLaunch>& versions_of_samples();
/// Those of the launches on an H200 that say how large the error of a prediction is: all whose blocks do not wait.
std::vector<TimedLaunch> evaluated_on_h200();
/// Of these launches, those whose blocks do not wait.
std::vector<TimedLaunch> without_waits(const std::vector<TimedLaunch>& launches);
/// Those that do nothing that no model knows.
std::vector<TimedLaunch> modelled(const std::vector<TimedLaunch>& launches);
/// The half of the programs that judges, or the other one, which was examined.
std::vector<TimedLaunch> half(bool judges);

/// The name of the kernel in its source, without its namespace and the arguments of a template.
std::string name_in_source(const std::string& kernel);

struct Gpu {
  const char *device, *name;
  double TimedLaunch::*milliseconds;
};
inline constexpr Gpu kH200{"h200", "H200", &TimedLaunch::milliseconds};
inline constexpr Gpu kH100{"h100", "H100", &TimedLaunch::milliseconds_h100};

/// Throws if there is no prediction.
model::Prediction predicted(std::string_view model, const TimedLaunch& launch, const Gpu& gpu);

/// Absolute errors in percent of the measured times, and the rank correlation of predicted and measured times.
struct Errors {
  std::size_t launches = 0;
  double mean = 0, median = 0, spearman = 0;
};
Errors errors(std::string_view model, const std::vector<TimedLaunch>& launches, const Gpu& gpu);
/// With other parameters for that GPU.
Errors errors(std::string_view model, const std::vector<TimedLaunch>& launches, const Gpu& gpu,
              const model::Device& device);

} // namespace warplens::tests
