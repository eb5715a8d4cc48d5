// SPDX-License-Identifier: Apache-2.0
// Matrix multiplications compared with a simple product: small integers, which every type represents exactly, with
// wmma.load, wmma.mma and wmma.store in every layout; and mma with fragments according to the manual's formulas.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace warplens::tests {
namespace matrix_test {

using Word = std::uint32_t;

struct Type {
  const char* name;
  int bits;
  int least, most; ///< of the numbers that are tried
};
constexpr Type kHalf{"f16", 16, -3, 3}, kBrain{"bf16", 16, -3, 3}, kTensor{"tf32", 32, -3, 3},
    kDouble{"f64", 64, -3, 3}, kSigned8{"s8", 8, -128, 127}, kUnsigned8{"u8", 8, 0, 255}, kSigned4{"s4", 4, -8, 7},
    kUnsigned4{"u4", 4, 0, 15}, kBit{"b1", 1, 0, 1}, kSingle{"f32", 32, -9, 9}, kInteger{"s32", 32, -99, 99},
    kFp8{"e4m3", 8, -3, 3}, kFp8Wide{"e5m2", 8, -3, 3};

std::uint64_t encoded(const Type& type, int value) {
  const std::string name = type.name;
  const auto single = std::bit_cast<Word>(static_cast<float>(value));
  if (name == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (name == "f32" || name == "tf32") return single;
  if (name == "bf16") return single >> 16;
  // These numbers have few significand digits and the exponent of a normal number.
  const auto narrow = [&](int exponent, int fraction) {
    if (value == 0) return std::uint64_t{0};
    const Word field = (single >> 23 & 255) - 127 + (1u << (exponent - 1)) - 1;
    return std::uint64_t{(single >> 31) << (exponent + fraction) | field << fraction |
                         (single & 0x7fffff) >> (23 - fraction)};
  };
  if (name == "f16") return narrow(5, 10);
  if (name == "e4m3") return narrow(4, 3);
  if (name == "e5m2") return narrow(5, 2);
  return static_cast<std::uint64_t>(value) &
         (type.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << type.bits) - 1);
}

struct Matrix {
  Type type;
  int rows, columns;
  std::vector<int> values;
  Matrix(Type t, int r, int c, unsigned seed) : type(t), rows(r), columns(c) {
    for (int i = 0; i < r * c; ++i) {
      seed = seed * 1664525 + 1013904223;
      values.push_back(t.least + static_cast<int>((seed >> 8) % static_cast<unsigned>(t.most - t.least + 1)));
    }
  }
  [[nodiscard]] int at(int i, int j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
  /// As it lies in memory, `pitch` elements from line to line.
  [[nodiscard]] std::vector<Word> memory(bool by_rows, int pitch) const {
    const int lines = by_rows ? rows : columns;
    std::vector<Word> words(static_cast<std::size_t>(lines * pitch * type.bits + 31) / 32);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const auto bit = static_cast<std::size_t>((by_rows ? i * pitch + j : j * pitch + i) * type.bits);
        const std::uint64_t e = encoded(type, at(i, j));
        words[bit / 32] |= static_cast<Word>(e << bit % 32);
        if (type.bits == 64) words[bit / 32 + 1] |= static_cast<Word>(e >> 32);
      }
    return words;
  }
};

int product_of(const Matrix& a, const Matrix& b, const Matrix& c, int i, int j) {
  int sum = c.at(i, j);
  for (int k = 0; k < a.columns; ++k) sum += a.type.bits == 1 ? a.at(i, k) ^ b.at(k, j) : a.at(i, k) * b.at(k, j);
  return sum;
}

std::string braces(char letter, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "%" : ", %") + std::string(1, letter) + std::to_string(i);
  return text + "}";
}

struct Wmma {
  int m, n, k;
  Type factor, sum;
  int a, b, c; ///< registers
};

