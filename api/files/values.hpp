// Numbers of PTX types as bytes: what launch files, command lines and reports read, make, compare and print.
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

/// A number as people write it.
using Number = std::variant<std::int64_t, double>;

/// Whether arguments and buffers can be of this type: u8 to u64, s8 to s64, b8 to b64, f16, f32, f64.
bool is_value_type(Type type);
/// The type named `text`, if it is one of those. Error: it is not (with a suggestion).
Expected<Type> value_type_named(std::string_view text);

/// The bytes of a number, little endian. A floating-point number is rounded to nearest even; b types take what either
/// u or s of their width takes. Errors: an integer out of range, a fraction for an integer type.
Expected<std::vector<std::byte>> encode(Type type, const Number& number);
/// "5", "-1.5", "0x10", "nan", "inf". Errors: not a number, and those of encode().
Expected<Number> parse_number(std::string_view text);

/// The value as a double; exact but for 64-bit integers beyond 2^53.
double to_double(Type type, const std::byte* value);
/// The shortest text that reads back as the same value; b types in hexadecimal.
std::string format(Type type, const std::byte* value);

/// count[i] = start + i * step: integers wrap around, floating-point values are computed in double, then rounded.
void fill_iota(Type type, std::span<std::byte> out, const Number& start, const Number& step);
/// Pseudo-random values, the same for the same seed everywhere: integers from low to high, both included; floating-
/// point numbers from low up to high.
void fill_random(Type type, std::span<std::byte> out, const Number& low, const Number& high, std::uint64_t seed);

/// What a comparison found.
struct Comparison {
  std::uint64_t differing = 0; ///< elements
  std::uint64_t first = 0;     ///< index of the first of them
};
/// Elements differ where |got - expected| > tolerance; a NaN equals a NaN. Both spans are equally long.
Comparison compare(Type type, std::span<const std::byte> got, std::span<const std::byte> expected, double tolerance);

} // namespace warplens::api
