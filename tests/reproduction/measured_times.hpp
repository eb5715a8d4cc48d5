// SPDX-License-Identifier: Apache-2.0
// The launches whose times the papers print (tests/data/papers/measured_times.jsonl), and the errors of the models for
// them. Their counts are those of the emulator for the kernels of samples/, by the rules of the papers' GPUs.
//
//   for (const Judgement& j : judgements()) … j.device, j.model, j.errors.mean …
#pragma once

#include "model/models.hpp"

#include <string>
#include <vector>

namespace warplens::reproduction {

struct PaperLaunch {
  std::string paper, device; ///< device: its id
  std::string kernel, size;
  double milliseconds = 0; ///< measured
  model::KernelStatistics counted;
};
const std::vector<PaperLaunch>& paper_launches();

/// Absolute errors in percent of the measured times.
struct PaperErrors {
  std::size_t launches = 0;
  double mean = 0, median = 0;
  double least = 0, most = 0; ///< of predicted / measured
};

/// The errors of a model for the launches of a paper on a GPU, or of all papers.
struct Judgement {
  std::string paper; ///< empty: all of this GPU
  model::Device device;
  std::string model;   ///< id
  std::string setting; ///< " with …": what is not the default
  PaperErrors errors;
};
/// By GPU, paper and model. Of the models that need measured runs, the weight is fitted to the sizes of each kernel, if
/// there are several.
std::vector<Judgement> judgements();

/// The errors of a model on all GPUs of compute capability 1.x for which it has parameters.
PaperErrors errors_on_first_devices(std::string_view model);

/// The table of docs/models.md.
std::string measured_times_table();

} // namespace warplens::reproduction
