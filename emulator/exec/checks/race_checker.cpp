// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/checks/race_checker.hpp"

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/access/tensor_copy.hpp"
#include "emulator/exec/block/warp_groups.hpp"
#include "emulator/exec/checks/cluster_place.hpp"
#include "emulator/exec/checks/completions.hpp"
#include "emulator/exec/checks/group_work.hpp"
#include "emulator/exec/checks/race/stored_values.hpp"
#include "emulator/exec/checks/tensor_work.hpp"
#include "emulator/exec/memory/memory.hpp"
#include "emulator/exec/state/launch.hpp"

#include <cstring>

namespace warplens::exec {

namespace {

std::vector<race::Meaning> meanings_of(const Program& program) {
  std::vector<race::Meaning> meanings;
  for (const ir::Instruction& i : program.function->instructions)
    meanings.push_back(race::meaning_of(program.module->spellings[i.form]));
  return meanings;
}

bool is_of_mbarrier(race::Step step) { return step >= race::Step::mbarrier_init && step <= race::Step::mbarrier_other; }

// Applies what a lane does to a copy of its object; true if the phase ends.
bool ends_phase(const Op* op, Warp* warp, int lane, race::Step step, Mbarrier& object) {
  const bool odd = object.odd_phase();
  const auto* const values = row<std::uint32_t>(warp, op->src[1]);
  if (step == race::Step::mbarrier_copies_arrive) {
    if ((op->extra & kNoIncrement) == 0) object.add_pending();
    object.arrive(1);
  } else if (step == race::Step::mbarrier_arrive) {
    const bool expects = (op->extra & kExpects) != 0;
    const std::uint32_t count = expects ? 1 : values[lane];
    if (expects) object.expect(values[lane]);
    if ((op->extra & kDrops) != 0) object.drop(count);
    object.arrive(count);
  } else if (handler_of(op, warp) == mbarrier_expect) {
    object.expect(values[lane]);
  } else if (handler_of(op, warp) == mbarrier_complete) {
    object.complete(values[lane]);
  }
  return object.odd_phase() != odd;
}

} // namespace

RaceChecker::RaceChecker(const Launch& launch, race::Memory& global, const race::Timeline& timeline, race::Time now)
    : program_(*launch.program), meanings_(meanings_of(program_)),
      engine_(race::Engine::Grid{launch.shape, program_.module->sm < 70, launch.cooperative}, meanings_, global,
              timeline, now),
      stores_(program_.sites.size()) {
  std::unordered_map<const void*, std::uint32_t> sites;
  for (const MemorySite& site : program_.sites)
    if (site.kind == AccessKind::store) sites.emplace(&site, site.index);
  for (const Op& op : program_.ops)
    if (const auto site = sites.find(op.site); site != sites.end()) stores_[site->second] = &op;
}

void RaceChecker::begin_cta(std::uint64_t cta) { engine_.begin(cta); }
void RaceChecker::end_cta(std::uint64_t cta) {
  engine_.end(cta);
  block_ = nullptr;
}

race::Block& RaceChecker::block_of(std::uint64_t cta) {
  if (block_ == nullptr || block_->cta() != cta) {
    block_ = &engine_.block(cta);
    shared_ = engine_.shared(cta);
  }
  return *block_;
}

void RaceChecker::access(const WarpAccess& access) {
  if (access.space != isa::Space::global && access.space != isa::Space::shared && access.space != isa::Space::texture)
    return;
  race::Block& block = block_of(access.of.cta);
  const MemorySite& site = *access.site;
  const race::Meaning& meaning = meanings_[site.instruction];
  race::Touch touch{.instruction = site.instruction,
                    .kind = site.kind,
                    .lane_bytes = site.lane_bytes,
                    .mask = access.mask,
                    .lanes = access.lanes,
                    .offsets = access.offsets};
  if (access.space == isa::Space::texture) touch.lane_bytes = access.warp->worker->texel_bytes; // in global memory
  if (meaning.run) [[unlikely]] // the lanes stand for pieces of what one lane accesses
    if (!to_run(access, touch)) return;
  const race::StoredValues values(access, stores_[site.index]);
  if (access.space != isa::Space::shared)
    engine_.access(block, access.of.warp, touch, engine_.global(), values);
  else if (!site.cluster)
    engine_.access(block, access.of.warp, touch, *shared_, values);
  else
    touch_cluster(access, block, touch, values);
  if (is_of_mbarrier(meaning.step) && meaning.step != race::Step::mbarrier_commit) [[unlikely]]
    object_accessed(access, block, meaning);
}

// What was done with a block of the device's heap before it was freed has nothing to do with its next owner.
void RaceChecker::fresh(const Warp&, int, isa::Space space, std::uint64_t address, std::uint64_t bytes) {
  if (space == isa::Space::global) engine_.global().shadow.forget(address, bytes);
}

// False: another lane has issued the same copy by tensor map, as where a whole warp does. Both write the same values.
bool RaceChecker::to_run(const WarpAccess& access, race::Touch& touch) {
  touch.run = static_cast<std::uint64_t>(__builtin_popcount(access.mask)) * touch.lane_bytes;
  touch.mask = 1;
  const auto found = begun_.find({access.of.cta, access.of.warp, touch.instruction});
  if (found == begun_.end()) return true;
  Begun& begun = found->second;
  if (handler_of(begun.op, access.warp) == tensor_copy && access.space == isa::Space::shared) {
    if (begun.base == access.lanes.base) begin_lane(access, begun);
    if (!begun.base) begun.base = access.lanes.base;
  }
  touch.mask = Mask{1} << begun.lane;
  return !begun.repeats;
}

// A copy by tensor map begins with its first byte of shared memory.
void RaceChecker::begin_lane(const WarpAccess& access, Begun& begun) const {
  const Mask before = begun.mask & ((Mask{2} << begun.lane) - 1), rest = begun.mask & ~before;
  if (rest == 0) return;
  begun.lane = __builtin_ctz(rest);
  auto* const warp = const_cast<Warp*>(access.warp); // its rows are read only
  begun.repeats = false;
  for (const int lane : EachLane(before))
    begun.repeats = begun.repeats || is_same_copy(begun.op, warp, lane, begun.lane);
}

// Lanes may access the shared memory of different CTAs of the cluster.
void RaceChecker::touch_cluster(const WarpAccess& access, race::Block& block, const race::Touch& touch,
                                const race::Values& values) {
  const auto address = [&](int lane) { return touch.run != 0 ? touch.lanes.base : touch.address(lane); };
  const auto place_of = [&](int lane) { return cluster_place(*access.warp->cta, address(lane)); };
  for (Mask left = touch.mask; left != 0;) {
    const int first = __builtin_ctz(left);
    const ClusterPlace at = place_of(first);
    race::Touch part = touch;
    part.mask = 0;
    for (const int lane : EachLane(left)) part.mask |= place_of(lane).cta == at.cta ? Mask{1} << lane : 0;
    left &= ~part.mask;
    part.lanes.base -= address(first) - at.offset;
    race::Memory* const memory = at.cta != nullptr ? engine_.shared(at.cta->number) : nullptr;
    if (memory == nullptr) continue; // its CTA has exited: memcheck's
    engine_.access(block, access.of.warp, part, *memory, values);
  }
}

// An arrival is known when the access is reported, a wait only when it has succeeded.
void RaceChecker::object_accessed(const WarpAccess& access, race::Block& block, const race::Meaning& meaning) {
  const auto found = begun_.find({access.of.cta, access.of.warp, access.site->instruction});
  if (found == begun_.end()) return;
  Begun& begun = found->second;
  begun.objects.clear();
  const Cta& cta = *access.warp->cta;
  std::map<const std::byte*, Mbarrier> now;
  for (const int lane : EachLane(access.mask)) {
    const std::uint64_t address = access.address(lane);
    const std::byte* const place = cta.cluster->shared(cta, address, sizeof(std::uint64_t), true);
    const Cta* const owner = place != nullptr ? cta.cluster->owner(place) : nullptr;
    if (owner == nullptr) continue;
    std::uint64_t bits;
    std::memcpy(&bits, place, sizeof bits);
    Mbarrier& object = now.try_emplace(place, Mbarrier(bits)).first->second;
    const bool completes = meaning.step != race::Step::mbarrier_wait && meaning.step != race::Step::mbarrier_init &&
                           object.exists() &&
                           ends_phase(begun.op, const_cast<Warp*>(access.warp), lane, meaning.step, object);
    begun.objects.push_back({lane, owner->number, static_cast<std::uint64_t>(place - owner->shared), completes});
  }
  if (meaning.step == race::Step::mbarrier_init) {
    for (const Object& o : begun.objects)
      if (race::Memory* const memory = engine_.shared(o.cta)) memory->mbarriers[o.offset] = {};
  } else if (meaning.step != race::Step::mbarrier_wait) {
    arrive(block, access.of.warp, begun.objects, meaning);
  }
}

void RaceChecker::arrive(race::Block& block, std::uint32_t warp, const std::vector<Object>& objects,
                         const race::Meaning& meaning) {
  for (auto at = objects.begin(); at != objects.end();) { // lanes in a row at one object, until its phase ends
    const Object& first = *at;
    Mask lanes = 0;
    bool completes = false;
    for (; at != objects.end() && at->cta == first.cta && at->offset == first.offset && !completes; ++at) {
      lanes |= Mask{1} << at->lane;
      completes = at->completes;
    }
    if (race::Memory* const memory = engine_.shared(first.cta))
      engine_.mbarrier_arrive(block, warp, lanes, *memory, first.offset, meaning, completes);
  }
  engine_.tick(block, warp);
}

// The objects at which this instruction completes, before it does.
void RaceChecker::find_completions(const WarpStep& step, race::Step meaning, Begun& begun) {
  std::map<const std::byte*, Mbarrier> now;
  for (const int lane : EachLane(step.mask))
    for (const Completion& c : completions_of(step, lane)) {
      std::uint64_t bits;
      std::memcpy(&bits, c.place, sizeof bits);
      Mbarrier& object = now.try_emplace(c.place, Mbarrier(bits)).first->second;
      const bool odd = object.odd_phase();
      if (meaning == race::Step::mbarrier_commit)
        object.arrive(1);
      else
        object.complete(c.bytes);
      begun.objects.push_back({lane, c.cta->number, c.offset, object.odd_phase() != odd});
    }
}

// A matrix in shared memory.
void RaceChecker::read_matrix(const WarpStep& step, int lane, std::uint64_t cta, const std::vector<Extent>& extents) {
  class NoValues final : public race::Values {
    [[nodiscard]] bool stores_what_is_there(int) const override { return false; }
    [[nodiscard]] bool same(int, int) const override { return false; }
  };
  constexpr std::uint32_t kUnitBytes = 16;
  race::Memory* const memory = engine_.shared(cta);
  if (memory == nullptr) return;
  for (const Extent& e : extents) {
    race::Touch touch{.instruction = step.instruction,
                      .kind = AccessKind::load,
                      .lane_bytes = kUnitBytes,
                      .mask = Mask{1} << lane,
                      .run = e.end - e.first};
    touch.lanes.base = e.first;
    engine_.access(block_of(step.of.cta), step.of.warp, touch, *memory, NoValues());
  }
}

// Matrices that tcgen05 reads, also in the other block of a pair.
void RaceChecker::read_matrices(const WarpStep& step) {
  for (const int lane : EachLane(step.mask))
    for (const TensorWork& work : work_of(step, lane)) read_matrix(step, lane, work.cta->number, work.reads);
}

// Each warp of a group reads its rows of A, and B. It begins when the warp arrives: the others may go on before it
// does. All lanes execute it, so that it comes after what each of them has done.
void RaceChecker::begin_product(const WarpStep& step) {
  engine_.sync_warp(block_of(step.of.cta), step.of.warp, step.mask, step.warp->live);
  auto* const warp = const_cast<Warp*>(step.warp); // its rows are read only
  const int first = static_cast<int>(step.of.warp % kGroupWarps) * RowsOfA::kOfWarp;
  const RowsOfA rows{first, first + RowsOfA::kOfWarp};
  read_matrix(step, race::kReadingLane, step.of.cta, matrices_of(*step.op->group, warp, rows));
}

void RaceChecker::step(const WarpStep& step) {
  const race::Meaning& meaning = meanings_[step.instruction];
  race::Block& block = block_of(step.of.cta);
  step.after ? after(step, block, meaning) : before(step, block, meaning);
}

void RaceChecker::before(const WarpStep& step, race::Block& block, const race::Meaning& meaning) {
  using race::Step;
  const std::uint32_t warp = step.of.warp;
  switch (meaning.step) {
  case Step::fence: return engine_.fence(block, warp, step.mask, meaning);
  case Step::barrier: return arrive_at_barrier(step, block, true);
  case Step::barrier_arrive: return arrive_at_barrier(step, block, false);
  case Step::cluster_arrive: return engine_.cluster_arrive(block, warp, step.mask, meaning);
  case Step::product: return begin_product(step);
  case Step::product_commit: return engine_.commit_products(block, warp);
  case Step::copy_commit: return engine_.commit(block, warp, step.mask, false);
  case Step::bulk_commit: return engine_.commit(block, warp, step.mask, true);
  case Step::warp_barrier: {
    const auto* const masks = row<std::uint32_t>(const_cast<Warp*>(step.warp), step.op->src[3]);
    for (const int lane : EachLane(step.mask)) {
      auto& members = block.warp(warp).members;
      const auto same = [&](const race::WarpState::Members& m) { return m.named == masks[lane]; };
      auto at = std::find_if(members.begin(), members.end(), same);
      if (at == members.end()) at = members.insert(members.end(), {masks[lane], 0});
      at->arrived |= Mask{1} << lane;
    }
    return;
  }
  default: break;
  }
  const bool completes = meaning.step == Step::completing_copy || meaning.step == Step::mbarrier_commit;
  if (!is_of_mbarrier(meaning.step) && !completes && !meaning.run) return;
  Begun& begun = begun_[{step.of.cta, warp, step.instruction}];
  begun = {};
  begun.op = step.op;
  begun.mask = step.mask;
  begun.lane = __builtin_ctz(step.mask);
  if (completes) find_completions(step, meaning.step, begun);
}

void RaceChecker::after(const WarpStep& step, race::Block& block, const race::Meaning& meaning) {
  using race::Step;
  const std::uint32_t warp = step.of.warp;
  auto* const running = const_cast<Warp*>(step.warp);
  switch (meaning.step) {
  case Step::barrier:
    if ((step.op->extra & kUniform) != 0)
      return block.leave(row<std::uint32_t>(running, step.op->src[0])[0], warp, step.mask);
    for (const int lane : EachLane(step.mask))
      block.leave(row<std::uint32_t>(running, step.op->src[0])[lane], warp, Mask{1} << lane);
    return;
  case Step::warp_barrier: return join_warp(step, block);
  case Step::cluster_wait: return engine_.cluster_wait(block, warp, step.mask, running->live);
  case Step::product_wait:
    return engine_.wait_for_products(block, warp, step.mask, running->live, groups(step.instruction));
  case Step::copy_wait: return engine_.wait(block, warp, step.mask, false, groups(step.instruction));
  case Step::bulk_wait: return engine_.wait(block, warp, step.mask, true, groups(step.instruction));
  case Step::copy_wait_all:
    engine_.commit(block, warp, step.mask, false);
    return engine_.wait(block, warp, step.mask, false, 0);
  default: break;
  }
  const auto found = begun_.find({step.of.cta, warp, step.instruction});
  if (found == begun_.end()) return;
  const Begun begun = std::move(found->second);
  begun_.erase(found);
  if (meaning.step == Step::completing_copy || meaning.step == Step::mbarrier_commit)
    return arrive(block, warp, begun.objects, meaning);
  if (meaning.step == Step::tensor_work) return read_matrices(step);
  if (meaning.step != Step::mbarrier_wait) return;
  const Mask complete = predicate(running, step.op->dst[0]);
  for (const Object& o : begun.objects)
    if (race::Memory* const memory = engine_.shared(o.cta); memory != nullptr && (complete >> o.lane & 1) != 0)
      engine_.mbarrier_wait(block, warp, o.lane, *memory, o.offset, meaning);
}

void RaceChecker::arrive_at_barrier(const WarpStep& step, race::Block& block, bool waits) {
  auto* const warp = const_cast<Warp*>(step.warp);
  const auto* const numbers = row<std::uint32_t>(warp, step.op->src[0]);
  const bool counted = (step.op->extra & kCounted) != 0;
  for (Mask left = step.mask; left != 0;) {
    const int first = __builtin_ctz(left);
    race::BarrierArrival arrival{step.of.warp, 0, warp->live, waits};
    if ((step.op->extra & kUniform) != 0)
      arrival.lanes = left;
    else
      for (const int lane : EachLane(left)) arrival.lanes |= numbers[lane] == numbers[first] ? Mask{1} << lane : 0;
    left &= ~arrival.lanes;
    const std::uint32_t threads = counted ? row<std::uint32_t>(warp, step.op->src[1])[first] : 0;
    engine_.barrier(block, arrival, numbers[first], threads);
  }
}

// The first of the members that goes on: all of them have arrived.
void RaceChecker::join_warp(const WarpStep& step, race::Block& block) {
  auto& members = block.warp(step.of.warp).members;
  for (race::WarpState::Members& m : members) {
    if ((m.arrived & step.mask) == 0) continue;
    engine_.sync_warp(block, step.of.warp, m.arrived, step.warp->live);
    m.arrived = 0;
  }
  std::erase_if(members, [](const race::WarpState::Members& m) { return m.arrived == 0; });
}

std::uint32_t RaceChecker::groups(std::uint32_t instruction) const {
  const ir::Function& function = *program_.function;
  const auto operands = function.operands(function.instructions[instruction]);
  return operands.empty() ? 0 : static_cast<std::uint32_t>(operands[0].value);
}

} // namespace warplens::exec
