// SPDX-License-Identifier: Apache-2.0
// Matrices of elements of 8 bits and less: ldmatrix and stmatrix with the layouts of the manual's figures (9.7.14.5.15,
// 9.7.14.5.16), and mma with .kind, compared with the exact sum where it needs no rounding, and with a program that
// follows docs/numerics.md where it does. Scales are where the manual has them (9.7.14.3).
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <ostream>
#include <random>

namespace warplens::tests {
namespace narrow_matrix_test {

using Word = std::uint32_t;

constexpr const char* kHeader = ".version 8.8\n.target sm_120a\n.address_size 64\n";

std::string registers(char letter, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::string(1, letter) + std::to_string(i);
  return text + "}";
}

std::vector<Word> run(const std::string& text, const std::vector<std::vector<Word>>& in, std::size_t out_words) {
  Emulated machine(text, "narrow.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  for (const auto& words : in) request.arguments.push_back({machine.buffer(words), 8});
  const std::uint64_t out = machine.buffer(std::vector<Word>(out_words));
  request.arguments.push_back({out, 8});
  EXPECT_EQ(machine.run(request), "") << text;
  const auto* const p = reinterpret_cast<const Word*>(out);
  std::vector<Word> result(p, p + out_words);
  machine.free_buffers();
  return result;
}

// ---- ldmatrix, stmatrix

// Row i of 16 bytes has the address of lane i; the rows are in another order in memory.
int place_of_row(int lane) { return lane * 5 % 32; }

std::vector<Word> some_words(std::size_t count) {
  std::vector<Word> words(count);
  std::mt19937 random(7); // NOLINT: the same each time
  for (Word& w : words) w = static_cast<Word>(random());
  return words;
}

struct Load {
  const char* spelling;
  int registers;
  int bits;        ///< of an element in memory
  bool transposed; ///< matrices of 16 x 16
  friend std::ostream& operator<<(std::ostream& out, const Load& l) { return out << l.spelling; }
};

class LoadMatrix : public testing::TestWithParam<Load> {};

TEST_P(LoadMatrix, MovesElementsAsInTheFigures) {
  const Load& x = GetParam();
  std::string text =
      std::string(kHeader) +
      ".visible .entry k(.param .u64 a, .param .u64 d) {\n.shared .align 16 .b8 s[512];\n.reg .b32 %r<4>, %d<4>, "
      "%t, %n, %m; .reg .b64 %p;\nmov.u32 %t, %tid.x; mov.u32 %n, s; ld.param.u64 %p, [a]; mad.wide.u32 %p, %t, 16, "
      "%p;\nld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p]; mad.lo.u32 %m, %t, 16, %n;\nst.shared.v4.b32 [%m], {%r0, "
      "%r1, %r2, %r3}; bar.warp.sync -1;\nmul.lo.u32 %t, %t, 5; and.b32 %t, %t, 31; mad.lo.u32 %m, %t, 16, %n;\n" +
      std::string(x.spelling) + " " + registers('d', x.registers) +
      ", [%m];\nld.param.u64 %p, [d]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 4, %p;\n";
  for (int i = 0; i < x.registers; ++i)
    text += "st.global.b32 [%p+" + std::to_string(128 * i) + "], %d" + std::to_string(i) + ";\n";
  const std::vector<Word> memory = some_words(128);
  const auto element = [&](int row, int column) { // of the rows in the order of the addresses
    const int at = place_of_row(row) * 128 + column * x.bits;
    Word value = 0;
    for (int b = 0; b < x.bits; ++b) value |= (memory[(at + b) / 32] >> (at + b) % 32 & 1) << b;
    return value;
  };
  const std::vector<Word> d = run(text + "ret;\n}\n", {memory}, static_cast<std::size_t>(32 * x.registers));
  for (int r = 0; r < x.registers; ++r)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        // Four consecutive columns of a row; of 16 rows, those of the second register are eight further on. The
        // transpose has them in a column.
        const Word wanted = x.transposed ? element(r / 2 * 16 + lane % 4 * 4 + i, lane / 4 + r % 2 * 8)
                                         : element(r * 8 + lane / 4, lane % 4 * 4 + i);
        EXPECT_EQ(d[r * 32 + lane] >> 8 * i & 0xff, wanted) << x.spelling << " " << r << " " << lane << " " << i;
      }
}

INSTANTIATE_TEST_SUITE_P(
    All, LoadMatrix,
    testing::Values(Load{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", 2, 8, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8", 4, 8, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32", 2, 6, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b6x16_p32", 4, 6, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64", 2, 4, true},
                    Load{"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64", 4, 4, true},
                    Load{"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32", 1, 6, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32", 2, 6, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32", 4, 6, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", 1, 4, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64", 2, 4, false},
                    Load{"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64", 4, 4, false}));

TEST(StoreMatrix, StoresColumnsOfBytes) {
  for (const int count : {1, 2, 4}) {
    std::string text = std::string(kHeader) +
                       ".visible .entry k(.param .u64 a, .param .u64 d) {\n.shared .align 16 .b8 s[512];\n.reg .b32 "
                       "%r<4>, %t, %n, %m; .reg .b64 %p;\nmov.u32 %t, %tid.x; mov.u32 %n, s; ld.param.u64 %p, [a]; "
                       "mad.wide.u32 %p, %t, 4, %p;\n";
    for (int i = 0; i < count; ++i)
      text += "ld.global.b32 %r" + std::to_string(i) + ", [%p+" + std::to_string(128 * i) + "];\n";
    text += "mul.lo.u32 %t, %t, 5; and.b32 %t, %t, 31; mad.lo.u32 %m, %t, 16, %n;\nstmatrix.sync.aligned.m16n8.x" +
            std::to_string(count) + ".trans.shared.b8 [%m], " + registers('r', count) +
            ";\nbar.warp.sync -1; ld.param.u64 %p, [d]; mov.u32 %t, %tid.x; mad.wide.u32 %p, %t, 16, %p; mad.lo.u32 "
            "%m, %t, 16, %n;\nld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%m]; st.global.v4.b32 [%p], {%r0, %r1, %r2, "
            "%r3};\nret;\n}\n";
    const std::vector<Word> words = some_words(static_cast<std::size_t>(32 * count));
    const std::vector<Word> d = run(text, {words}, 128);
    for (int r = 0; r < count; ++r)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 4; ++i) { // as the elements of a product: rows g and g + 8, columns 2 t and 2 t + 1
          const int matrix_row = lane / 4 + i / 2 * 8, matrix_column = lane % 4 * 2 + i % 2;
          const int at = place_of_row(r * 8 + matrix_column) * 16 + matrix_row;
          EXPECT_EQ(d[at / 4] >> at % 4 * 8 & 0xff, words[r * 32 + lane] >> 8 * i & 0xff) << count << " " << lane;
        }
  }
}

// ---- mma

struct Format {
  const char* name;
  int bits, fraction, bias;
  int shift; ///< of the element in its byte
};
constexpr Format kE4m3{"e4m3", 8, 3, 7, 0}, kE5m2{"e5m2", 8, 2, 15, 0}, kE3m2{"e3m2", 6, 2, 3, 0},
    kE2m3{"e2m3", 6, 3, 1, 0}, kE2m1{"e2m1", 4, 1, 1, 2};
constexpr Format kFormats[] = {kE4m3, kE5m2, kE3m2, kE2m3, kE2m1};

// A number and the exponent that the rule gives it.
struct Number {
  double value;
  int exponent;
};
Number number(const Format& f, Word code) {
  const int exponent_bits = f.bits - 1 - f.fraction;
  const Word fraction = code & ((1u << f.fraction) - 1), field = code >> f.fraction & ((1u << exponent_bits) - 1);
  const int exponent = std::max(static_cast<int>(field), 1) - f.bias;
  const double sign = (code >> (f.bits - 1) & 1) != 0 ? -1 : 1;
  if (f.bits == 8 && field == (1u << exponent_bits) - 1 && (f.fraction == 2 || fraction == 7))
    return {f.fraction == 2 && fraction == 0 ? sign * INFINITY : NAN, 0};
  const Word significand = fraction | (field != 0 ? 1u << f.fraction : 0);
  return {sign * std::ldexp(static_cast<double>(significand), exponent - f.fraction), exponent};
}
Number scale_number(Word byte, bool with_fraction) {
  if (with_fraction) return number(kE4m3, byte & 0x7f);
  return byte == 0xff ? Number{NAN, 0}
                      : Number{std::ldexp(1.0, static_cast<int>(byte) - 127), static_cast<int>(byte) - 127};
}

struct Form {
  Format a, b;
  int k;
  const char* kind;      ///< "f8f6f4" …
  const char* scale_vec; ///< "1X" …; empty: not written
  int scales;            ///< of a row
  bool with_fraction;    ///< ue4m3
  bool sparse, half;     ///< half: D and C
};

enum class Codes { exact, any, special };

// The sums of one form for random elements, as recorded registers.
class Product {
public:
  Product(const Form& form, Codes codes, unsigned seed) : f_(form), random_(seed) {
    for (const bool second : {false, true}) {
      std::vector<Word>& codes_of = second ? b_ : a_;
      const Format& format = second ? f_.b : f_.a;
      for (int i = 0; i < (second ? 8 : 16) * f_.k; ++i) codes_of.push_back(some_code(format, codes));
    }
    for (int i = 0; i < 128; ++i)
      c_.push_back(f_.half || codes == Codes::exact
                       ? static_cast<float>(static_cast<int>(random_() % 9) - 4)
                       : std::ldexp(static_cast<float>(random_() % 65536), static_cast<int>(random_() % 40) - 30));
    for (int i = 0; i < 24; ++i)
      for (int j = 0; j < 4; ++j) scales_.push_back(some_scale(codes, i < 16));
    byte_ = f_.scales == 1 ? random_() % 4 : f_.scales == 2 ? random_() % 2 * 2 : 0;
    lane_a_ = random_() % 2, lane_b_ = random_() % 4;
    in_registers_ = random_() % 2 == 0;
    const Word kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    pair_ = kPairs[random_() % 6];
  }

