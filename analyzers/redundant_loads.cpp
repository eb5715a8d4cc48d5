// SPDX-License-Identifier: Apache-2.0
// Finding RedundantLoads: words of global memory that the threads of a block load again and again.
#include "analyzers/access_findings.hpp"
#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"
#include "analyzers/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace warplens::analyzers {

namespace {

using isa::Space;

// A staged request is also stored, at an address of its own. Two barriers surround the use of a tile, and a loop goes
// from tile to tile.
constexpr double kStagedInstructions = 2, kTileInstructions = 4, kTileBarriers = 2;

/// How often the threads of a block load each word at the same time: lanes for each word, times warps for each sector.
double reuse_of(const InstructionRow& row) {
  const auto different = static_cast<double>(row.metrics.integer(MetricId::duplicates_in_block));
  if (different == 0) return 1;
  for (const RecordedAccess& a : row.recorded) {
    if (a.space != Space::global || a.role != RecordedAccess::Role::typical) continue;
    std::set<std::uint64_t> words;
    for (const int lane : exec::EachLane(a.mask)) words.insert(a.addresses[lane]);
    return static_cast<double>(std::popcount(a.mask)) / static_cast<double>(words.size()) *
           static_cast<double>(row.metrics.integer(MetricId::duplicates_requested)) / different;
  }
  return 1;
}

class RedundantLoads {
public:
  RedundantLoads(const Profile& profile, const Code& code)
      : profile_(profile), function_(*code.function), flow_(ir::control_flow(function_)),
        rows_(rows_by_instruction(profile)) {}

  void find(std::vector<Finding>& findings) {
    const auto warps = static_cast<double>(std::max<std::uint64_t>(1, profile_.integer(MetricId::warps_launched)));
    for (const InstructionRow& row : profile_.instructions) {
      if (function_.instructions[row.instruction].head() != "ld" || requests_of(row) < kLeastVisits * warps) continue;
      const double reuse = std::min<double>(reuse_of(row), exec::kWarpSize);
      if (reuse >= kLeastReuse) stage(row, reuse);
    }
    if (worst_ != nullptr) findings.push_back(finding());
  }

private:
  static double requests_of(const InstructionRow& row) {
    return static_cast<double>(row.counts.of_global(exec::AccessKind::load).requests);
  }

  [[nodiscard]] double executed_in(std::uint32_t block) const {
    const auto row = rows_.find(flow_.blocks[block].first);
    return row != rows_.end() ? executed(*row->second) : 0;
  }

  // A tile does not reach beyond the loop: each time that a warp enters it, a tile begins.
  void stage(const InstructionRow& row, double reuse) {
    const double requests = requests_of(row);
    double tiles = requests / reuse;
    std::uint32_t header = flow_.block_of[row.instruction];
    if (const std::optional<Loop> loop = innermost_loop(flow_, header)) {
      double entries = 0;
      for (const std::uint32_t block : loop->before) entries += executed_in(block);
      tiles = std::min(requests, std::max(tiles, entries));
      header = loop->header;
    }
    double& most = tiles_of_loop_[header];
    most = std::max(most, tiles);

    changes_.accesses.push_back({.instruction = row.instruction, .requests = tiles / requests, .from_shared = true});
    changes_.bank_passes -= requests + tiles;
    changes_.instructions -= kStagedInstructions * tiles;
    lines_.push_back(row.line);
    excess_ += requests - tiles;
    if (worst_ == nullptr || requests > requests_of(*worst_)) worst_ = &row;
    least_ = most_ == 0 ? reuse : std::min(least_, reuse);
    most_ = std::max(most_, reuse);
  }

  [[nodiscard]] Finding finding() const {
    Finding found = at_row(*worst_, names::kRedundantLoads, Severity::note);
    found.lines = lines_;
    found.excess = excess_;
    found.changes = changes_;
    for (const auto& [header, tiles] : tiles_of_loop_) {
      found.changes.barriers -= kTileBarriers * tiles;
      found.changes.instructions -= kTileInstructions * tiles;
    }
    found.message =
        fmt::format("the threads of a block load each word {} times",
                    least_ == most_ ? fmt::format("{:.3g}", most_) : fmt::format("{:.3g} to {:.3g}", least_, most_));
    found.remedy = "stage tiles of the data in shared memory: each thread of the block loads different words once, and "
                   "all threads use them";
    found.advice = "stage tiles in shared memory, or let each thread compute several results from the words that it "
                   "has in registers";
    found.unit = "requests";
    found.only_if_faster = true;
    keep_evidence(found, *worst_,
                  {MetricId::global_requests_ld, MetricId::duplicates_requested, MetricId::duplicates_in_block});
    return found;
  }

  const Profile& profile_;
  const ir::Function& function_;
  ir::ControlFlow flow_;
  std::map<std::uint32_t, const InstructionRow*> rows_;
  const InstructionRow* worst_ = nullptr;
  std::map<std::uint32_t, double> tiles_of_loop_; ///< by the loop's header
  std::vector<std::uint32_t> lines_;
  Changes changes_;
  double excess_ = 0, least_ = 0, most_ = 0;
};

} // namespace

void find_redundant_loads(const Profile& profile, const Code& code, std::vector<Finding>& findings) {
  if (code.function != nullptr && code.module != nullptr) RedundantLoads(profile, code).find(findings);
}

} // namespace warplens::analyzers
