// SPDX-License-Identifier: Apache-2.0
#include "python/core/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace warplens::python {

namespace {

using Kind = Element::Kind;

struct Named {
  std::string_view name;
  Kind kind;
  std::uint64_t bytes;
};

constexpr std::array kSourceTypes = {
    Named{"float", Kind::real, 4},
    Named{"double", Kind::real, 8},
    Named{"__half", Kind::real, 2},
    Named{"bool", Kind::boolean, 1},
    Named{"char", Kind::integer, 1},
    Named{"signed char", Kind::integer, 1},
    Named{"unsigned char", Kind::integer, 1},
    Named{"short", Kind::integer, 2},
    Named{"unsigned short", Kind::integer, 2},
    Named{"int", Kind::integer, 4},
    Named{"unsigned int", Kind::integer, 4},
    Named{"long", Kind::integer, 8},
    Named{"unsigned long", Kind::integer, 8},
    Named{"long long", Kind::integer, 8},
    Named{"unsigned long long", Kind::integer, 8},
};

/// The scalar types of CUDA's vector types: float4 is made of float.
constexpr std::array kVectorTypes = {
    Named{"float", Kind::real, 4},    Named{"double", Kind::real, 8},      Named{"char", Kind::integer, 1},
    Named{"uchar", Kind::integer, 1}, Named{"short", Kind::integer, 2},    Named{"ushort", Kind::integer, 2},
    Named{"int", Kind::integer, 4},   Named{"uint", Kind::integer, 4},     Named{"long", Kind::integer, 8},
    Named{"ulong", Kind::integer, 8}, Named{"longlong", Kind::integer, 8}, Named{"ulonglong", Kind::integer, 8},
};

std::string text_of(Kind kind, std::uint64_t bytes, bool is_unsigned) {
  switch (kind) {
  case Kind::integer: return fmt::format("{}int{}", is_unsigned ? "u" : "", 8 * bytes);
  case Kind::real: return fmt::format("float{}", 8 * bytes);
  case Kind::complex: return fmt::format("complex{}", 8 * bytes);
  case Kind::boolean: return "bool";
  case Kind::other: return fmt::format("a structure of {} bytes", bytes);
  }
  return "";
}

} // namespace

bool holds_objects(std::string_view format) {
  bool in_name = false; // of a field: "T{d:slope:i:offset:}"
  for (const char c : format) {
    if (c == ':') in_name = !in_name;
    if (c == 'O' && !in_name) return true;
  }
  return false;
}

std::optional<Element> parse_element(std::string_view format, std::uint64_t bytes) {
  if (format.starts_with('>') || format.starts_with('!')) {
    if (bytes > 1) return std::nullopt;
    format.remove_prefix(1);
  }
  while (!format.empty() && std::string_view("@=<^").find(format.front()) != std::string_view::npos)
    format.remove_prefix(1);
  Kind kind = Kind::other;
  const std::string_view unit = format.substr(std::min(format.find_first_not_of("0123456789"), format.size()));
  if (unit == "s") return Element{Kind::integer, 1, "characters"}; // of numpy: "5s", and "5w" of Unicode
  if (unit == "w") return Element{Kind::integer, 4, "characters of 4 bytes"};
  if (format.size() == 1 && std::string_view("bBhHiIlLqQnN").find(format[0]) != std::string_view::npos)
    kind = Kind::integer;
  else if (format == "e" || format == "f" || format == "d" || format == "g")
    kind = Kind::real;
  else if (format == "Zf" || format == "Zd")
    kind = Kind::complex;
  else if (format == "?")
    kind = Kind::boolean;
  const bool is_unsigned = std::string_view("BHILQN").find(format.empty() ? 'x' : format[0]) != std::string_view::npos;
  return Element{kind, bytes, text_of(kind, bytes, is_unsigned)};
}

std::optional<Element> element_of_source(std::string_view type) {
  for (const Named& t : kSourceTypes)
    if (type == t.name) return Element{t.kind, t.bytes, text_of(t.kind, t.bytes, type.starts_with("unsigned"))};
  if (type.empty() || type.back() < '1' || type.back() > '4') return std::nullopt;
  for (const Named& t : kVectorTypes)
    if (type.substr(0, type.size() - 1) == t.name)
      return Element{t.kind, t.bytes, text_of(t.kind, t.bytes, type[0] == 'u')};
  return std::nullopt;
}

bool fits(const Element& wanted, const Element& given) {
  if (given.kind == Element::Kind::other) return given.bytes % wanted.bytes == 0; // fields of a structure
  if (given.kind == Element::Kind::complex)
    return wanted.kind == Element::Kind::real && given.bytes == 2 * wanted.bytes;
  const bool bytes = given.bytes == 1 && wanted.bytes == 1; // bool and char
  return given.bytes == wanted.bytes && (bytes || given.kind == wanted.kind);
}

} // namespace warplens::python
