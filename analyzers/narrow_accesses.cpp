// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads each process one element of fewer than four bytes.
#include "analyzers/access_findings.hpp"

#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace warplens::analyzers {

namespace {

// What a thread should access at least, and the most that it can access at once.
constexpr std::uint32_t kWideEnough = 4, kWidestAccess = 16;

enum class AccessForm { consecutive, broadcast, other };

/// Of lanes in groups of `elements`: whether those of a group access one aligned word of that many elements.
bool form_words(const RecordedAccess& a, std::uint32_t elements) {
  for (const int lane : exec::EachLane(a.mask)) {
    const auto index = static_cast<std::size_t>(lane), in_group = index % elements;
    const std::uint64_t first = a.addresses[index] - in_group * a.lane_bytes;
    if (first % (elements * a.lane_bytes) != 0) return false;
    const std::size_t leader = index - in_group;
    if ((a.mask >> leader & 1) != 0 && a.addresses[leader] != first) return false;
  }
  return true;
}

bool has_one_address(const RecordedAccess& a) {
  const std::uint64_t first = a.addresses[static_cast<std::size_t>(*exec::EachLane(a.mask).begin())];
  for (const int lane : exec::EachLane(a.mask))
    if (a.addresses[static_cast<std::size_t>(lane)] != first) return false;
  return true;
}

AccessForm form_of(const InstructionRow& row, std::uint32_t elements) {
  const auto all = [&](auto&& is) { return std::all_of(row.recorded.begin(), row.recorded.end(), is); };
  if (row.recorded.empty()) return AccessForm::other;
  // A single lane is both.
  if (all([&](const RecordedAccess& a) { return form_words(a, elements); })) return AccessForm::consecutive;
  return all(has_one_address) ? AccessForm::broadcast : AccessForm::other;
}

class NarrowAccesses {
public:
  NarrowAccesses(const Profile& profile, const Code& code) : profile_(profile), code_(code) {}

  [[nodiscard]] bool find() {
    if (ties_threads(*code_.function)) return false;
    for (const InstructionRow& row : profile_.instructions)
      if (is_global(row)) global_.push_back(&row);
    std::uint32_t narrowest = kWideEnough, widest = 0;
    for (const InstructionRow* row : global_) {
      narrowest = std::min(narrowest, row->lane_bytes);
      widest = std::max(widest, row->lane_bytes);
    }
    if (narrowest == 0 || narrowest == kWideEnough) return false;
    elements_ = kWideEnough / narrowest;
    return widest * elements_ <= kWidestAccess && classify() && follow_data() && set_executions();
  }

  [[nodiscard]] Finding finding() const {
    const InstructionRow& first = **std::find_if(joined_.begin(), joined_.end(), [&](const InstructionRow* row) {
      return row->lane_bytes * elements_ == kWideEnough;
    });
    Finding finding = at_row(first, names::kNarrowAccesses, Severity::note);
    const std::uint32_t bytes = first.lane_bytes;
    finding.message =
        fmt::format("each thread accesses {} byte{} per request: a warp transfers {} bytes, although its request can "
                    "transfer 128 at the same cost",
                    bytes, bytes == 1 ? "" : "s", bytes * exec::kWarpSize);
    finding.remedy = fmt::format("process {} elements in each {}: load and store them as one word of {} bytes, such as "
                                 "{}",
                                 elements_, in_loop_ ? "iteration" : "thread", kWideEnough,
                                 bytes == 1 ? "uchar4" : "ushort2 or __half2");
    finding.advice = finding.remedy;
    finding.unit = "requests";
    finding.only_if_faster = true;
    keep_evidence(finding, first,
                  {MetricId::global_requests_ld, MetricId::global_requests_st, MetricId::global_sectors});
    const double remaining = 1.0 / elements_;
    finding.lines.clear();
    for (const InstructionRow* row : joined_) {
      finding.lines.push_back(row->line);
      finding.excess += executed(*row) * (1 - remaining);
      Changes::Access& change = finding.changes.accesses.emplace_back();
      change.instruction = row->instruction;
      change.requests = remaining;
      change.wider = elements_;
      finding.changes.instructions -= executed(*row); // to split a word, or to join it
    }
    for (const InstructionRow& row : profile_.instructions)
      if (per_element_.count(row.instruction) == 0 && (!in_loop_ || executed(row) >= executions_ / 2))
        finding.changes.instructions += executed(row) * (1 - remaining);
    if (!in_loop_) finding.changes.threads = remaining;
    return finding;
  }

private:
  static bool is_global(const InstructionRow& row) {
    return row.counts.of_global(exec::AccessKind::load).requests != 0 ||
           row.counts.of_global(exec::AccessKind::store).requests != 0;
  }

