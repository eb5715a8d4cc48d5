// SPDX-License-Identifier: Apache-2.0
#include "model/merging.hpp"

namespace warplens::model {

double effective_duplicate_loads(double ideal, double warps, double queue) {
  const double too_late = warps / (queue + warps);
  return ideal / (1 + (ideal - 1) * too_late);
}

} // namespace warplens::model
