// SPDX-License-Identifier: Apache-2.0
#include "api/files/csv.hpp"

#include <fmt/format.h>

namespace warplens::api {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

/// Cells of one line; false if a quotation mark is not closed.
bool split(std::string_view line, std::vector<std::string>& cells) {
  std::string cell;
  bool quoted = false, was_quoted = false;
  const auto finish = [&] {
    cells.push_back(was_quoted ? cell : trimmed(cell));
    cell.clear();
    was_quoted = false;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cell += '"';
      ++i;
    } else if (c == '"' && (quoted || trimmed(cell).empty())) {
      if (!quoted) cell.clear();
      quoted = !quoted;
      was_quoted = true;
    } else if (c == ',' && !quoted) {
      finish();
    } else if (!was_quoted || quoted) {
      cell += c;
    }
  }
  finish();
  return !quoted;
}

} // namespace

Expected<CsvTable> parse_csv(std::string_view text, std::string_view file) {
  CsvTable table;
  table.file = file;
  Diagnostics errors;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const std::string content = trimmed(line);
    if (content.empty() || content.front() == '#') continue;
    CsvRow row{number, {}};
    if (!split(line, row.cells)) {
      errors.error({number, 1}, "unclosed quotation mark in this line");
    } else if (table.titles.cells.empty()) {
      table.titles = std::move(row);
    } else if (row.cells.size() > table.titles.cells.size()) {
      errors.error({number, 1}, fmt::format("{} cells: expected {}, one for each title", row.cells.size(),
                                            table.titles.cells.size()));
    } else {
      table.rows.push_back(std::move(row));
    }
  }
  if (table.titles.cells.empty() && !errors.has_errors()) errors.error({1, 1}, "missing line of column titles");
  errors.in_file(file);
  if (errors.has_errors()) return failure(std::move(errors));
  return table;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

} // namespace warplens::api
