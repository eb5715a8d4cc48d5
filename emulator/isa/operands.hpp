// SPDX-License-Identifier: Apache-2.0
// The operand column of the instruction table: what each operand of a spelling must be.
//
//   "=t, t, t"      add: destination and sources have the (first) type of the spelling
//   "=w, t, t, w"   mad.wide: w is twice as wide as t
//   "=t~, t2~"      cvt: first and second type; ~ a register may be wider than the type
//   "=p|, t, t"     setp: a predicate, optionally a second one as p|q
//   "=t|, t"        shfl: a value, optionally with a predicate as d|p
//   "=b32|p"        lop3: both are required, the value may be _
//   "=t_, []"       atom: a destination that may be _
//   "=*t, *t"       mov: also a vector of parts; of a source also a special register, the name of a variable or
//                   function, an element of a vector
//   "=t, &t"        cvta: the name of a variable, for its address
//   "=t~, $t2~"     cvt between integers: a special register
//   "t, !p"         a source predicate that may be negated
//   "=t, =cc, t, t, cc"  add.cc: cc is the carry flag of the thread, which is implicit
//   "=t{}"          a vector {a, b} where the spelling has .v2, .v4 or .v8
//   "t2{4}"         a vector of four, each of them a source of the functor; from 1 to 8
//   "+f32{n/2}"     a destination that is read, too; as many elements as half of the n of the shape m64n…k…
//   "u16{d-2}"      as many elements as the dimensions of a tensor less two
//   "=b32{r}"       as many elements as a transfer of its shape and .x number has (tcgen05.ld, tcgen05.st)
//   "u32{4}/d"      a vector or, in its place, the descriptor of a matrix in shared memory
//   "[]"            an address; "b32?" may be left out
//   "policy"        a cache policy of 64 bits: there if the spelling has .L2::cache_hint
//   "#u32"          an immediate; "#u32:0-15" from 0 to 15; "#u32:24-256/8" a multiple of 8, too; "#u32:128" that one;
//                   "#s32:sign" 1 or -1; "u32:1-" and "u32:0-/16" without an upper limit
//   "u16{2}:0-2/2;0-3"  a pair: the range of its first number; that of its second one
//   "u32:0-255"     the same range for a number; a register is allowed, too
//   "u32.part"      a byte or a half may be selected, as in %r1.b0 or %r1.h1; in a destination: the part to write
//   "u32.halves"    halves of two sources may be selected, as in %r1.h30; in a destination: the halves to write
//   "u32.bytes"     the same with bytes: %r1.b7531
//   "selection"     the selections and negations of the operands as one number (selection.hpp); implicit
//   "u32/p"         a number or a predicate
//   "-u32", "%u32"  may be negated, as in -%r1; a register, not a number
//   "label", "table"  a branch target; a label of .branchtargets
//   "function", "any" the callee, which check_calls.cpp checks with all that follows; any operand (checked by the
//                   family that decodes it)
//   "[tensor]"      a tensor map with its coordinates
//   "[taddr]"       an address of tensor memory: a register of 32 bits, perhaps with an offset
//   "b64/taddr"     a value or, in its place, such an address
//   "u32/{}"        may be in braces alone, as in {%r1}
//   "b32{4}?"       a vector that may be left out, also before other operands
//   "[tex]", "[surf]", "tex"  a texture or a surface with its coordinates; what follows it (ir/check_texture.hpp)
#pragma once

#include "emulator/isa/pattern.hpp"

namespace warplens::isa {

enum class OperandClass : std::uint8_t {
  value,
  predicate,
  carry,
  selection,
  address,
  tensor,
  tensor_memory,
  label,
  table,
  function,
  any,
  texture,
  policy
};

/// The selectors that a register may have (section 9.7.18).
enum class Selectors : std::uint8_t { none, part, halves, bytes };

struct OperandSpec {
  OperandClass kind = OperandClass::value;
  bool destination = false;
  bool accumulates = false;      ///< +
  bool relaxed = false;          ///< ~
  bool vector = false;           ///< {}
  bool immediate = false;        ///< #
  bool optional = false;         ///< ?
  bool negatable = false;        ///< !
  bool minus = false;            ///< -
  bool register_only = false;    ///< %
  bool moved = false;            ///< *
  bool address_of = false;       ///< &
  bool special = false;          ///< $
  bool sink = false;             ///< _
  bool pair = false;             ///< |
  bool both = false;             ///< |p
  bool surface = false;          ///< [surf]
  bool wide = false;             ///< w
  bool or_predicate = false;     ///< /p
  bool braces = false;           ///< {4}, also {1}
  bool or_descriptor = false;    ///< /d
  bool or_tensor_memory = false; ///< /taddr
  bool or_braces = false;        ///< /{}
  std::int8_t elements = 1;      ///< {4}; kHalfOfShape and so on: element_count() computes them
  Selectors selectors = Selectors::none;
  bool sign = false;                           ///< :sign
  bool bounded = false;                        ///< of a number: from `least` to `most`, a multiple of `step`
  std::uint16_t least = 0, most = 0, step = 1; ///< most: perhaps kNoLimit
  std::uint16_t second_most = 0;               ///< of a pair: its second element is from 0 to this
  std::int8_t type_index = -1;                 ///< t: 0, t2: 1, t3: 2; -1: `fixed`
  Type fixed = Type::none;