  std::string text() const {
    const int b = f_.sparse ? 4 : registers_of(8, per(), f_.k);
    const int a = registers_of(16, per(), f_.sparse ? f_.k / 2 : f_.k), c = f_.half ? 2 : 4;
    std::string text = std::string(kHeader) +
                       ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 ps, .param .u64 "
                       "pd) {\n.reg .b64 %p; .reg .b32 %t, %a<4>, %b<4>, %c<4>, %s<2>, %m; .reg .b16 %h<3>;\n"
                       "mov.u32 %t, %tid.x; mov.b32 %m, " +
                       std::to_string(pair_ * 0x11111111u) + ";\n";
    const auto load = [&](char name, int count) {
      text += std::string("ld.param.u64 %p, [p") + name + "]; mad.wide.u32 %p, %t, 4, %p;\n";
      for (int i = 0; i < count; ++i)
        text += std::string("ld.global.b32 %") + name + std::to_string(i) + ", [%p+" + std::to_string(128 * i) + "];\n";
    };
    load('a', a), load('b', b), load('c', c), load('s', 2);
    const std::string sum = f_.half ? ".f16" : ".f32";
    text += std::string("mma.") + (f_.sparse ? "sp::ordered_metadata." : "") + "sync.aligned.m16n8k" +
            std::to_string(f_.k) + ".row.col.kind::" + f_.kind + (f_.scales != 0 ? ".block_scale" : "") +
            (*f_.scale_vec != '\0' ? ".scale_vec::" + std::string(f_.scale_vec) : "") + sum + "." + f_.a.name + "." +
            f_.b.name + sum +
            (f_.scales == 0     ? ""
             : f_.with_fraction ? ".ue4m3"
                                : ".ue8m0") +
            " " + registers('c', c) + ", " + registers('a', a) + ", " + registers('b', b) + ", " + registers('c', c) +
            (f_.sparse ? ", %m, 0" : "");
    if (f_.scales != 0) {
      const std::string numbers[] = {std::to_string(byte_), std::to_string(lane_a_), std::to_string(lane_b_)};
      text.insert(text.find("mov.b32 %m"), "mov.u16 %h0, " + numbers[0] + "; mov.u16 %h1, " + numbers[1] +
                                               "; mov.u16 %h2, " + numbers[2] + "; ");
      const auto selector = [&](int i) { return in_registers_ ? "%h" + std::to_string(i) : numbers[i]; };
      text += ", %s0, {" + selector(0) + ", " + selector(1) + "}, %s1, {" + selector(0) + ", " + selector(2) + "}";
    }
    text += ";\nld.param.u64 %p, [pd]; mad.wide.u32 %p, %t, 4, %p;\n";
    for (int i = 0; i < c; ++i)
      text += "st.global.b32 [%p+" + std::to_string(128 * i) + "], %c" + std::to_string(i) + ";\n";
    return text + "ret;\n}\n";
  }

