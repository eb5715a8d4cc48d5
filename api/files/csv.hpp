// Comma-separated values with a line of titles, as spreadsheets and profilers write them (RFC 4180).
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
  std::vector<std::string> cells; ///< without the blanks around them; a row may be shorter than the titles
};

struct CsvTable {
  std::string file;
  CsvRow titles;
  std::vector<CsvRow> rows;
  std::vector<std::string> comments; ///< lines that begin with '#', without it
};

/// Empty lines are passed over. Errors, with file and line: no titles; a row with more cells than titles; a quotation
/// mark that is not closed.
Expected<CsvTable> parse_csv(std::string_view text, std::string_view file);

} // namespace warplens::api
