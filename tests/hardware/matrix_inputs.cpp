// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/matrix_inputs.hpp"

#include <algorithm>
#include <cstdio>

namespace warplens::tests {

using Word = std::uint32_t;

const std::map<std::string, FloatFormat> kFloatFormats = {
    {"f16", {5, 10, 15}}, {"bf16", {8, 7, 127}}, {"tf32", {8, 10, 127}}, {"e4m3", {4, 3, 7}},
    {"e5m2", {5, 2, 15}}, {"f32", {8, 23, 127}}, {"f64", {11, 52, 1023}}};
const std::map<std::string, int> kElementBits = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"e4m3", 8}, {"e5m2", 8},
                                                 {"f32", 32}, {"f64", 64},  {"s8", 8},    {"u8", 8},   {"s4", 4},
                                                 {"u4", 4},   {"b1", 1},    {"s32", 32}};

Word mixed(Word x) {
  x = (x ^ x >> 16) * 0x85EBCA6B;
  x = (x ^ x >> 13) * 0xC2B2AE35;
  return x ^ x >> 16;
}

Word seed_of(const std::string& name) {
  Word h = 2166136261;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619;
  return h;
}

namespace {

// The exponent of an element; `low` is that of the least normal number of A.
std::int64_t exponent_of(const FloatFormat& f, std::int64_t most, int low, int mode, std::int64_t e, bool accumulator) {
  constexpr int kPowers[] = {0, 1, 5, 6, 12, 13};
  switch (mode) {
  case 1: return f.bias;
  case 3: return accumulator ? f.bias + e % 24 - 18 : f.bias + e % 12 - 6;
  case 4: return accumulator ? f.bias + e % 60 - 30 : e % (most + 1);
  case 5: return accumulator ? f.bias + 2 * low - 12 + e % 16 : e % 2;
  case 6: return accumulator ? f.bias + e % 32 - 16 : e % 4 == 0 ? f.bias + (e >> 8) % 20 - 10 : 0;
  case 7: return accumulator ? most - e % 4 : most - e % 2;
  case 10: return !accumulator ? f.bias - kPowers[e % 6] : e % 2 == 0 ? 0 : f.bias - e % 3;
  case 11: return accumulator ? 0 : 1 + e % 2;
  default: return accumulator ? f.bias + e % 8 - 4 : f.bias + e % 4 - 2;
  }
}

} // namespace

std::uint64_t number(const std::string& kind, int mode, Word h, bool accumulator, const std::string& of) {
  const FloatFormat& f = kFloatFormats.at(kind);
  const std::int64_t e = mixed(h + 0x5BD1E995);
  const std::int64_t most = (std::int64_t{1} << f.exponent) - (kind == "e4m3" ? 1 : 2);
  std::int64_t exponent =
      std::clamp<std::int64_t>(exponent_of(f, most, 1 - kFloatFormats.at(of).bias, mode, e, accumulator), 0, most);
  std::uint64_t fraction = h * std::uint64_t{0x9E3779B97F4A7C15} >> (64 - f.fraction);
  if (((mode == 6 && !accumulator) || mode == 10) && (exponent == 0 || mode == 10)) fraction = 0;
  if (mode == 11 && accumulator) fraction = 0;
  if (mode == 8) fraction = fraction >> (f.fraction - 2) << (f.fraction - 2);
  if (mode == 9 && (e >> 8) % 61 < 2) {
    exponent = (std::int64_t{1} << f.exponent) - 1;
    fraction = static_cast<std::uint64_t>((e >> 8) % 61 == 1) << (f.fraction - 1);
  }
  const std::uint64_t value =
      std::uint64_t{h & 1} << (f.exponent + f.fraction) | static_cast<std::uint64_t>(exponent) << f.fraction | fraction;
  return kind == "tf32" ? value << 13 : value;
}

std::uint32_t metadata_word(const std::string& kind, std::uint32_t h) {
  static const std::vector<Word> of_four = {4, 8, 9, 12, 13, 14}, of_two = {4, 14};
  const std::vector<Word>& pairs = kind == "tf32" ? of_two : of_four;
  Word word = 0;
  for (Word i = 0; i < 8; ++i) word |= pairs[mixed(h + i) % pairs.size()] << 4 * i;
  return word;
}

std::string WordHash::text() const {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
  return text;
}

} // namespace warplens::tests
