// SPDX-License-Identifier: Apache-2.0
#include "api/report/source_text.hpp"

#include "api/files/input_file.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace warplens::api {

namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& file) {
  constexpr std::string_view kEndings[] = {".cu", ".cuh", ".c",   ".cc",  ".cpp", ".cxx",
                                           ".h",  ".hh",  ".hpp", ".hxx", ".inl", ".ipp"};
  return std::find(std::begin(kEndings), std::end(kEndings), file.extension().string()) != std::end(kEndings);
}

std::string without_spaces_around(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t\r");
  std::string line = first == text.npos ? std::string() : std::string(text.substr(first, last - first + 1));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one);) lines.push_back(without_spaces_around(one));
  return lines;
}

} // namespace

void SourceText::add(const std::string& file, const std::string& text) { added_[file] = split_lines(text); }

const std::vector<std::string>& SourceText::lines_of(const std::string& file, const std::string& module) {
  constexpr std::uintmax_t kMostBytes = 16u << 20;
  if (const auto added = added_.find(file); added != added_.end()) return added->second;
  const fs::path beside = fs::path(module).parent_path() / file;
  for (const fs::path& path : {beside, fs::path(file)}) {
    std::error_code ignored;
    if (!is_source(path) || !fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) > kMostBytes) continue;
    const auto [found, fresh] = files_.try_emplace(path.string());
    if (fresh) found->second = split_lines(read_file(path.string()).value_or(""));
    return found->second;
  }
  static const std::vector<std::string>& kNone = *new std::vector<std::string>; // used while the program ends
  return kNone;
}

const std::string& SourceText::line(const std::string& file, std::uint32_t number, const std::string& module) {
  static const std::string& kNothing = *new std::string; // likewise
  if (file.empty() || number == 0) return kNothing;
  const std::vector<std::string>& lines = lines_of(file, module);
  return number <= lines.size() ? lines[number - 1] : kNothing;
}

} // namespace warplens::api
