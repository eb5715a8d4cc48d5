// SPDX-License-Identifier: Apache-2.0
// The scalar types and state spaces of PTX (manual, sections 5.1 and 5.2).
//
//   type_named("f32") == Type::f32, bits(Type::f32) == 32, is_float(Type::f32)
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warplens::isa {

// clang-format off
enum class Type : std::uint8_t {
  none,
  pred,
  b8, b16, b32, b64, b128,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  f16, f32, f64, bf16, tf32,
  f16x2, bf16x2, f32x2, u16x2, s16x2, u8x4, s8x4,
  e4m3, e5m2, e4m3x2, e5m2x2, ue8m0x2, e2m1x2, e2m3x2, e3m2x2, s2f6x2,
  e4m3x4, e5m2x4, e2m3x4, e3m2x4,
  texref, samplerref, surfref,
};
// clang-format on

constexpr int kTypeCount = static_cast<int>(Type::surfref) + 1;

enum class Class : std::uint8_t { none, predicate, untyped, unsigned_integer, signed_integer, floating, opaque };

struct TypeInfo {
  std::string_view name;
  int bits;
  Class kind;
};

// clang-format off
/// Name, width in bits and class of a type, by enumerator.
constexpr TypeInfo kTypes[kTypeCount] = {
    {"", 0, Class::none},
    {"pred", 1, Class::predicate},
    {"b8", 8, Class::untyped}, {"b16", 16, Class::untyped}, {"b32", 32, Class::untyped},
    {"b64", 64, Class::untyped}, {"b128", 128, Class::untyped},
    {"u8", 8, Class::unsigned_integer}, {"u16", 16, Class::unsigned_integer},
    {"u32", 32, Class::unsigned_integer}, {"u64", 64, Class::unsigned_integer},
    {"s8", 8, Class::signed_integer}, {"s16", 16, Class::signed_integer},
    {"s32", 32, Class::signed_integer}, {"s64", 64, Class::signed_integer},
    {"f16", 16, Class::floating}, {"f32", 32, Class::floating}, {"f64", 64, Class::floating},
    {"bf16", 16, Class::floating}, {"tf32", 32, Class::floating},
    {"f16x2", 32, Class::floating}, {"bf16x2", 32, Class::floating}, {"f32x2", 64, Class::floating},
    {"u16x2", 32, Class::unsigned_integer}, {"s16x2", 32, Class::signed_integer},
    {"u8x4", 32, Class::unsigned_integer}, {"s8x4", 32, Class::signed_integer},
    {"e4m3", 8, Class::floating}, {"e5m2", 8, Class::floating},
    {"e4m3x2", 16, Class::floating}, {"e5m2x2", 16, Class::floating}, {"ue8m0x2", 16, Class::floating},
    {"e2m1x2", 8, Class::floating}, {"e2m3x2", 16, Class::floating}, {"e3m2x2", 16, Class::floating},
    {"s2f6x2", 16, Class::floating},
    {"e4m3x4", 32, Class::floating}, {"e5m2x4", 32, Class::floating},
    {"e2m3x4", 32, Class::floating}, {"e3m2x4", 32, Class::floating},
    {"texref", 64, Class::opaque}, {"samplerref", 64, Class::opaque}, {"surfref", 64, Class::opaque},
};
// clang-format on

constexpr const TypeInfo& info(Type type) { return kTypes[static_cast<int>(type)]; }
constexpr std::string_view name(Type type) { return info(type).name; }
constexpr int bits(Type type) { return info(type).bits; }
/// The untyped type of the same width; the type itself if there is none.
constexpr Type untyped(Type type) {
  switch (bits(type)) {
  case 8: return Type::b8;
  case 16: return Type::b16;
  case 32: return Type::b32;
  case 64: return Type::b64;
  default: return type;
  }
}
constexpr int bytes(Type type) { return info(type).bits / 8; }
constexpr bool is_float(Type type) { return info(type).kind == Class::floating; }
constexpr bool is_signed(Type type) { return info(type).kind == Class::signed_integer; }
constexpr bool is_integer(Type type) {
  return info(type).kind == Class::signed_integer || info(type).kind == Class::unsigned_integer;
}

/// Whether it can hold an address: 32 or 64 bits, of an integer or untyped.
constexpr bool is_address(Type type) {
  return (info(type).kind == Class::untyped || is_integer(type)) && (bits(type) == 32 || bits(type) == 64);
}

/// Whether a register or a variable may have it. The others occur only in instructions (sections 5.2.1 to 5.2.3).
constexpr bool is_fundamental(Type type) {
  if (is_float(type)) return type == Type::f16 || type == Type::f32 || type == Type::f64 || type == Type::f16x2;
  return name(type).find('x') == std::string_view::npos || info(type).kind == Class::opaque;
}

/// The type spelled `text` (without the dot), if it is one.
constexpr std::optional<Type> type_named(std::string_view text) {
  for (int i = 1; i < kTypeCount; ++i)
    if (kTypes[i].name == text) return static_cast<Type>(i);
  return std::nullopt;
}

/// The state space of a variable or memory instruction. `generic`: the address determines the space.
enum class Space : std::uint8_t { none, reg, sreg, constant, global, local, param, shared, texture, generic };

constexpr std::string_view name(Space space) {
  constexpr std::string_view names[] = {"",      "reg",   "sreg",   "const", "global",
                                        "local", "param", "shared", "tex",   "generic"};
  return names[static_cast<int>(space)];
}

} // namespace warplens::isa
