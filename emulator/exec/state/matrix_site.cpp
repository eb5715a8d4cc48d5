// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/matrix_site.hpp"

#include "emulator/isa/types.hpp"

#include <algorithm>

namespace warplens::exec {

int bits(MatrixElement element) {
  switch (element) {
  case MatrixElement::f64: return 64;
  case MatrixElement::f16:
  case MatrixElement::bf16: return 16;
  case MatrixElement::tf32:
  case MatrixElement::f32:
  case MatrixElement::s32: return 32;
  case MatrixElement::packed_e2m1:
  case MatrixElement::s4:
  case MatrixElement::u4: return 4;
  case MatrixElement::b1: return 32; // a word of bits
  default: return 8;
  }
}

std::uint16_t Fragment::position(int r, int l, int p) const {
  int in_row = 0, in_column = 0;
  const auto take = [&](int number, const auto& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      if ((number >> i & 1) != 0) in_row += steps[i].rows, in_column += steps[i].columns;
  };
  take(r, reg);
  take(l, lane);
  take(p, place);
  return static_cast<std::uint16_t>(in_row * columns + in_column);
}

void Fragment::find_corners() {
  for (int r = 0; r < registers; ++r) {
    const int at = position(r, 0, 0);
    corner[static_cast<std::size_t>(r)] = {static_cast<std::uint8_t>(at / columns),
                                           static_cast<std::uint8_t>(at % columns)};
  }
}

namespace {

Step swapped(Step s) { return {s.columns, s.rows}; }

void transpose(Fragment& f) {
  std::swap(f.rows, f.columns);
  for (auto* steps : {&f.lane, &f.place}) std::transform(steps->begin(), steps->end(), steps->begin(), swapped);
  std::transform(f.reg.begin(), f.reg.end(), f.reg.begin(), swapped);
}

// Eight rows; four lanes hold consecutive elements of each. `more` describes the further registers.
Fragment by_rows(MatrixElement element, int rows, int columns, std::initializer_list<Step> more) {
  Fragment f;
  f.element = element;
  f.rows = rows;
  f.columns = columns;
  f.lane_elements = std::max(1, 32 / bits(element));
  const auto each = static_cast<std::int8_t>(f.lane_elements);
  for (std::size_t i = 0; 1 << i < f.lane_elements; ++i) f.place[i] = {0, static_cast<std::int8_t>(1 << i)};
  f.lane = {Step{0, each}, Step{0, static_cast<std::int8_t>(2 * each)}, Step{1, 0}, Step{2, 0}, Step{4, 0}};
  std::size_t n = 0;
  for (const Step s : more)
    if (s.rows < rows && s.columns < columns) {
      f.reg[n++] = s;
      f.registers *= 2;
    }
  return f;
}

} // namespace

Fragment factor_a(MatrixElement element, int m, int k) {
  const auto four = static_cast<std::int8_t>(4 * std::max(1, 32 / bits(element)));
  return by_rows(element, m, k, {{8, 0}, {0, four}, {0, static_cast<std::int8_t>(2 * four)}, {16, 0}});
}

// Columns of B lie as rows of A do; but where there is more than one tile of them, those of one tile come first,
// unless the matrix is `wide` (wmma's n32, which is computed as the transpose of m32).
Fragment factor_b(MatrixElement element, int k, int n, bool wide) {
  const auto four = static_cast<std::int8_t>(4 * std::max(1, 32 / bits(element)));
  const Step tile{8, 0}, more{0, four}, much{0, static_cast<std::int8_t>(2 * four)};
  Fragment f = wide ? by_rows(element, n, k, {tile, more, much, {16, 0}}) : by_rows(element, n, k, {more, much, tile});
  transpose(f);
  return f;
}

Fragment accumulator(MatrixElement element, int m, int n) {
  const bool wide = n == 32;
  if (wide) std::swap(m, n);
  Fragment f = by_rows(element, m, n, {});
  std::size_t next = 0;
  f.lane[0] = {0, 2};
  f.lane[1] = {0, 4};
  if (bits(element) > 16) f.reg[next++] = {0, 1};
  for (const Step s : {Step{8, 0}, Step{0, 8}, Step{16, 0}})
    if (s.rows < m && s.columns < n) f.reg[next++] = s;
  f.registers = 1 << next;
  if (wide) transpose(f);
  return f;
}

Fragment transposed(Fragment fragment) {
  transpose(fragment);
  return fragment;
}

// Four bits say which two of four elements a pair of columns is (which of two, for tf32; which two pairs of eight, for
// 4-bit integers). 16 bits of a lane serve a row and four such groups of 16- and 32-bit elements; narrower ones have 32
// bits for a row and eight groups.
std::vector<SparseGroup> sparse_groups(MatrixElement element, int rows, int k, int selector) {
  const int width = bits(element);
  const int groups = width == 32 ? k / 2 : width == 4 ? k / 8 : k / 4;
  std::vector<SparseGroup> list;
  for (int row = 0; row < rows; ++row)
    for (int group = 0; group < groups; ++group) {
      const int lane = width >= 16 ? group / 4 : row / 8 + 2 * (group / 8);
      const int shift = width >= 16 ? 4 * (group % 4) + 16 * (row / 8) : 4 * (group % 8);
      list.push_back(
          {static_cast<std::uint8_t>(lane + 4 * (row % 8) + selector * groups / 4), static_cast<std::uint8_t>(shift)});
    }
  return list;
}

} // namespace warplens::exec