  std::vector<std::vector<Word>> inputs() const {
    std::vector<Word> a(128), b(128), c(128), s(64);
    const int columns = f_.sparse ? f_.k / 2 : f_.k;
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < columns; ++j) put(a, f_.a, i, j, 2, code_a(i, stored(j)));
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < f_.k; ++k) put(b, f_.b, j, k, 1, b_[j * f_.k + k]);
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 8; ++j) {
        const int lane = i % 8 * 4 + j / 2, half = i / 8;
        if (f_.half)
          c[half * 32 + lane] |= half_bits(c_[i * 8 + j]) << 16 * (j % 2);
        else
          c[(half * 2 + j % 2) * 32 + lane] = std::bit_cast<Word>(c_[i * 8 + j]);
      }
    std::mt19937 others(3); // NOLINT: bytes that no scale is read from
    for (Word& w : s) w = static_cast<Word>(others());
    for (int i = 0; i < 24 && f_.scales != 0; ++i) {
      Word& word = i < 16 ? s[i % 8 * 4 + 2 * lane_a_ + i / 8] : s[32 + (i - 16) * 4 + lane_b_];
      for (int j = 0; j < f_.scales; ++j) {
        const unsigned shift = 8 * (byte_ + static_cast<unsigned>(j));
        word = (word & ~(0xffu << shift)) | scales_[i * 4 + j] << shift;
      }
    }
    return {a, b, c, s};
  }

  /// What the rule gives, as a number; `exact`: the sum without any rounding.
  double wanted(int i, int j, bool exact) const {
    std::vector<Number> terms{
        {c_[i * 8 + j], std::max(c_[i * 8 + j] == 0 ? -5000 : std::ilogb(c_[i * 8 + j]), f_.half ? -14 : -126)}};
    for (int n = 0; n < (f_.sparse ? f_.k / 2 : f_.k); ++n) {
      const int k = f_.sparse ? stored(n) : n;
      const Number x = number(f_.a, code_a(i, k)), y = number(f_.b, b_[j * f_.k + k]);
      Number product{x.value * y.value, x.exponent + y.exponent};
      if (f_.scales != 0) {
        const int which = k * f_.scales / f_.k;
        for (const int of : {i, 16 + j}) {
          const Number s = scale_number(scales_[of * 4 + which], f_.with_fraction);
          product = {product.value * s.value, product.exponent + s.exponent};
        }
      }
      terms.push_back(product);
    }
    double special = 0;
    bool any = false;
    int peak = -100000;
    for (const Number& t : terms) {
      if (!std::isfinite(t.value))
        special += t.value, any = true;
      else if (t.value != 0)
        peak = std::max(peak, t.exponent);
    }
    if (any) return special;
    std::int64_t sum = 0;
    double plain = 0;
    for (const Number& t : terms) {
      plain += t.value;
      sum += static_cast<std::int64_t>(std::trunc(std::ldexp(t.value, 25 - peak)));
    }
    if (exact) return plain;
    const double kept = std::ldexp(static_cast<double>(sum), peak - 25);
    return kept;
  }

  void check(Codes codes) const {
    const std::vector<Word> d = run(text(), inputs(), f_.half ? 64 : 128);
    int wrong = 0;
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 8; ++j) {
        const int lane = i % 8 * 4 + j / 2, half = i / 8;
        const Word got = f_.half ? d[half * 32 + lane] >> 16 * (j % 2) & 0xffff : d[(half * 2 + j % 2) * 32 + lane];
        const double x = wanted(i, j, codes == Codes::exact);
        const Word want = f_.half ? half_bits(static_cast<float>(x)) : truncated(x);
        if (got != want && wrong++ == 0)
          ADD_FAILURE() << i << " " << j << ": " << std::hex << got << ", expected " << want << "\n" << text();
      }
    EXPECT_EQ(wrong, 0);
  }

