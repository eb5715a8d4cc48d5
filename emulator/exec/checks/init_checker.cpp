// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/init_checker.hpp"

#include "emulator/exec/block/paths.hpp"
#include "emulator/exec/checks/cluster_place.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

namespace {

using isa::Space;

// Calls run(address, bytes, lanes) for pieces of an access, with few of them for usual shapes.
template <class Run>
inline void each_run_of(Mask mask, std::uint64_t base, std::int64_t stride, unsigned bytes, Run run) {
  if (mask == 0) return;
  const int first = __builtin_ctz(mask);
  if (stride == 0) return run(base, std::uint64_t{bytes}, mask);
  const Mask shifted = mask >> first;
  if (stride == static_cast<std::int64_t>(bytes) && (shifted & (shifted + 1)) == 0)
    return run(base + static_cast<std::uint64_t>(first * stride),
               std::uint64_t{bytes} * static_cast<unsigned>(__builtin_popcount(mask)), mask);
  for (const int lane : EachLane(mask))
    run(base + static_cast<std::uint64_t>(lane * stride), std::uint64_t{bytes}, Mask{1} << lane);
}

template <class Run> inline void each_run(const WarpAccess& a, unsigned bytes, Run run) {
  if (a.offsets != nullptr) {
    for (const int lane : EachLane(a.mask))
      run(a.lanes.base + static_cast<std::uint64_t>(a.offsets[lane]), std::uint64_t{bytes}, Mask{1} << lane);
    return;
  }
  const HalfWarps& l = a.lanes;
  if (l.stride[0] == l.stride[1] && l.half == 16 * l.stride[0])
    return each_run_of(a.mask, l.base, l.stride[0], bytes, run);
  each_run_of(a.mask & 0xffffu, l.base, l.stride[0], bytes, run);
  each_run_of(a.mask & ~Mask{0xffffu}, l.base + static_cast<std::uint64_t>(l.half - 16 * l.stride[1]), l.stride[1],
              bytes, run);
}

// The texels of one texture may be smaller than the registers that they go to.
unsigned lane_bytes(const WarpAccess& a) {
  return a.space == Space::texture ? a.warp->worker->texel_bytes : a.site->lane_bytes;
}

// Compilers move a plain load of shared or local memory in front of the condition under which the program needs it.
bool may_load_in_advance(const MemorySite& site, const isa::Spelling& spelling) {
  using isa::Word;
  if (site.space != Space::shared && site.space != Space::local && site.space != Space::generic) return false;
  for (const Word ordered : {Word::w_volatile_, Word::w_relaxed, Word::w_acquire, Word::w_mmio})
    if (spelling.has(ordered)) return false;
  return true;
}

// Whether initcheck can follow all registers that a load writes.
bool follows_all(const Program& program, const ir::Operand& destination) {
  const auto elements = program.function->each_of(destination);
  return std::all_of(elements.begin(), elements.end(), [&](const ir::Operand& o) {
    return o.kind != ir::OperandKind::reg ||
           (program.unwritten.followed[o.index] && init::register_bytes(program, o.index) <= 8);
  });
}

} // namespace

InitChecker::InitChecker(const Launch& launch, InitCheck& memory)
    : launch_(launch), program_(*launch.program), memory_(memory) {
  sites_.reserve(program_.sites.size());
  for (const MemorySite& site : program_.sites) sites_.push_back(site_of(site));
}

InitChecker::Site InitChecker::site_of(const MemorySite& site) const {
  Site s;
  s.reads = site.kind != AccessKind::store;
  s.writes = site.kind != AccessKind::load;
  const ir::Function& function = *program_.function;
  const ir::Instruction& i = function.instructions[site.instruction];
  s.element = std::max<std::uint32_t>(1, site.lane_bytes);
  if (i.form == ir::kNone) return s;
  const isa::Spelling& spelling = program_.module->spellings[i.form];
  const isa::Family family = spelling.entry->family;
  s.hidden = site.space == Space::local && site.observed_bytes == 0 && spelling.form.space() == Space::param;
  s.copies = family == isa::Family::async_copy || family == isa::Family::bulk_copy;
  const std::uint8_t unread = program_.unwritten.unread[site.instruction];
  // What an exchange returns is often of no interest.
  if (family == isa::Family::atomic && spelling.has(isa::Word::w_exch) && (unread & 1) != 0) s.reads = false;
  if (family == isa::Family::load) {
    const auto elements = static_cast<std::uint32_t>(function.each_of(function.operands(i)[0]).size());
    s.element = std::max<std::uint32_t>(1, site.lane_bytes / std::max<std::uint32_t>(1, elements));
    s.unread = unread;
    s.follows = may_load_in_advance(site, spelling) && follows_all(program_, function.operands(i)[0]);
  }
  s.stores = family == isa::Family::store;
  return s;
}

