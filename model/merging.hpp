// SPDX-License-Identifier: Apache-2.0
// How many requests for the same data the memory controller merges. Dasgupta (2011, sections 3.2.4 and 5.2.4) found
// that it depends on occupancy and block size, set the factor by hand, and asked for a formal relationship. This is a
// hypothesis of Warplens with one constant, derived from two numbers.
//
//   the 2 warps of a block request each segment, 16 warps are resident, the queue is 33.7  ->  a second request
//   goes out with a probability of 16 / (33.7 + 16) = 0.32: two requests make 1.32, a factor of 1.51
//
// The first request for a segment goes out. Each further one either finds it still in the controller's queue and is
// merged, or comes too late. The more warps are resident, the sooner other requests displace it. The factor falls as
// occupancy rises and rises with the warps of a block, as the thesis describes (sections 5.2.4.1 and 5.2.4.2). Its two
// printed cases, whose factors follow from the MWP of tables 12 and 13, give the same constant: 34.3 from 16 resident
// warps and a factor of 1.517, 33.1 from 12 and 1.580.
#pragma once

namespace warplens::model {

/// Requests per request that goes out, from 1 to `ideal`. `ideal`: requests for the same data (Dasgupta's first
/// degree: the warps of a block); `warps`: resident on a multiprocessor; `queue`: the number of resident warps
/// with which half of the further requests come too late. All are at least 1 and may be fractions.
constexpr double effective_duplicate_loads(double ideal, double warps, double queue) {
  const double too_late = warps / (queue + warps);
  return ideal / (1 + (ideal - 1) * too_late);
}

} // namespace warplens::model
