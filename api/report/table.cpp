// SPDX-License-Identifier: Apache-2.0
#include "api/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string Table::text(std::string_view before_title, std::string_view after_title) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(width(columns_[c].title));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width(row[c]));
  }
  const auto line = [&](const auto& cell_of) {
    std::string out;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string_view cell = cell_of(c);
      const std::string padding(widths[c] - width(cell), ' ');
      out += "  ";
      out += columns_[c].align == right ? padding : "";
      out += cell;
      out += columns_[c].align == left ? padding : "";
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
  };
  std::string result(before_title);
  result += line([&](std::size_t c) -> std::string_view { return columns_[c].title; });
  result += after_title;
  result += '\n';
  for (const auto& row : rows_) result += line([&](std::size_t c) -> std::string_view { return row[c]; }) + "\n";
  return result;
}

std::string section_title(std::string_view title, std::string_view explanation, const Style& style,
                          std::size_t columns) {
  if (explanation.empty()) return fmt::format("\n{}{}{}\n", style.bold, title, style.reset);
  std::string text = wrapped(fmt::format("{}: {}", title, explanation), "  ", columns).substr(2);
  text.pop_back();
  return fmt::format("\n{}{}{}{}{}{}\n", style.bold, title, style.reset, style.dim, text.substr(title.size()),
                     style.reset);
}

std::string wrapped(std::string_view text, std::string_view indent, std::size_t columns) {
  std::string out;
  std::string line(indent);
  bool empty = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!empty && width(line) + 1 + width(word) > columns) {
      out += line + "\n";
      line = indent;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return out + line + "\n";
}

} // namespace warplens::api