  /// Whether the operand appears in the source.
  [[nodiscard]] constexpr bool is_written() const {
    return kind != OperandClass::carry && kind != OperandClass::selection;
  }
};

constexpr int kMaxOperands = 10;
constexpr std::int8_t kHalfOfShape = -2, kQuarterOfShape = -4, kTensorOffsets = -10, kRegistersOfTransfer = -20;

struct OperandList {
  std::array<OperandSpec, kMaxOperands> items{};
  int count = 0;
  bool valid = true;
};

constexpr std::uint16_t kNoLimit = 0xffff;

/// Removes ":24-256/8" from the end of a word, and sets the range of the operand.
constexpr void parse_range(std::string_view& word, OperandSpec& o) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return;
  if (word.substr(colon + 1) == "sign") {
    o.sign = true;
    word = word.substr(0, colon);
    return;
  }
  std::uint16_t numbers[5] = {0, 0, 1, 0, 0};
  int at = 0;
  bool range = false, limited = false;
  for (const char c : word.substr(colon + 1)) {
    if (c == ';') at = 3;
    if (c == '-' && at == 3) at = 4;
    if (c == '-' && at == 0) at = 1, range = true;
    if (c == '/') at = 2, numbers[2] = 0;
    limited = limited || (at == 1 && c >= '0' && c <= '9');
    if (c >= '0' && c <= '9') numbers[at] = static_cast<std::uint16_t>(10 * numbers[at] + (c - '0'));
  }
  o.bounded = true;
  o.least = numbers[0];
  o.most = !range ? numbers[0] : limited ? numbers[1] : kNoLimit;
  o.step = numbers[2];
  o.second_most = numbers[4];
  word = word.substr(0, colon);
}

constexpr OperandList parse_operands(std::string_view text) {
  using namespace std::string_view_literals; // the compiler counts the characters of other texts one by one
  OperandList list;
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = text.find(',', i);
    if (end == std::string_view::npos) end = text.size();
    std::string_view word = text.substr(i, end - i);
    i = end + 1;
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    OperandSpec o;
    const auto prefix = [&](char c) {
      const bool is = word.starts_with(c);
      if (is) word.remove_prefix(1);
      return is;
    };
    const auto suffix = [&](std::string_view s) {
      const bool is = !word.empty() && word.back() == s.back() && word.ends_with(s);
      if (is) word.remove_suffix(s.size());
      return is;
    };
    o.accumulates = prefix('+');
    o.destination = o.accumulates || prefix('=');
    o.negatable = prefix('!');
    o.immediate = prefix('#');
    o.minus = prefix('-');
    o.register_only = prefix('%');
    o.moved = prefix('*');
    o.address_of = prefix('&');
    o.special = prefix('$');
    o.optional = suffix("?"sv);
    o.sink = suffix("_"sv);
    o.or_braces = suffix("/{}"sv);
    parse_range(word, o);
    o.relaxed = suffix("~"sv);
    o.vector = suffix("{}"sv);
    o.or_descriptor = suffix("/d"sv);
    o.or_tensor_memory = suffix("/taddr"sv);
    if (suffix("{n/2}"sv))
      o.elements = kHalfOfShape, o.braces = true;
    else if (suffix("{n/4}"sv))
      o.elements = kQuarterOfShape, o.braces = true;
    else if (suffix("{d-2}"sv))
      o.elements = kTensorOffsets, o.braces = true;
    else if (suffix("{r}"sv))
      o.elements = kRegistersOfTransfer, o.braces = true;
    if (word.size() > 3 && word.ends_with('}')) { // {4}
      o.elements = static_cast<std::int8_t>(word[word.size() - 2] - '0');
      o.braces = true;
      word.remove_suffix(3);
    }
    o.both = suffix("|p"sv);
    o.pair = o.both || suffix("|"sv);
    o.or_predicate = suffix("/p"sv);
    if (suffix(".part"sv)) o.selectors = Selectors::part;
    if (suffix(".halves"sv)) o.selectors = Selectors::halves;
    if (suffix(".bytes"sv)) o.selectors = Selectors::bytes;
    if (word == "p"sv)
      o.kind = OperandClass::predicate, o.fixed = Type::pred;
    else if (word == "cc"sv)
      o.kind = OperandClass::carry, o.fixed = Type::pred;
    else if (word == "selection"sv)
      o.kind = OperandClass::selection, o.fixed = Type::b64;
    else if (word == "[]"sv)
      o.kind = OperandClass::address;
    else if (word == "[tensor]"sv)
      o.kind = OperandClass::tensor;
    else if (word == "[taddr]"sv)
      o.kind = OperandClass::tensor_memory;
    else if (word == "[tex]"sv || word == "[surf]"sv || word == "tex"sv)
      o.kind = OperandClass::texture, o.surface = word == "[surf]"sv;
    else if (word == "label"sv)
      o.kind = OperandClass::label;
    else if (word == "table"sv)
      o.kind = OperandClass::table;
    else if (word == "function"sv)
      o.kind = OperandClass::function;
    else if (word == "any"sv)
      o.kind = OperandClass::any;
    else if (word == "policy"sv)
      o.kind = OperandClass::policy, o.fixed = Type::b64;
    else if (word == "t"sv)
      o.type_index = 0;
    else if (word == "t2"sv)
      o.type_index = 1;
    else if (word == "t3"sv)
      o.type_index = 2;
    else if (word == "w"sv)
      o.type_index = 0, o.wide = true;
    else if (const auto type = type_named(word))
      o.fixed = *type;
    else
      list.valid = false;
    if (list.count == kMaxOperands) list.valid = false;
    if (!list.valid) return list;
    list.items[list.count++] = o;
  }
  return list;
}

