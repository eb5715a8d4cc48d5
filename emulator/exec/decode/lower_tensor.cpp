// SPDX-License-Identifier: Apache-2.0
// Lowers copies by tensor map, and changes of tensor maps.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/access/tensor_copy.hpp"
#include "emulator/exec/state/tensor_map.hpp"

namespace warplens::exec {

using isa::Space;
using isa::Word;

namespace {

constexpr int kPiece = 16; // bytes of a lane, as the watcher sees the copy

TensorSite::Operation reduction_of(const isa::Spelling& s) {
  using Operation = TensorSite::Operation;
  struct Named {
    Word word;
    Operation operation;
  };
  constexpr Named kNames[] = {{Word::w_add, Operation::add},    {Word::w_min, Operation::min},
                              {Word::w_max, Operation::max},    {Word::w_inc, Operation::inc},
                              {Word::w_dec, Operation::dec},    {Word::w_and_, Operation::bit_and},
                              {Word::w_or_, Operation::bit_or}, {Word::w_xor_, Operation::bit_xor}};
  for (const Named& n : kNames)
    if (s.has(n.word)) return n.operation;
  return Operation::none;
}

TensorField field_of(const isa::Spelling& s) {
  struct Named {
    Word word;
    TensorField field;
  };
  constexpr Named kNames[] = {{Word::w_global_address, TensorField::global_address},
                              {Word::w_rank, TensorField::rank},
                              {Word::w_box_dim, TensorField::box_dim},
                              {Word::w_global_dim, TensorField::global_dim},
                              {Word::w_global_stride, TensorField::global_stride},
                              {Word::w_element_stride, TensorField::element_stride},
                              {Word::w_elemtype, TensorField::elemtype},
                              {Word::w_interleave_layout, TensorField::interleave_layout},
                              {Word::w_swizzle_mode, TensorField::swizzle_mode},
                              {Word::w_swizzle_atomicity, TensorField::swizzle_atomicity}};
  for (const Named& n : kNames)
    if (s.has(n.word)) return n.field;
  return TensorField::fill_mode;
}

} // namespace

void Decoder::copy_by_tensor_map(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  TensorSite t;
  t.action = spelling.has(Word::w_prefetch)     ? TensorSite::Action::prefetch
             : spelling.has(Word::w_reduce)     ? TensorSite::Action::reduce
             : spelling.has(Word::w_bulk_group) ? TensorSite::Action::store
                                                : TensorSite::Action::load;
  const bool loads = t.action == TensorSite::Action::load, prefetches = t.action == TensorSite::Action::prefetch;
  t.operation = reduction_of(spelling);
  t.wide = spelling.has(Word::w_im2col_w)       ? TensorSite::Wide::w
           : spelling.has(Word::w_im2col_w_128) ? TensorSite::Wide::w_128
                                                : TensorSite::Wide::no;
  const bool has_info = spelling.has(Word::w_im2col) || t.wide != TensorSite::Wide::no;
  t.pixels = has_info || spelling.has(Word::w_im2col_no_offs);
  t.four_rows = spelling.has(Word::w_gather4) || spelling.has(Word::w_scatter4);
  t.multicast = spelling.has(Word::w_multicast_cluster);
  t.in_pair = spelling.has(Word::w_cta_group_2);
  t.dimensions = static_cast<std::uint8_t>(isa::tensor_dimensions(spelling.form));
  const ir::Operand& map = operands[loads ? 1 : 0];
  std::size_t n = 0;
  for (const ir::Operand& c : function_.elements(function_.elements(map)[1]))
    t.coordinate[n++] = source(c, isa::Type::s32, false);
  std::size_t next = loads ? 3 : prefetches ? 1 : 2;
  if (has_info) {
    n = 0;
    for (const ir::Operand& offset : function_.elements(operands[next++]))
      t.offset[n++] = source(offset, isa::Type::u16, false);
  }
  if (t.multicast) t.mask = source(operands[next], isa::Type::u16, false);
  const Place of_map = place(Space::generic, map),
              shared = prefetches ? Place{} : place(Space::shared, operands[loads ? 0 : 1]),
              object = loads ? place(Space::shared, operands[2]) : Place{};
  const Address none{file_.constant(8, 0), 0, false};
  Op& op = access(tensor_copy, AccessKind::load, kPiece, of_map);
  op.extra = static_cast<std::uint32_t>(program_->tensors.size());
  program_->sites.back().observed_bytes = 0;
  program_->tensors.push_back(t);
  const bool reads = loads || prefetches;
  const AccessKind in_tensor = reads                                    ? AccessKind::load
                               : t.action == TensorSite::Action::reduce ? AccessKind::reduction
                                                                        : AccessKind::store;
  access(part_of_instruction, in_tensor, kPiece, {Space::global, none});
  if (!prefetches) access(part_of_instruction, loads ? AccessKind::store : AccessKind::load, kPiece, shared);
  if (loads) access_object(part_of_instruction, AccessKind::atomic, object);
}

void Decoder::change_tensor_map(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  if (spelling.has(Word::w_cp_fenceproxy)) {
    const Place to = place(Space::global, operands[0]), from = place(Space::shared, operands[1]);
    access(copy_map, AccessKind::store, kPiece, to);
    access(part_of_instruction, AccessKind::load, kPiece, from);
    return;
  }
  const bool wide = spelling.form.type() == isa::Type::b64;
  const std::uint32_t value = source(operands.back(), wide ? isa::Type::b64 : isa::Type::b32, false);
  const std::uint64_t dimension = operands.size() > 2 ? constant_value(operands[1], isa::Type::u32) : 0;
  Op& op = access(wide ? replace_in_map_64 : replace_in_map, AccessKind::store, kPiece,
                  place(spelling.form.space(), operands[0]));
  op.src[1] = value;
  op.extra = static_cast<std::uint32_t>(field_of(spelling)) | static_cast<std::uint32_t>(dimension) << 8;
}

} // namespace warplens::exec
