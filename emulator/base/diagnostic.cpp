// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/diagnostic.hpp"

#include "emulator/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace warplens {

void Diagnostics::error(SourceLocation where, std::string message, std::string hint) {
  list_.push_back({Severity::error, where, std::move(message), std::move(hint), {}});
  ++errors_;
}

void Diagnostics::warning(SourceLocation where, std::string message, std::string hint) {
  list_.push_back({Severity::warning, where, std::move(message), std::move(hint), {}});
}

void Diagnostics::append(Diagnostics other) {
  errors_ += other.errors_;
  std::move(other.list_.begin(), other.list_.end(), std::back_inserter(list_));
}

void Diagnostics::in_file(std::string_view file) {
  for (Diagnostic& d : list_)
    if (d.file.empty()) d.file = file;
}

namespace {

const char* word_for(Severity severity) {
  switch (severity) {
  case Severity::error: return "error";
  case Severity::warning: return "warning";
  case Severity::note: return "note";
  }
  return "";
}

std::string_view line_of(std::string_view source, std::uint32_t line) {
  for (; line > 1 && !source.empty(); --line) {
    const std::size_t end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find('\n'));
  if (source.ends_with('\r')) source.remove_suffix(1);
  return source;
}

// The source line and a caret below the column. Long lines (up to 467 955 characters in practice) are cut to a window.
std::string excerpt(std::string_view source, SourceLocation where) {
  std::string_view text = line_of(source, where.line);
  if (text.empty() || where.column == 0) return {};
  constexpr std::size_t kWindow = 120;
  std::size_t column = std::min<std::size_t>(where.column - 1, text.size());
  if (text.size() > kWindow) {
    const std::size_t start = column > kWindow / 2 ? column - kWindow / 2 : 0;
    text = text.substr(start, kWindow);
    column -= start;
  }
  std::string shown, caret;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool control = static_cast<unsigned char>(text[i]) < 0x20 && text[i] != '\t';
    shown += control ? '?' : text[i];
    if (i < column) caret += text[i] == '\t' ? '\t' : ' ';
  }
  return fmt::format("  {}\n  {}^\n", shown, caret);
}

} // namespace

std::string render(const Diagnostics& diagnostics, std::string_view source, std::size_t limit) {
  std::string out;
  std::size_t shown = 0;
  for (const Diagnostic& d : diagnostics.list()) {
    if (shown++ == limit) {
      out += fmt::format("… and {} more\n", diagnostics.list().size() - limit);
      break;
    }
    std::string place = printable(d.file);
    if (d.where.line != 0) place += fmt::format("{}{}:{}", place.empty() ? "" : ":", d.where.line, d.where.column);
    out += fmt::format("{}{}{}: {}\n", place, place.empty() ? "" : ": ", word_for(d.severity), printable(d.message));
    if (d.where.line != 0) out += printable(excerpt(source, d.where));
    if (!d.hint.empty()) out += fmt::format("  hint: {}\n", printable(d.hint));
  }
  return out;
}

constexpr std::size_t kMostMisspelt = 8;         // letters
constexpr std::size_t kLongestMisspelling = 256; // longer words get no suggestion

namespace {

/// Insertions, deletions, substitutions and exchanges of neighbours that turn one word into the other; `limit` if these
/// are more. Computed in a band around the diagonal, outside which all values are `limit` or more (Ukkonen 1985).
std::size_t distance(std::string_view word, std::string_view candidate, std::size_t limit) {
  const std::size_t difference =
      word.size() > candidate.size() ? word.size() - candidate.size() : candidate.size() - word.size();
  if (difference >= limit) return limit;
  std::vector<std::size_t> row(candidate.size() + 1, limit), above = row, before = row; // `before`: above `above`
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = std::min(j, limit);
  for (std::size_t i = 1; i <= word.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    const std::size_t first = i > limit ? i - limit : 0, last = std::min(i + limit, candidate.size());
    std::fill(row.begin(), row.end(), limit);
    if (first == 0) row[0] = std::min(i, limit);
    for (std::size_t j = first + 1; j <= last; ++j) {
      const std::size_t substituted = above[j - 1] + (word[i - 1] == candidate[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substituted, limit});
      if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::size_t common_start(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

} // namespace

// Of equally close words, the one that starts like `word` is more likely: misspellings are in the middle or at the end.
std::string closest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestMisspelling) return {};
  std::string_view best;
  std::size_t limit = std::min(std::max<std::size_t>(1, word.size() / 3), kMostMisspelt) + 1; // not reached
  for (const std::string_view candidate : known) {
    const std::size_t found = distance(word, candidate, limit);
    const bool tie = !best.empty() && found + 1 == limit;
    if (found >= limit || (tie && common_start(word, candidate) <= common_start(word, best))) continue;
    limit = found + 1;
    best = candidate;
  }
  return std::string(best);
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known, std::string otherwise) {
  const std::string near = closest(word, known);
  return near.empty() ? std::move(otherwise) : fmt::format("did you mean '{}'?", near);
}

} // namespace warplens
