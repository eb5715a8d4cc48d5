// SPDX-License-Identifier: Apache-2.0
#include "api/report/source_texts.hpp"

#include "api/files/input_file.hpp"

#include <algorithm>
#include <array>

namespace warplens::api {

namespace {

namespace fs = std::filesystem;

bool has_source_suffix(const fs::path& file) {
  constexpr std::array<std::string_view, 15> kSuffixes = {".cu", ".cuh", ".ptx", ".h",  ".hh",  ".hpp", ".hxx", ".c",
                                                          ".cc", ".cpp", ".cxx", ".cl", ".inl", ".ipp", ".py"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), file.extension().string()) != kSuffixes.end();
}

constexpr std::uintmax_t kMostSourceBytes = 4'000'000;

std::optional<std::string> text_of_source(const fs::path& file) {
  std::error_code error;
  if (!has_source_suffix(file) || !fs::is_regular_file(file, error) || fs::file_size(file, error) > kMostSourceBytes)
    return {};
  Expected<std::string> text = read_file(file);
  if (error || !text || text->find('\0') != text->npos) return {};
  return std::move(*text);
}

std::optional<std::string> found_source(const std::string& name, const fs::path& folder) {
  for (const fs::path& file : {fs::path(name), folder / name, folder / fs::path(name).filename()})
    if (std::optional<std::string> text = text_of_source(file)) return text;
  return {};
}

} // namespace

std::map<std::string, std::string> source_texts(std::span<const LaunchReport> launches) {
  std::map<std::string, std::optional<std::string>> tried;
  const auto find = [&](const std::string& name, const fs::path& folder) {
    if (const auto [at, is_new] = tried.try_emplace(name); is_new && !name.empty())
      at->second = found_source(name, folder);
  };
  for (const LaunchReport& launch : launches) {
    if (launch.sources)
      for (const Source& source : *launch.sources)
        if (source.text.size() <= kMostSourceBytes) tried.try_emplace(source.file, source.text);
    for (const analyzers::InstructionRow& row : launch.profile.instructions)
      find(row.source_file, fs::path(launch.file).parent_path());
  }
  std::map<std::string, std::string> texts;
  for (auto& [name, text] : tried)
    if (text) texts.emplace(name, std::move(*text));
  return texts;
}

} // namespace warplens::api
