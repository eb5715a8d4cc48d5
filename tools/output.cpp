// SPDX-License-Identifier: Apache-2.0
#include "tools/output.hpp"

#include "api/files/input_file.hpp"
#include "api/files/output_file.hpp"
#include "api/html/page.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace warplens::tools {

namespace {

/// The texts of the files that diagnostics refer to; reads each file once.
class Sources {
public:
  std::string_view get(const std::string& file) {
    const auto [found, fresh] = texts_.try_emplace(file);
    std::error_code ignored;
    if (fresh && std::filesystem::is_regular_file(file, ignored)) {
      found->second = api::read_file(file).value_or("");
    }
    return found->second;
  }

private:
  std::map<std::string, std::string> texts_;
};

std::string rendered(const Diagnostic& d, std::string_view source) {
  Diagnostics one;
  if (d.severity == Severity::error)
    one.error(d.where, d.message, d.hint);
  else
    one.warning(d.where, d.message, d.hint);
  one.in_file(d.file);
  return render(one, source);
}

void print_error_text(std::string text) {
  const Style style = style_for(STDERR_FILENO);
  for (const auto& [word, colour] : {std::pair{"error: ", style.red}, std::pair{"warning: ", style.yellow}}) {
    const std::size_t at = text.find(word);
    if (at == text.npos || at > text.find('\n') || colour.empty()) continue;
    text.insert(at + std::strlen(word), style.reset);
    text.insert(at, colour);
    break;
  }
  std::fputs(text.c_str(), stderr);
}

} // namespace

void print(const Diagnostics& diagnostics) {
  constexpr std::size_t kLimit = 50;
  Sources sources;
  const auto& all = diagnostics.list();
  for (std::size_t i = 0; i < std::min(all.size(), kLimit); ++i)
    print_error_text(rendered(all[i], sources.get(all[i].file)));
  if (all.size() > kLimit) std::fputs(fmt::format("… and {} more\n", all.size() - kLimit).c_str(), stderr);
}

void print(const Diagnostic& diagnostic) {
  Sources sources;
  print_error_text(rendered(diagnostic, sources.get(diagnostic.file)));
}

void print(const Diagnostic& diagnostic, const std::map<std::string, std::string>& texts) {
  const auto text = texts.find(diagnostic.file);
  print_error_text(rendered(diagnostic, text == texts.end() ? std::string_view() : text->second));
}

namespace {

void put(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw UsageError{fmt::format("cannot write the output: {}", std::strerror(errno)), ""};
}

void need(const Expected<void>& done) {
  if (!done) throw UsageError{done.error().list().front().message, done.error().list().front().hint};
}

} // namespace

void write(std::string_view text) { put(printable(text, style_for(STDOUT_FILENO))); }

void write_data(std::string_view data) { put(is_terminal(STDOUT_FILENO) ? printable(data) : std::string(data)); }

void write_file(const std::string& file, std::string_view text) {
  if (file == "-") return write_data(text);
  need(api::write_whole(file, text));
}

void check_writable(const std::string& file) {
  if (!file.empty() && file != "-") need(api::check_output(file));
}

void check_standard_output(const FileOptions& files) {
  bool taken = false;
  for (const auto& [option, file] : files) {
    if (file == "-" && taken) throw UsageError{fmt::format("--{} -: another file is '-', too", option), ""};
    taken = taken || file == "-";
  }
}

void check_html(const std::optional<std::string>& file) {
  if (!file) return;
  need(api::check_html());
  if (file->empty() || *file == "-") throw UsageError{"--html needs the name of a file", "--html report.html"};
  check_writable(*file);
}

std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option) {
  std::vector<std::uint64_t> list;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (list.size() < 4) {
    const auto [stop, error] = std::from_chars(at, end, list.emplace_back());
    if (error != std::errc{}) break;
    if (stop == end && list.size() < 4) return list;
    if (stop == end || (*stop != ',' && *stop != 'x')) break;
    at = stop + 1;
  }
  throw UsageError{fmt::format("{}: expected one to three numbers such as 16,16, got '{}'", option, text), ""};
}

} // namespace warplens::tools
