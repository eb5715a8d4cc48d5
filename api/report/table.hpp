// Tables of text: columns as wide as their widest cell.
//
//   Table table({{"", Table::left}, {"requests", Table::right}});
//   table.row({"loads", "1252"});
//   table.text()  ->  "           requests\n  loads        1252\n"
#pragma once

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
  /// As many cells as there are columns.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Each line is indented by two spaces and ends with a newline; two spaces between columns. `before_title` and
  /// `after_title` go around the line of titles.
  [[nodiscard]] std::string text(std::string_view before_title = {}, std::string_view after_title = {}) const;

private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns that the text takes on a terminal: UTF-8 sequences count as one.
std::size_t width(std::string_view text);

/// `text` in lines of at most `columns`, each after `indent`, broken at spaces.
std::string wrapped(std::string_view text, std::string_view indent, std::size_t columns = 100);

} // namespace warplens::api
