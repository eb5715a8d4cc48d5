// SPDX-License-Identifier: Apache-2.0
#include "analyzers/finding_kinds.hpp"

#include <fmt/format.h>

namespace warplens::analyzers {

namespace {

std::string warning(std::string_view condition = {}) {
  return fmt::format(
      "a warning{}, unless the model to trust predicts that the remedy saves less than {:g} %; otherwise "
      "a note",
      condition, 100 * (kWorthwhile - 1));
}

std::string warning_from(std::string_view what) {
  return warning(fmt::format(" if {} is at least {:g} %", what, 100 * kMostlyWaste));
}

FindingKind uncoalesced() {
  return {names::kUncoalescedGlobalAccess,
          "An instruction that accesses global memory moves more sectors, bytes or transactions than its data needs.",
          fmt::format("at least {:g} % of the sectors of an instruction could be saved; on devices whose rule counts "
                      "bytes or transactions, of these",
                      100 * kLeastExcess),
          warning_from("the share that could be saved"),
          {kUseNeighbours, "align each row to the size of a sector or segment: pad the pitch", kUseWholeWarp,
           "sort or group irregular work, so that the threads of a warp use the same sectors"},
          "findings.md#uncoalescedglobalaccess"};
}

FindingKind conflicts() {
  return {names::kSharedMemoryConflicts,
          "The lanes of a warp access different words of the same bank of shared memory, so that the access takes "
          "further passes.",
          fmt::format("at least {:g} % of the passes of an instruction are bank conflicts", 100 * kLeastExcess),
          warning_from("the share of conflicts"),
          {"pad the rows of the array by one word",
           "swap the indices, so that the threads of a warp use different banks",
           "for atomics, give each warp or group of lanes its own copy, and sum the copies at the end"},
          "findings.md#sharedmemoryconflicts"};
}

FindingKind divergence() {
  return {
      names::kThreadDivergence,
      "Lanes of a warp do nothing, because the warp executes both paths of a branch, one after the other, or "
      "because not all of its threads take part.",
      fmt::format("at least {:g} % of the warps that execute a branch take both paths; or fewer than {:g} of 32 "
                  "lanes execute an average instruction of the launch",
                  100 * kMostDivergent, kFewestLanes),
      warning(fmt::format(" if at least {:g} % of the executions diverge and {:g} % of the lane slots of the launch "
                          "are lost by it, or if fewer than {:g} lanes are active",
                          100 * kMostlyWaste, 100 * kLeastLost, 32 * kMostlyWaste)),
      {"make the condition uniform within each warp: compute it from the warp or block index, or sort the data by "
       "it",
       "replace the branch with a select instruction",
       "check loops with different trip counts, and block sizes that are not a multiple of 32 threads"},
      "findings.md#threaddivergence"};
}

FindingKind unneeded_barrier() {
  return {names::kUnneededBarrier,
          "Threads wait for each other at a barrier, but exchange no data.",
          "a kernel with barriers has no shared memory, no atomics and no fences, and loads nothing from where it "
          "stores; or each thread loads from shared memory only what it stored; or between a barrier and those before "
          "and after it, no thread accesses what another one changes",
          warning(),
          {"remove the barrier"},
          "findings.md#unneededbarrier"};
}

FindingKind double_precision() {
  return {names::kDoublePrecisionInFloat,
          "A kernel on float data computes in double precision.",
          "f64 arithmetic on values converted from f32, in a kernel that loads and stores no f64",
          warning(),
          {"write the constants as float, such as 1.0f", "call the float functions: sinf() instead of sin()"},
          "findings.md#doubleprecisioninfloat"};
}

FindingKind local() {
  return {names::kLocalMemory,
          "Arrays of a thread lie in local memory, which is a part of device memory.",
          fmt::format("at least {:g} % of the instructions access local memory", 100 * kLeastLocal),
          "a note",
          {"unroll the loops that index the array, so that the compiler can keep it in registers",
           "keep the array in shared memory, with one column per thread"},
          "findings.md#localmemory"};
}

FindingKind constants() {
  return {
      names::kConstantSerialized,
      "The threads of a warp read different words of constant memory, which delivers one word at a time.",
      fmt::format("at least {:g} % of the passes over constant memory are beyond one per request", 100 * kLeastExcess),
      warning_from("the share of these passes"),
      {"copy the table to shared memory", "read it as const __restrict__ from global memory"},
      "findings.md#constantserialized"};
}

FindingKind repeated_load() {
  return {names::kRepeatedLoad,
          "A word is loaded again after a store, because the pointers of both could be equal.",
          "two loads from one address in a basic block, with a store to global memory in between; or a load in a loop "
          "that visits the same words at least four times, in a kernel that stores to global memory and whose threads "
          "exchange no data",
          "a note",
          {"declare the pointers const and __restrict__", "keep the word in a variable"},
          "findings.md#repeatedload"};
}

FindingKind contended() {
  return {names::kContendedAtomics,
          "The threads of a warp, or all blocks, update the same words, one after the other.",
          "all threads of most warps access one address, and the compiler does not combine them: it combines integer "
          "additions whose result is not used; or the first and the last block update the same words, which fit into "
          "shared memory, at least four times each, where the model to trust predicts that copies in shared memory "
          "save at least 5 %; or all threads of most warps update one word of shared memory, which has no unit for its "
          "type, where the model to trust predicts that combining them saves at least 5 %",
          warning(" for the threads of a warp"),
          {"combine the values of the warp first, and let one thread do the atomic",
           "give each block its own copy, and combine the copies at the end"},
          "findings.md#contendedatomics"};
}

FindingKind block_size() {
  return {names::kBlockSize,
          "The block size is not a multiple of the warp size, so that lanes of the last warp of each block are idle.",
          fmt::format("at least {:g} % of the lanes of a block's warps have no thread", 100 * kLeastExcess),
          warning_from("the share of these lanes"),
          {kUseWholeWarps},
          "findings.md#blocksize"};
}

FindingKind narrow_loads() {
  return {names::kNarrowLoads,
          "A thread loads words that follow each other one by one, although one instruction can load up to 16 bytes.",
          "loads from consecutive addresses in a basic block, without a store in between, whose first address is a "
          "multiple of the bytes of all in each recorded access; where the model to trust predicts that fewer loads "
          "save at least 5 %",
          "a note",
          {"load float4, float2 or another type with an alignment of 8 or 16 bytes"},
          "findings.md#narrowloads"};
}

FindingKind narrow_accesses() {
  return {
      names::kNarrowAccesses,
      "Each thread processes one element of one or two bytes, so that the requests of a warp are narrow.",
      "neighbouring threads access neighbouring elements, aligned so that those of several threads form words of 4 "
      "bytes in each recorded access; no threads exchange data, and no branch depends on the data; where the model "
      "to trust predicts that wider accesses save at least 5 %",
      "a note",
      {"process several elements in each thread: load and store them as uchar4, ushort2 or another word of 4 bytes"},
      "findings.md#narrowaccesses"};
}

FindingKind unused_result() {
  return {names::kUnusedResult,
          "The kernel stores a result that it overwrites, or loads a word that it does not use.",
          "a store in a loop that goes to the same words at least four times, in a kernel whose threads exchange no "
          "data; or a volatile load whose registers no instruction reads",
          "a note",
          {"keep the value in a variable during the loop", "remove the load"},
          "findings.md#unusedresult"};
}

FindingKind within_warp() {
  return {names::kSharedWithinWarp,
          "Shared memory exchanges words only between the threads of a warp, which shuffles could do.",
          "each recorded load of shared memory reads words that one store of the same warp, and no other warp, stored, "
          "some of them by other lanes; where the model to trust predicts a saving of at least 5 %",
          "a note",
          {"use __shfl_sync() and its variants"},
          "findings.md#sharedwithinwarp"};
}

FindingKind redundant_loads() {
  return {names::kRedundantLoads,
          "The threads of a block load the same words of global memory.",
          fmt::format("loads that a warp executes at least {:g} times, and whose words the threads of a block load at "
                      "least {:g} times each; where the model to trust predicts that staging saves at least 5 %",
                      kLeastVisits, kLeastReuse),
          "a note",
          {"stage tiles in shared memory", "let each thread compute several results from the words in its registers"},
          "findings.md#redundantloads"};
}

FindingKind low_cache_reuse() {
  return {names::kLowCacheReuse,
          "The first-level cache evicts sectors before the kernel loads them again.",
          fmt::format("at least {:g} % of the sectors that a load misses were in the cache before, with --analyzers "
                      "caches; where the model to trust predicts that hits save at least 5 %",
                      100 * kMostlyWaste),
          "a note",
          {"do all work on a part of the data that fits in the cache before the next part"},
          "findings.md#lowcachereuse"};
}

FindingKind tail() {
  return {names::kTailEffect,
          "The blocks cannot be divided evenly among the multiprocessors, so that most of them are idle at the end.",
          fmt::format("at least {:g} % of the time of the multiprocessors is idle at the end, where the model to trust "
                      "predicts that smaller blocks save at least 5 %",
                      100 * kLeastTail),
          "a note",
          {"use smaller blocks", "distribute the work of a thread over several"},
          "findings.md#taileffect"};
}

FindingKind too_few_blocks() {
  return {names::kTooFewBlocks,
          "The grid has fewer blocks than the GPU has multiprocessors.",
          "fewer blocks than multiprocessors, where the model to trust predicts that smaller blocks save at least 5 %",
          "a warning",
          {"use smaller blocks", "distribute the work of a thread over several"},
          "findings.md#toofewblocks"};
}

FindingKind occupancy() {
  return {names::kOccupancy,
          "Registers, shared memory or the block size limit the warps that are resident on a multiprocessor.",
          "the model to trust predicts that the change which lifts the limit saves at least 5 %",
          "a note",
          {"limit the registers of a thread with __launch_bounds__ or -maxrregcount",
           "use less shared memory per block", "choose another block size"},
          "findings.md#occupancy"};
}

FindingKind spills() {
  return {names::kRegisterSpills,
          "The bound for the registers of a thread makes the compiler spill some to local memory.",
          fmt::format("a thread needs at least {:g} % more registers at once than .maxnreg, or .minnctapersm and "
                      ".maxntid, leave it",
                      100 * kLeastExcess),
          fmt::format("a warning if at least {:g} % of the bound are spilled; otherwise a note", 100 * kMostlyWaste),
          {"lift the bound: -maxrregcount, __maxnreg__ or the second argument of __launch_bounds__",
           "let a thread keep fewer values"},
          "findings.md#registerspills"};
}

FindingKind impossible() {
  return {names::kImpossibleLaunch,
          "No block of the launch fits on a multiprocessor of the device.",
          "the registers, the shared memory or the threads of a block exceed what a multiprocessor has",
          "a warning",
          {"use a smaller block", "limit the registers with __launch_bounds__", "use less shared memory"},
          "findings.md#impossiblelaunch"};
}

} // namespace

const std::vector<FindingKind>& finding_kinds() {
  // Never destroyed: the libraries of the runtime write their reports while the program ends.
  static const std::vector<FindingKind>& kinds = *new std::vector<FindingKind>{
      uncoalesced(), conflicts(),       divergence(),      unneeded_barrier(), double_precision(), local(),
      constants(),   repeated_load(),   contended(),       narrow_loads(),     narrow_accesses(),  unused_result(),
      within_warp(), redundant_loads(), low_cache_reuse(), block_size(),       too_few_blocks(),   tail(),
      occupancy(),   spills(),          impossible()};
  return kinds;
}

std::string page_of(std::string_view name) {
  for (const FindingKind& kind : finding_kinds())
    if (kind.name == name) return std::string(kind.page);
  return {};
}

} // namespace warplens::analyzers
