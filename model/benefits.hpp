// SPDX-License-Identifier: Apache-2.0
// The time that a launch would save if one of its properties were ideal. Each property is changed in the statistics,
// and the model is evaluated again. All models thus report the same properties, and the savings are in milliseconds.
//
//   transactions   0.43 ms    the fewest transactions that can transfer the requested bytes
//   occupancy      0.12 ms    the maximum number of resident warps on a multiprocessor
//
// Savings do not add up: time that one change saves cannot be saved again by another.
#pragma once

#include "model/models.hpp"

#include <string_view>
#include <vector>

namespace warplens::model {

/// A property that can be ideal.
struct Ideal {
  std::string_view of;      ///< "transactions"
  std::string_view meaning; ///< for people
  /// Makes the property ideal; false if the statistics do not suffice, or if it is ideal already.
  bool (*apply)(KernelStatistics&, const Device&);
};
const std::vector<Ideal>& ideals();

/// Largest first, without those that change nothing. `prediction`: the result of the model for unchanged `statistics`.
std::vector<Benefit> potential_benefits(const Model& model, const Prediction& prediction,
                                        const KernelStatistics& statistics, const Device& device,
                                        const ModelOptions& options);

} // namespace warplens::model
