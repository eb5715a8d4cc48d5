// SPDX-License-Identifier: Apache-2.0
#include "analyzers/compiled_atomics.hpp"

#include "analyzers/batch_functions.hpp"
#include "analyzers/sorted_lanes.hpp"
#include "emulator/ir/opcode_parts.hpp"
#include "emulator/ir/origins.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>

namespace warplens::analyzers {

namespace {

// Before, the compiler had no instructions that combine the lanes of a warp.
constexpr int kFirstArchitecture = 70;

bool is_atomic_instruction(const ir::Instruction& i) { return i.head() == "atom" || i.head() == "red"; }

bool is_one(const ir::Function& function, const ir::Instruction& i) {
  const auto operands = function.operands(i);
  return !operands.empty() && operands.back().kind == ir::OperandKind::integer && operands.back().value == 1;
}

bool have_one_address(const exec::Access& access) {
  const std::uint64_t first = access.addresses[std::countr_zero(access.mask)];
  for (exec::Mask rest = access.mask; rest; rest &= rest - 1)
    if (access.addresses[std::countr_zero(rest)] != first) return false;
  return true;
}

void first_lanes_of(const exec::AccessRows& rows, exec::Mask* masks) {
  const BatchFunctions& functions = batch_functions().front();
  LaneNumbers keys;
  BatchNumbers all{}, firsts;
  const std::uint32_t near = functions.arrange(rows, keys);
  for (std::size_t i = 0; i < rows.count; ++i) all.of[i] = static_cast<std::int32_t>(rows.masks[i]);
  functions.first_lanes(keys, all, firsts);
  for (std::size_t i = 0; i < rows.count; ++i)
    masks[i] = (near >> i & 1) != 0 ? static_cast<exec::Mask>(firsts.of[i]) : first_lanes(rows.rows[i], rows.masks[i]);
}

} // namespace

bool repeats_swaps(const ir::Instruction& i) {
  if ((i.head() != "atom" && i.head() != "red") || ir::has_any_part(i, {"cas", "exch", "min", "max"})) return false;
  return ir::has_any_part(i, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "s64", "u64", "b64"});
}

CompiledAtomics::CompiledAtomics(const ir::Module& module, const ir::Function& function) {
  const auto& all = function.instructions;
  if (module.sm < kFirstArchitecture || std::none_of(all.begin(), all.end(), is_atomic_instruction)) return;
  const ir::OriginFinder origins(module, function);
  std::set<std::uint32_t> read;
  for (const ir::Effect& one : origins.effects()) read.insert(one.reads.begin(), one.reads.end());
  ways_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_atomic_instruction(all[i])) continue;
    const auto any_of = [&](std::initializer_list<std::string_view> parts) { return has_any_part(all[i], parts); };
    const bool exchange = any_of({"exch", "cas"});
    const bool integer = any_of({"u32", "s32", "b32"});
    const bool adds = integer && any_of({"add"});
    const bool combines = any_of({"min", "max", "and", "or", "xor"});
    const auto& written = origins.effects()[i].writes;
    const bool unused = std::none_of(written.begin(), written.end(), [&](std::uint32_t r) { return read.count(r); });
    Way& way = ways_[i];
    way.reduction = unused && !exchange;
    way.one_lane = (adds || (integer && combines && unused)) && origins.of_address(all[i]).uniform();
    way.counts = adds && unused && is_one(function, all[i]);
  }
}

exec::AccessRows CompiledAtomics::compiled(const exec::AccessRows& rows, exec::Mask* masks) const {
  exec::AccessRows result = rows;
  const bool atomic = rows.kind == exec::AccessKind::atomic || rows.kind == exec::AccessKind::reduction;
  if (!atomic || rows.instruction >= ways_.size()) return result;
  const Way& way = ways_[rows.instruction];
  if (way.counts && rows.space == isa::Space::shared) {
    first_lanes_of(rows, masks);
    if (way.reduction) result.kind = exec::AccessKind::reduction;
    result.masks = masks;
    return result;
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    const exec::Access row = rows[i];
    exec::Access copy;
    const exec::Access& one = changed(row, copy);
    masks[i] = one.mask;
    result.kind = one.kind; // of all the same
  }
  result.masks = masks;
  return result;
}

const exec::Access& CompiledAtomics::changed(const exec::Access& access, exec::Access& copy) const {
  const Way& way = ways_[access.instruction];
  exec::Mask kept = access.mask;
  if (way.counts && access.space == isa::Space::shared)
    kept = first_lanes(access.addresses, access.mask);
  else if (way.one_lane && have_one_address(access)) // otherwise, the compiler knows less than assumed
    kept = access.mask & (~access.mask + 1);
  const bool all = kept == access.mask;
  if (all && !way.reduction) return access;
  // Field by field: the access was just written that way, and loading several fields at once would wait for them.
  copy.instruction = access.instruction;
  copy.space = access.space;
  copy.kind = way.reduction ? exec::AccessKind::reduction : access.kind;
  copy.shape = all ? access.shape : exec::Shape::irregular;
  copy.lane_bytes = access.lane_bytes;
  copy.mask = kept;
  copy.stride = all ? access.stride : 0;
  copy.addresses = access.addresses;
  copy.halves = all ? access.halves : nullptr;
  copy.count = access.count;
  return copy;
}

} // namespace warplens::analyzers
