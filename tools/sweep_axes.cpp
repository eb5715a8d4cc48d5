// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_axes.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace warplens::tools {

namespace {

constexpr std::size_t kMostValues = 100'000;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

[[noreturn]] void fail(std::string_view option, std::string_view text, std::string_view why) {
  throw UsageError{fmt::format("{} {}: {}", option, text, why), "lists: 64,128; ranges: 64..1024*2, 32..256+32"};
}

/// Splits at commas outside of brackets and quotation marks.
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : list) {
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Appends the numbers of a range; false: the text is not a range.
bool append_range(std::string_view text, std::string_view option, std::vector<std::string>& values) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos || text.starts_with('"') || text.starts_with('[')) return false;
  const auto first = parse_number(text.substr(0, dots));
  const std::string_view rest = text.substr(dots + 2);
  const std::size_t sign = std::min(rest.find_first_of("+*"), rest.size());
  const auto last = parse_number(rest.substr(0, sign));
  const auto step = sign == rest.size() ? std::optional<std::uint64_t>(1) : parse_number(rest.substr(sign + 1));
  if (!first || !last || !step) fail(option, text, "invalid range: expected whole numbers");
  const bool product = sign != rest.size() && rest[sign] == '*';
  if (*first > *last) fail(option, text, "the range is empty");
  if (product ? *step < 2 || *first == 0 : *step == 0) fail(option, text, "the range never ends");
  for (std::uint64_t v = *first; v <= *last;) {
    if (values.size() == kMostValues) fail(option, text, fmt::format("more than {} values", kMostValues));
    values.push_back(fmt::format("{}", v));
    if (product ? __builtin_mul_overflow(v, *step, &v) : __builtin_add_overflow(v, *step, &v)) break;
  }
  return true;
}

void append_shapes_of(std::uint64_t threads, std::vector<std::string>& values) {
  for (std::uint64_t y = 1; y <= threads; ++y)
    if (threads % y == 0) values.push_back(fmt::format("{}x{}", threads / y, y));
}

} // namespace

std::vector<std::string> parse_values(std::string_view list, std::string_view option) {
  std::vector<std::string> values;
  for (const std::string& part : split(list)) {
    if (part.empty()) fail(option, list, "a value is empty");
    if (!append_range(part, option, values)) values.push_back(part);
  }
  return values;
}

std::vector<std::string> parse_shapes(std::string_view list, std::string_view option) {
  constexpr std::string_view kAll = "all:";
  std::vector<std::string> shapes;
  for (const std::string& part : split(list)) {
    if (part.starts_with(kAll)) {
      for (const std::string& threads : parse_values(std::string_view(part).substr(kAll.size()), option)) {
        const auto count = parse_number(threads);
        if (!count || *count == 0 || *count > 4096) fail(option, part, "expected a number of threads, such as all:256");
        append_shapes_of(*count, shapes);
      }
      continue;
    }
    for (const std::string& shape : parse_values(part, option)) {
      const Expected<api::Extent> extent = api::parse_shape(shape);
      if (!extent) fail(option, shape, extent.error().list().front().message);
      if (std::find(extent->begin(), extent->end(), 0u) != extent->end())
        fail(option, shape, "every extent must be at least 1");
      shapes.push_back(shape);
    }
  }
  return shapes;
}

} // namespace warplens::tools
