// SPDX-License-Identifier: Apache-2.0
// An entry is one file. Its first line names the format, the second is the hash of all that follows:
//
//   warplens compiled 1
//   1f0c… (32 digits)
//   a4d7… /home/me/saxpy.cu        hash and name of each file that the compiler read
//   …
//   result
//   PTX, or a program
#include "tools/compile_cache.hpp"

#include "api/files/input_file.hpp"
#include "api/files/output_file.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "warplens compiled 1\n";
constexpr std::string_view kResult = "result\n";
constexpr std::string_view kSuffix = ".entry";
constexpr std::size_t kDigits = 32;

std::optional<std::string> hash_of_file(const fs::path& file) {
  const Expected<std::string> content = api::read_file(file);
  if (!content) return std::nullopt;
  return content_hash(*content);
}

/// Whether the files that an entry lists are as they were; removes the list from `text`.
bool take_files(std::string_view& text) {
  while (!text.starts_with(kResult)) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || end <= kDigits) return false;
    if (hash_of_file(text.substr(kDigits + 1, end - kDigits - 1)) != text.substr(0, kDigits)) return false;
    text.remove_prefix(end + 1);
  }
  text.remove_prefix(kResult.size());
  return true;
}

/// A variable that names an absolute folder, as the XDG Base Directory Specification requires.
fs::path absolute_folder(const char* variable) {
  const char* const value = std::getenv(variable);
  const fs::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : fs::path{};
}

struct EntryFile {
  fs::path path;
  std::uintmax_t bytes = 0;
  fs::file_time_type used;
};

std::vector<EntryFile> entries_in(const fs::path& folder) {
  std::vector<EntryFile> list;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().find(kSuffix) == std::string::npos) continue;
    std::error_code gone; // another process may remove it
    EntryFile entry{at->path(), fs::file_size(at->path(), gone), fs::last_write_time(at->path(), gone)};
    if (!gone) list.push_back(std::move(entry));
  }
  return list;
}

} // namespace

std::string content_hash(std::string_view content) {
  using Wide = unsigned __int128;
  constexpr Wide kPrime = (Wide{1} << 88) + 0x13b;
  Wide hash = Wide{0x6c62272e07bb0142} << 64 | Wide{0x62b821756295c58d};
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64), static_cast<std::uint64_t>(hash));
}

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

CompileCache CompileCache::of_environment() {
  const char* const given = std::getenv(kVariable);
  if (given != nullptr && std::string_view(given) == "off") return CompileCache({});
  if (given != nullptr && *given != '\0') {
    std::error_code error;
    return CompileCache(fs::absolute(given, error));
  }
  if (const fs::path cache = absolute_folder("XDG_CACHE_HOME"); !cache.empty())
    return CompileCache(cache / "warplens" / "compiled");
  const fs::path home = absolute_folder("HOME");
  return CompileCache(home.empty() ? fs::path{} : home / ".cache" / "warplens" / "compiled");
}

std::string CompileCache::problem() const {
  std::error_code error;
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  if (error) return fmt::format("cannot create the folder '{}': {}", folder_.string(), error.message());
  struct stat status {};
  if (stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return fmt::format("'{}' is not a folder", folder_.string());
  if (status.st_uid != geteuid()) return fmt::format("the folder '{}' belongs to another user", folder_.string());
  if (access(folder_.c_str(), R_OK | W_OK | X_OK) != 0)
    return fmt::format("the folder '{}' is not writable", folder_.string());
  return "";
}

CompileCache::Use CompileCache::use() const {
  Use use;
  for (const EntryFile& entry : entries_in(folder_)) {
    ++use.entries;
    use.bytes += entry.bytes;
  }
  return use;
}

fs::path CompileCache::file_of(const std::string& key) const { return folder_ / (key + std::string(kSuffix)); }

std::optional<std::string> CompileCache::find(const std::string& key) const {
  if (folder_.empty() || !problem().empty()) return std::nullopt;
  const Expected<std::string> read = api::read_file(file_of(key));
  if (!read || !read->starts_with(kFormat)) return std::nullopt;
  std::string_view text = std::string_view(*read).substr(kFormat.size());
  if (text.size() <= kDigits || content_hash(text.substr(kDigits + 1)) != text.substr(0, kDigits)) return std::nullopt;
  text.remove_prefix(kDigits + 1);
  if (!take_files(text)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file_of(key), fs::file_time_type::clock::now(), ignored);
  return std::string(text);
}

void CompileCache::store(const std::string& key, std::string_view result, const std::vector<fs::path>& files,
                         fs::file_time_type started) const {
  if (folder_.empty() || files.empty() || result.size() > kMaxBytes || !problem().empty()) return;
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
  if (!api::write_whole(file_of(key), fmt::format("{}{}\n{}", kFormat, content_hash(text), text))) return;
  trim();
}

void CompileCache::trim() const {
  std::vector<EntryFile> entries = entries_in(folder_);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  std::uintmax_t bytes = 0;
  for (const EntryFile& entry : entries) bytes += entry.bytes;
  const auto abandoned = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const EntryFile& entry : entries) {
    // A temporary file of a process that was killed while it wrote.
    const bool is_part = entry.path.extension() != kSuffix;
    if (is_part ? entry.used >= abandoned : bytes <= kMaxBytes) continue;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    bytes -= entry.bytes;
  }
}

} // namespace warplens::tools
