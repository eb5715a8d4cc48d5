// SPDX-License-Identifier: Apache-2.0
// Lowers tcgen05 without its multiplications.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/matrix/tensor_handlers.hpp"

namespace warplens::exec {

using isa::Space;
using isa::Type;
using isa::Word;

Op& Decoder::emit_at(Handler handler, const ir::Operand& where) {
  const Address a = address(where);
  Op& op = emit_main(handler, {}, {a.row, 0, 0, file_.constant(4, kFullMask)});
  op.imm = a.offset;
  return op;
}

void Decoder::allocate_tensor_memory(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const std::uint32_t pair = spelling.has(Word::w_cta_group_2) ? 1 : 0, all = file_.constant(4, kFullMask);
  if (spelling.has(Word::w_relinquish_alloc_permit)) {
    emit_main(tensor_relinquish, {}, {0, 0, 0, all}).extra = pair;
    return;
  }
  const std::uint32_t columns = source(operands[1], Type::u32, false);
  if (spelling.has(Word::w_dealloc)) {
    emit_main(tensor_release, {}, {source(operands[0], Type::b32, false), columns, 0, all}).extra = pair;
    return;
  }
  const Space space = spelling.has(Word::w_shared_cta) ? Space::shared : Space::generic;
  Op& op = access(tensor_allocate, AccessKind::store, 4, place(space, operands[0]));
  program_->sites.back().observed_bytes = 0; // not an access that the load-store unit makes
  op.src[1] = columns;
  op.src[3] = all;
  op.extra = pair;
}

void Decoder::transfer_tensor(const isa::Spelling& spelling) {
  using Layout = TensorTransfer::Shape;
  using Reduction = TensorTransfer::Reduction;
  const auto operands = function_.operands(*current_);
  const auto has = [&](Word word) { return spelling.has(word); };
  const bool loads = has(Word::w_ld), reduces = has(Word::w_red), two = has(Word::w_s16x32bx2);
  const std::size_t where = !loads ? 0 : reduces ? 2 : 1, data = loads ? 0 : operands.size() - 1;
  TensorTransfer& t = program_->tensor_transfers.emplace_back();
  t.shape = two                     ? Layout::two_of_x32b
            : has(Word::w_s16x64b)  ? Layout::x64b
            : has(Word::w_s16x128b) ? Layout::x128b
            : has(Word::w_s16x256b) ? Layout::x256b
                                    : Layout::x32b;
  t.halves = has(Word::w_pack_16b) || has(Word::w_unpack_16b);
  t.lanes = has(Word::w_s32x32b) ? 32 : 16;
  if (two) t.second = static_cast<std::uint32_t>(constant_value(operands[where + 1], Type::u32));
  for (const ir::Operand& element : function_.elements(operands[data]))
    t.rows.push_back(loads ? destination(element, Type::b32, false) : source(element, Type::b32, false));
  for (std::uint32_t r = 0; r < t.rows.size(); ++r)
    for (std::uint32_t thread = 0; thread < kWarpSize; ++thread) t.places.push_back(t.place(r, thread));
  const std::uint32_t words = static_cast<std::uint32_t>(t.rows.size()) * kWarpSize / (two ? 32 : t.lanes);
  t.columns = t.halves ? 2 * words : words;
  if (reduces) {
    t.reduction = has(isa::word_of(Type::f32))   ? Reduction::f32
                  : has(isa::word_of(Type::s32)) ? Reduction::s32
                                                 : Reduction::u32;
    t.greatest = has(Word::w_max);
    t.absolute = has(Word::w_abs);
    t.passes_nan = has(Word::w_nan_result);
    t.result = destination(operands[1], Type::b32, false);
  }
  emit_at(loads ? tensor_load : tensor_store, operands[where]).transfer = &t;
}

void Decoder::order_tensor(const isa::Spelling& spelling) {
  if (spelling.has(Word::w_sync))
    emit_main(tensor_wait, {}, {0, 0, 0, file_.constant(4, kFullMask)});
  else
    emit(no_op);
}

void Decoder::copy_to_tensor_memory(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto has = [&](Word word) { return spelling.has(word); };
  SharedToTensor& c = program_->tensor_copies.emplace_back();
  c.rows = has(Word::w_s4x256b) ? 4 : has(Word::w_s32x128b) ? 32 : has(Word::w_s64x128b) ? 64 : 128;
  c.columns = has(Word::w_s128x256b) || has(Word::w_s4x256b) ? 8 : 4;
  if (has(Word::w_s4x256b)) c.step = kWarpSize;
  if (has(Word::w_warpx4)) c.copies = 4, c.first = {0, 32, 64, 96};
  if (has(Word::w_warpx2_02_13)) c.copies = 2, c.first = {0, 64};
  if (has(Word::w_warpx2_01_23)) c.copies = 2, c.first = {0, 32}, c.split = true;
  c.packed = has(Word::w_b6x16_p32)   ? SharedToTensor::Packed::six
             : has(Word::w_b4x16_p64) ? SharedToTensor::Packed::four
                                      : SharedToTensor::Packed::none;
  c.pair = has(Word::w_cta_group_2);
  const std::uint32_t descriptor = source(operands[1], Type::b64, false);
  Op& op = emit_at(tensor_copy_shared, operands[0]);
  op.src[1] = descriptor;
  op.copy = &c;
}

void Decoder::shift_tensor(const isa::Spelling& spelling) {
  emit_at(tensor_shift, function_.operands(*current_)[0]).extra = spelling.has(Word::w_cta_group_2) ? 1 : 0;
}

} // namespace warplens::exec
