// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_file.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace warplens::tools {

namespace {

// Offsets of locks. A table is shorter than that.
constexpr std::uint64_t kClaims = 1ULL << 61, kAppending = 1ULL << 62;

api::Digest::Value value_of(std::string_view digits) {
  std::uint64_t high = 0, low = 0;
  const char* const middle = digits.data() + digits.size() / 2;
  std::from_chars(digits.data(), middle, high, 16);
  std::from_chars(middle, digits.data() + digits.size(), low, 16);
  return (api::Digest::Value{high} << 64) + low;
}

/// Adds values to sorted ones.
void merge(std::vector<api::Digest::Value>& sorted, std::vector<api::Digest::Value>& added) {
  if (added.empty()) return;
  std::sort(added.begin(), added.end());
  const auto middle = static_cast<std::ptrdiff_t>(sorted.size());
  sorted.insert(sorted.end(), added.begin(), added.end());
  std::inplace_merge(sorted.begin(), sorted.begin() + middle, sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

} // namespace

SweepFile::SweepFile(std::string name) : name_(std::move(name)) {
  file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) fail(std::strerror(errno));
  struct stat about {};
  if (fstat(file_, &about) != 0 || !S_ISREG(about.st_mode)) fail("not a regular file");
  std::string start(16, '\0');
  const ssize_t size = pread(file_, start.data(), start.size(), 0);
  if (size < 0) fail(std::strerror(errno));
  start.resize(static_cast<std::size_t>(size));
  if (!start.empty() && !api::is_sweep_table(start)) fail("not a table of a sweep");
  refresh();
}

SweepFile::~SweepFile() {
  if (file_ >= 0) close(file_);
}

void SweepFile::fail(const std::string& why, const std::string& hint) const {
  throw UsageError{fmt::format("--results {}: {}", name_, why), hint};
}

std::optional<api::RunState> SweepFile::find(std::string_view run) const {
  const api::Digest::Value value = value_of(run);
  if (std::binary_search(done_.begin(), done_.end(), value)) return api::RunState::done;
  if (std::binary_search(failed_.begin(), failed_.end(), value)) return api::RunState::failed;
  return std::nullopt;
}

bool SweepFile::refresh() {
  struct stat about {};
  if (fstat(file_, &about) != 0) fail(std::strerror(errno));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  std::vector<api::Digest::Value> done, failed;
  std::string text;
  for (std::uint64_t at = read_; at < size;) {
    constexpr std::size_t kPart = 1 << 20;
    const std::size_t kept = text.size();
    text.resize(kept + kPart);
    const ssize_t got = pread(file_, text.data() + kept, kPart, static_cast<off_t>(at));
    if (got < 0 && errno != EINTR) fail(std::strerror(errno));
    text.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) break;
    at += text.size() - kept;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      const auto head = api::record_head(std::string_view(text).substr(begin, end - begin));
      if (head && head->state != api::RunState::lost)
        (head->state == api::RunState::done ? done : failed).push_back(value_of(head->run));
    }
    read_ += begin;
    text.erase(0, begin);
  }
  merge(done_, done);
  merge(failed_, failed);
  return !done.empty() || !failed.empty();
}

bool SweepFile::lock(short type, std::uint64_t at, bool wait) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(at);
  range.l_len = 1;
  while (fcntl(file_, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range) != 0) {
    if (errno == EINTR) continue;
    if (!wait && (errno == EAGAIN || errno == EACCES)) return false;
    fail(fmt::format("cannot be locked: {}", std::strerror(errno)),
         "if its file system has no locks, give each shard a file of its own");
  }
  return true;
}

bool SweepFile::claim(std::uint64_t key) { return lock(F_WRLCK, kClaims + key % kClaims, false); }
void SweepFile::release(std::uint64_t key) { lock(F_UNLCK, kClaims + key % kClaims, false); }

bool SweepFile::ends_in_newline(std::uint64_t size) const {
  char last = '\n';
  return size == 0 || (pread(file_, &last, 1, static_cast<off_t>(size - 1)) == 1 && last == '\n');
}

// A file that becomes too large, or a full disk, first shortens a write, and only the next one tells why. What was
// written then is no record, and the next writer ends its line.
void SweepFile::append(std::string_view records) {
  lock(F_WRLCK, kAppending, true);
  struct stat about {};
  if (fstat(file_, &about) != 0) fail(std::strerror(errno));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  const bool whole = ends_in_newline(size);
  const std::string text = whole ? std::string(records) : fmt::format("\n{}", records);
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      fail(fmt::format("cannot grow: {}", std::strerror(errno)), "what it has is complete: the same command continues");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (whole && size == read_) read_ += text.size(); // nobody else has written
  lock(F_UNLCK, kAppending, false);
}

void SweepFile::flush() {
  if (fdatasync(file_) != 0) fail(fmt::format("cannot be written: {}", std::strerror(errno)));
}

} // namespace warplens::tools
