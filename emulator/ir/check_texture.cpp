// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check_texture.hpp"

#include "emulator/ir/check_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::ir {

namespace {

using isa::Class;
using isa::Family;
using isa::Word;

bool is_scalar_float(const Function& f, const Operand& o) {
  if (o.kind == OperandKind::reg) return isa::is_float(f.registers[o.index].type);
  return o.kind == OperandKind::real32 || o.kind == OperandKind::real64;
}

class TextureChecker {
public:
  TextureChecker(const Module& module, const Function& function, const Instruction& instruction,
                 const isa::Spelling& spelling)
      : module_(module), function_(function), instruction_(instruction), spelling_(spelling),
        independent_(module.has_samplers()) {}

  std::vector<TextureComplaint> run() {
    const TextureOperands operands = texture_operands(function_, instruction_, spelling_);
    if (operands.reference == nullptr) {
      const auto given = function_.operands(instruction_);
      const bool has_destination = given.size() > 1 && spelling_.entry->operands.items[0].destination;
      if (!given.empty()) complain(given[has_destination ? 1 : 0], "expects a texture or surface in brackets");
      return std::move(list_);
    }
    if (spelling_.entry->family == Family::texture_query) return query(operands);
    reference(*operands.reference, spelling_.entry->family == Family::surface ? Type::surfref : Type::texref);
    sampler(operands);
    if (operands.coordinates == nullptr)
      complain(*operands.reference, "expects coordinates after the reference");
    else
      coordinates(*operands.coordinates);
    rest(operands);
    return std::move(list_);
  }

private:
  void complain(const Operand& operand, std::string_view what, std::string hint = {}) {
    list_.push_back({&operand, fmt::format("'{}' {}", instruction_.opcode, what), std::move(hint)});
  }

  // A variable of the type, or a register of 64 bits that holds its address or a handle.
  void reference(const Operand& o, Type type) {
    if (o.kind == OperandKind::variable && o.value == 0) {
      const Variable& v = module_.variable(function_, o.index);
      if (v.type == type || (v.space == Space::texture && type == Type::texref)) return;
    }
    const Type held = o.kind == OperandKind::reg ? function_.registers[o.index].type : Type::none;
    if (isa::is_address(held) && isa::bits(held) == 64) {
      constexpr int kIndirect = 31;
      if (module_.version < kIndirect) complain(o, "accepts a handle in a register only from PTX ISA .version 3.1 on");
      return;
    }
    complain(o, fmt::format("expects a .{} variable or a 64-bit register", isa::name(type)));
  }

  void sampler(const TextureOperands& operands) {
    if (spelling_.entry->family != Family::texture) return;
    if (operands.sampler != nullptr && !independent_)
      complain(*operands.sampler, "takes no sampler in unified mode", "samplers require '.target texmode_independent'");
    else if (operands.sampler != nullptr)
      reference(*operands.sampler, Type::samplerref);
    else if (independent_ && !operands.reference->unified)
      complain(*operands.reference, "expects a sampler after the texture in independent mode");
  }

  std::vector<TextureComplaint> query(const TextureOperands& operands) {
    reference(*operands.reference, queried_type(module_, spelling_));
    if (operands.coordinates != nullptr) complain(*operands.coordinates, "takes no coordinates");
    return std::move(list_);
  }

  // A 32-bit register or number of the coordinate's type.
  void number(const Operand& o, bool floating) {
    switch (o.kind) {
    case OperandKind::integer:
    case OperandKind::warp_size:
      if (!floating) return;
      break;
    case OperandKind::real32:
    case OperandKind::real64:
      if (floating) return;
      break;
    case OperandKind::reg: {
      const Type type = function_.registers[o.index].type;
      const Class kind = isa::info(type).kind;
      if (isa::bits(type) == 32 && (kind == Class::untyped || floating || kind != Class::floating)) return;
      break;
    }
    default: break;
    }
    complain(o, fmt::format("expects a value of type .{} here", floating ? "f32" : "s32"));
  }

