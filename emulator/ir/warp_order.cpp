// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/warp_order.hpp"

#include "emulator/ir/effects.hpp"

#include <algorithm>

namespace warplens::ir {

namespace {

using isa::Family;
using isa::Word;

// Operations on integers of which several give the same value in any order.
bool commutes(const isa::Spelling& s) {
  constexpr Word kThese[] = {Word::w_add, Word::w_min, Word::w_max, Word::w_and_, Word::w_or_, Word::w_xor_};
  return !isa::is_float(s.form.type()) &&
         std::any_of(std::begin(kThese), std::end(kThese), [&](Word w) { return s.has(w); });
}

bool shows_order(const isa::Spelling& s) {
  switch (s.entry->family) {
  case Family::reduction:
  case Family::atomic: return !commutes(s); // and the result of an atomic is not used: see below
  case Family::call:                        // functions of the device's library print, and allocate memory
  case Family::mbarrier:
  case Family::async_copy:
  case Family::bulk_copy:
  case Family::async_store:
  case Family::bulk_store:
  case Family::group_multiply:
  case Family::tensor_copy:
  case Family::tensor_map:
  case Family::launch_control:
  case Family::tensor_allocation:
  case Family::tensor_transfer:
  case Family::tensor_copy_shared:
  case Family::tensor_shift:
  case Family::tensor_multiply:
  case Family::tensor_commit:
  case Family::sleep: return true;
  case Family::nothing: return s.entry->instruction_class == isa::InstructionClass::fence;
  default:
    return s.has(Word::w_volatile_) || s.has(Word::w_relaxed) || s.has(Word::w_acquire) || s.has(Word::w_release) ||
           s.has(Word::w_mmio);
  }
}

} // namespace

bool depends_on_warp_order(const Module& module, const Function& function) {
  bool has_results = false;
  for (const Instruction& i : function.instructions) {
    if (i.form == kNone) continue;
    const isa::Spelling& s = module.spellings[i.form];
    if (shows_order(s)) return true;
    has_results = has_results || s.entry->family == Family::atomic;
  }
  if (!has_results) return false;
  const std::vector<Effect> effects = ir::effects(module, function);
  std::vector<bool> read(function.registers.size());
  for (const Effect& e : effects)
    for (const std::uint32_t r : e.reads) read[r] = true;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const std::uint32_t form = function.instructions[i].form;
    if (form != kNone && module.spellings[form].entry->family == Family::atomic &&
        std::any_of(effects[i].writes.begin(), effects[i].writes.end(), [&](std::uint32_t r) { return read[r]; }))
      return true;
  }
  return false;
}

} // namespace warplens::ir