// ---- blocks

void InitChecker::begin_cta(std::uint64_t cta) {
  blocks_[cta] = std::make_unique<init::BlockShadow>(launch_.shape.warps(), program_.unwritten.registers.size());
  last_cta_ = ~std::uint64_t{0};
}

void InitChecker::end_cta(std::uint64_t cta) {
  blocks_.erase(cta);
  last_cta_ = ~std::uint64_t{0};
}

init::BlockShadow* InitChecker::find_block(std::uint64_t cta) {
  if (cta == last_cta_) return last_block_;
  const auto found = blocks_.find(cta);
  if (found == blocks_.end()) return nullptr;
  last_cta_ = cta;
  return last_block_ = found->second.get();
}

init::BlockShadow& InitChecker::block(std::uint64_t cta) { return *find_block(cta); }

// The shared memory at an offset, which may be that of another CTA of the cluster; none if it has exited.
InitChecker::SharedPlace InitChecker::shared_at(const Warp& warp, std::uint64_t address) {
  const auto [cta, offset] = cluster_place(*warp.cta, address);
  init::BlockShadow* const found = cta != nullptr ? find_block(cta->number) : nullptr;
  if (found == nullptr) return {};
  if (found->shared.empty()) found->shared.resize(cta->shared_bytes);
  return {&found->shared, offset};
}

// ---- accesses

bool InitChecker::unwritten(const WarpAccess& a, unsigned bytes) {
  bool found = false;
  if (a.space == Space::shared) {
    const init::SharedShadow* const own = shared_at(*a.warp, 0).shadow;
    each_run(a, bytes, [&](std::uint64_t address, std::uint64_t count, Mask) {
      if (address < kClusterStride) {
        found = found || own->unwritten(address, count);
        return;
      }
      const SharedPlace place = shared_at(*a.warp, address);
      found = found || (place.shadow != nullptr && place.shadow->unwritten(place.offset, count));
    });
  } else if (a.space == Space::local) {
    const init::LocalShadow& local = block(a.of.cta).warps[a.of.warp].local;
    for (Mask rest = a.mask; rest != 0 && !found;) {
      const std::uint64_t address = a.address(__builtin_ctz(rest));
      Mask same = 0;
      for (const int lane : EachLane(rest)) same |= a.address(lane) == address ? Mask{1} << lane : 0;
      found = (local.unwritten(address, bytes) & same) != 0;
      rest &= ~same;
    }
  } else {
    init::GlobalShadow& shadow = memory_.shadow();
    each_run(a, bytes, [&](std::uint64_t address, std::uint64_t count, Mask) {
      found = found || shadow.unwritten(address, count);
    });
  }
  return found;
}

void InitChecker::write(const WarpAccess& a, unsigned bytes) {
  if (a.space == Space::shared) {
    init::SharedShadow* const own = shared_at(*a.warp, 0).shadow;
    each_run(a, bytes, [&](std::uint64_t address, std::uint64_t count, Mask) {
      if (address < kClusterStride) return own->write(address, count);
      if (const SharedPlace place = shared_at(*a.warp, address); place.shadow != nullptr)
        place.shadow->write(place.offset, count);
    });
  } else if (a.space == Space::local) {
    init::LocalShadow& local = block(a.of.cta).warps[a.of.warp].local;
    for (Mask rest = a.mask; rest != 0;) {
      const std::uint64_t address = a.address(__builtin_ctz(rest));
      Mask same = 0;
      for (const int lane : EachLane(rest)) same |= a.address(lane) == address ? Mask{1} << lane : 0;
      local.write(address, bytes, same);
      rest &= ~same;
    }
  } else {
    init::GlobalShadow& shadow = memory_.shadow();
    each_run(a, bytes, [&](std::uint64_t address, std::uint64_t count, Mask) { shadow.write(address, count); });
  }
}

