// SPDX-License-Identifier: Apache-2.0
#include "analyzers/access_findings.hpp"
#include "analyzers/finding_kinds.hpp"
#include "analyzers/finding_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::analyzers {

namespace {

using isa::Space;

class SharingFindings {
public:
  SharingFindings(const Profile& profile, const Code& code, std::vector<Finding>& findings)
      : profile_(profile), code_(code), findings_(findings) {}

  void find() {
    if (reach_of_loads() == Reach::warp) within_warps();
  }

  /// How far from its thread a word is loaded again.
  enum class Reach : std::uint8_t { unknown, thread, warp };
  /// Of all recorded loads of shared memory: `warp` if each reads what its warp stored with one instruction, some of it
  /// from another lane.
  [[nodiscard]] Reach reach_of_loads() const {
    Stores stores;
    for (const InstructionRow& row : profile_.instructions) {
      if (shared_of(row).requests == 0) continue;
      if (accesses_shared(row, "st"))
        for (const RecordedAccess& a : row.recorded) stores.add(a);
      else if (!accesses_shared(row, "ld"))
        return Reach::unknown; // atomics, matrices, copies
    }
    bool threads = false, lanes = false, several = false;
    for (const InstructionRow& row : profile_.instructions) {
      if (shared_of(row).requests == 0 || !accesses_shared(row, "ld")) continue;
      for (const RecordedAccess& a : row.recorded) {
        const Stores::Source source = stores.source_of(a);
        if (source == Stores::Source::unknown) return Reach::unknown;
        threads = true;
        lanes = lanes || source == Stores::Source::other_lane;
        several = several || source == Stores::Source::several;
      }
    }
    return lanes ? Reach::warp : threads && !several ? Reach::thread : Reach::unknown;
  }

private:
  [[nodiscard]] const ir::Instruction& of(const InstructionRow& row) const {
    return code_.function->instructions[row.instruction];
  }
  static PassCount shared_of(const InstructionRow& row) { return row.counts.of_all_shared(); }
  [[nodiscard]] bool accesses_shared(const InstructionRow& row, std::string_view head) const {
    return of(row).head() == head && std::any_of(row.recorded.begin(), row.recorded.end(),
                                                 [](const RecordedAccess& a) { return a.space == Space::shared; });
  }

  /// The recorded stores to shared memory.
  class Stores {
  public:
    void add(const RecordedAccess& a) {
      std::uint64_t low = ~std::uint64_t{0}, high = 0;
      for (const int lane : exec::EachLane(a.mask)) {
        low = std::min(low, a.addresses[lane]);
        high = std::max(high, a.addresses[lane]);
      }
      if (a.mask != 0) stores_.push_back({&a, low, high});
    }
    enum class Source : std::uint8_t { unknown, same_lane, other_lane, several };
    /// Where the words of a load come from, if one store of its warp, and no other warp, stored all of them. `several`:
    /// the first such store is of the same lanes, but another one is not.
    [[nodiscard]] Source source_of(const RecordedAccess& load) const {
      Source found = Source::unknown;
      for (const Store& store : stores_) {
        if (store.access->cta != load.cta || !store.meets(load)) continue;
        if (store.access->warp != load.warp) return Source::unknown;
        const Source source = compare(load, *store.access);
        if (found == Source::unknown)
          found = source;
        else if (found == Source::same_lane && source != found)
          found = Source::several;
      }
      return found;
    }

