// SPDX-License-Identifier: Apache-2.0
#include "analyzers/finding_kinds.hpp"

#include <fmt/format.h>

namespace warplens::analyzers {

namespace {

std::string warning_from(std::string_view what) {
  return fmt::format("a warning if {} is at least {:g} %, otherwise a note", what, 100 * kMostlyWaste);
}

FindingKind uncoalesced() {
  return {"UncoalescedGlobalAccess",
          "An instruction that accesses global memory moves more sectors, bytes or transactions than its data needs.",
          fmt::format("at least {:g} % of the sectors of an instruction could be saved; on devices whose rule counts "
                      "bytes or transactions, of these",
                      100 * kLeastExcess),
          warning_from("the share that could be saved"),
          {"make neighbouring threads access neighbouring words: swap the indices, store the fields of a structure in "
           "separate arrays, or stage the data in shared memory",
           "align each row to the size of a sector or segment: pad the pitch",
           "distribute the work over the whole warp, one word per thread",
           "sort or group irregular work, so that the threads of a warp use the same sectors"},
          "rules.md#global-memory-transactions"};
}

FindingKind conflicts() {
  return {"SharedMemoryConflicts",
          "The lanes of a warp access different words of the same bank of shared memory, so that the access takes "
          "further passes.",
          fmt::format("at least {:g} % of the passes of an instruction are bank conflicts", 100 * kLeastExcess),
          warning_from("the share of conflicts"),
          {"pad the rows of the array by one word",
           "swap the indices, so that the threads of a warp use different banks",
           "for atomics, give each warp or group of lanes its own copy, and sum the copies at the end"},
          "rules.md#shared-memory-passes-over-the-banks"};
}

FindingKind divergence() {
  return {"ThreadDivergence",
          "Lanes of a warp do nothing, because the warp executes both paths of a branch, one after the other, or "
          "because not all of its threads take part.",
          fmt::format("at least {:g} % of the warps that execute a branch take both paths; or fewer than {:g} of 32 "
                      "lanes execute an average instruction of the launch",
                      100 * kMostDivergent, kFewestLanes),
          fmt::format("a warning if at least {:g} % of the executions diverge, or if fewer than {:g} lanes are active; "
                      "otherwise a note",
                      100 * kMostlyWaste, 32 * kMostlyWaste),
          {"make the condition uniform within each warp: compute it from the warp or block index, or sort the data by "
           "it",
           "replace the branch with a select instruction",
           "check loops with different trip counts, and block sizes that are not a multiple of 32 threads"},
          "guide.md#3-reading-the-report"};
}

} // namespace

const std::vector<FindingKind>& finding_kinds() {
  static const std::vector<FindingKind> kinds{uncoalesced(), conflicts(), divergence()};
  return kinds;
}

} // namespace warplens::analyzers
