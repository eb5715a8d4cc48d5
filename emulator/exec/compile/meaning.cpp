// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/compile/meaning.hpp"

#include "emulator/exec/access/atomics.hpp"
#include "emulator/exec/block/barriers.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/compile/support.hpp"

namespace warplens::exec {

using Means = OpMeaning::Kind;

namespace {

template <class F> bool any_type(const isa::Form& form, F&& f) {
  for (int i = 0; i < form.type_count(); ++i)
    if (f(form.type(i))) return true;
  return false;
}

using Linear = OpMeaning::Linear;

OpMeaning lane_meaning(const isa::Entry& entry, std::uint32_t index, std::uint32_t variant) {
  OpMeaning m;
  m.kind = Means::lane;
  m.entry = index;
  m.variant = variant;
  const isa::Form form = entry.pattern.expand(variant);
  m.doubles = any_type(form, [](isa::Type type) { return type == isa::Type::f64; });
  const auto is = [&](std::string_view functor) { return entry.semantics == functor; };
  if (form.has(isa::Word::w_sat)) return m;
  if (is("Move")) m.linear = Linear::same;
  if (is("Add")) m.linear = Linear::sum;
  if (is("Subtract")) m.linear = Linear::difference;
  if (is("ShiftLeft")) m.linear = Linear::shift;
  if (is("MultiplyWide") || (is("Multiply") && form.has(isa::Word::w_lo))) m.linear = Linear::product;
  if (is("MultiplyAddWide") || (is("MultiplyAdd") && form.has(isa::Word::w_lo))) m.linear = Linear::product_sum;
  const bool multiplies = m.linear == Linear::product || m.linear == Linear::product_sum;
  if (multiplies || any_type(form, isa::is_float)) m.latency = multiplies ? 5 : 4;
  m.sign_extends = isa::is_signed(form.type());
  if (is("ConvertInteger")) {
    m.linear = Linear::same;
    m.sign_extends = isa::is_signed(form.type(1));
  }
  return m;
}

} // namespace

// Handlers of which several lines have the same do the same: the first is as good as the others.
void Meanings::add(Handler handler, OpMeaning meaning) {
  if (handler != nullptr) all_.emplace(handler, meaning);
}

void Meanings::add_across(const Level& level) {
  using enum WarpOperation;
  const auto add_key = [&](const WarpHandlerKey& key) {
    OpMeaning m{Means::across};
    m.warp = key;
    Meanings::add(level.warp(key), m);
  };
  for (const bool sync : {false, true}) {
    for (const WarpOperation shuffle : {shuffle_up, shuffle_down, shuffle_butterfly, shuffle_index})
      for (const bool predicate : {false, true}) add_key({shuffle, sync, predicate});
    for (const WarpOperation vote : {vote_all, vote_any, vote_uniform, ballot}) add_key({vote, sync, false});
  }
  for (const WarpOperation reduction :
       {WarpOperation::add, min_unsigned, max_unsigned, min_signed, max_signed, bit_and, bit_or, bit_xor})
    add_key({reduction, true, false});
  add_key({active_mask, false, false});
}

Meanings::Meanings(const Level& level) {
  const HandlerRows& rows = level.lanes();
  for (std::uint32_t entry = 0; entry < rows.size(); ++entry)
    for (std::uint32_t variant = 0; variant < rows[entry].size(); ++variant)
      add(rows[entry][variant], lane_meaning(isa::table()[entry], entry, variant));
  using isa::Type;
  constexpr Type kTypes[] = {Type::b8, Type::s8, Type::b16, Type::s16, Type::b32, Type::s32, Type::b64, Type::b128};
  for (const auto& [kind, memory] : {std::pair{Means::load, MemoryHandlerKey::Kind::load},
                                     {Means::store, MemoryHandlerKey::Kind::store},
                                     {Means::parameter, MemoryHandlerKey::Kind::param}})
    for (const Type type : kTypes)
      for (const int bytes : {1, 2, 4, 8, 16})
        for (const int vector : {1, 2, 4}) {
          const MemoryHandlerKey key{memory, type, bytes, vector, false};
          if (memory == MemoryHandlerKey::Kind::param && vector != 1) continue;
          add(level.memory(key), {kind, 0, 0, key, false});
        }
  for (const std::uint32_t whole : {2u, 4u, 8u, 16u})
    for (const std::uint32_t part : {1u, 2u, 4u, 8u})
      for (const bool packs : {false, true})
        add(level.vector_move(static_cast<int>(whole), static_cast<int>(part), packs),
            {packs ? Means::pack : Means::unpack, 0, 0, {}, false, whole, part});
  for (const AtomicOperation& a : atomic_operations()) {
    OpMeaning m{Means::atomic};
    m.memory = {MemoryHandlerKey::Kind::load, a.spelling.form.type(), isa::bytes(a.spelling.form.type()), 1, false};
    m.atomic = a.lanes != nullptr ? a.name.c_str() : nullptr;
    add(atomic_handler(a.spelling, 1), m);
  }
  using Operation = WarpOperation;
  for (const auto& [operation, bytes, name] : {std::tuple{Operation::special_division_32, 4u, "special_division_32"},
                                               {Operation::special_division_64, 8u, "special_division_64"},
                                               {Operation::special_root_32, 4u, "special_root_32"},
                                               {Operation::special_root_64, 8u, "special_root_64"},
                                               {Operation::special_reciprocal_32, 4u, "special_reciprocal_32"},
                                               {Operation::special_reciprocal_64, 8u, "special_reciprocal_64"}}) {
    OpMeaning m{Means::special};
    m.whole_bytes = bytes;
    m.special = name;
    add(level.warp({.operation = operation}), m);
  }
  add_across(level);
  const std::pair<Handler, Means> others[] = {{predicate_and, Means::predicate_and},
                                              {predicate_or, Means::predicate_or},
                                              {predicate_xor, Means::predicate_xor},
                                              {copy_row, Means::copy},
                                              {no_op, Means::nothing},
                                              {count_block, Means::count_block},
                                              {count_guarded, Means::count_guarded},
                                              {jump, Means::jump},
                                              {jump_watched, Means::jump},
                                              {branch, Means::branch},
                                              {branch_watched, Means::branch},
                                              {rejoin, Means::rejoin},
                                              {exit_lanes, Means::exit},
                                              {barrier, Means::barrier},
                                              {barrier_of_cta, Means::barrier},
                                              {warp_barrier, Means::warp_barrier},
                                              {trap, Means::trap}};
  for (const auto& [handler, kind] : others) add(handler, {kind});
}

OpMeaning Meanings::of(const Op& op) const {
  const auto found = all_.find(op.run.load());
  return found == all_.end() ? OpMeaning{} : found->second;
}

} // namespace warplens::exec