  /// Joined, broadcast, or where data says.
  bool classify() {
    for (const InstructionRow* row : global_) {
      const AccessForm access = form_of(*row, elements_);
      if (access == AccessForm::consecutive) joined_.push_back(row);
      if (access == AccessForm::other) scattered_.push_back(row);
    }
    return std::any_of(joined_.begin(), joined_.end(),
                       [&](const InstructionRow* row) { return row->lane_bytes * elements_ == kWideEnough; });
  }

  /// Marks the instructions that compute with loaded elements. False if a branch depends on one.
  bool follow_data() {
    DataUses uses = uses_of_data(code_, joined_);
    if (uses.branch) return false;
    per_element_ = std::move(uses.instructions);
    return std::all_of(scattered_.begin(), scattered_.end(),
                       [&](const InstructionRow* row) { return per_element_.count(row->instruction) != 0; });
  }

  /// Each warp makes the accesses once, or in a loop over its block or grid.
  bool set_executions() {
    executions_ = executed(*joined_.front());
    if (!std::all_of(joined_.begin(), joined_.end(),
                     [&](const InstructionRow* row) { return executed(*row) == executions_; }))
      return false;
    const auto warps = static_cast<double>(profile_.integer(MetricId::warps_launched));
    in_loop_ = executions_ > warps;
    return !in_loop_ ||
           std::all_of(joined_.begin(), joined_.end(), [&](const InstructionRow* row) { return steps_over(*row); });
  }

  /// Whether the second visit of a warp continues where its block or its grid ended.
  [[nodiscard]] bool steps_over(const InstructionRow& row) const {
    const std::uint64_t threads = profile_.integer(MetricId::warps_launched) * exec::kWarpSize;
    const std::uint64_t blocks = std::max<std::uint64_t>(profile_.integer(MetricId::blocks_launched), 1);
    for (std::size_t i = 1; i < row.recorded.size(); ++i) {
      const RecordedAccess &before = row.recorded[i - 1], &now = row.recorded[i];
      if (before.cta != now.cta || before.warp != now.warp || before.visit != 0 || now.visit != 1) continue;
      const std::uint64_t step = now.addresses[0] - before.addresses[0];
      return step == threads * row.lane_bytes || step == threads / blocks * row.lane_bytes;
    }
    return false;
  }

  const Profile& profile_;
  const Code& code_;
  std::vector<const InstructionRow*> global_, joined_, scattered_;
  std::set<std::uint32_t> per_element_; ///< instructions
  std::uint32_t elements_ = 1;          ///< that a thread processes at once then
  double executions_ = 0;               ///< of each joined access
  bool in_loop_ = false;
};

} // namespace

void find_narrow_accesses(const Profile& profile, const DeviceRules& rules, const Code& code,
                          std::vector<Finding>& findings) {
  if (code.function == nullptr || code.module == nullptr) return;
  if (unit_of_waste(rules.coalescing) != rules::Coalescing::Unit::sectors) return;
  NarrowAccesses narrow(profile, code);
  if (narrow.find()) findings.push_back(narrow.finding());
}

} // namespace warplens::analyzers
