// SPDX-License-Identifier: Apache-2.0
#include "tools/page.hpp"

#include "api/report/table.hpp"
#include "tools/embedded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace warplens::tools {

namespace {

constexpr std::size_t kColumns = 100;

std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

struct Heading {
  std::size_t level = 0;
  std::string_view title;
};

std::optional<Heading> heading(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  if (level == 0 || level == line.npos || line[level] != ' ') return std::nullopt;
  return Heading{level, line.substr(level + 1)};
}

/// As GitHub makes it from a heading.
std::string anchor(std::string_view title) {
  std::string text;
  for (const char c : title) {
    if (c == ' ') text += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_')
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

/// Calls visit(line, heading or nothing) for each line, until it returns false; lines of code are no headings.
template <class Visit> void for_each_line(std::string_view text, Visit&& visit) {
  bool code = false;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.starts_with("```")) code = !code;
    if (!visit(line, code ? std::nullopt : heading(line))) return;
  }
}

/// Whether the asterisk opens or closes an emphasis: it touches a word on one side only.
bool is_emphasis(std::string_view line, std::size_t at) {
  const auto touches = [&](std::size_t i) { return i < line.size() && line[i] != ' '; };
  return touches(at - 1) != touches(at + 1) ||
         (touches(at - 1) && std::ispunct(static_cast<unsigned char>(line[at + 1])));
}

/// Without links, code marks and emphasis: "[limits](limits.md)" is "limits".
std::string without_marks(std::string_view line) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (rest[0] == '`') {
      code = !code;
    } else if (!code && rest.starts_with("](")) {
      i += std::min(rest.find(')'), rest.size() - 1);
    } else if (!code && rest.starts_with("**")) {
      ++i;
    } else if (!code &&
               ((rest[0] == '[' && rest.find("](") < rest.find(']') + 1) || (rest[0] == '*' && is_emphasis(line, i)))) {
      continue;
    } else if (rest.starts_with("\\|") || rest.starts_with("\\*")) {
      out += rest[1];
      ++i;
    } else {
      out += rest[0];
    }
  }
  return out;
}

/// The cells of a line of a table.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> list;
  std::string cell;
  const auto end_cell = [&] {
    const std::size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    list.push_back(first == cell.npos ? "" : without_marks(std::string_view(cell).substr(first, last - first + 1)));
    cell.clear();
  };
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|' && line[i - 1] != '\\')
      end_cell();
    else
      cell += line[i];
  }
  return list;
}

/// Takes the lines of a table from `text`.
std::string table(std::string_view first, std::string_view& text) {
  const std::vector<std::string> titles = cells(first);
  std::vector<api::Table::Column> columns;
  columns.reserve(titles.size());
  for (const std::string& title : titles) columns.push_back({title});
  api::Table all(columns);
  std::string as_list;
  next_line(text); // | --- |
  while (text.starts_with('|')) {
    std::vector<std::string> row = cells(next_line(text));
    row.resize(titles.size());
    as_list += fmt::format("  {}\n", row[0]);
    for (std::size_t i = 1; i < row.size(); ++i)
      if (!row[i].empty()) as_list += api::wrapped(fmt::format("{}: {}", titles[i], row[i]), "    ", kColumns);
    all.row(std::move(row));
  }
  std::string as_table = all.text();
  std::string_view rest = as_table;
  bool narrow = true;
  while (narrow && !rest.empty()) narrow = api::width(next_line(rest)) <= kColumns;
  return narrow ? as_table : as_list;
}

/// A list item: its marks and the indentation of its text.
std::string item(std::string_view line, std::size_t indent) {
  const std::string spaces(indent + 2, ' ');
  std::string text = api::wrapped(without_marks(line.substr(indent + 2)), spaces + "  ", kColumns);
  text[indent + 2] = '*';
  return text;
}

} // namespace

std::string section_of_page(std::string_view page) {
  const std::size_t hash = page.find('#');
  const std::string_view wanted = hash == page.npos ? "" : page.substr(hash + 1);
  std::string section;
  std::size_t level = 0; // of the section, once it has begun
  for_each_line(embedded_text(fmt::format("docs/{}", page.substr(0, hash))),
                [&](std::string_view line, const std::optional<Heading>& head) {
                  if (head && level != 0 && (wanted.empty() || head->level <= level)) return false;
                  if (head && level == 0 && (wanted.empty() || anchor(head->title) == wanted)) level = head->level;
                  if (level != 0) section += fmt::format("{}\n", line);
                  return true;
                });
  return section;
}

std::string page_about(std::string_view file, std::string_view word) {
  std::string page;
  for_each_line(embedded_text(fmt::format("docs/{}", file)), [&](std::string_view, const std::optional<Heading>& head) {
    if (!head || fmt::format(" {} ", head->title).find(fmt::format(" {} ", word)) == std::string::npos) return true;
    page = fmt::format("{}#{}", file, anchor(head->title));
    return false;
  });
  return page;
}

std::string plain_text(std::string_view markdown) {
  std::string out;
  bool code = false, list = false; // in a fenced block; in a list, where deeper lines are no code
  while (!markdown.empty()) {
    const std::string_view line = next_line(markdown);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::optional<Heading> head = code ? std::nullopt : heading(line);
    const bool is_item = line.substr(indent).starts_with("* ");
    list = is_item || (list && !line.empty() && indent > 0);
    if (line.starts_with("```"))
      code = !code;
    else if (line.empty())
      out += out.ends_with("\n\n") ? "" : "\n";
    else if (code || (indent >= 4 && !list))
      out += fmt::format("  {}\n", line);
    else if (head)
      out += fmt::format("{}{}\n", out.empty() || out.ends_with("\n\n") ? "" : "\n", without_marks(head->title));
    else if (line.starts_with('|'))
      out += table(line, markdown);
    else if (is_item)
      out += item(line, indent);
    else
      out += api::wrapped(without_marks(line.substr(indent)), std::string(indent + 2, ' '), kColumns);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

} // namespace warplens::tools
