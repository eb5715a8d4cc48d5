// SPDX-License-Identifier: Apache-2.0
// Whether kernels are compiled (exec/compile), and what a program keeps of its compiled code.
#pragma once

#include "emulator/exec/state/warp.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace warplens::exec {

enum class CompileMode : std::uint8_t {
  off,
  automatic, ///< kernels that have run for long enough, in the background
  always     ///< each kernel, before its first launch
};

/// "off", "auto" or "always".
std::optional<CompileMode> parse_compile_mode(std::string_view word);

/// The mode of this process: that of the environment variable until it is set. Automatic if it has no valid word.
constexpr const char* kCompileVariable = "WARPLENS_COMPILE";
CompileMode compile_mode();
void set_compile_mode(CompileMode mode);

/// Also where it is not faster, two warps run together: for tests. Concerns kernels that are compiled later.
bool pairs_anyhow();
void set_pairs_anyhow(bool anyhow);
/// Likewise, small kernels are divided as large ones are.
bool divided_anyhow();
void set_divided_anyhow(bool anyhow);
/// The turns that warps of this process began in pairs, in workers that have ended.
std::uint64_t paired_turns();
void add_paired_turns(std::uint64_t turns);

/// Runs two warps from an op on as long as both go the same way, and returns the op from which on each goes on by
/// itself. nullptr: neither has run.
using PairHandler = const Op* (*)(const Op*, Warp*, Warp*);

/// How the threads of a block lie in its warps. In a later one, %tid is of a more special kind.
enum class BlockLayout : std::uint8_t {
  other,
  half_rows, ///< half a warp has threads of one row, one after the other
  rows       ///< so has a whole warp
};
inline BlockLayout layout_of(const std::uint32_t* block) {
  if (block[0] % kWarpSize == 0 || block[1] * block[2] == 1) return BlockLayout::rows;
  return block[0] % (kWarpSize / 2) == 0 ? BlockLayout::half_rows : BlockLayout::other;
}

/// Counters of compiled code, in the memory of a worker (Worker::tallies): how often something happened of which all
/// but a small number is known. The watcher gets each number once, with its count.
struct Tally {
  enum class Of : std::uint8_t {
    accesses,         ///< by all lanes, to addresses that are a sequence; by where in kAlignmentPeriod the first one is
    special_operands, ///< one counter: warps of which a lane has some
    branches          ///< by full warps: not taken by any lane, and by all
  };
  Of of{};
  bool halves = false;         ///< of a sequence in each half of the warp: the first word is their distance
  std::uint32_t index = 0;     ///< of the site, the instruction, or the branch
  std::uint32_t first = 0;     ///< the place of its first word
  std::uint32_t alignment = 1; ///< of the addresses
  std::int64_t stride = 0;     ///< from lane to lane
};
/// Tally::halves: no distance is known so far.
constexpr std::uint64_t kNoDistance = std::uint64_t{1} << 63;
constexpr std::uint32_t kNoTally = ~0u;

/// The compiled code of a program. Its ops' handlers are replaced where compiled code begins.
struct KernelCode {
  std::once_flag once;
  std::atomic<std::uint64_t> steps{0}; ///< warp instructions that launches of the kernel have run
  std::atomic<bool> asked{false};      ///< the compiler has been asked for code
  std::vector<Handler> originals;      ///< the handler of each op as it was decoded
  /// The first of these, from before the first one is replaced; nullptr: none has been.
  std::atomic<const Handler*> first_original{nullptr};
  std::vector<std::uint32_t> entries; ///< ops where compiled code begins; empty: there is none
  std::vector<PairHandler> pairs;     ///< by op
  std::vector<Tally> tallies;         ///< of a watched program
  std::uint32_t tally_words = 0;      ///< of all of them
  /// The first of these; nullptr: there are none so far.
  std::atomic<const PairHandler*> first_pair{nullptr};
};

} // namespace warplens::exec