void InitChecker::access(const WarpAccess& a) {
  if (a.space == Space::param || a.space == Space::constant) return;
  const Site& site = sites_[a.site->index];
  const unsigned bytes = lane_bytes(a);
  if (site.stores && a.warp->followed) {
    if (!site.hidden) write(a, bytes);
    return store_values(a);
  }
  if (site.hidden) return;
  if (site.copies) {
    const auto found = moving_.find({a.of.cta, a.of.warp, a.site->instruction});
    const bool plain = found == moving_.end() || (found->second.reduces && a.site->kind != AccessKind::load);
    if (!plain) return a.site->kind == AccessKind::load ? load_to_copy(a) : store_copied(a);
  }
  if (site.reads && unwritten(a, bytes)) {
    const bool may_wait = site.follows && (a.space == Space::shared || a.space == Space::local);
    may_wait ? follow(a, site, bytes) : report(a, site, bytes);
  }
  if (site.writes) write(a, bytes);
}

bool InitChecker::unwritten_bytes(const Warp& warp, int lane, Space space, std::uint64_t address, std::uint64_t bytes) {
  if (space == Space::shared) {
    const SharedPlace place = shared_at(warp, address);
    return place.shadow != nullptr && place.shadow->unwritten(place.offset, bytes);
  }
  if (space == Space::local)
    return (block(warp.cta->number).warps[warp.index].local.unwritten(address, bytes) >> lane & 1) != 0;
  return memory_.shadow().unwritten(address, bytes) && memory_.still_unwritten(address, bytes);
}

void InitChecker::report(const WarpAccess& a, const Site& site, unsigned bytes) {
  for (const int lane : EachLane(a.mask)) {
    const std::uint64_t address = a.address(lane);
    if (!unwritten_bytes(*a.warp, lane, a.space, address, bytes)) continue;
    std::uint64_t count = 0, first = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      if ((site.unread >> std::min(7u, i / site.element) & 1) != 0) continue;
      if (!unwritten_bytes(*a.warp, lane, a.space, address + i, 1)) continue;
      if (count++ == 0) first = address + i;
    }
    if (count != 0) findings_.add(finding_of(a, lane, first, count, bytes));
  }
}

ToolFinding InitChecker::finding_of(const WarpAccess& a, int lane, std::uint64_t address, std::uint64_t count,
                                    unsigned bytes) {
  ToolFinding finding{ToolFinding::Kind::uninitialized, thread_at(*a.warp, a.site->instruction, lane)};
  finding.at.space = a.space;
  finding.at.access = a.site->kind;
  finding.at.bytes = count;
  finding.at.address = address;
  finding.at.whole = bytes;
  name_origin(finding, a);
  return finding;
}

// Where copies have brought the bytes from.
void InitChecker::name_origin(ToolFinding& finding, const WarpAccess& a) {
  std::uint64_t address = finding.at.address;
  if (a.space == Space::shared) {
    if (address >= kClusterStride) return;
    const std::vector<init::Brought>& list = block(a.of.cta).brought;
    const auto found = std::find_if(list.rbegin(), list.rend(),
                                    [&](const init::Brought& b) { return address >= b.begin && address < b.end; });
    if (found == list.rend()) return;
    address = found->source + (address - found->begin);
    finding.other = ThreadAccess{.instruction = found->instruction,
                                 .cta = a.of.cta,
                                 .thread = found->thread,
                                 .space = Space::global,
                                 .access = AccessKind::load,
                                 .bytes = finding.at.bytes,
                                 .address = address};
  } else if (a.space == Space::local) {
    return;
  }
  if (const std::optional<InitCheck::Origin> origin = memory_.origin_of(address))
    finding.detail = fmt::format("{} copied the uninitialized bytes from {:#x}", origin->what, origin->address);
}

// ---- memory that functions and the device's library give and write

void InitChecker::entered(const Warp& warp, std::uint32_t part, Mask lanes, const std::uint32_t* frames) {
  init::BlockShadow& of = block(warp.cta->number);
  init::WarpShadow& shadow = of.warps[warp.index];
  const CalledPart& called = program_.parts[part];
  const std::vector<ir::Formal>& params = program_.function->parts[part].params;
  for (const int lane : EachLane(lanes)) {
    const Mask one = Mask{1} << lane;
    shadow.local.forget(frames[lane], called.frame_bytes, one);
    of.loads.forget(warp.index * kWarpSize + static_cast<std::uint32_t>(lane), frames[lane], called.frame_bytes);
    for (std::size_t p = 0; p < params.size(); ++p)
      shadow.local.write(frames[lane] + called.param_offsets[p], program_.function->variables[params[p].variable].size,
                         one);
  }
  if (part < program_.unwritten.part.size())
    for (const std::uint32_t r : program_.unwritten.part[part]) {
      init::RegisterShadow& s = shadow.registers[r];
      s = {s.unwritten | lanes, s.computed & ~lanes, s.instruction, r};
    }
}

