// SPDX-License-Identifier: Apache-2.0
#include "api/report/units.hpp"

#include "api/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace warplens::api {

namespace {

/// Three significant digits without an exponent: "1230" only if there is no larger unit.
std::string three_digits(double value) {
  const int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.find('.') == text.npos) return text;
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

} // namespace

std::string readable_time(double milliseconds) {
  if (!std::isfinite(milliseconds)) return fmt::format("{} ms", milliseconds);
  struct Unit {
    double milliseconds;
    std::string_view name;
  };
  constexpr Unit kUnits[] = {{1e3, "s"}, {1, "ms"}, {1e-3, "µs"}, {1e-6, "ns"}};
  for (const Unit& unit : kUnits)
    if (std::fabs(milliseconds) >= 0.9995 * unit.milliseconds)
      return fmt::format("{} {}", three_digits(milliseconds / unit.milliseconds), unit.name);
  return fmt::format("{:.3g} ns", milliseconds / 1e-6);
}

std::string readable_bytes(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string readable_share(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent < 100 && percent > 99) return "99 %";
  return fmt::format("{:.0f} %", percent);
}

std::string bar(double share, std::size_t columns) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  const auto eighths = static_cast<std::size_t>(std::lround(clamped * 8 * static_cast<double>(columns)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  return text + std::string(columns - std::min(columns, width(text)), ' ');
}

std::string plural(std::uint64_t n, std::string_view thing) {
  return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s");
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string cut(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool starts = (text[end] & 0xc0) != 0x80;
    if (starts && ++seen >= std::max<std::size_t>(columns, 1)) break;
  }
  return fmt::format("{}…", text.substr(0, end));
}

namespace {

/// The last `columns` columns.
std::string_view end_of(std::string_view text, std::size_t columns) {
  std::size_t begin = text.size();
  for (std::size_t seen = 0; begin > 0 && seen < columns; --begin)
    if ((text[begin - 1] & 0xc0) != 0x80) ++seen;
  return text.substr(begin);
}

} // namespace

std::vector<std::string> cut_names(std::span<const std::string> names, std::size_t columns) {
  std::vector<std::string> list;
  std::map<std::string, std::size_t> times;
  for (const std::string& name : names) ++times[list.emplace_back(cut(name, columns))];
  const std::size_t end = columns / 2;
  for (std::size_t i = 0; i < names.size() && end > 0; ++i)
    if (times[list[i]] > 1 && width(names[i]) > columns)
      list[i] = fmt::format("{}{}", cut(names[i], columns - end), end_of(names[i], end));
  return list;
}

} // namespace warplens::api
