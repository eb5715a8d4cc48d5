// SPDX-License-Identifier: Apache-2.0
// The content of an entry:
//
//   a4d7… /home/me/saxpy.cu        hash and name of each file that the compiler read
//   …
//   result
//   PTX, or a program
#include "tools/compile_cache.hpp"

#include "api/files/input_file.hpp"

#include <fmt/format.h>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kResult = "result\n";

std::optional<std::string> hash_of_file(const fs::path& file) {
  const Expected<std::string> content = api::read_file(file);
  if (!content) return std::nullopt;
  return content_hash(*content);
}

/// Whether the files that an entry lists are as they were; removes the list from `text`.
bool take_files(std::string_view& text) {
  while (!text.starts_with(kResult)) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || end <= kHashDigits) return false;
    if (hash_of_file(text.substr(kHashDigits + 1, end - kHashDigits - 1)) != text.substr(0, kHashDigits)) return false;
    text.remove_prefix(end + 1);
  }
  text.remove_prefix(kResult.size());
  return true;
}

} // namespace

std::vector<fs::path> dependencies_in(std::string_view rule) {
  const std::size_t colon = rule.find(": ");
  std::vector<fs::path> files;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) files.emplace_back(std::move(name));
    name.clear();
  };
  if (colon == rule.npos) return files;
  for (std::size_t i = colon + 1; i < rule.size() && rule[i] != '\n'; ++i) { // further rules are for the headers
    const std::string_view rest = rule.substr(i);
    if (rest.starts_with("\\\n")) { // the rule goes on
      end_name();
      ++i;
    } else if (rest.starts_with("\\ ") || rest.starts_with("\\#") || rest.starts_with("$$")) {
      name += rest[1];
      ++i;
    } else if (rest[0] == ' ' || rest[0] == '\t') {
      end_name();
    } else {
      name += rest[0];
    }
  }
  end_name();
  return files;
}

std::optional<std::string> CompileCache::find(const std::string& key) const {
  const std::optional<std::string> kept = folder_.find(key);
  if (!kept) return std::nullopt;
  std::string_view text = *kept;
  if (!take_files(text)) return std::nullopt;
  return std::string(text);
}

void CompileCache::store(const std::string& key, std::string_view result, const std::vector<fs::path>& files,
                         fs::file_time_type started) const {
  if (files.empty()) return;
  std::string text;
  for (const fs::path& file : files) {
    std::error_code error;
    const std::string name = fs::absolute(file, error).string();
    if (error || name.find('\n') != name.npos || fs::last_write_time(name, error) > started || error) return;
    const std::optional<std::string> hash = hash_of_file(name);
    if (!hash) return;
    text += fmt::format("{} {}\n", *hash, name);
  }
  text += kResult;
  text += result;
  folder_.store(key, text);
}

} // namespace warplens::tools
