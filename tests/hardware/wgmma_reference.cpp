// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/wgmma_reference.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace warplens::tests {

namespace {

using Word = std::uint32_t;

constexpr int kKeptOfBytes = 13;
constexpr int kZero = -100000; // the exponent of 0
constexpr Word kNan = 0x7fffffff, kInfinity = 0x7f800000, kNanOfHalf = 0x7fff;

// A number of any of the formats: (-1)^negative * significand * 2^(exponent - fraction bits).
struct Number {
  bool negative = false, infinite = false, nan = false;
  int exponent = kZero; ///< of a normal number; of subnormal ones the least
  std::int64_t significand = 0;
  [[nodiscard]] bool is_zero() const { return significand == 0 && !infinite && !nan; }
};

Number number_of(const std::string& kind, Word bits) {
  FloatFormat f = kFloatFormats.at(kind);
  if (kind == "tf32") bits >>= 13;
  Number x;
  x.negative = (bits >> (f.exponent + f.fraction) & 1) != 0;
  const int field = static_cast<int>(bits >> f.fraction & ((1u << f.exponent) - 1)), most = (1 << f.exponent) - 1;
  const std::int64_t fraction = bits & ((1u << f.fraction) - 1);
  if (kind == "e4m3" ? field == most && fraction == 7 : field == most && fraction != 0) {
    x.nan = true;
  } else if (kind != "e4m3" && field == most) {
    x.infinite = true;
  } else {
    x.significand = fraction + (field == 0 ? 0 : std::int64_t{1} << f.fraction);
    if (x.significand != 0) x.exponent = std::max(field, 1) - f.bias;
  }
  return x;
}

// The products of an element and its accumulator.
class Sum {
public:
  Sum(const std::string& a, const std::string& b, const std::string& d)
      : a_(kFloatFormats.at(a).fraction), b_(kFloatFormats.at(b).fraction), d_(kFloatFormats.at(d).fraction) {
    bytes_ = kElementBits.at(a) == 8;
    kept_ = bytes_ ? kKeptOfBytes : 25;
  }
  void add_product(const Number& x, const Number& y) {
    const bool negative = x.negative != y.negative;
    const bool zero = x.is_zero() || y.is_zero();
    if (x.nan || y.nan || ((x.infinite || y.infinite) && zero))
      nan_ = true;
    else if (x.infinite || y.infinite)
      (negative ? down_ : up_) = true;
    else if (!zero)
      add({negative, x.exponent + y.exponent, x.significand * y.significand, a_ + b_});
  }
  void add_accumulator(const Number& c) {
    nan_ = nan_ || c.nan;
    if (c.infinite) (c.negative ? down_ : up_) = true;
    if (c.significand != 0) add({c.negative, c.exponent, c.significand, d_});
  }
  [[nodiscard]] Word rounded(const std::string& d) const {
    const bool half = d == "f16";
    if (nan_ || (up_ && down_)) return half ? kNanOfHalf : kNan;
    if (up_ || down_) return (half ? 0x7c00 : kInfinity) | (down_ ? (half ? 0x8000u : 0x80000000u) : 0u);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const Term& t = terms_[i];
      const int shift = kept_ - t.fraction - (peak_ - t.exponent); // to units of 2^(peak - kept)
      const std::int64_t units = shift >= 0 ? t.significand << shift : shift < -62 ? 0 : t.significand >> -shift;
      sum += t.negative ? -units : units;
    }
    const Word lost = bytes_ ? (1u << (23 - kKeptOfBytes)) - 1 : 0;
    return half ? nearest_half(sum) : truncated_single(sum) & ~lost;
  }

private:
  struct Term {
    bool negative;
    int exponent;
    std::int64_t significand;
    int fraction; ///< bits of the significand after the point
  };
  void add(const Term& t) {
    terms_[count_++] = t;
    peak_ = std::max(peak_, t.exponent);
  }
  [[nodiscard]] Word truncated_single(std::int64_t sum) const {
    if (sum == 0) return 0;
    const Word sign = sum < 0 ? 0x80000000u : 0;
    std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    int exponent = peak_ - kept_ + static_cast<int>(std::bit_width(magnitude)) - 1;
    if (exponent > 127) return sign | kInfinity;
    const int last = std::max(exponent, -126) - 23; // of the last bit of the result
    const int shift = last - (peak_ - kept_);
    magnitude = shift >= 64 ? 0 : shift >= 0 ? magnitude >> shift : magnitude << -shift;
    if (exponent < -126) return magnitude == 0 ? 0 : sign | static_cast<Word>(magnitude);
    return sign | (static_cast<Word>(exponent + 127) << 23) | (static_cast<Word>(magnitude) & 0x7fffff);
  }
  [[nodiscard]] Word nearest_half(std::int64_t sum) const {
    if (sum == 0) return 0;
    const Word sign = sum < 0 ? 0x8000 : 0;
    const std::uint64_t magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int unit = peak_ - kept_, exponent = std::max(unit + static_cast<int>(std::bit_width(magnitude)) - 1, -14);
    const int shift = exponent - 10 - unit;
    std::uint64_t q = shift <= 0 ? magnitude << -shift : shift > 63 ? 0 : magnitude >> shift;
    if (shift > 0 && shift <= 63) {
      const std::uint64_t rest = magnitude & ((std::uint64_t{1} << shift) - 1),
                          middle = std::uint64_t{1} << (shift - 1);
      if (rest > middle || (rest == middle && (q & 1) != 0)) ++q;
    }
    if (q == 0) return 0;
    const std::uint64_t bits = q < 1024 ? q : (static_cast<std::uint64_t>(exponent + 14) << 10) + q;
    return sign | static_cast<Word>(std::min<std::uint64_t>(bits, 0x7c00));
  }

