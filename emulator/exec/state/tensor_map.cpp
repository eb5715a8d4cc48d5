// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/tensor_map.hpp"

namespace warplens::exec {

namespace {

// Numbers of types in a map; those of tf32 are those of single precision with a bit of their own. No driver for sm_100
// was asked for the last three.
constexpr std::uint64_t kNumbers[TensorMap::kTypes] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8, 11, 12, 13};
constexpr int kElementBits[TensorMap::kTypes] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};

bool is_tf32(int type) {
  return type == static_cast<int>(TensorMap::Type::tf32) || type == static_cast<int>(TensorMap::Type::tf32_ftz);
}

class Fields {
public:
  explicit Fields(const TensorMap::Words& words) : words_(words) {}
  [[nodiscard]] std::uint64_t get(std::size_t word, int bit, int bits) const {
    return words_[word] >> bit & ((std::uint64_t{1} << bits) - 1);
  }
  [[nodiscard]] int get_signed(std::size_t word, int bit, int bits) const {
    const auto value = static_cast<int>(get(word, bit, bits));
    return value >> (bits - 1) != 0 ? value - (1 << bits) : value;
  }
  void put(std::size_t word, int bit, std::uint64_t value, int bits) {
    const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) << bit;
    words_[word] = (words_[word] & ~mask) | (value << bit & mask);
  }
  [[nodiscard]] const TensorMap::Words& words() const { return words_; }

private:
  TensorMap::Words words_;
};

// Where the fields of a dimension are. A stride has 36 bits, without the lowest four of its bytes.
struct Place {
  std::size_t word;
  int bit;
};
constexpr Place kAtom{1, 21}; ///< of the swizzle: no driver for sm_100 was asked where it is
Place stride_low(int d) { return {static_cast<std::size_t>(1 + (d + 1) / 2), d % 2 == 0 ? 32 : 0}; }
Place stride_high(int d) { return {3, 32 + 4 * d}; }
Place size_of(int d) { return {static_cast<std::size_t>(4 + d / 2), d % 2 == 0 ? 0 : 32}; }
Place step_of(int d) { return {6, 32 + 3 * d}; }
Place box_of(int d) { return d == 0 ? Place{6, 56} : Place{7, 8 * (d - 1)}; }

void put_stride(Fields& f, int d, std::uint64_t stride) {
  f.put(stride_low(d).word, stride_low(d).bit, stride >> 4, 32);
  f.put(stride_high(d).word, stride_high(d).bit, stride >> 36, 4);
}
std::uint64_t of_swizzle(int swizzle) { return swizzle == 0 ? 0x10 : std::uint64_t{0x80} << swizzle; }

} // namespace

int TensorMap::element_bits() const { return kElementBits[static_cast<int>(type)]; }

std::uint64_t TensorMap::box_bytes() const {
  auto all = static_cast<std::uint64_t>(element_bits());
  if (pixels) return all * box[0] * pixel_count / 8;
  for (int d = 0; d < rank; ++d) all *= box[static_cast<std::size_t>(d)] / steps[static_cast<std::size_t>(d)];
  return all / 8;
}

TensorMap::Words TensorMap::encoded() const {
  Fields f{Words{}};
  f.put(0, 0, address, 57);
  f.put(1, 0, pixels ? 1 : 0, 1);
  f.put(1, 4, static_cast<std::uint64_t>(rank - 1), 3);
  f.put(1, 7, kNumbers[static_cast<int>(type)], 4);
  f.put(1, 11, static_cast<std::uint64_t>(interleave), 2);
  f.put(1, 13, static_cast<std::uint64_t>(swizzle), 2);
  f.put(1, 15, fill_nan ? 1 : 0, 1);
  f.put(1, 16, is_tf32(static_cast<int>(type)) ? 1 : 0, 1);
  f.put(1, 17, static_cast<std::uint64_t>(promotion), 2);
  f.put(kAtom.word, kAtom.bit, static_cast<std::uint64_t>(atom), 2);
  for (int d = 0; d < kMostDimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (d + 1 < kMostDimensions) put_stride(f, d, strides[i]);
    f.put(size_of(d).word, size_of(d).bit, sizes[i] - 1, 32);
    f.put(step_of(d).word, step_of(d).bit, steps[i] - 1, 3);
    if (d == 0 || !pixels) f.put(box_of(d).word, box_of(d).bit, box[i] - 1, 8);
  }
  for (int d = 0; pixels && d < rank - 2; ++d) {
    const int bits = corner_bits();
    f.put(7, bits * d, static_cast<std::uint64_t>(lower[static_cast<std::size_t>(d)]), bits);
    f.put(7, 16 + bits * d, static_cast<std::uint64_t>(upper[static_cast<std::size_t>(d)]), bits);
  }
  if (pixels) f.put(7, 32, pixel_count - 1, 10);
  f.put(8, 0, box_bytes(), 32);
  Words words = f.words();
  words[9] = of_swizzle(swizzle);
  return words;
}

