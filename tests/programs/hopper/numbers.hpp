// SPDX-License-Identifier: Apache-2.0
// Small numbers of the formats that tensor cores multiply, and how results are compared and shown.
//
//   const std::vector<std::uint16_t> a = halves(eighths(count, 1));
//   return report("gemm", found, expected, 1e-5);
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace numbers {

/// A word that looks random.
inline std::uint32_t mixed(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x85EBCA6B;
  x = (x ^ x >> 13) * 0xC2B2AE35;
  return x ^ x >> 16;
}

/// Eighths from -1 to 1: exact in every format here that has three bits of fraction.
inline std::vector<float> eighths(std::size_t count, std::uint32_t seed) {
  std::vector<float> list(count);
  for (std::size_t i = 0; i < count; ++i)
    list[i] =
        static_cast<float>(static_cast<int>(mixed(static_cast<std::uint32_t>(i) + seed * 0x9E3779B1) % 17) - 8) / 8;
  return list;
}

/// The bits of a number with `exponent` and `fraction` bits in which it is exact, and no subnormal one.
inline std::uint32_t bits_of(float x, int exponent, int fraction) {
  std::uint32_t word = 0;
  std::memcpy(&word, &x, 4);
  const std::uint32_t sign = word >> 31 << (exponent + fraction);
  if (x == 0) return sign;
  const std::uint32_t field = (word >> 23 & 0xff) - 127 + (1u << (exponent - 1)) - 1;
  return sign | field << fraction | (word & 0x7fffff) >> (23 - fraction);
}
inline std::vector<std::uint16_t> halves(const std::vector<float>& list) {
  std::vector<std::uint16_t> found;
  for (const float x : list) found.push_back(static_cast<std::uint16_t>(bits_of(x, 5, 10)));
  return found;
}
inline std::vector<std::uint8_t> e4m3(const std::vector<float>& list) {
  std::vector<std::uint8_t> found;
  for (const float x : list) found.push_back(static_cast<std::uint8_t>(bits_of(x, 4, 3)));
  return found;
}
inline float from_bf16(std::uint16_t bits) {
  const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
  float x = 0;
  std::memcpy(&x, &word, 4);
  return x;
}

/// Shows the largest error, relative to the largest number, and a checksum of the bits: 64-bit FNV-1a. Returns what
/// main() returns: 1 if the error exceeds `most`.
inline int report(const char* name, const std::vector<float>& found, const std::vector<double>& expected, double most) {
  double error = 0, largest = 0;
  std::uint64_t hash = 0xCBF29CE484222325;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::fabs(found[i] - expected[i]);
    error = difference > error || std::isnan(difference) ? difference : error;
    largest = std::fmax(largest, std::fabs(expected[i]));
    unsigned char bytes[4];
    std::memcpy(bytes, &found[i], 4);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001B3;
  }
  const bool good = found.size() == expected.size() && error <= most * largest;
  std::printf("%s: %zu numbers, error %.3g, checksum %016llx: %s\n", name, expected.size(), error / largest,
              static_cast<unsigned long long>(hash), good ? "passed" : "FAILED");
  return good ? 0 : 1;
}

/// A B^T of `rows` x k and `columns` x k.
inline std::vector<double> product(const std::vector<float>& a, const std::vector<float>& b, std::size_t rows,
                                   std::size_t columns, std::size_t k) {
  std::vector<double> d(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      for (std::size_t l = 0; l < k; ++l) d[i * columns + j] += double{a[i * k + l]} * b[j * k + l];
  return d;
}

} // namespace numbers