void InitChecker::fresh(const Warp& warp, int lane, Space space, std::uint64_t address, std::uint64_t bytes) {
  if (space == Space::global) memory_.fresh(address, bytes, false);
  if (space != Space::local) return;
  init::BlockShadow& of = block(warp.cta->number);
  of.warps[warp.index].local.forget(address, bytes, Mask{1} << lane);
  of.loads.forget(warp.index * kWarpSize + static_cast<std::uint32_t>(lane), address, bytes);
}

void InitChecker::written(const Warp& warp, int lane, Space space, std::uint64_t address, std::uint64_t bytes) {
  if (space == Space::global) memory_.write(address, bytes);
  if (space == Space::local) block(warp.cta->number).warps[warp.index].local.write(address, bytes, Mask{1} << lane);
  if (space == Space::shared)
    if (const SharedPlace place = shared_at(warp, address); place.shadow != nullptr)
      place.shadow->write(place.offset, bytes);
}

// ---- registers

void InitChecker::registers(const WarpStep& step) {
  const auto found = program_.unwritten.uses.find(step.instruction);
  if (found == program_.unwritten.uses.end()) return;
  const ir::UnwrittenUse& use = found->second;
  std::vector<init::RegisterShadow>& registers = block(step.of.cta).warps[step.of.warp].registers;
  if (use.guard != ir::kNone)
    need(step, registers[use.guard], step.warp->active, "decides whether an instruction runs");
  for (const std::uint32_t number : use.needs) need(step, registers[number], step.mask, "is needed");
  flow(step, use, registers);
  for (const std::uint32_t number : use.writes) registers[number].unwritten &= ~step.mask;
  for (const std::uint32_t number : use.stored)
    need(step, registers[number], step.mask & registers[number].computed, "is stored");
}

// The results of an instruction, from its sources before it writes any.
void InitChecker::flow(const WarpStep& step, const ir::UnwrittenUse& use,
                       std::vector<init::RegisterShadow>& registers) {
  std::map<std::uint32_t, init::RegisterShadow> results;
  for (const ir::UnwrittenUse::Flow& f : use.flows) {
    init::RegisterShadow& result = results[f.to];
    Mask lanes = f.any ? 0 : step.mask;
    for (const std::uint32_t number : f.from)
      lanes = f.any ? lanes | registers[number].unwritten : lanes & registers[number].unwritten;
    lanes &= step.mask;
    for (const std::uint32_t number : f.from) {
      const init::RegisterShadow& source = registers[number];
      if ((source.unwritten & lanes) == 0) continue;
      const Mask before = source.computed & lanes;
      if (result.unwritten == 0 || (result.computed == 0 && before != 0)) {
        result.root = source.root;
        result.instruction = before != 0 ? source.instruction : step.instruction;
      }
      result.unwritten |= lanes;
      result.computed |= f.computes ? lanes : before;
    }
  }
  for (const auto& [to, result] : results) {
    init::RegisterShadow& r = registers[to];
    const Mask kept = r.unwritten & ~step.mask;
    if (result.unwritten == 0) {
      r.unwritten = kept;
      continue;
    }
    r = {kept | result.unwritten, (r.computed & kept) | result.computed, result.instruction, result.root};
  }
}

// Lanes in which the value of an unwritten register decides something. It is reported where the first instruction
// computed with it, and only once.
void InitChecker::need(const WarpStep& step, init::RegisterShadow& value, Mask lanes, const char* why) {
  const Mask bad = value.unwritten & lanes;
  if (bad == 0) return;
  if (const Mask computed = bad & value.computed; computed != 0)
    report_register(step, value.root, value.instruction, computed, why);
  if (const Mask moved = bad & ~value.computed; moved != 0)
    report_register(step, value.root, step.instruction, moved, "");
  value.unwritten &= ~bad;
}

void InitChecker::report_register(const WarpStep& step, std::uint32_t root, std::uint32_t instruction, Mask lanes,
                                  const char* why) {
  const std::uint32_t index = program_.unwritten.registers[root];
  const isa::Type type = program_.function->registers[index].type;
  for (const int lane : EachLane(lanes)) {
    ToolFinding finding{ToolFinding::Kind::uninitialized, thread_at(*step.warp, instruction, lane)};
    finding.at.space = Space::reg;
    finding.at.access = AccessKind::load;
    finding.at.bytes = finding.at.whole = static_cast<std::uint64_t>(std::max(1, isa::bytes(type)));
    finding.at.address = index;
    if (instruction != step.instruction && *why != 0) finding.detail = fmt::format("What is computed from it {}", why);
    findings_.add(std::move(finding));
  }
}

} // namespace warplens::exec
