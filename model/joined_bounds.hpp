// SPDX-License-Identifier: Apache-2.0
// How models combine what limits a launch where it overlaps.
#pragma once

#include "model/prediction.hpp"

#include <span>

namespace warplens::model {

/// A time that a launch takes at least, if nothing else limits it.
struct Bound {
  const char* name;
  double cycles;
  const char* kind; ///< what limits a launch of which this is the largest
};
struct JoinedBounds {
  const Bound* largest;
  double cycles;
};
/// Notes each bound and returns the largest: these limits do not disturb each other.
const Bound& largest(Prediction& prediction, std::span<const Bound> bounds);
/// Notes each bound and their sum, which is (a^n + b^n + ...)^(1/n) with n = `overlap`: the largest if n is large.
JoinedBounds join(Prediction& prediction, std::span<const Bound> bounds, double overlap);

} // namespace warplens::model
