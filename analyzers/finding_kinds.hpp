// SPDX-License-Identifier: Apache-2.0
// The kinds of findings: what triggers each, and what to do about it. find_problems() uses the same thresholds.
//
//   for (const FindingKind& kind : finding_kinds()) … kind.name == names::kUncoalescedGlobalAccess, kind.trigger
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warplens::analyzers {

// Nsight Compute's thresholds, where it documents them (reference guide, rules).
constexpr double kLeastExcess = 0.1;   ///< of the sectors, bytes, transactions or passes of an instruction
constexpr double kFewestLanes = 24;    ///< active and not predicated off, of 32
constexpr double kMostDivergent = 0.1; ///< of the executions of a branch
constexpr double kCachedAnyway = 0.5;  ///< of the sectors of a misaligned access: from there on, alignment saves little
constexpr double kLeastLocal = 0.02;   ///< of the instructions of a launch: fewer do not limit it
constexpr double kLeastReuse = 4;      ///< of a word by the threads of a block, from which on staging is tried …
constexpr double kLeastVisits = 8;     ///< … for loads that a warp executes this often
constexpr double kLeastTail = 0.2;     ///< of the places for blocks that are empty while the last blocks run
constexpr double kLeastLost = 0.05;    ///< of the lane slots of a launch, from which on divergence is a warning
constexpr double kMostlyWaste = 0.5;   ///< from this share on, a finding is a warning
/// Times as fast: a saving of less is within the noise of measurements, and far below the error of any model. No
/// finding is a warning for it.
constexpr double kWorthwhile = 1.05;

// Advice that some findings repeat as it is.
constexpr std::string_view kUseNeighbours =
    "make neighbouring threads access neighbouring words: swap the indices, store the fields of a structure in "
    "separate arrays, or stage the data in shared memory";
constexpr std::string_view kUseWholeWarp = "distribute the work over the whole warp, one word per thread";
constexpr std::string_view kUseWholeWarps = "make the block size a multiple of 32 threads";

/// Finding::rule: Nsight Compute's names, where it has such a rule.
namespace names {
constexpr std::string_view kUncoalescedGlobalAccess = "UncoalescedGlobalAccess";
constexpr std::string_view kSharedMemoryConflicts = "SharedMemoryConflicts";
constexpr std::string_view kThreadDivergence = "ThreadDivergence";
constexpr std::string_view kUnneededBarrier = "UnneededBarrier";
constexpr std::string_view kDoublePrecisionInFloat = "DoublePrecisionInFloat";
constexpr std::string_view kLocalMemory = "LocalMemory";
constexpr std::string_view kConstantSerialized = "ConstantSerialized";
constexpr std::string_view kRepeatedLoad = "RepeatedLoad";
constexpr std::string_view kContendedAtomics = "ContendedAtomics";
constexpr std::string_view kBlockSize = "BlockSize";
constexpr std::string_view kNarrowLoads = "NarrowLoads";
constexpr std::string_view kNarrowAccesses = "NarrowAccesses";
constexpr std::string_view kUnusedResult = "UnusedResult";
constexpr std::string_view kSharedWithinWarp = "SharedWithinWarp";
constexpr std::string_view kRedundantLoads = "RedundantLoads";
constexpr std::string_view kLowCacheReuse = "LowCacheReuse";
constexpr std::string_view kTailEffect = "TailEffect";
constexpr std::string_view kTooFewBlocks = "TooFewBlocks";
constexpr std::string_view kOccupancy = "Occupancy";
constexpr std::string_view kRegisterSpills = "RegisterSpills";
constexpr std::string_view kImpossibleLaunch = "ImpossibleLaunch";
} // namespace names
/// By which reports show a launch that trapped.
constexpr std::string_view kTrapFinding = "Trap";

struct FindingKind {
  std::string_view name; ///< Finding::rule
  std::string_view meaning;
  std::string trigger; ///< with the thresholds
  std::string severity;
  std::vector<std::string_view> remedies;
  std::string_view page; ///< of docs/
};

const std::vector<FindingKind>& finding_kinds();
/// FindingKind::page of a kind, by its name.
std::string page_of(std::string_view name);

} // namespace warplens::analyzers
