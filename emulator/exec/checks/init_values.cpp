// SPDX-License-Identifier: Apache-2.0
// initcheck: values that were loaded from unwritten bytes of shared and local memory. A compiler may load in front of
// the condition under which the program reads, so such a load is reported only once its value is needed. Until then,
// the warp is followed instruction by instruction. A store to shared or local memory makes the bytes unwritten there.
#include "emulator/exec/checks/init_checker.hpp"

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/checks/cluster_place.hpp"

namespace warplens::exec {

using init::Undefined;
using init::UndefinedRow;
using init::UnwrittenLoad;
using init::UnwrittenLoads;
using isa::Space;

namespace {

// Whose bytes these are: see UnwrittenLoads::stored().
std::uint32_t owner_of(const Warp& warp, int lane, Space space) {
  return space == Space::local ? warp.index * kWarpSize + static_cast<std::uint32_t>(lane) : UnwrittenLoads::kShared;
}

} // namespace

init::ValueFlow& InitChecker::values() {
  if (!values_) values_ = std::make_unique<init::ValueFlow>(program_);
  return *values_;
}

void InitChecker::follow(const WarpAccess& a, const Site& site, unsigned bytes) {
  for (const int lane : EachLane(a.mask))
    if (unwritten_bytes(*a.warp, lane, a.space, a.address(lane), bytes)) follow_lane(a, site, lane, bytes);
}

void InitChecker::follow_lane(const WarpAccess& a, const Site& site, int lane, unsigned bytes) {
  std::uint64_t missing = 0, read = 0; // a bit for each byte; those that something reads
  for (unsigned i = 0; i < bytes; ++i) {
    if (!unwritten_bytes(*a.warp, lane, a.space, a.address(lane) + i, 1)) continue;
    missing |= std::uint64_t{1} << i;
    if ((site.unread >> std::min(7u, i / site.element) & 1) == 0) read |= std::uint64_t{1} << i;
  }
  if (read == 0) return;
  init::BlockShadow& shadow = block(a.of.cta);
  const std::uint64_t first = a.address(lane) + static_cast<unsigned>(__builtin_ctzll(read));
  UnwrittenLoad* load = shadow.loads.origin(owner_of(*a.warp, lane, a.space), first);
  if (load == nullptr)
    load = &shadow.loads.of(finding_of(a, lane, first, static_cast<unsigned>(__builtin_popcountll(read)), bytes));
  if (load->reported) return;
  const ir::Instruction& i = program_.function->instructions[a.site->instruction];
  const isa::Type type = program_.module->spellings[i.form].form.type();
  const auto elements = program_.function->each_of(program_.function->operands(i)[0]);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (elements[e].kind != ir::OperandKind::reg) continue;
    const std::uint32_t reg = elements[e].index;
    const auto own = static_cast<std::uint8_t>(missing >> e * site.element & ((1u << site.element) - 1));
    const std::uint8_t all =
        init::extended(own, static_cast<int>(site.element), init::register_bytes(program_, reg), isa::is_signed(type));
    if (all == 0) continue;
    init::WarpShadow& warp = shadow.warps[a.of.warp];
    warp.undefined[reg].set(lane, {all, load});
    warp.undefined_bits |= init::bit_of(reg);
    a.warp->followed = true;
  }
}

void InitChecker::next_op(const Warp& warp, const Op& op) {
  if (static_cast<std::size_t>(&op - program_.ops.data()) != program_.first_op[op.instruction]) return;
  init::WarpShadow& shadow = block(warp.cta->number).warps[warp.index];
  if ((values().registers_of(op.instruction) & shadow.undefined_bits) == 0) return;
  values().instruction(warp, op.instruction, shadow.undefined);
  for (UnwrittenLoad* const load : values().take_needed()) report_needed(*load);
  if (shadow.reports != reports_) init::forget_reported(shadow.undefined);
  shadow.reports = reports_;
  shadow.undefined_bits = 0;
  for (const auto& [reg, row] : shadow.undefined) shadow.undefined_bits |= init::bit_of(reg);
  warp.followed = shadow.undefined_bits != 0;
}

void InitChecker::shuffle(const WarpStep& step) {
  if (program_.function->instructions[step.instruction].head() != "shfl") return;
  init::WarpShadow& shadow = block(step.of.cta).warps[step.of.warp];
  values().shuffled(step, shadow.undefined);
  for (UnwrittenLoad* const load : values().take_needed()) report_needed(*load);
  shadow.undefined_bits |= values().registers_of(step.instruction);
}

// What else came from this load is not reported again.
void InitChecker::report_needed(UnwrittenLoad& load) {
  if (load.reported) return;
  load.reported = true;
  ++reports_;
  findings_.add(load.finding);
}

// The values of a store, after its bytes have become written.
void InitChecker::store_values(const WarpAccess& a) {
  const ir::Instruction& i = program_.function->instructions[a.site->instruction];
  const auto operands = program_.function->operands(i);
  if (operands.size() < 2) return;
  const auto elements = program_.function->each_of(operands[1]);
  const auto element = a.site->lane_bytes / static_cast<unsigned>(elements.size());
  const init::UndefinedRegisters& registers = block(a.of.cta).warps[a.of.warp].undefined;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (elements[e].kind != ir::OperandKind::reg) continue;
    const auto found = registers.find(elements[e].index);
    if (found == registers.end()) continue;
    for (const int lane : EachLane(a.mask & found->second.lanes))
      if (const Undefined u = init::undefined(registers, elements[e].index, lane, static_cast<int>(element));
          u.bytes != 0)
        store_value(a, lane, a.address(lane) + e * element, u);
  }
}

// Global memory, and that of other blocks, is where a value leaves what can be followed.
void InitChecker::store_value(const WarpAccess& a, int lane, std::uint64_t address, Undefined value) {
  const bool own = a.space == Space::local || (a.space == Space::shared && address < kClusterStride);
  if (!own || sites_[a.site->index].hidden) return report_needed(*value.load);
  init::BlockShadow& shadow = block(a.of.cta);
  const std::uint32_t owner = owner_of(*a.warp, lane, a.space);
  for (unsigned i = 0; i < 8; ++i) {
    if ((value.bytes >> i & 1) == 0) continue;
    if (a.space == Space::local)
      shadow.warps[a.of.warp].local.forget(address + i, 1, Mask{1} << lane);
    else
      shadow.shared.forget(address + i, 1);
    shadow.loads.stored(owner, address + i, *value.load);
  }
}

// The device's library reads the arguments of printf from local memory.
void InitChecker::read(const Warp& warp, int lane, Space space, std::uint64_t address, std::uint64_t bytes) {
  if (space != Space::local && space != Space::shared) return;
  for (std::uint64_t i = 0; i < bytes; ++i) {
    if (!unwritten_bytes(warp, lane, space, address + i, 1)) continue;
    if (UnwrittenLoad* const load = block(warp.cta->number).loads.origin(owner_of(warp, lane, space), address + i))
      report_needed(*load);
  }
}

} // namespace warplens::exec
