// SPDX-License-Identifier: Apache-2.0
#include "api/files/values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace warplens::api {
namespace values_test {

template <class T> std::span<std::byte> bytes_of(std::vector<T>& v) { return std::as_writable_bytes(std::span(v)); }

std::uint64_t bits(Type type, const Number& number) {
  const auto encoded = encode(type, number);
  EXPECT_TRUE(encoded);
  std::uint64_t value = 0;
  std::memcpy(&value, encoded->data(), encoded->size());
  return value;
}

TEST(Values, Encode) {
  EXPECT_EQ(bits(Type::s8, std::int64_t{-1}), 0xffu);
  EXPECT_EQ(bits(Type::b32, std::int64_t{-1}), 0xffffffffu);
  EXPECT_EQ(bits(Type::b32, std::int64_t{0xffffffff}), 0xffffffffu);
  EXPECT_EQ(bits(Type::f32, 0.1), 0x3dcccccdu);
  EXPECT_EQ(bits(Type::f64, std::int64_t{1}), 0x3ff0000000000000u);
  for (const auto& [type, number] : std::vector<std::pair<Type, Number>>{{Type::u8, std::int64_t{256}},
                                                                         {Type::u8, std::int64_t{-1}},
                                                                         {Type::s8, std::int64_t{128}},
                                                                         {Type::s8, std::int64_t{-129}},
                                                                         {Type::u32, std::int64_t{1} << 32},
                                                                         {Type::u64, std::int64_t{-1}},
                                                                         {Type::s32, 1.5}})
    EXPECT_FALSE(encode(type, number)) << isa::name(type);
}

// Every finite half-precision number converts to double and back exactly.
TEST(Values, HalfPrecisionRoundTrip) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const auto stored = static_cast<std::uint16_t>(half);
    const double value = to_double(Type::f16, reinterpret_cast<const std::byte*>(&stored));
    if (std::isnan(value)) continue;
    ASSERT_EQ(bits(Type::f16, value), half) << value;
  }
}

TEST(Values, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(bits(Type::f16, 1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(bits(Type::f16, 1 + 3 * 0x1p-11), 0x3c02u);
  EXPECT_EQ(bits(Type::f16, 1 + 0x1p-11 + 0x1p-30), 0x3c01u);
  EXPECT_EQ(bits(Type::f16, 65519.0), 0x7bffu);
  EXPECT_EQ(bits(Type::f16, 65520.0), 0x7c00u);
  EXPECT_EQ(bits(Type::f16, -0x1p-25), 0x8000u);
  EXPECT_EQ(bits(Type::f16, 0x1p-25 * 1.5), 0x0001u);
  EXPECT_EQ(bits(Type::f16, 2047.5 * 0x1p-25), 0x0400u) << "the largest subnormal rounds up to the smallest normal";
}

TEST(Values, ParseAndFormat) {
  EXPECT_EQ(*parse_number("-5"), Number{std::int64_t{-5}});
  EXPECT_EQ(*parse_number("-9223372036854775808"), Number{std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(*parse_number("0x10"), Number{std::int64_t{16}});
  EXPECT_EQ(*parse_number("1.5"), Number{1.5});
  EXPECT_EQ(*parse_number("-1e3"), Number{-1000.0});
  EXPECT_EQ(*parse_number("99999999999999999999"), Number{1e20});
  EXPECT_TRUE(std::isinf(std::get<double>(*parse_number("inf"))));
  for (const char* bad : {"", "-", "five", "1.5x", "0x", "1 2"}) EXPECT_FALSE(parse_number(bad)) << bad;
  const float tenth = 0.1f;
  EXPECT_EQ(format(Type::f32, reinterpret_cast<const std::byte*>(&tenth)), "0.1");
  const std::uint64_t large = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(format(Type::u64, reinterpret_cast<const std::byte*>(&large)), "18446744073709551615");
  EXPECT_EQ(format(Type::s64, reinterpret_cast<const std::byte*>(&large)), "-1");
  EXPECT_EQ(format(Type::b16, reinterpret_cast<const std::byte*>(&large)), "0xffff");
}

TEST(Values, TypesByName) {
  EXPECT_EQ(*value_type_named("b64"), Type::b64);
  const auto bad = value_type_named("f31");
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().list()[0].hint.find("did you mean"), std::string::npos);
  EXPECT_FALSE(value_type_named("pred"));
}

TEST(Values, IotaAndRandom) {
  std::vector<std::uint8_t> wrapped(3);
  fill_iota(Type::u8, bytes_of(wrapped), std::int64_t{254}, std::int64_t{1});
  EXPECT_EQ(wrapped, (std::vector<std::uint8_t>{254, 255, 0}));
  std::vector<float> halves(3);
  fill_iota(Type::f32, bytes_of(halves), std::int64_t{1}, 0.5);
  EXPECT_EQ(halves, (std::vector<float>{1, 1.5, 2}));

  std::vector<std::int32_t> a(1000), b(1000), c(1000);
  fill_random(Type::s32, bytes_of(a), std::int64_t{-2}, std::int64_t{2}, 7);
  fill_random(Type::s32, bytes_of(b), std::int64_t{-2}, std::int64_t{2}, 7);
  fill_random(Type::s32, bytes_of(c), std::int64_t{-2}, std::int64_t{2}, 8);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(*std::min_element(a.begin(), a.end()), -2);
  EXPECT_EQ(*std::max_element(a.begin(), a.end()), 2);
}

TEST(Values, Compare) {
  std::vector<float> got{1, 2, std::nanf(""), -0.0f}, same{1, 2, -std::nanf(""), 0.0f}, other{1, 2.5, 3, 0};
  EXPECT_EQ(compare(Type::f32, bytes_of(got), bytes_of(same), 0).differing, 0u);
  const Comparison c = compare(Type::f32, bytes_of(got), bytes_of(other), 0.25);
  EXPECT_EQ(c.differing, 2u);
  EXPECT_EQ(c.first, 1u);
  EXPECT_EQ(compare(Type::f32, bytes_of(got), bytes_of(other), 0.5).differing, 1u);
  // Equal as doubles, different as integers.
  std::vector<std::uint64_t> x{std::uint64_t{1} << 60}, y{(std::uint64_t{1} << 60) + 1};
  EXPECT_EQ(compare(Type::u64, bytes_of(x), bytes_of(y), 0).differing, 1u);
}

} // namespace values_test
} // namespace warplens::api