const Wmma kWmma[] = {{16, 16, 16, kHalf, kSingle, 8, 8, 8},      {32, 8, 16, kHalf, kSingle, 8, 8, 8},
                      {8, 32, 16, kHalf, kSingle, 8, 8, 8},       {16, 16, 16, kHalf, kHalf, 8, 8, 4},
                      {32, 8, 16, kHalf, kHalf, 8, 8, 4},         {8, 32, 16, kHalf, kHalf, 8, 8, 4},
                      {16, 16, 16, kBrain, kSingle, 4, 4, 8},     {32, 8, 16, kBrain, kSingle, 8, 2, 8},
                      {8, 32, 16, kBrain, kSingle, 2, 8, 8},      {16, 16, 8, kTensor, kSingle, 4, 4, 8},
                      {8, 8, 4, kDouble, kDouble, 1, 1, 2},       {16, 16, 16, kSigned8, kInteger, 2, 2, 8},
                      {32, 8, 16, kUnsigned8, kInteger, 4, 1, 8}, {8, 32, 16, kSigned8, kInteger, 1, 4, 8},
                      {8, 8, 32, kSigned4, kInteger, 1, 1, 2},    {8, 8, 32, kUnsigned4, kInteger, 1, 1, 2},
                      {8, 8, 128, kBit, kInteger, 1, 1, 2}};

std::string mma_of(const Wmma& w, const std::string& layouts, const std::string& shape) {
  const std::string f = w.factor.name, s = w.sum.name;
  if (f == "f16") return "wmma.mma.sync.aligned." + layouts + shape + "." + s + "." + s;
  if (f == "b1") return "wmma.mma.xor.popc.sync.aligned." + layouts + shape + ".s32.b1.b1.s32";
  return "wmma.mma.sync.aligned." + layouts + shape + "." + s + "." + f + "." + f + "." + s;
}

void multiply(const Wmma& w, bool a_rows, bool b_rows, bool c_rows, const std::string& space) {
  const Matrix a(w.factor, w.m, w.k, 1), b(w.factor, w.k, w.n, 2), c(w.sum, w.m, w.n, 3);
  const std::string shape = "m" + std::to_string(w.m) + "n" + std::to_string(w.n) + "k" + std::to_string(w.k);
  const auto layout = [](bool rows) { return std::string(rows ? "row" : "col"); };
  const std::string f = w.factor.name, s = w.sum.name;
  const std::string kind = w.factor.bits == 64 ? "f64" : "b32";
  // Lines of A are as close as they can be; those of the others are not.
  const int pitch_a = a_rows ? w.k : w.m, pitch_b = (b_rows ? w.n : w.k) + 128 / w.factor.bits,
            pitch_c = (c_rows ? w.n : w.m) + 4;
  std::string text = ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, "
                     ".param .u64 pc, "
                     ".param .u64 pd) {\n.reg .b64 %p<4>; .reg .b32 %n; .reg ." +
                     kind + " %a<8>, %b<8>; .reg ." + (s == "f32" ? "f32" : kind) + " %c<8>;\n";
  text += "ld.param.u64 %p0, [pa]; ld.param.u64 %p1, [pb]; ld.param.u64 %p2, [pc]; ld.param.u64 %p3, [pd];\n";
  const auto load = [&](char which, bool rows, const std::string& type, int count, int number,
                        const std::string& stride) {
    return "wmma.load." + std::string(1, which) + ".sync.aligned." + layout(rows) + "." + shape + space + "." + type +
           " " + braces(which, count) + ", [%p" + std::to_string(number) + "]" + stride + ";\n";
  };
  text += "mov.u32 %n, " + std::to_string(pitch_c) + ";\n";
  text += load('a', a_rows, f, w.a, 0, "") + load('b', b_rows, f, w.b, 1, ", " + std::to_string(pitch_b)) +
          load('c', c_rows, s, w.c, 2, ", %n");
  text += mma_of(w, layout(a_rows) + "." + layout(b_rows) + ".", shape) + " " + braces('c', w.c) + ", " +
          braces('a', w.a) + ", " + braces('b', w.b) + ", " + braces('c', w.c) + ";\n";
  text += "wmma.store.d.sync.aligned." + layout(c_rows) + "." + shape + space + "." + s + " [%p3], " +
          braces('c', w.c) + ", %n;\nret;\n}\n";
  Emulated machine(text, "wmma.ptx");
  Matrix expected = c;
  for (int i = 0; i < w.m; ++i)
    for (int j = 0; j < w.n; ++j) expected.values[static_cast<std::size_t>(i * w.n + j)] = product_of(a, b, c, i, j);
  const std::vector<Word> wanted = expected.memory(c_rows, pitch_c);
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  for (const auto& words : {a.memory(a_rows, pitch_a), b.memory(b_rows, pitch_b), c.memory(c_rows, pitch_c)})
    request.arguments.push_back({machine.buffer(words), 8});
  const std::uint64_t d = machine.buffer(std::vector<Word>(wanted.size()));
  request.arguments.push_back({d, 8});
  ASSERT_EQ(machine.run(request), "") << text;
  const auto* const p = reinterpret_cast<const Word*>(d);
  EXPECT_EQ(std::vector<Word>(p, p + wanted.size()), wanted) << text;
  machine.free_buffers();
}

