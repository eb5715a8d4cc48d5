// SPDX-License-Identifier: Apache-2.0
#include "api/session/limits.hpp"

#include <fmt/format.h>

#include <charconv>

namespace warplens::api {

namespace {

/// Removes and returns the number at the beginning of the text; negative if there is none.
double take_number(std::string_view& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{}) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

} // namespace

Expected<std::uint64_t> parse_size(std::string_view text) {
  std::string_view unit = text;
  double value = take_number(unit);
  constexpr std::string_view kUnits = "KMGT";
  if (!unit.empty())
    if (const std::size_t power = kUnits.find(static_cast<char>(unit.front() & ~0x20)); power != kUnits.npos) {
      for (std::size_t i = 0; i <= power; ++i) value *= 1024;
      unit.remove_prefix(1);
      if (unit.starts_with('i')) unit.remove_prefix(1);
    }
  if (unit == "B" || unit == "b") unit = {};
  if (!unit.empty() || !(value >= 1) || value > 0x1p62)
    return failure(fmt::format("expected a size such as 512M or 8G, got '{}'", text));
  return static_cast<std::uint64_t>(value);
}

Expected<std::uint64_t> parse_seconds(std::string_view text) {
  std::string_view rest = text;
  const double value = take_number(rest);
  constexpr double kYear = 365.0 * 24 * 3600;
  if (!rest.empty() || !(value >= 0.001) || value > kYear)
    return failure(fmt::format("expected seconds such as 30 or 0.5, got '{}'", text));
  return static_cast<std::uint64_t>(value * 1000);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

} // namespace warplens::api