TensorMap TensorMap::decoded(const Words& words) {
  const Fields f(words);
  TensorMap m;
  m.address = f.get(0, 0, 57);
  m.pixels = f.get(1, 0, 1) != 0;
  m.rank = static_cast<int>(f.get(1, 4, 3)) + 1;
  const std::uint64_t number = f.get(1, 7, 4);
  for (int t = 0; t < kTypes; ++t)
    if (kNumbers[t] == number && is_tf32(t) == (f.get(1, 16, 1) != 0)) m.type = static_cast<Type>(t);
  m.interleave = static_cast<int>(f.get(1, 11, 2));
  m.swizzle = static_cast<int>(f.get(1, 13, 2));
  m.fill_nan = f.get(1, 15, 1) != 0;
  m.promotion = static_cast<int>(f.get(1, 17, 2));
  m.atom = static_cast<int>(f.get(kAtom.word, kAtom.bit, 2));
  for (int d = 0; d < kMostDimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (d + 1 < kMostDimensions)
      m.strides[i] = f.get(stride_low(d).word, stride_low(d).bit, 32) << 4 |
                     f.get(stride_high(d).word, stride_high(d).bit, 4) << 36;
    m.sizes[i] = f.get(size_of(d).word, size_of(d).bit, 32) + 1;
    m.steps[i] = static_cast<std::uint32_t>(f.get(step_of(d).word, step_of(d).bit, 3)) + 1;
    if (d == 0 || !m.pixels) m.box[i] = static_cast<std::uint32_t>(f.get(box_of(d).word, box_of(d).bit, 8)) + 1;
  }
  for (int d = 0; m.pixels && d < m.rank - 2 && d < 3; ++d) {
    const int bits = m.corner_bits();
    m.lower[static_cast<std::size_t>(d)] = f.get_signed(7, bits * d, bits);
    m.upper[static_cast<std::size_t>(d)] = f.get_signed(7, 16 + bits * d, bits);
  }
  if (m.pixels) m.pixel_count = static_cast<std::uint32_t>(f.get(7, 32, 10)) + 1;
  return m;
}

bool TensorMap::made(const Words& words) const {
  constexpr int kLastInterleave = 2;
  constexpr int kSwizzle128 = 3;
  constexpr int kLeastOfSlices = 3; // dimensions of a tensor with slices of channels, and of pixels
  if ((interleave != 0 || pixels) && rank < kLeastOfSlices) return false;
  return rank <= kMostDimensions && interleave <= kLastInterleave && (atom == 0 || swizzle == kSwizzle128) &&
         encoded() == words;
}

bool replace(TensorMap::Words& words, TensorField field, unsigned index, std::uint64_t value) {
  Fields f(words);
  const auto d = static_cast<int>(index);
  const auto below = [&](std::uint64_t limit) { return value < limit; };
  const auto in = [&](std::uint64_t most) { return value >= 1 && value <= most; };
  const auto put = [&](Place p, std::uint64_t bits_of, int bits) {
    f.put(p.word, p.bit, bits_of, bits);
    return true;
  };
  const auto type = [&] { // as PTX counts them
    if (!below(TensorMap::kTypes)) return false;
    constexpr std::uint64_t kOfTf32 = 11, kNarrow = 13;
    f.put(1, 7, value < kOfTf32 ? value : value < kNarrow ? value - 4 : value - 2, 4);
    return put({1, 16}, value < kOfTf32 || value >= kNarrow ? 0 : 1, 1);
  };
  bool fits = false;
  switch (field) {
  case TensorField::global_address:
    fits = value % 16 == 0 && below(std::uint64_t{1} << 57) && put({0, 0}, value, 57);
    break;
  case TensorField::rank: fits = below(5) && put({1, 4}, value, 3); break;
  case TensorField::box_dim: fits = in(256) && d < 5 && put(box_of(d), value - 1, 8); break;
  case TensorField::global_dim: fits = in(std::uint64_t{1} << 32) && d < 5 && put(size_of(d), value - 1, 32); break;
  case TensorField::global_stride:
    fits = value % 16 == 0 && below(std::uint64_t{1} << 40) && d < 4;
    if (fits) put_stride(f, d, value);
    break;
  case TensorField::element_stride: fits = in(8) && d < 5 && put(step_of(d), value - 1, 3); break;
  case TensorField::elemtype: fits = type(); break;
  case TensorField::interleave_layout: fits = below(3) && put({1, 11}, value, 2); break;
  case TensorField::swizzle_mode: fits = below(4) && put({1, 13}, value, 2); break;
  case TensorField::swizzle_atomicity: fits = below(4) && put(kAtom, value, 2); break;
  case TensorField::fill_mode: fits = below(2) && put({1, 15}, value, 1); break;
  }
  if (!fits) return false;
  const TensorMap m = TensorMap::decoded(f.words());
  f.put(8, 0, m.rank <= TensorMap::kMostDimensions ? m.box_bytes() : 0, 32);
  words = f.words();
  words[9] = of_swizzle(m.swizzle);
  return true;
}

} // namespace warplens::exec
