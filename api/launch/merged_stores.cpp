// SPDX-License-Identifier: Apache-2.0
#include "api/launch/merged_stores.hpp"

#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <set>
#include <tuple>

namespace warplens::api {

namespace {

using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; ///< block, warp, visit
using Touched = std::map<Place, std::set<std::uint64_t>>;

/// Loads, too: the stores before a load have left before its result is there.
bool separates(const ir::Instruction& i) {
  const std::string_view head = i.head();
  return (head == "ld" && !ir::has_part(i, "param")) || head == "bar" || head == "barrier" || head == "fence" ||
         head == "membar" || head == "atom" || head == "red" || head == "call";
}

/// Adds the sectors of the recorded stores. The share that is new.
double add(const analyzers::InstructionRow& row, Touched& touched) {
  constexpr std::uint64_t kSectorBytes = 32;
  double all = 0, fresh = 0;
  for (const analyzers::RecordedAccess& a : row.recorded) {
    if (a.space != isa::Space::global || a.kind != exec::AccessKind::store) continue;
    std::set<std::uint64_t> own;
    for (const int lane : exec::EachLane(a.mask)) {
      const std::uint64_t first = a.addresses[static_cast<std::size_t>(lane)];
      for (std::uint64_t s = first / kSectorBytes; s <= (first + a.lane_bytes - 1) / kSectorBytes; ++s) own.insert(s);
    }
    std::set<std::uint64_t>& seen = touched[{a.cta, a.warp, a.visit}];
    for (const std::uint64_t sector : own) fresh += seen.insert(sector).second ? 1 : 0;
    all += static_cast<double>(own.size());
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
    Touched touched;
    for (std::uint32_t i = block.first; i < block.end; ++i) {
      if (separates(kernel.instructions[i])) touched.clear();
      if (const auto store = stores.find(i); store != stores.end()) shares[i] = add(*store->second, touched);
    }
  }
  return shares;
}

} // namespace warplens::api
