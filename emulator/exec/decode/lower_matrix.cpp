// SPDX-License-Identifier: Apache-2.0
// Lowers the matrix instructions of a warp: element layouts and handlers.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/control.hpp"

#include <algorithm>

namespace warplens::exec {

using isa::Space;
using isa::Type;
using isa::Word;

namespace {

struct Size {
  int m, n, k;
};

// "m16n8k32"
Size size_of(const isa::Spelling& s) {
  Size size{};
  for (int i = 0; i < s.form.count; ++i) {
    const std::string_view text = isa::text_of(s.form.words[i]);
    if (text.size() < 6 || text[0] != 'm' || text.find('k') == std::string_view::npos || text[1] < '0' || text[1] > '9')
      continue;
    int* number = nullptr;
    for (const char c : text) {
      if (c == 'm') number = &size.m;
      if (c == 'n') number = &size.n;
      if (c == 'k') number = &size.k;
      if (c >= '0' && c <= '9') *number = 10 * *number + (c - '0');
    }
  }
  return size;
}

// The element types in a spelling, in order: for mma D, A, B and C.
std::vector<MatrixElement> element_types(const isa::Spelling& s) {
  struct Named {
    Word word;
    MatrixElement element;
  };
  constexpr Named kNames[] = {{isa::word_of(Type::f16), MatrixElement::f16},
                              {isa::word_of(Type::bf16), MatrixElement::bf16},
                              {isa::word_of(Type::tf32), MatrixElement::tf32},
                              {isa::word_of(Type::f32), MatrixElement::f32},
                              {isa::word_of(Type::f64), MatrixElement::f64},
                              {isa::word_of(Type::e4m3), MatrixElement::e4m3},
                              {isa::word_of(Type::e5m2), MatrixElement::e5m2},
                              {Word::w_e3m2, MatrixElement::e3m2},
                              {Word::w_e2m3, MatrixElement::e2m3},
                              {Word::w_e2m1, MatrixElement::e2m1},
                              {isa::word_of(Type::s8), MatrixElement::s8},
                              {isa::word_of(Type::u8), MatrixElement::u8},
                              {isa::word_of(Type::s32), MatrixElement::s32},
                              {Word::w_s4, MatrixElement::s4},
                              {Word::w_u4, MatrixElement::u4},
                              {Word::w_b1, MatrixElement::b1}};
  std::vector<MatrixElement> list;
  for (int i = 0; i < s.form.count; ++i)
    for (const Named& n : kNames)
      if (n.word == s.form.words[i]) list.push_back(n.element);
  return list;
}

constexpr int kWordOfBits = 32;

// m8n8k4 of halves: each quad of the lower half of the warp and the quad 16 lanes later multiply their own matrices.
// The lane bits of value 4 and 8 select the matrix; here, the matrices are placed below each other.
struct QuadFragments {
  Fragment a, b;
};
QuadFragments quad_factors(bool a_by_rows, bool b_by_rows) {
  Fragment a, b;
  a.element = b.element = MatrixElement::f16;
  a.lane_elements = b.lane_elements = 2;
  a.registers = b.registers = 2;
  a.rows = 32, a.columns = 4;
  b.rows = 16, b.columns = 8;
  if (a_by_rows) {
    a.lane = {Step{1, 0}, Step{2, 0}, Step{8, 0}, Step{16, 0}, Step{4, 0}};
    a.place[0] = {0, 1};
    a.reg[0] = {0, 2};
  } else {
    a.lane = {Step{0, 1}, Step{0, 2}, Step{8, 0}, Step{16, 0}, Step{4, 0}};
    a.place[0] = {1, 0};
    a.reg[0] = {2, 0};
  }
  if (b_by_rows) {
    b.lane = {Step{1, 0}, Step{2, 0}, Step{4, 0}, Step{8, 0}, Step{0, 4}};
    b.place[0] = {0, 1};
    b.reg[0] = {0, 2};
  } else {
    b.lane = {Step{0, 1}, Step{0, 2}, Step{4, 0}, Step{8, 0}, Step{0, 4}};
    b.place[0] = {1, 0};
    b.reg[0] = {2, 0};
  }
  return {a, b};
}
Fragment quad_accumulator(MatrixElement element) {
  Fragment c;
  c.element = element;
  c.rows = 32, c.columns = 8;
  if (element == MatrixElement::f16) {
    c.registers = 4;
    c.lane_elements = 2;
    c.lane = {Step{1, 0}, Step{2, 0}, Step{8, 0}, Step{16, 0}, Step{4, 0}};
    c.place[0] = {0, 1};
    c.reg = {Step{0, 2}, Step{0, 4}, Step{}};
  } else {
    c.registers = 8;
    c.lane = {Step{1, 0}, Step{0, 2}, Step{8, 0}, Step{16, 0}, Step{4, 0}};
    c.reg = {Step{0, 1}, Step{2, 0}, Step{0, 4}};
  }
  return c;
}

void place_quads(MatrixSite& s, const QuadFragments& factors, MatrixElement c, MatrixElement d) {
  s.a = factors.a, s.b = factors.b;
  s.c = quad_accumulator(c), s.d = quad_accumulator(d);
}

// The products of an element that are summed at once. Bytes are multiplied as halves, in two steps: of each four in a
// row the first two, then the others, and then C is added. If A is sparse, this applies to its stored elements. With
// .kind, they are not.
void order_products(MatrixSite& s, bool wmma, bool with_kind) {
  const bool bytes = !with_kind && (s.a.element == MatrixElement::e4m3 || s.a.element == MatrixElement::e5m2);
  s.late = bytes;
  constexpr int kBlockOfWmma = 4; // of tf32
  s.block = bytes ? s.k / 2 : wmma && s.a.element == MatrixElement::tf32 ? kBlockOfWmma : s.k;
  const int late = !bytes ? 0 : s.sparse ? 4 : 2;
  for (const bool second : {false, true})
    for (int k = 0; k < s.k; ++k)
      if (((k & late) != 0) == second) s.order.push_back(static_cast<std::uint8_t>(k));
  s.place.resize(s.order.size());
  for (std::size_t i = 0; i < s.order.size(); ++i) s.place[s.order[i]] = static_cast<std::uint8_t>(i);
}

bool is_packed(const isa::Spelling& s) { return s.has(Word::w_kind_mxf4) || s.has(Word::w_kind_mxf4nvf4); }
bool with_kind(const isa::Spelling& s) {
  return is_packed(s) || s.has(Word::w_kind_f8f6f4) || s.has(Word::w_kind_mxf8f6f4);
}

bool is_integer(MatrixElement e) {
  return e == MatrixElement::s8 || e == MatrixElement::u8 || e == MatrixElement::s4 || e == MatrixElement::u4;
}

MatrixHandler transfer_kind(const isa::Spelling& s, bool loads) {
  using enum MatrixHandler;
  const bool moved = s.has(Word::w_trans), bytes = s.has(Word::w_m16n16) || s.has(Word::w_m16n8);
  if (!loads) return bytes ? store_bytes_transposed : moved ? store_transposed : store;
  if (s.has(Word::w_b6x16_p32)) return moved ? load_six_transposed : load_six;
  if (s.has(Word::w_b4x16_p64)) return moved ? load_four_transposed : load_four;
  return bytes ? load_bytes_transposed : moved ? load_transposed : load;
}

MatrixHandler multiplication(const isa::Spelling& s, const MatrixSite& site) {
  if (site.a.element == MatrixElement::b1) return MatrixHandler::multiply_bits;
  if (is_integer(site.a.element)) return MatrixHandler::multiply_integers;
  if (site.chained) return MatrixHandler::multiply_chained;
  if (site.a.element != MatrixElement::f64) return MatrixHandler::multiply_floats;
  return s.has(Word::w_rz)   ? MatrixHandler::multiply_doubles_zero
         : s.has(Word::w_rm) ? MatrixHandler::multiply_doubles_down
         : s.has(Word::w_rp) ? MatrixHandler::multiply_doubles_up
                             : MatrixHandler::multiply_doubles;
}

// The memory accesses of each lane for a fragment: along the lines, as many consecutive elements as its registers hold.
// 16-bit elements with the other orientation are loaded as if they had this one, and then moved within each 8 x 8
// elements. Narrow elements in shared memory are loaded as the 8 x 8 matrices of ldmatrix (as on an H200).
void plan_accesses(FragmentTransfer& t, bool by_matrices) {
  const int width = bits(t.fragment.element);
  const auto line_elements = t.fragment.size() / t.lines;
  Fragment f = t.fragment;
  const auto along = [&](Step s) { return t.columns_are_lines ? s.rows : s.columns; };
  const auto across = [&](Step s) { return t.columns_are_lines ? s.columns : s.rows; };
  if (width == 16 && along(f.place[0]) == 0)
    for (Step* s : {&f.place[0], &f.lane[0], &f.lane[1], &f.lane[2], &f.lane[3], &f.lane[4]})
      std::swap(s->rows, s->columns);
  const bool narrow = width < 32 && f.element != MatrixElement::b1;
  const bool with_grain = !narrow || along(f.place[0]) == 1;
  if (by_matrices && narrow && width >= 8 && with_grain) {
    constexpr int kRow = 16;
    t.piece = kRow;
    const int chunks = line_elements * width / 8 / kRow;
    for (int first = 0; first < t.lines * chunks; first += 32) {
      FragmentTransfer::Access& a = t.accesses.emplace_back();
      for (int l = 0; l < 32 && first + l < t.lines * chunks; ++l) {
        a.lanes |= 1u << l;
        a.line[l] = static_cast<std::uint8_t>((first + l) % t.lines);
        a.byte[l] = static_cast<std::uint8_t>((first + l) / t.lines * kRow);
      }
    }
    return;
  }
  const bool pairs = !narrow && along(f.reg[0]) == 1 && f.registers > 1; // of wide elements
  const int at_once = narrow && with_grain ? f.lane_elements : 1;
  t.piece = static_cast<std::uint8_t>((narrow ? at_once * width : std::min(width, 64) * (pairs ? 2 : 1)) / 8);
  for (int r = 0; r < f.registers; r += pairs ? 2 : 1) {
    bool copy = false; // registers that hold copies
    for (int bit = 0; bit < 3; ++bit)
      copy = copy || ((r >> bit & 1) != 0 && f.reg[bit].rows == 0 && f.reg[bit].columns == 0);
    if (copy) continue;
    for (int p = 0; p < f.lane_elements; p += at_once) {
      FragmentTransfer::Access& a = t.accesses.emplace_back();
      a.lanes = ~0u;
      for (int l = 0; l < 32; ++l) {
        const int position = f.position(r, l, p);
        const Step s{static_cast<std::int8_t>(position / f.columns), static_cast<std::int8_t>(position % f.columns)};
        a.line[l] = static_cast<std::uint8_t>(across(s));
        a.byte[l] = static_cast<std::uint8_t>(along(s) * width / 8);
      }
    }
  }
}

// 4-bit elements are always along the lines: a whole register is moved at once.
void find_places(FragmentTransfer& t) {
  const Fragment& f = t.fragment;
  const int width = bits(f.element), at_once = width < 8 ? f.lane_elements : 1;
  t.place_bytes = static_cast<std::uint8_t>(at_once * width / 8);
  for (int r = 0; r < f.registers; ++r)
    for (int l = 0; l < kWarpSize; ++l)
      for (int p = 0; p < f.lane_elements; p += at_once) {
        const int position = f.position(r, l, p), i = position / f.columns, j = position % f.columns;
        const int line = t.columns_are_lines ? j : i, along = t.columns_are_lines ? i : j;
        t.places.push_back(static_cast<std::uint16_t>(line * t.line_bytes + along * width / 8));
      }
}

} // namespace

// The rows of the registers in braces.
void Decoder::take_registers(const ir::Operand& operand, Type type, bool written, std::array<std::uint32_t, 8>& rows) {
  std::size_t n = 0;
  for (const ir::Operand& element : function_.elements(operand))
    if (n < rows.size()) rows[n++] = written ? destination(element, type, false) : source(element, type, false);
}

MatrixScales Decoder::scales_of(const ir::Operand& data, const ir::Operand& selectors) {
  const auto pair = function_.elements(selectors);
  return {source(data, Type::b32, false), source(pair[0], Type::u16, false), source(pair[1], Type::u16, false)};
}

void Decoder::transfer_matrices(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const bool loads = spelling.instruction_class == isa::InstructionClass::matrix_load;
  const ir::Operand& where = operands[loads ? 1 : 0];
  const ir::Operand& registers = operands[loads ? 0 : 1];
  std::array<std::uint32_t, 8> rows{};
  take_registers(registers, Type::b32, loads, rows);
  const Address a = address(where);
  constexpr int kRowBytes = 16;
  MemorySite& s = site(space_of_access(spelling, where), loads ? AccessKind::load : AccessKind::store, kRowBytes, a);
  (loads ? s.to : s.from) = rows;
  const auto registers_of_lane = function_.elements(registers).size();
  access(level_.matrix(transfer_kind(spelling, loads)), s, a, {}, {0, 0, file_.constant(4, kFullMask)}).extra =
      static_cast<std::uint32_t>(registers_of_lane);
}

void Decoder::transpose_matrix(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const std::uint32_t from = source(operands[1], spelling.types[1], false);
  const std::uint32_t to = destination(operands[0], spelling.types[0], false);
  emit(level_.matrix(MatrixHandler::transpose), {to}, {from, 0, 0, file_.constant(4, kFullMask)});
}

void Decoder::transfer_fragment(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const bool loads = spelling.has(Word::w_load);
  const Size size = size_of(spelling);
  MatrixElement element = element_types(spelling).front();
  const int k = element == MatrixElement::b1 ? size.k / kWordOfBits : size.k;
  FragmentTransfer t;
  t.fragment = spelling.has(Word::w_a)   ? factor_a(element, size.m, k)
               : spelling.has(Word::w_b) ? factor_b(element, k, size.n, size.n == 32)
                                         : accumulator(element, size.m, size.n);
  const ir::Operand& registers = operands[loads ? 0 : 1];
  const ir::Operand& where = operands[loads ? 1 : 0];
  t.fragment.registers = static_cast<int>(function_.elements(registers).size());
  t.columns_are_lines = spelling.has(Word::w_col);
  t.lines = t.columns_are_lines ? t.fragment.columns : t.fragment.rows;
  const int line_elements = t.fragment.size() / t.lines;
  t.line_bytes = line_elements * bits(element) / 8;
  take_registers(registers, spelling.types[loads ? 0 : 1], loads, t.fragment.row);
  const int memory_elements = element == MatrixElement::b1 ? line_elements * kWordOfBits : line_elements;
  t.stride = operands.size() > 2 ? source(operands[2], Type::u32, false)
                                 : file_.constant(4, static_cast<std::uint64_t>(memory_elements));
  const Space space = space_of_access(spelling, where);
  plan_accesses(t, space == Space::shared);
  find_places(t);
  const Address a = address(where);
  t.addresses = file_.temporary(a.is_32_bit ? 4 : 8);
  MemorySite& s = site(space, loads ? AccessKind::load : AccessKind::store, t.piece, a);
  const MatrixHandler kind = loads ? MatrixHandler::load_fragment : MatrixHandler::store_fragment;
  access(level_.matrix(kind), s, a, {}, {0, 0, file_.constant(4, kFullMask)}).extra =
      static_cast<std::uint32_t>(program_->fragments.size());
  program_->fragments.push_back(std::move(t));
}

void Decoder::multiply_matrices(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const std::vector<MatrixElement> types = element_types(spelling);
  // wmma's forms of halves name only D and C.
  const MatrixElement d = types.front(), c = types.back();
  MatrixElement a = types.size() == 2 ? MatrixElement::f16 : types[1],
                b = types.size() == 2 ? MatrixElement::f16 : types[2];
  if (is_packed(spelling)) a = b = MatrixElement::packed_e2m1;
  const Size size = size_of(spelling);
  const bool wmma = spelling.entry->opcode == "wmma";
  MatrixSite& s = program_->matrices.emplace_back();
  s.m = size.m, s.n = size.n;
  s.k = a == MatrixElement::b1 ? size.k / kWordOfBits : size.k;
  s.saturate = spelling.has(Word::w_satfinite);
  s.conjunction = spelling.has(Word::w_and_);
  s.sparse = spelling.has(Word::w_sp) || spelling.has(Word::w_sp_ordered);
  s.chained = !wmma && spelling.has(Word::w_m8n8k4) && a == MatrixElement::f16;
  const bool flipped = s.n > s.m;
  if (flipped) std::swap(s.m, s.n);
  if (s.chained) {
    const auto layout = [&](int i) { return spelling.form.words[3 + i] == Word::w_row; }; // after sync, aligned, shape
    place_quads(s, quad_factors(layout(0), layout(1)), c, d);
  } else {
    const int a_columns = s.sparse ? s.k / 2 : s.k;
    s.a = flipped ? transposed(factor_b(b, s.k, s.m, true)) : factor_a(a, s.m, a_columns);
    s.b = flipped ? factor_a(a, s.n, s.k) : transposed(factor_b(b, s.k, s.n, false));
    s.c = accumulator(c, s.m, s.n), s.d = accumulator(d, s.m, s.n);
    for (Fragment* f : {&s.a, &s.b, &s.c, &s.d}) f->find_corners();
    order_products(s, wmma, with_kind(spelling));
  }
  take_registers(operands[1], spelling.types[1], false, flipped ? s.b.row : s.a.row);
  take_registers(operands[2], spelling.types[2], false, flipped ? s.a.row : s.b.row);
  take_registers(operands[3], spelling.types[3], false, s.c.row);
  if (s.sparse) {
    s.metadata = source(operands[4], Type::b32, false);
    s.groups = sparse_groups(a, s.m, s.k, static_cast<int>(constant_value(operands[5], Type::u32)));
  }
  if (spelling.has(Word::w_block_scale)) {
    s.with_fraction = spelling.has(Word::w_ue4m3);
    s.scales = spelling.has(Word::w_kind_mxf8f6f4) ? 1 : spelling.has(Word::w_scale_vec_4x) ? 4 : 2;
    const std::size_t first = s.sparse ? 6 : 4;
    s.a_scales = scales_of(operands[first], operands[first + 1]);
    s.b_scales = scales_of(operands[first + 2], operands[first + 3]);
  }
  take_registers(operands[0], spelling.types[0], true, s.d.row);
  emit(level_.matrix(multiplication(spelling, s)), {}, {0, 0, 0, file_.constant(4, kFullMask)}).matrix = &s;
}

// Operands: D, A, B, metadata and selector of a sparse A, the predicate of D, signs of A and B, which are transposed.
void Decoder::multiply_by_group(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const std::vector<MatrixElement> types = element_types(spelling);
  const Size size = size_of(spelling);
  GroupSite& s = program_->group_matrices.emplace_back();
  s.d = types[0], s.a = types[1], s.b = types[2];
  s.n = size.n, s.k = s.a == MatrixElement::b1 ? size.k / kWordOfBits : size.k;
  s.sparse = spelling.has(Word::w_sp);
  s.saturate = spelling.has(Word::w_satfinite);
  s.a_in_registers = operands[1].kind == ir::OperandKind::vector;
  std::size_t n = 0;
  for (const ir::Operand& element : s.a_in_registers ? function_.elements(operands[1]) : std::span<const ir::Operand>{})
    s.a_rows[n++] = source(element, Type::b32, false);
  if (!s.a_in_registers) s.a_descriptor = source(operands[1], Type::b64, false);
  s.b_descriptor = source(operands[2], Type::b64, false);
  for (const ir::Operand& element : function_.elements(operands[0]))
    s.d_rows.push_back(destination(element, Type::b32, false));
  n = 3;
  if (s.sparse) {
    constexpr int kRowsOfWarp = 16;
    s.metadata = source(operands[n++], Type::b32, false);
    s.groups = sparse_groups(s.a, kRowsOfWarp, s.k, static_cast<int>(constant_value(operands[n++], Type::u32)));
  }
  s.accumulate = source_predicate(operands[n++]);
  const auto next = [&] { return static_cast<std::int32_t>(constant_value(operands[n++], Type::s32)); };
  if (n < operands.size()) s.negate_a = next() < 0, s.negate_b = next() < 0;
  if (n < operands.size() && !s.a_in_registers) s.a_transposed = next() != 0;
  if (n < operands.size()) s.b_transposed = next() != 0;
  const MatrixHandler kind = s.a == MatrixElement::b1 ? MatrixHandler::group_bits
                             : is_integer(s.a)        ? MatrixHandler::group_integers
                                                      : MatrixHandler::group_floats;
  emit_main(level_.matrix(kind), {}, {0, 0, 0, file_.constant(4, kFullMask)}).group = &s;
}

} // namespace warplens::exec
