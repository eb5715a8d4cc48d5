// SPDX-License-Identifier: Apache-2.0
// Numbers of PTX types as bytes: reads, creates, compares and prints them for launch files, options and reports.
//
//   *encode(Type::u8, std::int64_t{300})  ->  error: "300 does not fit into u8: expected an integer from 0 to 255"
//   format(Type::f32, bytes)              ->  "1.5"
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/isa/types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace warplens::api {

using isa::Type;

/// A number as written by the user.
using Number = std::variant<std::int64_t, double>;

/// The type named `text`: u8 to u64, s8 to s64, b8 to b64, f16, f32, f64. Error: no such type (with a suggestion).
Expected<Type> value_type_named(std::string_view text);

/// The bytes of a number, little endian. Floating-point numbers are rounded to nearest even. A b type accepts the
/// values of both the u and the s type of its width. Errors: an integer out of range, a fraction for an integer type.
Expected<std::vector<std::byte>> encode(Type type, const Number& number);
/// "5", "-1.5", "0x10", "nan", "inf". Errors: not a number, and those of encode().
Expected<Number> parse_number(std::string_view text);

/// The value as a double; exact except for 64-bit integers beyond 2^53.
double to_double(Type type, const std::byte* value);
/// The shortest text that reads back as the same value; b types in hexadecimal.
std::string format(Type type, const std::byte* value);

/// count[i] = start + i * step: integers wrap around, floating-point values are computed in double, then rounded.
void fill_iota(Type type, std::span<std::byte> out, const Number& start, const Number& step);
/// Pseudo-random values, which depend only on the seed, not on the machine: integers from low to high, inclusive;
/// floating-point numbers from low up to high.
void fill_random(Type type, std::span<std::byte> out, const Number& low, const Number& high, std::uint64_t seed);

/// The result of a comparison.
struct Comparison {
  std::uint64_t differing = 0; ///< elements
  std::uint64_t first = 0;     ///< index of the first differing element
};
/// Elements differ where |got - expected| > tolerance; a NaN equals a NaN. Both spans have the same length.
Comparison compare(Type type, std::span<const std::byte> got, std::span<const std::byte> expected, double tolerance);

} // namespace warplens::api
