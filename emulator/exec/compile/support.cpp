// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/support.hpp"

#include "emulator/exec/access/access.hpp"
#include "emulator/exec/access/collisions.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace warplens::exec {

namespace {

void tell_access(Warp* warp, const Op* op, isa::Space space, std::uint64_t base, std::int64_t stride,
                 std::int64_t half) {
  const std::int64_t strides[] = {stride, stride};
  warp->worker->watch->regular(*warp, *op->site, space, kFullMask, base, strides, half);
}

void tell_sequence(Warp* warp, const Op* op, isa::Space space, std::uint64_t base, std::int64_t stride,
                   std::int64_t half, std::uint32_t tally) {
  tell_access(warp, op, space, base, stride, half);
  Worker& worker = *warp->worker;
  worker.begin_tallies();
  if (tally != kNoTally) worker.tallies.know_distance(tally, half);
}

// By value: from memory, the processor would wait until the vector that they come from has been stored.
void tell_sequences(Warp* warp, const Op* op, Mask mask, std::uint64_t base, std::int64_t stride,
                    std::int64_t other_stride, std::int64_t half) {
  const std::int64_t strides[] = {stride, other_stride};
  warp->worker->watch->regular(*warp, *op->site, op->site->space, mask, base, strides, half);
}

void tell_lanes(Warp* warp, const Op* op, isa::Space space, const std::uint64_t* addresses, Mask mask) {
  AccessWatch& watch = *warp->worker->watch;
  const std::uint64_t first = addresses[__builtin_ctz(mask)];
  std::int64_t offsets[kWarpSize]{};
  for (const int lane : EachLane(mask)) offsets[lane] = static_cast<std::int64_t>(addresses[lane] - first);
  watch.irregular(*warp, *op->site, space, mask, first, offsets);
}

void deliver_rows(Warp* warp, AccessWatch::Rows* rows) { warp->worker->watch->deliver(*rows); }

void tell_branch(Warp* warp, std::uint32_t branch, Mask taken) {
  warp->worker->count_branch(*warp, branch, warp->active, taken);
  warp->worker->begin_tallies();
}

// Whether lanes lie at equal distances, those of the other half of the warp between them: no two overlap, and both of a
// pair of lanes are probably in one line of the cache.
bool are_interleaved(const std::uint64_t* places, std::uint64_t bytes) {
  const std::uint64_t step = places[1] - places[0], half = places[16] - places[0];
  const auto length = [](std::uint64_t distance) { return std::min(distance, std::uint64_t{0} - distance); };
  if (length(half) < bytes || length(half) + bytes > length(step) || places[17] - places[16] != step) return false;
  std::uint64_t bits = 0, place = places[0];
  for (int i = 0; i < kWarpSize / 2; ++i, place += step)
    bits |= (places[i] ^ place) | (places[16 + i] ^ (place + half));
  return bits == 0;
}

template <class Element> void store(const std::uint64_t* places, const void* values, Mask mask) {
  const auto* const elements = static_cast<const Element*>(values);
  const auto lane = [&](int i) { std::memcpy(reinterpret_cast<void*>(places[i]), elements + i, sizeof(Element)); };
  if (mask != kFullMask) return for_each_storing_lane(mask, sizeof(Element), lane);
  if (!are_interleaved(places, sizeof(Element))) {
    WARPLENS_LEVEL::fetch_lines(places);
    return for_each_storing_lane<sizeof(Element)>(lane);
  }
  for (int i = 0; i < kWarpSize / 2; ++i) {
    lane(i);
    lane(i + 16);
  }
}

// As if the branch had split the warp. The lanes that are not of this side wait to run theirs at `others`; if that is
// null, they have run it, or have none, and wait already where all meet.
void split_off(Warp* warp, const Op* branch, Mask side, const Op* others) {
  if (side == warp->active) return;
  const Op* const meet = branch + static_cast<std::int32_t>(branch->src[0]);
  Paths& paths = *warp->paths;
  if (paths.rejoin != meet) paths.waiting.push_back({meet, paths.rejoin, warp->active});
  if (others != nullptr) paths.waiting.push_back({others, meet, warp->active & ~side});
  paths.rejoin = meet;
  activate(warp, side);
}

void tell_special_operands(Warp* warp, std::uint32_t instruction, Mask lanes) {
  tell_special(warp, instruction, lanes);
  warp->worker->begin_tallies();
}

} // namespace

const std::vector<AtomicOperation>& atomic_operations() {
  static const std::vector<AtomicOperation>& all = *new std::vector<AtomicOperation>([] {
    using isa::Type, isa::Word;
    std::vector<AtomicOperation> list;
    for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64, Type::f32, Type::f64, Type::f16, Type::bf16,
                            Type::f16x2, Type::bf16x2, Type::b16, Type::b128})
      for (const Word word : {Word::w_add, Word::w_and_, Word::w_or_, Word::w_xor_, Word::w_exch, Word::w_cas,
                              Word::w_inc, Word::w_dec, Word::w_min, Word::w_max}) {
        AtomicOperation a;
        a.spelling.form.add(isa::word_of(type));
        a.spelling.form.add(word);
        a.name = fmt::format("warplens_atomic_{}_{}", isa::text_of(word), isa::name(type));
        a.lanes = atomic_lanes(a.spelling);
        list.push_back(std::move(a));
      }
    return list;
  }());
  return all;
}

std::vector<std::pair<const char*, void*>> support_functions(const Level& level) {
  std::vector<std::pair<const char*, void*>> list = {
      {"warplens_tell_access", reinterpret_cast<void*>(&tell_access)},
      {"warplens_tell_sequence", reinterpret_cast<void*>(&tell_sequence)},
      {"warplens_tell_sequences", reinterpret_cast<void*>(&tell_sequences)},
      {"warplens_tell_lanes", reinterpret_cast<void*>(&tell_lanes)},
      {"warplens_deliver_rows", reinterpret_cast<void*>(&deliver_rows)},
      {"warplens_store_1", reinterpret_cast<void*>(&store<std::uint8_t>)},
      {"warplens_store_2", reinterpret_cast<void*>(&store<std::uint16_t>)},
      {"warplens_store_4", reinterpret_cast<void*>(&store<std::uint32_t>)},
      {"warplens_store_8", reinterpret_cast<void*>(&store<std::uint64_t>)},
      {"warplens_split_off", reinterpret_cast<void*>(&split_off)},
      {"warplens_tell_special", reinterpret_cast<void*>(&tell_special_operands)},
      {"warplens_tell_branch", reinterpret_cast<void*>(&tell_branch)},
      {"warplens_fetch_sequences", reinterpret_cast<void*>(level.fetch_sequences)},
      {"warplens_store_sequences", reinterpret_cast<void*>(level.store_sequences)}};
  for (const AtomicOperation& a : atomic_operations())
    if (a.lanes != nullptr) list.emplace_back(a.name.c_str(), reinterpret_cast<void*>(a.lanes));
  return list;
}

} // namespace warplens::exec
