// SPDX-License-Identifier: Apache-2.0
#include "tools/cuobjdump.hpp"

#include <algorithm>

namespace warplens::tools {

namespace {

constexpr std::string_view kHead = "Fatbin ";
constexpr std::string_view kPtx = "Fatbin ptx code:";

/// The position of the next header, at the start of a line.
std::size_t next_head(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(kHead, from); at != std::string_view::npos; at = text.find(kHead, at + 1))
    if (at == 0 || text[at - 1] == '\n') return at;
  return text.size();
}

} // namespace

std::optional<std::vector<std::string>> listed_modules(std::string_view text) {
  const std::size_t first = next_head(text, 0);
  const bool only_blanks = text.substr(0, first).find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (first == text.size() || !only_blanks) return std::nullopt;
  std::vector<std::string> modules;
  for (std::size_t head = first; head < text.size();) {
    const std::size_t end = next_head(text, head + 1);
    const std::string_view section = text.substr(head, end - head);
    const std::size_t begin = section.starts_with(kPtx) ? section.find("\n.version") : std::string_view::npos;
    if (begin != std::string_view::npos) {
      const std::size_t lines = static_cast<std::size_t>(
          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(head + begin), '\n'));
      modules.push_back(std::string(lines, '\n') + std::string(section.substr(begin)));
    }
    head = end;
  }
  return modules;
}

} // namespace warplens::tools
