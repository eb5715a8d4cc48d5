// SPDX-License-Identifier: Apache-2.0
#include "api/launch/merged_stores.hpp"

#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

namespace warplens::api {

namespace {

using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; ///< block, warp, visit
using Sectors = std::vector<std::uint64_t>;                            ///< ascending
using Touched = std::map<Place, Sectors>;

/// Loads, too: the stores before a load have left before its result is there.
bool separates(const ir::Instruction& i) {
  const std::string_view head = i.head();
  return (head == "ld" && !ir::has_part(i, "param")) || head == "bar" || head == "barrier" || head == "fence" ||
         head == "membar" || head == "atom" || head == "red" || head == "call";
}

Sectors sectors_of(const analyzers::RecordedAccess& a) {
  constexpr std::uint64_t kSectorBytes = 32;
  Sectors sectors;
  for (const int lane : exec::EachLane(a.mask)) {
    const std::uint64_t first = a.addresses[static_cast<std::size_t>(lane)];
    for (std::uint64_t s = first / kSectorBytes; s <= (first + a.lane_bytes - 1) / kSectorBytes; ++s)
      sectors.push_back(s);
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  return sectors;
}

/// Adds the sectors of the recorded stores. The share that is new.
double add(const analyzers::InstructionRow& row, Touched& touched) {
  double all = 0, fresh = 0;
  for (const analyzers::RecordedAccess& a : row.recorded) {
    if (a.space != isa::Space::global || a.kind != exec::AccessKind::store) continue;
    const Sectors own = sectors_of(a);
    Sectors& seen = touched[{a.cta, a.warp, a.visit}];
    Sectors both;
    std::set_union(seen.begin(), seen.end(), own.begin(), own.end(), std::back_inserter(both));
    fresh += static_cast<double>(both.size() - seen.size());
    all += static_cast<double>(own.size());
    seen = std::move(both);
  }
  return all > 0 ? fresh / all : 1;
}

} // namespace

std::map<std::uint32_t, double> fresh_store_sectors(const analyzers::Profile& profile, const ir::Function& kernel) {
  std::map<std::uint32_t, const analyzers::InstructionRow*> stores;
  for (const analyzers::InstructionRow& row : profile.instructions)
    if (row.instruction < kernel.instructions.size() && kernel.instructions[row.instruction].head() == "st" &&
        !row.recorded.empty())
      stores[row.instruction] = &row;
  std::map<std::uint32_t, double> shares;
  if (stores.size() < 2) return shares;
  for (const ir::Block& block : ir::control_flow(kernel).blocks) {
    std::vector<std::uint32_t> together; // stores that nothing separates
    const auto count = [&] {
      Touched touched;
      // The sectors of a store by itself are all new.
      for (const std::uint32_t i : together) shares[i] = together.size() == 1 ? 1 : add(*stores.at(i), touched);
      together.clear();
    };
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      if (separates(kernel.instructions[i])) count();
      if (stores.contains(i)) together.push_back(i);
    }
    count();
  }
  return shares;
}

} // namespace warplens::api