/// The dimensions of a tensor: 1 to 5; 0: the spelling names none.
constexpr int tensor_dimensions(const Form& form) {
  constexpr Word kNames[] = {Word::w_d1, Word::w_d2, Word::w_d3, Word::w_d4, Word::w_d5};
  for (int i = 0; i < 5; ++i)
    if (form.has(kNames[i])) return i + 1;
  return 0;
}

/// How many coordinates a copy has: a column and four rows, or one of each dimension.
constexpr int tensor_coordinates(const Form& form) {
  constexpr int kColumnAndRows = 5;
  return form.has(Word::w_gather4) || form.has(Word::w_scatter4) ? kColumnAndRows : tensor_dimensions(form);
}

/// The n of a shape m64n…k…; 0: the spelling has none.
constexpr int columns_of_shape(const Form& form) {
  for (int i = 0; i < form.count; ++i) {
    const std::string_view text = text_of(form.words[i]);
    if (!text.starts_with("m64n")) continue;
    int n = 0;
    for (const char c : text.substr(4)) {
      if (c < '0' || c > '9') return n;
      n = 10 * n + (c - '0');
    }
  }
  return 0;
}

/// The registers of a transfer from or to tensor memory (9.7.16.8.3): its number times those of its shape.
constexpr int registers_of_transfer(const Form& form) {
  constexpr Word kNumbers[] = {Word::w_x1,  Word::w_x2,  Word::w_x4,  Word::w_x8,
                               Word::w_x16, Word::w_x32, Word::w_x64, Word::w_x128};
  const int each = form.has(Word::w_s16x256b) ? 4 : form.has(Word::w_s16x128b) ? 2 : 1;
  for (int i = 0; i < 8; ++i)
    if (form.has(kNumbers[i])) return each << i;
  return 0;
}

/// The elements of a vector in braces.
constexpr int element_count(const OperandSpec& operand, const Form& form) {
  switch (operand.elements) {
  case kHalfOfShape: return columns_of_shape(form) / 2;
  case kQuarterOfShape: return columns_of_shape(form) / 4;
  case kTensorOffsets: return tensor_dimensions(form) - 2;
  case kRegistersOfTransfer: return registers_of_transfer(form);
  default: return operand.elements;
  }
}

/// Whether a spelling has an operand at all.
constexpr bool has_operand(const OperandSpec& operand, const Form& form) {
  return operand.kind != OperandClass::policy || form.has(Word::w_l2_cache_hint);
}

/// Whether a spelling may be written with `count` operands.
constexpr bool takes(const OperandList& list, const Form& form, int count) {
  int most = 0, least = 0;
  for (int i = 0; i < list.count; ++i) {
    if (list.items[i].kind == OperandClass::carry || !has_operand(list.items[i], form)) continue;
    ++most;
    least += list.items[i].optional ? 0 : 1;
  }
  return count >= least && count <= most;
}

/// u16 -> u32, s32 -> s64, and so on; Type::none if there is no wider type.
constexpr Type widened(Type type) {
  switch (type) {
  case Type::u8: return Type::u16;
  case Type::u16: return Type::u32;
  case Type::u32: return Type::u64;
  case Type::s8: return Type::s16;
  case Type::s16: return Type::s32;
  case Type::s32: return Type::s64;
  case Type::b16: return Type::b32;
  case Type::b32: return Type::b64;
  case Type::b64: return Type::b128;
  default: return Type::none;
  }
}

/// The type of an operand in a given spelling.
constexpr Type operand_type(const OperandSpec& operand, const Form& form) {
  if (operand.type_index < 0) return operand.fixed;
  const Type type = form.type(operand.type_index);
  return operand.wide ? widened(type) : type;
}

} // namespace warplens::isa