  void coordinates(const Operand& o) {
    const CoordinateCount count = coordinate_count(spelling_);
    const auto list = function_.each_of(o);
    // Older compilers always wrote four.
    if (list.size() != count.written && !(list.size() > count.written && (list.size() == 2 || list.size() == 4)))
      return complain(o, fmt::format("expects {} coordinates, got {}", count.written, list.size()));
    const bool floating = spelling_.entry->family == Family::texture && spelling_.form.type(1) == Type::f32;
    const bool array = spelling_.has(Word::w_a1d) || spelling_.has(Word::w_a2d) || spelling_.has(Word::w_acube);
    const bool own_index = array && spelling_.entry->family == Family::texture; // of the array, apart from the vector
    const auto of_vector = std::span(list).subspan(own_index && !list.empty() ? 1 : 0);
    const bool untyped = kinds_of(function_, of_vector).untyped;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i >= count.used && list[i].kind != OperandKind::sink) continue;
      if (untyped && list[i].kind == OperandKind::reg && !(own_index && i == 0)) {
        number(list[i], true); // a float, too
        continue;
      }
      number(list[i], floating && !(array && i == 0));
    }
  }

  void rest(const TextureOperands& operands) {
    if (operands.unknown != nullptr) complain(*operands.unknown, "does not take this operand");
    const bool floating = spelling_.form.type(1) == Type::f32;
    if (operands.level != nullptr) number(single(*operands.level), floating);
    for (const Operand* gradient : operands.gradient)
      if (gradient != nullptr) this->gradient(*gradient);
    if (operands.offset != nullptr) offset(*operands.offset);
    if (operands.compare != nullptr) number(*operands.compare, true);
    if (operands.compare != nullptr && (spelling_.has(Word::w_d3) || !floating))
      complain(*operands.compare, "does not compare depths");
    constexpr int kOffsets = 43, kOffsetTarget = 30;
    for (const Operand* o : {operands.offset, operands.compare})
      if (o != nullptr && (module_.version < kOffsets || module_.sm < kOffsetTarget))
        complain(*o, "accepts offsets and depths only from PTX ISA .version 4.3 and .target sm_30 on");
    constexpr int kResidency = 71, kResidencyTarget = 60;
    const Operand& d = function_.operands(instruction_)[0];
    if (d.kind == OperandKind::pair && (module_.version < kResidency || module_.sm < kResidencyTarget))
      complain(d, "can have a predicate only from PTX ISA .version 7.1 and .target sm_60 on");
  }

  void gradient(const Operand& o) {
    const std::size_t wanted = spelling_.has(Word::w_d1) || spelling_.has(Word::w_a1d)   ? 1
                               : spelling_.has(Word::w_d2) || spelling_.has(Word::w_a2d) ? 2
                                                                                         : 4;
    const auto list = function_.each_of(o);
    if (o.kind != OperandKind::vector || list.size() != wanted)
      return complain(o, fmt::format("expects a vector of {} as gradient", wanted));
    for (const Operand& e : list) number(e, true);
  }

  void offset(const Operand& o) {
    if (spelling_.has(Word::w_cube) || spelling_.has(Word::w_acube)) return complain(o, "takes no offset");
    const std::size_t wanted = spelling_.has(Word::w_d1) || spelling_.has(Word::w_a1d) ? 1
                               : spelling_.has(Word::w_d3)                             ? 4
                                                                                       : 2;
    const auto list = function_.each_of(o);
    if (list.size() != wanted && list.size() != 4)
      return complain(o, fmt::format("expects a vector of {} as offset", wanted));
    for (std::size_t i = 0; i < std::min<std::size_t>(wanted, 3); ++i) number(list[i], false);
  }

  [[nodiscard]] const Operand& single(const Operand& o) const {
    return o.kind == OperandKind::vector && o.count == 1 ? function_.elements(o)[0] : o;
  }

  const Module& module_;
  const Function& function_;
  const Instruction& instruction_;
  const isa::Spelling& spelling_;
  bool independent_;
  std::vector<TextureComplaint> list_;
};

} // namespace

Type queried_type(const Module& module, const isa::Spelling& spelling) {
  constexpr Word kOfSampler[] = {Word::w_filter_mode, Word::w_addr_mode_0, Word::w_addr_mode_1, Word::w_addr_mode_2};
  const bool sampler =
      std::any_of(std::begin(kOfSampler), std::end(kOfSampler), [&](Word word) { return spelling.has(word); });
  if (spelling.has(Word::w_force_unnormalized_coords) || (sampler && module.has_samplers())) return Type::samplerref;
  return spelling.entry->operands.items[1].surface ? Type::surfref : Type::texref;
}

CoordinateCount coordinate_count(const isa::Spelling& spelling) {
  if (spelling.has(Word::w_d1)) return {1, 1};
  if (spelling.has(Word::w_d2) || spelling.has(Word::w_a1d)) return {2, 2};
  if (spelling.has(Word::w_acube) || spelling.has(Word::w_a2dms)) return {4, 4};
  return {3, 4};
}

TextureOperands texture_operands(const Function& function, const Instruction& instruction,
                                 const isa::Spelling& spelling) {
  TextureOperands found;
  const auto operands = function.operands(instruction);
  const auto bracketed =
      std::find_if(operands.begin(), operands.end(), [](const Operand& o) { return o.kind == OperandKind::address; });
  if (bracketed == operands.end() || bracketed->count == 0 || bracketed->value != 0) return found;
  const auto parts = function.elements(*bracketed);
  found.reference = &parts[0];
  if (parts.size() > 2) found.sampler = &parts[1];
  if (parts.size() > 1) found.coordinates = &parts.back();
  if (spelling.entry->family != Family::texture) return found;
  auto next = bracketed + 1;
  const auto take = [&](const Operand*& place) {
    if (next != operands.end()) place = &*next++;
  };
  if (spelling.has(Word::w_level)) take(found.level);
  if (spelling.has(Word::w_grad)) {
    take(found.gradient[0]);
    take(found.gradient[1]);
  }
  // A vector is an offset, a float a depth. If both are possible, the assembler treats an integer as an offset.
  const bool offset = next != operands.end() && !is_scalar_float(function, *next) &&
                      (next->kind == OperandKind::vector || spelling.has(Word::w_d1) || spelling.has(Word::w_a1d));
  if (offset) take(found.offset);
  if (next != operands.end()) take(found.compare);
  if (next != operands.end()) found.unknown = &*next;
  return found;
}

std::vector<TextureComplaint> texture_complaints(const Module& module, const Function& function,
                                                 const Instruction& instruction, const isa::Spelling& spelling) {
  const Family family = spelling.entry->family;
  if (family != Family::texture && family != Family::surface && family != Family::texture_query) return {};
  return TextureChecker(module, function, instruction, spelling).run();
}

} // namespace warplens::ir
