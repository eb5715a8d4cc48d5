// SPDX-License-Identifier: Apache-2.0
#include "api/files/output_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace warplens::api {

namespace {

namespace fs = std::filesystem;

Diagnostics refused(const fs::path& file, std::string_view why, std::string hint = {}) {
  Diagnostics errors;
  errors.error({}, fmt::format("cannot write '{}': {}", file.string(), why), std::move(hint));
  return errors;
}

/// The file that the name refers to after following links; for a dangling link, the file that would be created.
fs::path followed(fs::path file) {
  constexpr int kMostLinks = 40; // the limit of Linux
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(file, error); ++i) {
    const fs::path to = fs::read_symlink(file, error);
    if (error) break;
    file = to.is_absolute() ? to : file.parent_path() / to;
  }
  return file;
}

/// Creates a file in the folder of `target`; empty: an error, see errno.
fs::path make_beside(const fs::path& target) {
  constexpr int kAttempts = 1000; // for unfinished files of killed processes with the same id
  for (int i = 0; i < kAttempts; ++i) {
    const std::string number = i == 0 ? fmt::format("{}", getpid()) : fmt::format("{}-{}", getpid(), i);
    constexpr std::size_t kMostOfName = 200; // with the suffix, short enough for any file system
    fs::path name =
        target.parent_path() / fmt::format("{}.{}.part", target.filename().string().substr(0, kMostOfName), number);
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      close(file);
      return name;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

} // namespace

Expected<PendingFile> PendingFile::create(const fs::path& file) {
  PendingFile result;
  result.name_ = file;
  result.target_ = followed(file);
  struct stat info {};
  if (stat(result.target_.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return failure(refused(file, "a folder with that name exists"));
    if (!S_ISREG(info.st_mode)) return failure(refused(file, "not a regular file", "use '-' for the standard output"));
    if (access(result.target_.c_str(), W_OK) != 0) return failure(refused(file, std::strerror(errno)));
  }
  if (result.target_.filename().empty()) return failure(refused(file, "not a file name"));
  result.temporary_ = make_beside(result.target_);
  if (result.temporary_.empty()) return failure(refused(file, std::strerror(errno)));
  return result;
}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : name_(std::move(other.name_)), target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

PendingFile& PendingFile::operator=(PendingFile&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(target_, other.target_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

Expected<void> PendingFile::commit() {
  struct stat info {};
  const bool replaces = lstat(target_.c_str(), &info) == 0;
  if (replaces && !S_ISREG(info.st_mode)) return failure(refused(name_, "not a regular file"));
  constexpr mode_t kPermissions = 0777;
  if (replaces) static_cast<void>(chmod(temporary_.c_str(), info.st_mode & kPermissions));
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return failure(refused(name_, std::strerror(errno)));
  temporary_.clear();
  return {};
}

void PendingFile::abandon() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

Expected<OutputFile> OutputFile::create(const fs::path& file) {
  Expected<PendingFile> pending = PendingFile::create(file);
  if (!pending) return failure(pending.error());
  const int descriptor = open(pending->temporary().c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(refused(file, std::strerror(errno)));
  return OutputFile(std::move(*pending), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)), error_(other.error_),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void OutputFile::write(std::string_view text) {
  constexpr std::size_t kFull = 1 << 18;
  buffer_ += text;
  if (buffer_.size() >= kFull) flush();
}

void OutputFile::flush() {
  for (std::string_view rest = buffer_; !rest.empty() && error_ == 0;) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) error_ = errno;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  buffer_.clear();
}

Expected<void> OutputFile::finish() {
  flush();
  if (const int descriptor = std::exchange(descriptor_, -1); descriptor >= 0 && close(descriptor) != 0 && error_ == 0)
    error_ = errno;
  if (error_ != 0) return failure(refused(file_.name(), std::strerror(error_)));
  return {};
}

Expected<void> OutputFile::commit() {
  if (Expected<void> finished = finish(); !finished) return finished;
  return file_.commit();
}

Expected<void> write_whole(const fs::path& file, std::string_view text) {
  Expected<OutputFile> out = OutputFile::create(file);
  if (!out) return failure(out.error());
  out->write(text);
  return out->commit();
}

Expected<void> check_output(const fs::path& file) {
  const Expected<PendingFile> pending = PendingFile::create(file);
  if (!pending) return failure(pending.error());
  return {};
}

} // namespace warplens::api
