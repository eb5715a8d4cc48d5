// SPDX-License-Identifier: Apache-2.0
// An entry is one file. Its first line names the format, the second is the hash of all that follows:
//
//   warplens compiled 1
//   1f0c… (32 digits)
//   …
#include "emulator/base/entry_folder.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

namespace warplens {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "warplens compiled 1\n";
constexpr std::string_view kSuffix = ".entry";

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

EntryFolder EntryFolder::of_environment() {
  const char* const given = std::getenv(kVariable);
  if (given != nullptr && std::string_view(given) == "off") return EntryFolder({});
  if (given != nullptr && *given != '\0') {
    std::error_code error;
    return EntryFolder(fs::absolute(given, error));
  }
  if (const fs::path cache = absolute_folder("XDG_CACHE_HOME"); !cache.empty())
    return EntryFolder(cache / "warplens" / "compiled");
  const fs::path home = absolute_folder("HOME");
  return EntryFolder(home.empty() ? fs::path{} : home / ".cache" / "warplens" / "compiled");
}

std::string EntryFolder::problem() const {
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

EntryFolder::Use EntryFolder::use() const {
  Use use;
  for (const EntryFile& entry : entries_in(folder_)) {
    ++use.entries;
    use.bytes += entry.bytes;
  }
  return use;
}

fs::path EntryFolder::file_of(const std::string& key) const { return folder_ / (key + std::string(kSuffix)); }

std::optional<std::string> EntryFolder::find(const std::string& key) const {
  if (folder_.empty() || !problem().empty()) return std::nullopt;
  std::ifstream in(file_of(key), std::ios::binary);
  if (!in) return std::nullopt;
  const std::string read{std::istreambuf_iterator<char>(in), {}};
  if (!read.starts_with(kFormat)) return std::nullopt;
  std::string_view text = std::string_view(read).substr(kFormat.size());
  if (text.size() <= kHashDigits || text[kHashDigits] != '\n' ||
      content_hash(text.substr(kHashDigits + 1)) != text.substr(0, kHashDigits))
    return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file_of(key), fs::file_time_type::clock::now(), ignored);
  return std::string(text.substr(kHashDigits + 1));
}

// A reader sees the whole file or none.
void EntryFolder::store(const std::string& key, std::string_view content) const {
  if (folder_.empty() || content.size() > kMaxBytes || !problem().empty()) return;
  static std::atomic<unsigned> number{0};
  fs::path part = file_of(key);
  part += fmt::format(".{}.{}.part", getpid(), number.fetch_add(1));
  {
    std::ofstream out(part, std::ios::binary);
    out << kFormat << content_hash(content) << '\n' << content;
    out.flush();
    if (!out) {
      std::error_code ignored;
      fs::remove(part, ignored);
      return;
    }
  }
  std::error_code error;
  fs::rename(part, file_of(key), error);
  if (error) fs::remove(part, error);
  trim();
}

void EntryFolder::trim() const {
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

} // namespace warplens
