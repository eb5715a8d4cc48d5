// What a launch would gain if one thing about it were ideal: each thing is changed in the statistics, and the model
// asked again. So every model explains itself in the same words, and the gains are in milliseconds.
//
//   transactions   0.43 ms    as few transactions as could carry the bytes asked for
//   occupancy      0.12 ms    as many warps on a multiprocessor as it holds
//
// Gains do not add up: what one change removes, another can no longer gain.
#pragma once

#include "model/models.hpp"

#include <string_view>
#include <vector>

namespace warplens::model {

/// A thing that can be ideal.
struct Ideal {
  std::string_view of;      ///< "transactions"
  std::string_view meaning; ///< for people
  /// Makes it so; false where the statistics do not say enough, or it is ideal already.
  bool (*apply)(KernelStatistics&, const Device&);
};
const std::vector<Ideal>& ideals();

/// Largest first, without those that change nothing. `prediction`: what the model says of `statistics` as they are.
std::vector<Benefit> potential_benefits(const Model& model, const Prediction& prediction,
                                        const KernelStatistics& statistics, const Device& device,
                                        const ModelOptions& options);

} // namespace warplens::model