  int a_, b_, d_, kept_;
  bool bytes_;
  std::array<Term, 40> terms_{};
  std::size_t count_ = 0;
  int peak_ = kZero;
  bool nan_ = false, up_ = false, down_ = false;
};

// The matrices as elements: A by row and place among those kept, with the k that each belongs to; B by column and k.
struct Matrices {
  int kept = 0, k = 0;
  std::vector<Word> a, b, c;
  std::vector<int> of;
};

Word bits_at(const std::vector<Word>& words, int bit, int width) {
  const Word word = words[static_cast<std::size_t>(bit / 32)] >> bit % 32;
  return width == 32 ? word : word & ((1u << width) - 1);
}

int k_of(const WgmmaForm& f, const WgmmaInput& in, int row, int place) {
  if (!f.sparse) return place;
  const bool pairs = f.a == "tf32";
  const int group = pairs ? place : place / 2, width = kElementBits.at(f.a),
            groups = width == 32 ? f.k() / 2 : f.k() / 4;
  const int r = row % 16;
  const int lane = width >= 16 ? group / 4 : r / 8 + 2 * (group / 8);
  const int shift = width >= 16 ? 4 * (group % 4) + 16 * (r / 8) : 4 * (group % 8);
  const Word which =
      in.e[static_cast<std::size_t>(row / 16 * 32 + lane + 4 * (r % 8) + f.selector * groups / 4)] >> shift;
  return pairs ? 2 * group + static_cast<int>(which & 3) / 2 : 4 * group + static_cast<int>(which >> place % 2 * 2 & 3);
}

Matrices matrices(const WgmmaForm& f, const WgmmaInput& in) {
  Matrices m;
  const int width = kElementBits.at(f.a) == 1 ? 32 : kElementBits.at(f.a); // bits: by words
  m.kept = 256 / width;
  m.k = f.sparse ? 2 * m.kept : m.kept;
  for (int row = 0; row < kRowsOfA; ++row)
    for (int i = 0; i < m.kept; ++i) {
      const int byte = i * width / 8;
      int place = f.in_a.place(row, byte) * 8;
      if (f.registers) { // of 16 rows of a warp: rows by lanes and registers, 16 bytes by four lanes
        const int lane = row % 8 * 4 + byte % 16 / 4, word = row % 16 / 8 + 2 * (byte / 16);
        place = (word * kGroup + row / 16 * 32 + lane) * 32 + byte % 4 * 8;
      }
      m.a.push_back(bits_at(in.a, place, width));
      m.of.push_back(k_of(f, in, row, i));
    }
  for (int column = 0; column < f.n; ++column)
    for (int k = 0; k < m.k; ++k) m.b.push_back(bits_at(in.b, f.in_b.place(column, k * width / 8) * 8, width));
  return m;
}

// Where an element of the accumulator is: a bit.
int place_of_d(const WgmmaForm& f, int row, int column) {
  const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2, half = row % 16 / 8;
  if (f.d == "f16") return ((column / 8 * 2 + half) * kGroup + thread) * 32 + column % 2 * 16;
  return ((column / 8 * 4 + half * 2 + column % 2) * kGroup + thread) * 32;
}

Word integer(const WgmmaForm& f, const Matrices& m, int row, int column, Word c) {
  std::int64_t sum = f.scale_d ? static_cast<std::int32_t>(c) : 0;
  for (int i = 0; i < m.kept; ++i) {
    const auto at = static_cast<std::size_t>(row * m.kept + i);
    const Word x = m.a[at], y = m.b[static_cast<std::size_t>(column * m.k + m.of[at])];
    const auto value = [](const std::string& kind, Word bits) {
      return kind == "s8" ? static_cast<int>(static_cast<std::int8_t>(bits)) : static_cast<int>(bits);
    };
    sum += f.a == "b1" ? std::popcount(x & y) : value(f.a, x) * value(f.b, y);
  }
  if (f.saturating) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<Word>(sum);
}

Word floating(const WgmmaForm& f, const std::vector<Number>& a, const std::vector<Number>& b, const Matrices& m,
              int row, int column, Word c) {
  Sum sum(f.a, f.b, f.d);
  for (int i = 0; i < m.kept; ++i) {
    const auto at = static_cast<std::size_t>(row * m.kept + i);
    sum.add_product(a[at], b[static_cast<std::size_t>(column * m.k + m.of[at])]);
  }
  if (f.scale_d) sum.add_accumulator(number_of(f.d, c));
  return sum.rounded(f.d);
}

std::vector<Number> numbers(const std::string& kind, const std::vector<Word>& bits, bool negative) {
  std::vector<Number> list;
  for (const Word w : bits) {
    list.push_back(number_of(kind, w));
    list.back().negative = list.back().negative != negative;
  }
  return list;
}

} // namespace

std::vector<std::uint32_t> wgmma_reference(const WgmmaForm& form, const WgmmaInput& input) {
  const Matrices m = matrices(form, input);
  const bool floats = kFloatFormats.count(form.a) != 0;
  std::vector<Number> a, b;
  if (floats) {
    a = numbers(form.a, m.a, form.negative_a);
    b = numbers(form.b, m.b, form.negative_b);
  }
  std::vector<Word> d(input.c.size());
  const int width = form.d == "f16" ? 16 : 32;
  for (int row = 0; row < kRowsOfA; ++row)
    for (int column = 0; column < form.n; ++column) {
      const int place = place_of_d(form, row, column);
      const Word c = bits_at(input.c, place, width);
      const Word found = floats ? floating(form, a, b, m, row, column, c) : integer(form, m, row, column, c);
      d[static_cast<std::size_t>(place / 32)] |= found << place % 32;
    }
  return d;
}

} // namespace warplens::tests
