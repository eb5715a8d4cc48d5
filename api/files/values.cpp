// SPDX-License-Identifier: Apache-2.0
#include "api/files/values.hpp"

#include "api/files/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace warplens::api {

namespace {

constexpr Type kTypes[] = {Type::u8, Type::u16, Type::u32, Type::u64, Type::s8,  Type::s16, Type::s32, Type::s64,
                           Type::b8, Type::b16, Type::b32, Type::b64, Type::f16, Type::f32, Type::f64};

template <class T> T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(std::byte* to, std::uint64_t bits, std::size_t bytes) { std::memcpy(to, &bits, bytes); }

// IEEE 754 binary16, rounded to nearest even: scaled so that one unit in the last place is 1.
std::uint16_t to_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 11, -24); // of the last place
  const auto last_places = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -exponent)));
  // The leading one and a carry out of the fraction go into the exponent field, as intended.
  return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(exponent + 24) << 10) + last_places));
}

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 0x3ff;
  double value = exponent == 31  ? (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                                  : std::numeric_limits<double>::infinity())
                 : exponent == 0 ? std::ldexp(fraction, -24)
                                 : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

double as_double(const Number& number) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return static_cast<double>(*integer);
  return std::get<double>(number);
}

std::uint64_t float_bits(Type type, double value) {
  if (type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return to_half(value);
}

std::size_t size_of(Type type) { return static_cast<std::size_t>(isa::bytes(type)); }

} // namespace

Expected<Type> value_type_named(std::string_view text) {
  std::vector<std::string_view> names;
  for (const Type type : kTypes) {
    if (isa::name(type) == text) return type;
    names.push_back(isa::name(type));
  }
  const std::string near = closest(text, names);
  return failure(fmt::format("unknown type '{}'", text), near.empty() ? fmt::format("types: {}", fmt::join(names, ", "))
                                                                      : fmt::format("did you mean '{}'?", near));
}

Expected<std::vector<std::byte>> encode(Type type, const Number& number) {
  std::vector<std::byte> bytes(size_of(type));
  if (isa::is_float(type)) {
    store(bytes.data(), float_bits(type, as_double(number)), bytes.size());
    return bytes;
  }
  const int bits = isa::bits(type);
  const bool may_be_negative = isa::is_signed(type) || !isa::is_integer(type); // s and b
  const std::int64_t low = !may_be_negative ? 0
                           : bits == 64     ? std::numeric_limits<std::int64_t>::min()
                                            : -(std::int64_t{1} << (bits - 1));
  const std::int64_t high = bits == 64             ? std::numeric_limits<std::int64_t>::max()
                            : isa::is_signed(type) ? (std::int64_t{1} << (bits - 1)) - 1
                                                   : (std::int64_t{1} << bits) - 1;
  const auto* integer = std::get_if<std::int64_t>(&number);
  if (integer == nullptr || *integer < low || *integer > high)
    return failure(fmt::format("{} does not fit into {}: expected an integer from {} to {}",
                               std::visit([](auto v) { return fmt::format("{:#}", v); }, number), isa::name(type), low,
                               high),
                   type == Type::u64 ? "write larger values as bits: b64=0xffffffffffffffff" : "");
  store(bytes.data(), static_cast<std::uint64_t>(*integer), bytes.size());
  return bytes;
}

Expected<Number> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t integer = 0;
  const char* const end = digits.data() + digits.size();
  const auto whole = std::from_chars(digits.data(), end, integer, hexadecimal ? 16 : 10);
  if (whole.ec == std::errc{} && whole.ptr == end) {
    // Numbers such as 0xffffffffffffffff are bit patterns; larger decimal numbers are read as floating-point numbers.
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (hexadecimal || integer <= kMost + (negative ? 1 : 0))
      return Number{static_cast<std::int64_t>(negative ? 0 - integer : integer)};
  }
  double value = 0;
  const auto real = std::from_chars(digits.data(), end, value);
  if (!hexadecimal && real.ec == std::errc{} && real.ptr == end) return Number{negative ? -value : value};
  return failure(fmt::format("expected a number, got '{}'", text));
}

double to_double(Type type, const std::byte* value) {
  switch (type) {
  case Type::f64: return load<double>(value);
  case Type::f32: return static_cast<double>(load<float>(value));
  case Type::f16: return from_half(load<std::uint16_t>(value));
  case Type::s8: return load<std::int8_t>(value);
  case Type::s16: return load<std::int16_t>(value);
  case Type::s32: return load<std::int32_t>(value);
  case Type::s64: return static_cast<double>(load<std::int64_t>(value));
  default: break;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, value, size_of(type));
  return static_cast<double>(bits);
}

std::string format(Type type, const std::byte* value) {
  if (type == Type::f32) return fmt::format("{}", load<float>(value));
  if (type == Type::s64) return fmt::format("{}", load<std::int64_t>(value));
  std::uint64_t bits = 0;
  std::memcpy(&bits, value, size_of(type));
  if (isa::info(type).kind == isa::Class::untyped) return fmt::format("{:#0{}x}", bits, 2 + 2 * size_of(type));
  if (type == Type::u64) return fmt::format("{}", bits);
  return fmt::format("{}", to_double(type, value));
}

void fill_iota(Type type, std::span<std::byte> out, const Number& start, const Number& step) {
  const std::size_t bytes = size_of(type);
  const std::uint64_t count = out.size() / bytes;
  if (isa::is_float(type)) {
    for (std::uint64_t i = 0; i < count; ++i)
      store(&out[i * bytes], float_bits(type, as_double(start) + static_cast<double>(i) * as_double(step)), bytes);
    return;
  }
  auto value = static_cast<std::uint64_t>(std::get<std::int64_t>(start));
  for (std::uint64_t i = 0; i < count; ++i) {
    store(&out[i * bytes], value, bytes);
    value += static_cast<std::uint64_t>(std::get<std::int64_t>(step));
  }
}

void fill_random(Type type, std::span<std::byte> out, const Number& low, const Number& high, std::uint64_t seed) {
  Random random(seed);
  const std::size_t bytes = size_of(type);
  const std::uint64_t count = out.size() / bytes;
  if (isa::is_float(type)) {
    const double from = as_double(low), range = as_double(high) - from;
    for (std::uint64_t i = 0; i < count; ++i)
      store(&out[i * bytes], float_bits(type, from + range * random.fraction()), bytes);
    return;
  }
  const auto from = static_cast<std::uint64_t>(std::get<std::int64_t>(low));
  const std::uint64_t values = static_cast<std::uint64_t>(std::get<std::int64_t>(high)) - from + 1; // 0: all of them
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random.bits();
    store(&out[i * bytes], from + (values == 0 ? bits : bits % values), bytes);
  }
}

Comparison compare(Type type, std::span<const std::byte> got, std::span<const std::byte> expected, double tolerance) {
  Comparison result;
  const std::size_t bytes = size_of(type);
  for (std::uint64_t i = 0; i < got.size() / bytes; ++i) {
    const std::byte *a = &got[i * bytes], *b = &expected[i * bytes];
    if (std::memcmp(a, b, bytes) == 0) continue;
    const double x = to_double(type, a), y = to_double(type, b);
    if (std::isnan(x) && std::isnan(y)) continue;
    // Without a tolerance, integers are compared as bits; 64-bit ones may be equal as doubles.
    const bool near = tolerance == 0 ? isa::is_float(type) && x == y : std::fabs(x - y) <= tolerance;
    if (near) continue;
    if (result.differing++ == 0) result.first = i;
  }
  return result;
}

} // namespace warplens::api
