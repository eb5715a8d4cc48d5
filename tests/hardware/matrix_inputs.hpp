// SPDX-License-Identifier: Apache-2.0
// What was in the matrices whose products were asked of hardware: numbers from hashes of their places, in twelve modes
// that differ in their exponents. ask/matrix.py makes the same.
//
//   number("f16", 2, mixed(7), false, "f16")     // an f16 of a factor, in mode 2
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warplens::tests {

constexpr int kMatrixModes = 12;

struct FloatFormat {
  int exponent, fraction, bias;
};
extern const std::map<std::string, FloatFormat> kFloatFormats;
extern const std::map<std::string, int> kElementBits;

/// A word that looks random.
std::uint32_t mixed(std::uint32_t x);
/// FNV-1a.
std::uint32_t seed_of(const std::string& name);

/// An element of `kind` from a random word; `of` is the type of A.
std::uint64_t number(const std::string& kind, int mode, std::uint32_t h, bool accumulator, const std::string& of);
/// Metadata of a sparse A of `kind`: which of four elements (of two of tf32) are kept.
std::uint32_t metadata_word(const std::string& kind, std::uint32_t h);

/// 64-bit FNV-1a over words.
class WordHash {
public:
  void take(std::uint32_t word) {
    for (int i = 0; i < 4; ++i, word >>= 8) hash_ = (hash_ ^ (word & 0xff)) * 0x100000001B3;
  }
  [[nodiscard]] std::string text() const;

private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

} // namespace warplens::tests
