// SPDX-License-Identifier: Apache-2.0
#include "analyzers/recorded_accesses.hpp"

#include "analyzers/profile.hpp"

#include <algorithm>
#include <tuple>

namespace warplens::analyzers {

namespace {

auto place_of(const RecordedAccess& a) { return std::tuple(a.instruction, a.space, a.cta, a.warp, a.visit, a.kind); }

exec::Access event_of(const RecordedAccess& a) {
  exec::Access access;
  access.instruction = a.instruction;
  access.space = a.space;
  access.kind = a.kind;
  access.shape = exec::Shape::irregular;
  access.lane_bytes = a.lane_bytes;
  access.mask = a.mask;
  access.addresses = a.addresses.data();
  return access;
}

/// Marks the typical and the worst of some accesses.
void assign_roles(std::span<RecordedAccess> accesses) {
  std::vector<RecordedAccess*> by_cost;
  for (RecordedAccess& a : accesses) by_cost.push_back(&a);
  std::stable_sort(by_cost.begin(), by_cost.end(), [](const auto* a, const auto* b) { return a->cost < b->cost; });
  const double median = by_cost[by_cost.size() / 2]->cost, most = by_cost.back()->cost;
  const auto first = [&](double cost) {
    return std::find_if(accesses.begin(), accesses.end(), [&](const RecordedAccess& a) { return a.cost == cost; });
  };
  first(most)->role = RecordedAccess::Role::worst;
  first(median)->role = RecordedAccess::Role::typical; // also if it is the worst
}

/// Whether two accesses look alike: the same lanes, as far apart from each other.
bool alike(const RecordedAccess& a, const RecordedAccess& b) {
  if (a.mask != b.mask || a.cost != b.cost || a.space != b.space || a.kind != b.kind) return false;
  const int first = std::countr_zero(a.mask);
  for (const int lane : exec::EachLane(a.mask))
    if (a.addresses[lane] - a.addresses[first] != b.addresses[lane] - b.addresses[first]) return false;
  return true;
}

} // namespace

std::string_view cost_unit(const rules::Coalescing& rule) {
  switch (unit_of_waste(rule)) {
  case rules::Coalescing::Unit::sectors: return "sectors";
  case rules::Coalescing::Unit::bytes: return "bytes";
  case rules::Coalescing::Unit::transactions: break;
  }
  return "transactions";
}

double cost_of(const RecordedAccess& access, const FastCoalescing& coalescing, const FastBanks& banks) {
  const Footprint footprint(access.addresses.data(), access.mask, access.lane_bytes);
  if (access.space == isa::Space::shared) return banks.passes(footprint, access.service).passes;
  const rules::Coalescing::Unit unit = unit_of_waste(coalescing.rule());
  if (unit == rules::Coalescing::Unit::sectors) return footprint.sectors();
  const Transactions t = coalescing.transactions(footprint, access.service);
  return unit == rules::Coalescing::Unit::bytes ? static_cast<double>(t.bytes()) : static_cast<double>(t.total());
}

bool RecordedAccesses::Shard::begin_cta(std::uint64_t cta) {
  if (cta != 0 && cta != last_cta_) return false;
  visits_.resize(instructions_ * kCtas * kWarps * 2);
  return true;
}

void RecordedAccesses::Shard::each_access(const exec::WarpId& id, const exec::Access& access) {
  if (!records(id)) return;
  const bool shared = access.space == isa::Space::shared;
  if ((!shared && access.space != isa::Space::global) || access.instruction >= instructions_) return;
  const std::size_t cta = id.cta == 0 ? 0 : 1, warp = std::min<std::size_t>(id.warp, kWarps - 1);
  const std::uint32_t visit = visits_[((access.instruction * kCtas + cta) * kWarps + warp) * 2 + (shared ? 1 : 0)]++;
  if (visit > kVisits[std::size(kVisits) - 1] ||
      std::find(std::begin(kVisits), std::end(kVisits), visit) == std::end(kVisits))
    return;
  RecordedAccess& a = accesses_.emplace_back();
  a.cta = id.cta;
  a.warp = id.warp;
  a.visit = visit;
  a.space = access.space;
  a.kind = access.kind;
  a.lane_bytes = access.lane_bytes;
  a.mask = access.mask;
  a.instruction = access.instruction;
  for (const int lane : exec::EachLane(access.mask)) a.addresses[lane] = access.addresses[lane];
}

std::unique_ptr<RecordedAccesses::Shard> RecordedAccesses::make_shard() const {
  return std::make_unique<Shard>(instructions_, last_cta_, last_warp_);
}

void RecordedAccesses::absorb(Shard& shard) {
  if (accesses_.empty())
    accesses_ = std::move(shard.accesses_); // mostly one worker has them all
  else
    accesses_.insert(accesses_.end(), shard.accesses_.begin(), shard.accesses_.end());
}

void RecordedAccesses::report(const CountedRules& counted, const DeviceRules& device,
                              std::vector<InstructionRow>& rows) const {
  std::vector<const RecordedAccess*> sorted;
  for (const RecordedAccess& a : accesses_) sorted.push_back(&a);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return place_of(*a) < place_of(*b); });
  const FastCoalescing& coalescing = counted.coalescing()[counted.column(device.coalescing)];
  const FastBanks& banks = counted.banks()[counted.column(device.banks)];
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const RecordedAccess& one = **begin;
    const auto end = std::find_if(begin, sorted.end(), [&](const RecordedAccess* a) {
      return a->instruction != one.instruction || a->space != one.space;
    });
    std::vector<RecordedAccess>& list = rows[one.instruction].recorded;
    const std::size_t before = list.size();
    list.reserve(before + static_cast<std::size_t>(end - begin));
    for (const RecordedAccess* a : std::span(begin, end)) list.push_back(*a);
    const std::span<RecordedAccess> added = std::span(list).subspan(before);
    for (RecordedAccess& a : added) {
      const exec::Access event = event_of(a);
      a.service = a.space == isa::Space::shared ? counted.service_of_banks(event) : counted.service(event);
      a.cost = cost_of(a, coalescing, banks);
    }
    assign_roles(added);
    begin = end;
  }
}

void keep_few(std::vector<RecordedAccess>& accesses) {
  std::vector<RecordedAccess> kept;
  std::size_t with_role = 0;
  for (const RecordedAccess& a : accesses) with_role += a.role != RecordedAccess::Role::none ? 1 : 0;
  std::size_t others = kShownAccesses - std::min(kShownAccesses, with_role);
  for (const RecordedAccess& a : accesses) {
    if (a.role == RecordedAccess::Role::none) {
      const bool known = std::any_of(kept.begin(), kept.end(), [&](const auto& k) { return alike(a, k); });
      if (known || others == 0) continue;
      --others;
    }
    kept.push_back(a);
  }
  accesses = std::move(kept);
}

} // namespace warplens::analyzers
