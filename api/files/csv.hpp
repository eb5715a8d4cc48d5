// SPDX-License-Identifier: Apache-2.0
// Comma-separated values with a line of column titles, as written by spreadsheets and profilers (RFC 4180).
//
//   Expected<CsvTable> t = parse_csv("a,b\n1,\"x, y\"\n", "t.csv");   t->rows[0].cells[1] == "x, y"
#pragma once

#include "emulator/base/expected.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

struct CsvRow {
  std::uint32_t line = 0;         ///< in the file, from 1
  std::vector<std::string> cells; ///< without surrounding blanks; a row may have fewer cells than titles
};

struct CsvTable {
  std::string file;
  CsvRow titles;
  std::vector<CsvRow> rows;
};

/// Skips empty lines and those that begin with '#'. Errors, with file and line: no titles; a row with more cells than
/// titles; an unclosed quotation mark.
Expected<CsvTable> parse_csv(std::string_view text, std::string_view file);

/// A cell for writing: text that contains commas, quotation marks or line ends is quoted.
std::string csv_cell(std::string_view text);

} // namespace warplens::api
