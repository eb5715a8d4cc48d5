// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace warplens::architecture {

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_foreign(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == ".git" || name == "__pycache__" || (name.starts_with("build") && fs::is_directory(path));
}

} // namespace

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = [] {
    std::vector<SourceFile> list;
    const fs::path root = WARPLENS_SOURCE_DIR;
    for (fs::recursive_directory_iterator at(root), end; at != end; ++at) {
      if (is_foreign(at->path())) {
        at.disable_recursion_pending();
        continue;
      }
      if (!at->is_regular_file() || at->path().extension() == ".npy") continue;
      list.push_back({fs::relative(at->path(), root).generic_string(), read(at->path())});
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return list;
  }();
  return files;
}

bool is_code(std::string_view path) { return path.ends_with(".cpp") || path.ends_with(".hpp") || path.ends_with(".h"); }

std::vector<Include> includes(const SourceFile& file) {
  std::vector<Include> list;
  std::istringstream lines(file.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == line.npos || line.compare(hash, 8, "#include") != 0) continue;
    const std::size_t open = line.find_first_of("\"<", hash);
    if (open == line.npos) continue;
    const bool quoted = line[open] == '"';
    const std::size_t close = line.find(quoted ? '"' : '>', open + 1);
    if (close != line.npos) list.push_back({line.substr(open + 1, close - open - 1), quoted, number});
  }
  return list;
}

std::string without_comments_and_literals(std::string_view text) {
  std::string out;
  char inside = 0; // '/' a line comment, '*' a block comment, or the quote of a literal
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if ((inside == '/' && c == '\n') || (inside == c && inside != '/' && inside != '*')) {
      inside = 0;
    } else if (inside == '*' && c == '*' && next == '/') {
      inside = 0;
      ++i;
      continue;
    } else if ((inside == '"' || inside == '\'') && c == '\\') {
      ++i;
      continue;
    } else if (inside == 0) {
      const bool separates_digits = c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
      if (c == '/' && (next == '/' || next == '*'))
        inside = next;
      else if (c == '"' || (c == '\'' && !separates_digits))
        inside = c;
      else
        out += c;
      continue;
    }
    if (c == '\n') out += c;
  }
  return out;
}

} // namespace warplens::architecture
