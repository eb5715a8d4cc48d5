// SPDX-License-Identifier: Apache-2.0
// Lowers multiplications with tensor memory, and the arrival at the mbarrier at which they complete.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/block/control.hpp"

namespace warplens::exec {

using isa::Space;
using isa::Type;
using isa::Word;

namespace {

using ProductKind = TensorProductSite::Kind;

void set_kind(const isa::Spelling& s, TensorProductSite& to) {
  struct Named {
    Word word;
    ProductKind kind;
    const char* name;
  };
  constexpr Named kNames[] = {{Word::w_kind_f16, ProductKind::f16, "f16"},
                              {Word::w_kind_tf32, ProductKind::tf32, "tf32"},
                              {Word::w_kind_f8f6f4, ProductKind::f8f6f4, "f8f6f4"},
                              {Word::w_kind_i8, ProductKind::i8, "i8"},
                              {Word::w_kind_mxf8f6f4, ProductKind::mxf8f6f4, "mxf8f6f4"},
                              {Word::w_kind_mxf4, ProductKind::mxf4, "mxf4"},
                              {Word::w_kind_mxf4nvf4, ProductKind::mxf4nvf4, "mxf4nvf4"}};
  for (const Named& n : kNames)
    if (s.has(n.word)) to.kind = n.kind, to.name = n.name;
}

// The scales of a row of A: table 54. With K = 96 it has half as many more, of which the descriptor knows.
int scales_of_row(const isa::Spelling& s) {
  if (!s.has(Word::w_block_scale)) return 0;
  if (s.has(Word::w_kind_mxf8f6f4)) return 1;
  return s.has(Word::w_scale_vec_4x) || s.has(Word::w_block16) ? 4 : 2;
}

} // namespace

// Operands: D, A, B, metadata of a sparse A, the descriptor, scales of A and B or masks of lanes, the predicate of D,
// and the reduction of D or a mask of columns.
void Decoder::multiply_tensors(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto has = [&](Word word) { return spelling.has(word); };
  const auto place = [&](const ir::Operand& operand) {
    const Address a = address(operand);
    return TensorProductSite::Place{a.row, a.offset};
  };
  TensorProductSite& s = program_->tensor_products.emplace_back();
  set_kind(spelling, s);
  s.pair = has(Word::w_cta_group_2);
  s.weights_stationary = has(Word::w_ws);
  s.sparse = has(Word::w_sp);
  s.shifts_a = has(Word::w_ashift);
  s.scales = scales_of_row(spelling);
  s.a_in_tensor_memory = operands[1].kind == ir::OperandKind::address;
  s.d = place(operands[0]);
  if (s.a_in_tensor_memory)
    s.a = place(operands[1]);
  else
    s.a_descriptor = source(operands[1], Type::b64, false);
  s.b_descriptor = source(operands[2], Type::b64, false);
  std::size_t n = 3;
  if (s.sparse) s.metadata = place(operands[n++]);
  s.instruction = source(operands[n++], Type::b32, false);
  if (s.scales != 0) s.a_scales = place(operands[n++]), s.b_scales = place(operands[n++]);
  s.masks_lanes = operands[n].kind == ir::OperandKind::vector;
  if (s.masks_lanes) take_registers(operands[n++], Type::b32, false, s.lane_masks);
  s.accumulate = source_predicate(operands[n++]);
  s.masks_columns = s.weights_stationary && n < operands.size();
  if (s.masks_columns)
    s.column_mask = source(operands[n], Type::b64, false);
  else if (n < operands.size())
    s.reduction_of_d = static_cast<int>(constant_value(operands[n], Type::u32));
  emit_main(level_.matrix(MatrixHandler::tensor_multiply)).product = &s;
}

void Decoder::commit_tensors(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const bool multicast = spelling.has(Word::w_multicast_cluster);
  const std::uint32_t mask = multicast ? source(operands[1], Type::u16, false) : 0;
  const Space space = spelling.has(Word::w_shared_cluster) ? Space::shared : Space::generic;
  Op& op = access_object(mbarrier_commit, AccessKind::atomic, place(space, operands[0]));
  op.src[1] = mask;
  op.extra = multicast ? 1 : 0;
}

} // namespace warplens::exec
