// SPDX-License-Identifier: Apache-2.0
// Text tables whose columns are as wide as their widest cells.
//
//   Table table({{"", Table::left}, {"requests", Table::right}});
//   table.row({"loads", "1252"});
//   table.text()  ->  "           requests\n  loads        1252\n"
#pragma once

#include "api/report/style.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

class Table {
public:
  enum Align : bool { left, right };
  struct Column {
    std::string title;
    Align align = left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Adds a row; `cells` has one cell per column.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Indents each line by two spaces, ends it with a newline and separates columns by two spaces. `before_title` and
  /// `after_title` enclose the line of titles.
  [[nodiscard]] std::string text(std::string_view before_title = {}, std::string_view after_title = {}) const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// An empty line, and "TITLE: explanation", wrapped; the explanation may be empty.
std::string section_title(std::string_view title, std::string_view explanation, const Style& style,
                          std::size_t columns = 100);

/// Columns of the text on a terminal; each UTF-8 sequence counts as one.
std::size_t width(std::string_view text);

/// `text` wrapped at spaces into lines of at most `columns`, each starting with `indent`.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t columns = 100);

} // namespace warplens::api
