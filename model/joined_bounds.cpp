// SPDX-License-Identifier: Apache-2.0
#include "model/joined_bounds.hpp"

#include <cmath>
#include <numeric>

namespace warplens::model {

const Bound& largest(Prediction& prediction, std::span<const Bound> bounds) {
  const Bound* most = &bounds[0];
  for (const Bound& bound : bounds) {
    note(prediction, bound.name, bound.cycles, "cycles");
    if (bound.cycles > most->cycles) most = &bound;
  }
  return *most;
}

JoinedBounds join(Prediction& prediction, std::span<const Bound> bounds, double overlap) {
  const Bound* const most = &largest(prediction, bounds);
  // Dividing by the largest keeps the powers from overflowing.
  const double sum = std::accumulate(bounds.begin(), bounds.end(), 0.0, [&](double part, const Bound& bound) {
    return part + std::pow(bound.cycles / most->cycles, overlap);
  });
  return {most, note(prediction, "joined", most->cycles * std::pow(sum, 1 / overlap), "cycles")};
}

} // namespace warplens::model
