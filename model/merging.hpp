// How many requests for the same data the memory controller really joins. Dasgupta (2011, sections 3.2.4 and 5.2.4)
// found that it depends on occupancy and block size, set the factor by hand and asked for a formal relationship. This
// is ours; no measurement confirms it.
//
//   each segment is asked for by the 2 warps of a block, 16 warps are resident, the controller sees 11 requests at a
//   time  ->  they are for 7.33 distinct segments on average: a factor of 1.5
//
// The controller compares the `queue` oldest of all the requests that a multiprocessor has in flight. Which of them
// these are is a matter of chance, so the number of distinct segments among them is hypergeometric. The factor falls as
// occupancy rises (requests of other blocks crowd out the duplicates) and rises with the warps of a block, as the
// thesis describes (sections 5.2.4.1 and 5.2.4.2).
#pragma once

namespace warplens::model {

/// Requests in the queue for each distinct segment among them, from 1 to `ideal`. `ideal`: requests for the same data
/// (Dasgupta's first degree: the warps of a block); `in_flight`: requests of a multiprocessor; `queue`: requests that
/// the controller compares. All are at least 1; fractions are fine.
double effective_duplicate_loads(double ideal, double in_flight, double queue);

} // namespace warplens::model
