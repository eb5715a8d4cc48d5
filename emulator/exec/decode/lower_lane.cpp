// SPDX-License-Identifier: Apache-2.0
// Instructions that functors compute, and those that the decoder builds from them: setp with a boolean operation or
// a second result, set, vector moves, lop3 with a predicate.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/decode/selection.hpp"

#include <fmt/format.h>

namespace warplens::exec {

using isa::Word;

namespace {

bool is_packed(isa::Type type) { return type == isa::Type::f16x2 || type == isa::Type::bf16x2; }

Handler boolean_handler(const isa::Spelling& spelling) {
  if (spelling.has(Word::w_and_)) return predicate_and;
  if (spelling.has(Word::w_or_)) return predicate_or;
  if (spelling.has(Word::w_xor_)) return predicate_xor;
  return nullptr;
}

} // namespace

void Decoder::lane_as(std::string_view text, std::initializer_list<std::uint32_t> destinations,
                      std::initializer_list<std::uint32_t> sources) {
  constexpr int kNewest = 1000; // the decoder may use every line of the table
  const auto spelling = isa::lookup(text, kNewest, isa::kEveryTarget);
  if (!spelling || spelling->entry->family != isa::Family::lane)
    return unsupported(fmt::format("'{}' needs '{}', which the instruction table lacks", current_->opcode, text));
  emit(level_.lanes()[spelling->entry_index][spelling->variant], destinations, sources);
}

void Decoder::take_sources(Op& op, const Rows& rows) {
  std::copy(std::begin(rows.src), std::begin(rows.src) + 4, op.src);
  if (rows.sources > 4) op.extra = rows.src[4]; // see lanes.hpp
}

// destination = (truth, perhaps flipped) BOOL other; only the truth if there is no boolean operation.
void Decoder::combine(const isa::Spelling& spelling, std::uint32_t truth, bool flip, const ir::Operand* other,
                      std::uint32_t destination) {
  const Handler handler = boolean_handler(spelling);
  const bool number = handler != nullptr && other != nullptr && other->kind != ir::OperandKind::reg;
  const std::uint32_t known = number ? source_predicate(*other) : 0;
  const bool combines = handler != nullptr && other != nullptr;
  Op& op = emit(handler != nullptr ? handler : predicate_and, {destination},
                {truth, !combines ? file_.always()
                        : number  ? known
                                  : file_.reg(other->index)});
  op.extra = flip ? kFullMask : 0;
  if (combines) op.imm = other->negated ? -1 : 0;
}

// From sm_70 on, the assembler expands bit-field instructions with immediate positions and lengths (there is no
// hardware instruction for them), not always according to the manual: tests/data/hardware/immediates.jsonl. Returns
// true if the instruction has been lowered.
bool Decoder::bit_field_of_immediates(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type type = spelling.form.type();
  const bool extracts = spelling.entry->opcode == "bfe" && type == isa::Type::s32;
  const bool inserts = spelling.entry->opcode == "bfi" && type == isa::Type::b32;
  if (module_.sm < 70 || (!extracts && !inserts)) return false;
  const ir::Operand& position = operands[operands.size() - 2];
  const ir::Operand& length = operands.back();
  if (position.kind != ir::OperandKind::integer || length.kind != ir::OperandKind::integer) return false;
  if (extracts && position.value >= 32 && length.value != 0) {
    lane_as("mov.b32", {destination(operands[0], type, false)}, {file_.constant(4, ~std::uint64_t{0})});
    return true;
  }
  if (inserts && length.value >= 32 && position.value < 32 && position.value % 8 != 0) {
    const auto kept = static_cast<std::uint64_t>(length.value % 32);
    lane_as("bfi.b32", {destination(operands[0], type, false)},
            {source(operands[1], type, false), source(operands[2], type, false),
             source(position, isa::Type::u32, false), file_.constant(4, kept)});
    return true;
  }
  return false;
}

void Decoder::lane(const isa::Spelling& spelling) {
  if (bit_field_of_immediates(spelling)) return;
  const auto operands = function_.operands(*current_);
  const isa::OperandList& specs = spelling.entry->operands;
  Rows rows;
  const ir::Operand* pair = nullptr;  // p|q
  const ir::Operand* other = nullptr; // the predicate of a boolean operation
  std::size_t next = 0;
  for (int i = 0; i < specs.count; ++i) {
    const isa::OperandSpec& spec = specs.items[i];
    if (spec.kind == isa::OperandClass::selection) {
      rows.src[rows.sources++] = file_.constant(8, selection(spelling, operands, module_.sm));
      continue;
    }
    if (spec.kind == isa::OperandClass::carry) {
      if (spec.destination)
        rows.dst[rows.destinations++] = file_.carry();
      else
        rows.src[rows.sources++] = file_.carry();
      continue;
    }
    if (next == operands.size()) { // an optional operand that is absent
      rows.src[rows.sources++] = file_.constant(isa::bytes(spelling.types[i]), 0);
      continue;
    }
    const ir::Operand& operand = operands[next++];
    if (spec.negatable)
      other = &operand;
    else if (spec.pair && operand.kind == ir::OperandKind::pair)
      pair = &operand;
    else if (spec.destination)
      rows.dst[rows.destinations++] = destination(operand, spelling.types[i], spec.relaxed);
    else if (spec.elements > 1)
      for (const ir::Operand& element : function_.elements(operand))
        rows.src[rows.sources++] = source(element, spelling.types[i], spec.relaxed);
    else
      rows.src[rows.sources++] = source(operand, spelling.types[i], spec.relaxed);
  }
  const Handler handler = level_.lanes()[spelling.entry_index][spelling.variant];
  const bool compares = specs.count != 0 && specs.items[0].kind == isa::OperandClass::predicate &&
                        (pair != nullptr || boolean_handler(spelling) != nullptr || is_packed(spelling.form.type()));
  if (!compares) {
    take_sources(emit(handler, {rows.dst[0], rows.dst[1]}), rows);
    finish_destinations();
    return;
  }
  // Compare into temporaries, then combine: the destinations may be sources of the boolean operation.
  const std::uint32_t truth = file_.temporary(0), truth_of_second = file_.temporary(0);
  take_sources(emit(handler, {truth, truth_of_second}), rows);
  const std::uint32_t first =
      pair == nullptr ? rows.dst[0] : destination(function_.elements(*pair)[0], isa::Type::pred, false);
  const bool packed = is_packed(spelling.form.type());
  if (pair == nullptr) {
    combine(spelling, truth, false, other, first);
    return;
  }
  const std::uint32_t second = destination(function_.elements(*pair)[1], isa::Type::pred, false);
  const std::uint32_t held = file_.temporary(0); // `other` may be the first destination
  combine(spelling, packed ? truth_of_second : truth, !packed, other, held);
  combine(spelling, truth, false, other, first);
  emit(predicate_and, {second}, {held, file_.always()});
}

// set (9.7.6.1): all ones or zero for an integer result, 1.0 or 0.0 for a float.
void Decoder::set(const isa::Spelling& spelling) {
  if (is_packed(spelling.form.type(1))) return set_pair(spelling);
  const auto operands = function_.operands(*current_);
  const isa::Type result = spelling.form.type(0), compared = spelling.form.type(1);
  const std::uint32_t truth = file_.temporary(0), combined = file_.temporary(0);
  const std::uint32_t d = destination(operands[0], result, false);
  const std::uint32_t a = source(operands[1], compared, false), b = source(operands[2], compared, false);
  lane_as(fmt::format("setp.{}{}.{}", isa::text_of(spelling.form.words[0]), spelling.has(Word::w_ftz) ? ".ftz" : "",
                      isa::name(compared)),
          {truth}, {a, b});
  combine(spelling, truth, false, operands.size() > 3 ? &operands[3] : nullptr, combined);
  std::uint64_t one = ~std::uint64_t{0};
  if (result == isa::Type::f32) one = 0x3f800000;
  if (result == isa::Type::f16) one = 0x3c00;
  if (result == isa::Type::bf16) one = 0x3f80;
  const int bytes = isa::bytes(result);
  lane_as(fmt::format("selp.b{}", 8 * bytes), {d}, {file_.constant(bytes, one), file_.constant(bytes, 0), combined});
}

// set of f16x2 and bf16x2 with a boolean operation (9.7.7.1): the predicate counts for both halves.
void Decoder::set_pair(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type result = spelling.form.type(0), compared = spelling.form.type(1);
  const std::uint32_t held = file_.temporary(4);
  const std::uint32_t ones = file_.constant(4, result == isa::Type::f16x2    ? 0x3c003c00
                                               : result == isa::Type::bf16x2 ? 0x3f803f80
                                                                             : 0xffffffff);
  lane_as(fmt::format("set.{}{}.{}.{}", isa::text_of(spelling.form.words[0]), spelling.has(Word::w_ftz) ? ".ftz" : "",
                      isa::name(result), isa::name(compared)),
          {held}, {source(operands[1], compared, false), source(operands[2], compared, false)});
  const std::uint32_t c = source_predicate(operands[3]), d = destination(operands[0], result, false);
  std::uint32_t where_true = held, where_false = held;
  if (spelling.has(Word::w_and_)) where_false = file_.constant(4, 0);
  if (spelling.has(Word::w_or_)) where_true = ones;
  if (spelling.has(Word::w_xor_)) {
    where_true = file_.temporary(4);
    lane_as("xor.b32", {where_true}, {held, ones});
  }
  lane_as("selp.b32", {d}, {where_true, where_false, c});
}

// mov between a register and a vector of smaller ones (9.7.9.2); false for any other instruction.
bool Decoder::move_vector(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  if (!spelling.entry->operands.items[0].moved) return false;
  const bool unpack = operands[0].kind == ir::OperandKind::vector, pack = operands[1].kind == ir::OperandKind::vector;
  if (!unpack && !pack) return false;
  const ir::Operand& vector = unpack ? operands[0] : operands[1];
  const ir::Operand& whole = unpack ? operands[1] : operands[0];
  const isa::Type type = spelling.form.type();
  const int total = isa::bytes(type), element = total / static_cast<int>(vector.count);
  const Handler handler = level_.vector_move(total, element, pack);
  if (handler == nullptr) {
    unsupported(fmt::format("'{}' cannot move {} elements of {} bits", current_->opcode, vector.count, 8 * element));
    return true;
  }
  const isa::Type element_type = element == 1   ? isa::Type::b8
                                 : element == 2 ? isa::Type::b16
                                 : element == 4 ? isa::Type::b32
                                                : isa::Type::b64;
  // The whole goes through a temporary: it may be one of the elements.
  const std::uint32_t held = pack ? file_.temporary(total) : source(whole, type, false);
  if (unpack) {
    const std::uint32_t copy = file_.temporary(total);
    emit(copy_row, {copy}, {held}).imm = std::int64_t{total} * kWarpSize;
    for (std::uint32_t i = 0; i < vector.count; ++i) {
      const ir::Operand& part = function_.elements(vector)[i];
      if (part.kind == ir::OperandKind::sink) continue;
      emit(handler, {destination(part, element_type, false)}, {copy}).imm = static_cast<std::int64_t>(i) * element * 8;
    }
    return true;
  }
  for (std::uint32_t i = 0; i < vector.count; ++i) {
    const std::uint32_t part = source(function_.elements(vector)[i], element_type, false);
    emit(handler, {held}, {part}).imm = static_cast<std::int64_t>(i) * element * 8;
  }
  lane_as(fmt::format("mov.b{}", 8 * total), {destination(whole, type, false)}, {held});
  return true;
}

// mov.v2 and mov.v4: element by element, but all are read before the first is written.
void Decoder::move_elements(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto to = function_.elements(operands[0]);
  const isa::Type type = spelling.form.type();
  const std::string move = fmt::format("mov.b{}", isa::bits(type));
  std::vector<std::uint32_t> held(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    ir::Operand from = operands[1];
    if (from.kind == ir::OperandKind::special)
      from.component = static_cast<std::uint8_t>(i + 1); // of %tid and similar registers
    else
      from = function_.elements(operands[1])[i];
    held[i] = file_.temporary(isa::bytes(type));
    lane_as(move, {held[i]}, {source(from, type, false)});
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i].kind != ir::OperandKind::sink) lane_as(move, {destination(to[i], type, false)}, {held[i]});
}

// lop3.BoolOp d|p (9.7.8.6): p = (d != 0) BoolOp q.
void Decoder::logic_predicate(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto results = function_.elements(operands[0]);
  const isa::Type type = isa::Type::b32;
  const std::uint32_t value = file_.temporary(4), truth = file_.temporary(0);
  lane_as("lop3.b32", {value},
          {source(operands[1], type, false), source(operands[2], type, false), source(operands[3], type, false),
           source(operands[4], type, false)});
  lane_as("setp.ne.b32", {truth}, {value, file_.constant(4, 0)});
  const std::uint32_t q = source_predicate(operands[5]);
  if (results[0].kind != ir::OperandKind::sink) lane_as("mov.b32", {destination(results[0], type, false)}, {value});
  Op& op = emit(boolean_handler(spelling));
  op.dst[0] = destination(results[1], isa::Type::pred, false);
  op.src[0] = truth;
  op.src[1] = q;
}

} // namespace warplens::exec
