// SPDX-License-Identifier: Apache-2.0
// Lowers instructions across the lanes of a warp: handlers and rows.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/control.hpp"

namespace warplens::exec {

using isa::Word;

namespace {

WarpOperation shuffle_mode(const isa::Spelling& s) {
  return s.has(Word::w_up)     ? WarpOperation::shuffle_up
         : s.has(Word::w_down) ? WarpOperation::shuffle_down
         : s.has(Word::w_bfly) ? WarpOperation::shuffle_butterfly
                               : WarpOperation::shuffle_index;
}

WarpOperation vote_mode(const isa::Spelling& s) {
  return s.has(Word::w_all)   ? WarpOperation::vote_all
         : s.has(Word::w_any) ? WarpOperation::vote_any
         : s.has(Word::w_uni) ? WarpOperation::vote_uniform
                              : WarpOperation::ballot;
}

WarpOperation match_mode(const isa::Spelling& s) {
  const bool wide = s.form.type() == isa::Type::b64;
  if (s.has(Word::w_all)) return wide ? WarpOperation::match_all_64 : WarpOperation::match_all_32;
  return wide ? WarpOperation::match_any_64 : WarpOperation::match_any_32;
}

WarpOperation reduction(const isa::Spelling& s) {
  if (s.has(Word::w_add)) return WarpOperation::add;
  if (s.has(Word::w_and_)) return WarpOperation::bit_and;
  if (s.has(Word::w_or_)) return WarpOperation::bit_or;
  if (s.has(Word::w_xor_)) return WarpOperation::bit_xor;
  const bool least = s.has(Word::w_min);
  switch (s.form.type()) {
  case isa::Type::f32: return least ? WarpOperation::min_float : WarpOperation::max_float;
  case isa::Type::s32: return least ? WarpOperation::min_signed : WarpOperation::max_signed;
  default: return least ? WarpOperation::min_unsigned : WarpOperation::max_unsigned;
  }
}

WarpOperation operation_of(const isa::Spelling& s) {
  const std::string_view opcode = s.entry->opcode;
  if (opcode == "shfl") return shuffle_mode(s);
  if (opcode == "vote") return vote_mode(s);
  if (opcode == "match") return match_mode(s);
  if (opcode == "redux") return reduction(s);
  return opcode == "elect" ? WarpOperation::elect : WarpOperation::active_mask;
}

} // namespace

void Decoder::warp_level(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto& types = spelling.types;
  const WarpHandlerKey key{operation_of(spelling), spelling.has(Word::w_sync),
                           operands[0].kind == ir::OperandKind::pair};
  const ir::Operand& result = key.predicate ? function_.elements(operands[0])[0] : operands[0];
  std::uint32_t dst[2]{}, src[4]{};
  if (types[0] == isa::Type::pred) {
    dst[1] = destination(result, types[0], false);
  } else {
    dst[0] = destination(result, types[0], false);
    dst[1] =
        key.predicate ? destination(function_.elements(operands[0])[1], isa::Type::pred, false) : file_.temporary(0);
  }
  bool flip = false;
  const std::size_t given = operands.size() - (key.sync ? 1 : 0); // the membermask is the last one
  for (std::size_t i = 1; i < given; ++i) {
    ir::Operand operand = operands[i];
    if (types[i] == isa::Type::pred) std::swap(flip, operand.negated); // the handler flips it
    src[i - 1] = source(operand, types[i], false);
  }
  if (key.sync) src[3] = source(operands.back(), isa::Type::u32, false);
  Op& op = emit_main(level_.warp(key), {dst[0], dst[1]}, {src[0], src[1], src[2], src[3]});
  op.imm = flip ? -1 : 0;
  op.extra = (spelling.has(Word::w_abs) ? kAbsolute : 0) | (spelling.has(Word::w_nan_result) ? kPropagateNan : 0);
}

} // namespace warplens::exec