TEST(Wmma, IsTheProduct) {
  for (const Wmma& w : kWmma)
    for (int layouts = 0; layouts < 8; ++layouts) {
      const bool fixed = w.factor.bits < 8; // A by rows, B by columns
      if (fixed && (layouts & 3) != 1) continue;
      multiply(w, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0, ".global");
      multiply(w, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0, "");
    }
}

// ---- mma (9.7.14.5): lane l is number l % 4 of group l / 4

struct Mma {
  int m, k;
  Type a, b, sum;
};

const Mma kMma[] = {{16, 8, kHalf, kHalf, kSingle},
                    {16, 16, kHalf, kHalf, kSingle},
                    {16, 8, kHalf, kHalf, kHalf},
                    {16, 16, kHalf, kHalf, kHalf},
                    {16, 8, kBrain, kBrain, kSingle},
                    {16, 16, kBrain, kBrain, kSingle},
                    {16, 4, kTensor, kTensor, kSingle},
                    {16, 8, kTensor, kTensor, kSingle},
                    {16, 32, kFp8, kFp8Wide, kSingle},
                    {16, 16, kFp8Wide, kFp8, kHalf},
                    {8, 4, kDouble, kDouble, kDouble},
                    {16, 4, kDouble, kDouble, kDouble},
                    {16, 8, kDouble, kDouble, kDouble},
                    {16, 16, kDouble, kDouble, kDouble},
                    {8, 16, kSigned8, kUnsigned8, kInteger},
                    {16, 16, kUnsigned8, kUnsigned8, kInteger},
                    {16, 32, kSigned8, kSigned8, kInteger},
                    {8, 32, kUnsigned4, kSigned4, kInteger},
                    {16, 32, kSigned4, kSigned4, kInteger},
                    {16, 64, kUnsigned4, kUnsigned4, kInteger},
                    {8, 128, kBit, kBit, kInteger},
                    {16, 128, kBit, kBit, kInteger},
                    {16, 256, kBit, kBit, kInteger}};

// The registers of a matrix whose elements (i, j) stand, `per` in a register, in row g + 8 h, columns per (t + 4 q) + …
std::vector<Word> fragment(const Matrix& x, bool transposed) {
  const int rows = transposed ? x.columns : x.rows, columns = transposed ? x.rows : x.columns;
  const int per = x.type.bits == 64 ? 1 : 32 / x.type.bits, halves = rows / 8, words = x.type.bits == 64 ? 2 : 1;
  const int count = rows * columns / 32 / per;
  std::vector<Word> registers(static_cast<std::size_t>(count * 32 * words));
  for (int r = 0; r < count; ++r)
    for (int l = 0; l < 32; ++l)
      for (int e = 0; e < per; ++e) {
        const int i = l / 4 + 8 * (r % halves), j = per * (l % 4 + 4 * (r / halves)) + e;
        const std::uint64_t bits = encoded(x.type, transposed ? x.at(j, i) : x.at(i, j)) << e * x.type.bits % 64;
        const auto at = static_cast<std::size_t>((r * 32 + l) * words);
        registers[at] |= static_cast<Word>(bits);
        if (words == 2) registers[at + 1] |= static_cast<Word>(bits >> 32);
      }
  return registers;
}