  private:
    struct Store {
      const RecordedAccess* access;
      std::uint64_t low, high; ///< addresses
      [[nodiscard]] bool meets(const RecordedAccess& load) const {
        for (const int lane : exec::EachLane(load.mask))
          if (load.addresses[lane] >= low && load.addresses[lane] <= high &&
              lane_of(*access, load.addresses[lane]) >= 0)
            return true;
        return false;
      }
    };
    /// The lane that stores to an address; -1: none.
    static int lane_of(const RecordedAccess& store, std::uint64_t address) {
      for (const int lane : exec::EachLane(store.mask))
        if (store.addresses[lane] == address) return lane;
      return -1;
    }
    static Source compare(const RecordedAccess& load, const RecordedAccess& store) {
      if (load.lane_bytes != store.lane_bytes) return Source::unknown;
      bool moves = false;
      for (const int lane : exec::EachLane(load.mask)) {
        const int from = lane_of(store, load.addresses[lane]);
        if (from < 0) return Source::unknown;
        moves = moves || from != lane;
      }
      return moves ? Source::other_lane : Source::same_lane;
    }
    std::vector<Store> stores_;
  };

  void within_warps() {
    const InstructionRow* worst = nullptr;
    Changes changes;
    double requests = 0;
    for (const InstructionRow& row : profile_.instructions) {
      const PassCount shared = shared_of(row);
      const bool load = accesses_shared(row, "ld");
      if (load || accesses_shared(row, "st")) {
        changes.bank_passes += static_cast<double>(shared.sum.passes);
        if (load) changes.bank_passes -= static_cast<double>(shared.requests); // a shuffle takes a pass, too
        if (!load) changes.instructions += executed(row);
        requests += static_cast<double>(shared.requests);
        if (load && (worst == nullptr || shared.requests > shared_of(*worst).requests)) worst = &row;
      } else if (of(row).instruction_class == isa::InstructionClass::barrier && !loads_what_it_stores(profile_)) {
        changes.barriers += executed(row);
        changes.instructions += executed(row);
      }
    }
    Finding finding = note_on_requests(
        *worst, names::kSharedWithinWarp, "each word of shared memory that a warp loads was stored by the same warp",
        "exchange the words with shuffles (__shfl_sync), without shared memory and barriers");
    finding.excess = requests;
    finding.only_if_faster = true;
    finding.changes = changes;
    keep_evidence(finding, *worst, {MetricId::shared_requests_ld, MetricId::shared_passes_ld});
    findings_.push_back(std::move(finding));
  }

  const Profile& profile_;
  const Code& code_;
  std::vector<Finding>& findings_;
};

} // namespace

bool keeps_to_own_words(const Profile& profile, const Code& code) {
  std::vector<Finding> none;
  return SharingFindings(profile, code, none).reach_of_loads() == SharingFindings::Reach::thread;
}

void find_sharing(const Profile& profile, const Code& code, std::vector<Finding>& findings) {
  if (code.function != nullptr && code.module != nullptr) SharingFindings(profile, code, findings).find();
}

void find_evictions(const Profile& profile, std::vector<Finding>& findings) {
  for (const InstructionRow& row : profile.instructions) {
    const auto count = [&](MetricId id) { return static_cast<double>(row.metrics.integer(id)); };
    const double again = count(MetricId::l1_missed_again), missed = count(MetricId::l1_global_sectors_miss_ld),
                 loaded = missed + count(MetricId::l1_global_sectors_hit_ld);
    if (loaded == 0 || again < kMostlyWaste * missed || again < kLeastExcess * loaded) continue;
    Finding finding = at_row(row, names::kLowCacheReuse, Severity::note);
    finding.message = fmt::format("{:.3g} % of the sectors that this load misses in the first-level cache were there "
                                  "before, but had been evicted",
                                  100 * std::min(1.0, again / missed));
    finding.remedy = "do all work on a part of the data that fits in the cache before the next part: exchange or block "
                     "the loops";
    finding.advice = finding.remedy;
    finding.excess = again;
    finding.unit = "sectors";
    finding.only_if_faster = true;
    // Of the whole launch; the simulation covers a part of it.
    finding.changes.missed = std::min(1.0, again / loaded) * count(MetricId::global_sectors_ld);
    keep_evidence(finding, row,
                  {MetricId::l1_missed_again, MetricId::l1_global_sectors_miss_ld, MetricId::l1_global_sectors_hit_ld});
    findings.push_back(std::move(finding));
  }
}

} // namespace warplens::analyzers