private:
  [[nodiscard]] bool packed() const { return std::string(f_.kind).starts_with("mxf4"); }
  [[nodiscard]] int per() const { return packed() ? 8 : 4; }
  static int registers_of(int rows, int per, int columns) { return rows * columns / 32 / per; }

  // The column of A that is stored as number j: pairs of 4-bit elements, single ones of others.
  [[nodiscard]] int stored(int j) const {
    if (!f_.sparse) return j;
    const int each = packed() ? 2 : 1, group = j / (2 * each), first = j / each % 2;
    return group * 4 * each + static_cast<int>(pair_ >> 2 * first & 3) * each + j % each;
  }
  [[nodiscard]] Word code_a(int i, int k) const { return a_[i * f_.k + k]; }

  void put(std::vector<Word>& words, const Format& format, int i, int j, int halves, Word code) const {
    const int reg = i / 8 + halves * (j / (4 * per())), lane = i % 8 * 4 + j / per() % 4;
    words[reg * 32 + lane] |= code << (packed() ? 4 * (j % 8) : 8 * (j % 4) + format.shift);
  }

  Word some_code(const Format& format, Codes codes) {
    for (;;) {
      const Word code = static_cast<Word>(random_()) & ((1u << format.bits) - 1);
      const double value = number(format, code).value;
      if (codes == Codes::special) return code;
      if (codes == Codes::any && std::isfinite(value)) return code;
      if (std::fabs(value) <= 6 && value * 4 == std::trunc(value * 4)) return code;
    }
  }
  // Exact: 1/4 to 4, or quarters below 4. Otherwise of A large ones, of B small ones.
  Word some_scale(Codes codes, bool of_a) {
    if (codes == Codes::special && random_() % 40 == 0) return 0xff;
    if (!f_.with_fraction)
      return codes == Codes::exact ? 125 + static_cast<Word>(random_() % 5)
                                   : static_cast<Word>(random_() % 12) + (codes == Codes::any ? 121
                                                                          : of_a              ? 240
                                                                                              : 2);
    for (;;) {
      const Word code = static_cast<Word>(random_() & 0xff);
      const double value = number(kE4m3, code & 0x7f).value;
      if (codes != Codes::exact ? std::isfinite(value) : value < 4 && value * 4 == std::trunc(value * 4)) return code;
    }
  }

  // To the nearest.
  static Word half_bits(float x) {
    if (x == 0) return 0;
    const int exponent = std::max(std::ilogb(x), -14);
    const auto significand = static_cast<Word>(std::nearbyint(std::ldexp(std::fabs(x), 10 - exponent)));
    return static_cast<Word>(x < 0) << 15 | (significand + (static_cast<Word>(exponent + 14) << 10));
  }
  static Word truncated(double x) {
    if (std::isnan(x)) return 0x7fffffff;
    if (x == 0) return 0;
    auto f = static_cast<float>(x);
    if (std::isfinite(x) && std::fabs(double{f}) > std::fabs(x) && std::fabs(x) < 0x1p128) f = std::nextafterf(f, 0.0f);
    return std::bit_cast<Word>(f);
  }

  Form f_;
  std::mt19937 random_;
  std::vector<Word> a_, b_, scales_;
  std::vector<float> c_;
  unsigned byte_ = 0, lane_a_ = 0, lane_b_ = 0;
  bool in_registers_ = false; ///< the selectors
  Word pair_ = 0;
};