// C and D: rows g and g + 8, columns 2 t and 2 t + 1.
std::vector<Word> accumulator(const Matrix& x) {
  const int words = x.type.bits == 64 ? 2 : 1, count = x.rows / 8 * (x.type.bits == 16 ? 1 : 2);
  std::vector<Word> registers(static_cast<std::size_t>(count * 32 * words));
  for (int h = 0; h < x.rows / 8; ++h)
    for (int l = 0; l < 32; ++l)
      for (int e = 0; e < 2; ++e) {
        const std::uint64_t bits = encoded(x.type, x.at(l / 4 + 8 * h, l % 4 * 2 + e));
        if (x.type.bits == 16) {
          registers[static_cast<std::size_t>(h * 32 + l)] |= static_cast<Word>(bits << 16 * e);
          continue;
        }
        const auto at = static_cast<std::size_t>(((2 * h + e) * 32 + l) * words);
        registers[at] = static_cast<Word>(bits);
        if (words == 2) registers[at + 1] = static_cast<Word>(bits >> 32);
      }
  return registers;
}

TEST(Mma, IsTheProduct) {
  for (const Mma& x : kMma) {
    const Matrix a(x.a, x.m, x.k, 4), b(x.b, x.k, 8, 5), c(x.sum, x.m, 8, 6);
    Matrix d = c;
    for (int i = 0; i < x.m; ++i)
      for (int j = 0; j < 8; ++j) d.values[static_cast<std::size_t>(i * 8 + j)] = product_of(a, b, c, i, j);
    const std::vector<Word> in[] = {fragment(a, false), fragment(b, true), accumulator(c)}, wanted = accumulator(d);
    const bool wide = x.a.bits == 64;
    const std::string kind = wide ? "b64" : "b32";
    const int lane_bytes = wide ? 8 : 4;
    std::string text =
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 "
        "pc, .param .u64 pd) {\n.reg .b64 %p; .reg .b32 %t; .reg ." +
        kind + " %a<8>, %b<8>, %c<8>;\nmov.u32 %t, %tid.x;\n";
    const auto count = [&](const std::vector<Word>& words) {
      return static_cast<int>(words.size()) * 4 / lane_bytes / 32;
    };
    for (int o = 0; o < 3; ++o) {
      text += "ld.param.u64 %p, [p" + std::string(1, "abc"[o]) + "]; mad.wide.u32 %p, %t, " +
              std::to_string(lane_bytes) + ", %p;\n";
      for (int r = 0; r < count(in[o]); ++r)
        text += "ld.global." + kind + " %" + "abc"[o] + std::to_string(r) + ", [%p+" +
                std::to_string(r * 32 * lane_bytes) + "];\n";
    }
    const std::string sum = x.sum.name;
    text += "mma.sync.aligned.m" + std::to_string(x.m) + "n8k" + std::to_string(x.k) + ".row.col." + sum + "." +
            x.a.name + "." + x.b.name + "." + sum + (x.a.bits == 1 ? ".xor.popc " : " ") + braces('c', count(in[2])) +
            ", " + braces('a', count(in[0])) + ", " + braces('b', count(in[1])) + ", " + braces('c', count(in[2])) +
            ";\n";
    text += "ld.param.u64 %p, [pd]; mad.wide.u32 %p, %t, " + std::to_string(lane_bytes) + ", %p;\n";
    for (int r = 0; r < count(in[2]); ++r)
      text += "st.global." + kind + " [%p+" + std::to_string(r * 32 * lane_bytes) + "], %c" + std::to_string(r) + ";\n";
    Emulated machine(text + "ret;\n}\n", "mma.ptx");
    Emulated::Request request;
    request.kernel = "k";
    request.shape.block[0] = 32;
    for (const std::vector<Word>& words : in) request.arguments.push_back({machine.buffer(words), 8});
    const std::uint64_t out = machine.buffer(std::vector<Word>(wanted.size()));
    request.arguments.push_back({out, 8});
    ASSERT_EQ(machine.run(request), "") << text;
    const auto* const p = reinterpret_cast<const Word*>(out);
    EXPECT_EQ(std::vector<Word>(p, p + wanted.size()), wanted) << text;
    machine.free_buffers();
  }
}

} // namespace matrix_test
} // namespace warplens::tests
