// SPDX-License-Identifier: Apache-2.0
// CopyChecker: products of warp groups, which read shared memory through the asynchronous proxy, and use registers
// until a wait.
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/block/warp_groups.hpp"
#include "emulator/exec/checks/copy_checker.hpp"
#include "emulator/exec/checks/group_work.hpp"

namespace warplens::exec {

using Kind = ToolFinding::Kind;

namespace {

std::uint64_t running_products(const Program& program, std::uint32_t instruction) {
  const auto operands = program.function->operands(program.function->instructions[instruction]);
  return operands.empty() ? 0 : operands[0].value;
}

} // namespace

CopyChecker::GroupStep CopyChecker::group_step_of(const isa::Spelling& s) {
  if (s.entry->family == isa::Family::group_multiply) return GroupStep::product;
  if (s.entry->family != isa::Family::group_order) return GroupStep::none;
  return s.has(isa::Word::w_commit_group) ? GroupStep::commit
         : s.has(isa::Word::w_wait_group) ? GroupStep::wait
                                          : GroupStep::fence;
}

GroupRegisters& CopyChecker::group_registers(const WarpStep& step, Block& block) {
  return block.products.try_emplace(step.of.warp, program_.group_registers).first->second;
}

void CopyChecker::group_step(const WarpStep& step, Block& block) {
  GroupRegisters& registers = group_registers(step, block);
  const GroupStep what = group_steps_[step.instruction];
  if (step.after) {
    if (what != GroupStep::wait) return;
    const std::uint64_t running = running_products(program_, step.instruction);
    registers.wait(running);
    return complete_products(step, block, running, registers.next_group());
  }
  if (what == GroupStep::fence) registers.fence();
  if (what == GroupStep::commit) registers.commit();
  if (what != GroupStep::product) return;
  if (step.of.warp % kGroupWarps == 0) begin_product(step, block, registers.next_group());
  const bool fenced = registers.has_fence();
  const auto hazard = registers.begin(step.instruction);
  if (!fenced)
    tell_product(step, Kind::group_fence, {}, "no wgmma.fence precedes the first product of the warp");
  else if (hazard)
    tell_product(step, Kind::group_fence, hazard,
                 hazard->written
                     ? "the register is written, and no wgmma.fence follows before a product accumulates in it"
                     : "the register is written, and no wgmma.fence follows before a product reads A from it");
}

// The group of four warps reads the same matrices: what its first warp addresses stands for all.
void CopyChecker::begin_product(const WarpStep& step, Block& block, std::uint64_t group) {
  auto* const warp = const_cast<Warp*>(step.warp); // its rows are read only
  const int lane = __builtin_ctz(step.mask);
  std::vector<Extent> extents = matrices_of(*step.op->group, warp, {});
  for (const Extent& e : extents)
    if (const auto before = block.proxies.unfenced(e.first, e.end - e.first))
      tell_unfenced(step, lane, {&block, step.of.cta, e.first, warp->cta->shared + e.first}, e.end - e.first, *before,
                    "no fence.proxy.async between the store and the product that reads it");
  PendingCopy read = reading(step, lane, std::move(extents));
  read.ends = PendingCopy::Ends::with_product;
  read.group = static_cast<std::uint32_t>(group);
  block.shared.add(std::move(read));
}

PendingCopy CopyChecker::reading(const WarpStep& step, int lane, std::vector<Extent> extents) {
  PendingCopy read;
  read.cta = step.of.cta;
  read.warp = step.of.warp;
  read.instruction = step.instruction;
  read.calls = calls_of(*step.warp, lane);
  read.space = isa::Space::shared;
  read.kind = AccessKind::load;
  read.lanes = Mask{1} << lane;
  for (const Extent& e : extents) read.bytes += e.end - e.first;
  if (!extents.empty()) read.address[static_cast<std::size_t>(lane)] = extents.front().first;
  read.parts = std::move(extents);
  return read;
}

void CopyChecker::complete_products(const WarpStep& step, Block& block, std::uint64_t running, std::uint64_t next) {
  block.shared.complete([&](const PendingCopy& copy) {
    const bool own = copy.ends == PendingCopy::Ends::with_product && copy.cta == step.of.cta &&
                     copy.warp / kGroupWarps == step.of.warp / kGroupWarps;
    return own && copy.group + running < next ? copy.lanes : Mask{0};
  });
}

void CopyChecker::registers(const WarpStep& step) {
  if (step.mask == 0 || !program_.group_registers.uses.contains(step.instruction)) return;
  Block& block = block_of(step.of.cta);
  const auto known = block.products.find(step.of.warp);
  if (known == block.products.end()) return; // before the first product or fence
  const auto hazard = known->second.use(step.instruction, step.mask == step.warp->live);
  if (hazard)
    tell_product(step, Kind::group_wait, hazard,
                 hazard->committed ? "the warp has not waited for the group of the product"
                                   : "the product is in no committed group: the warp cannot wait for it yet");
}

void CopyChecker::tell_product(const WarpStep& step, Kind kind, const std::optional<GroupRegisters::Hazard>& hazard,
                               const char* detail) {
  constexpr std::uint64_t kBytesOfRegister = 4;
  const int lane = __builtin_ctz(step.mask);
  ToolFinding finding{kind, thread_at(*step.warp, step.instruction, lane), {}, detail};
  if (hazard) {
    finding.at.space = isa::Space::reg;
    finding.at.access = hazard->written ? AccessKind::store : AccessKind::load;
    finding.at.bytes = kBytesOfRegister;
    finding.at.address = hazard->reg;
    ThreadAccess& other = finding.other.emplace(thread_at(*step.warp, hazard->instruction, lane));
    other.space = isa::Space::reg;
    other.access = AccessKind::store;
    other.bytes = kBytesOfRegister;
    other.address = hazard->reg;
  }
  findings_.add(std::move(finding));
}

} // namespace warplens::exec