std::vector<Form> forms() {
  std::vector<Form> list;
  for (const Format& a : kFormats)
    for (const Format& b : kFormats) {
      for (const bool half : {false, true}) {
        list.push_back({a, b, 32, "f8f6f4", "", 0, false, false, half});
        list.push_back({a, b, 64, "f8f6f4", "", 0, false, true, half});
        if (a.bits == 8 && b.bits == 8) list.push_back({a, b, 16, "f8f6f4", "", 0, false, false, half});
      }
      list.push_back({a, b, 32, "mxf8f6f4", "1X", 1, false, false, false});
      list.push_back({a, b, 64, "mxf8f6f4", "", 1, false, true, false});
    }
  for (const bool sparse : {false, true}) {
    const int k = sparse ? 128 : 64;
    list.push_back({kE2m1, kE2m1, k, "mxf4", "2X", 2, false, sparse, false});
    list.push_back({kE2m1, kE2m1, k, "mxf4", "", 2, false, sparse, false});
    list.push_back({kE2m1, kE2m1, k, "mxf4nvf4", "2X", 2, false, sparse, false});
    list.push_back({kE2m1, kE2m1, k, "mxf4nvf4", "4X", 4, true, sparse, false});
  }
  return list;
}

TEST(NarrowMma, IsTheExactSumOfSmallNumbers) {
  unsigned seed = 1;
  for (const Form& f : forms()) Product(f, Codes::exact, ++seed).check(Codes::exact);
}

