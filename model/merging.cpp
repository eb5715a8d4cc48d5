#include "model/merging.hpp"

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

// The probability that a segment which `ideal` of `in_flight` requests ask for is not among `queue` of them:
// C(in_flight - ideal, queue) / C(in_flight, queue), with gamma functions, so that fractions are possible.
double absent(double ideal, double in_flight, double queue) {
  const double rest = in_flight - ideal - queue;
  if (rest <= -1) return 0;
  return std::exp(std::lgamma(in_flight - ideal + 1) + std::lgamma(in_flight - queue + 1) - std::lgamma(rest + 1) -
                  std::lgamma(in_flight + 1));
}

} // namespace

double effective_duplicate_loads(double ideal, double in_flight, double queue) {
  ideal = std::min(ideal, in_flight); // no more can be in flight than are
  queue = std::min(queue, in_flight);
  const double distinct = in_flight / ideal * (1 - absent(ideal, in_flight, queue));
  return std::clamp(queue / distinct, 1.0, ideal);
}

} // namespace warplens::model
