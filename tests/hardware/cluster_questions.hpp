// SPDX-License-Identifier: Apache-2.0
// Questions on addresses of shared memory in clusters that were asked of hardware, and the kernels that ask them.
//
//   for (const ClusterShape& shape : cluster_shapes())
//     for (const std::string& question : cluster_questions()) load(cluster_kernel(shape, question)) …
//
// One thread of each block runs the statements of the question. Before, it has stored 100 + its rank in `word` and
// initialised `bar` with a count of 1, and all blocks have met. %own is the address of `word`, %plain its lower 24
// bits, %peer the same with the rank of the next block (the first one's for the last), %beyond with the number of
// blocks as rank; %gown, %gplain, %gpeer and %gbeyond are their generic addresses. `copy` is a bulk copy of 16 bytes
// from %in, words 0x300. `see` reads %v from `word` by its name, after all blocks have met again; `phase` says whether
// `bar` is in its second phase then; `back` reads what a bulk store has written.
#pragma once

#include <string>
#include <vector>

namespace warplens::tests {

struct ClusterShape {
  std::string name; ///< "none": a launch without clusters
  unsigned x, y, z;
};
std::vector<ClusterShape> cluster_shapes();
std::vector<std::string> cluster_questions();

/// k(out, in): the block with rank r stores %v in word r of `out`, which has 4096 bytes.
std::string cluster_kernel(const ClusterShape& shape, const std::string& question);

} // namespace warplens::tests