TEST(NarrowMma, FollowsTheAssumedRule) {
  unsigned seed = 1000;
  for (const Form& f : forms())
    for (const Codes codes : {Codes::any, Codes::special})
      if (!f.half) Product(f, codes, ++seed).check(codes);
}

// The checker's reason to refuse a scaled product.
std::string refusal(const std::string& words, const std::string& selectors, const std::string& target = "sm_120a") {
  const std::string text = ".version 8.8\n.target " + target +
                           "\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<20>; .reg .f32 %f<4>;\nmma.sync."
                           "aligned." +
                           words +
                           " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}, %r6, " +
                           selectors + ";\nret;\n}\n";
  try {
    const Emulated machine(text, "refused.ptx");
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(NarrowMma, SelectorsHaveTheRangesOfPtxas) {
  const std::string one = "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e4m3.f32.ue8m0",
                    two = "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
                    four = "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  EXPECT_EQ(refusal(one, "{3, 1}, %r7, {3, 3}"), "");
  EXPECT_EQ(refusal(two, "{2, 1}, %r7, {2, 3}"), "");
  EXPECT_EQ(refusal(four, "{0, 1}, %r7, {0, 3}"), "");
  has(refusal(one, "{4, 0}, %r7, {0, 0}"), "expected 0 to 3, got 4");
  has(refusal(one, "{0, 2}, %r7, {0, 0}"), "expected 0 to 1, got 2");
  has(refusal(one, "{0, 0}, %r7, {0, 4}"), "expected 0 to 3, got 4");
  has(refusal(two, "{0, 0}, %r7, {1, 0}"), "expected a multiple of 2 from 0 to 2, got 1");
  has(refusal(four, "{1, 0}, %r7, {0, 0}"), "expected 0, got 1");
  has(refusal(one, "{0, 0}, 1, {0, 0}"), "expects a register");
}

} // namespace narrow_matrix_test
} // namespace warplens::tests
