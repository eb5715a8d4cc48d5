// SPDX-License-Identifier: Apache-2.0
// Files that appear complete or not at all: they are written under a temporary name and renamed at the end.
//
//   Expected<OutputFile> file = OutputFile::create("report.json");   // report.json.4711.part
//   file->write(text);
//   Expected<void> done = file->commit();                            // report.json; until then the old file is there
//
// If two writers write the same file at the same time, each writes a complete file; the last one remains.
#pragma once

#include "emulator/base/expected.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace warplens::api {

/// A temporary file in the same folder, until commit() or abandon(). For writers that open files themselves.
class PendingFile {
public:
  /// Creates an empty file. Follows symbolic links. Errors: the folder does not exist or is not writable; a file with
  /// the final name exists, but is not a regular file or not writable.
  static Expected<PendingFile> create(const std::filesystem::path& file);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile() { abandon(); }

  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  [[nodiscard]] const std::filesystem::path& name() const { return name_; } ///< as given
  /// Gives the file its final name and the permissions of the file that it replaces.
  Expected<void> commit();
  /// Removes the temporary file, unless it has been committed.
  void abandon();
  /// Keeps the temporary file, as if this process had been killed.
  void keep() { temporary_.clear(); }

private:
  PendingFile() = default;
  std::filesystem::path name_, target_, temporary_; ///< temporary_ is empty if there is nothing to remove
};

class OutputFile {
public:
  /// Errors: see PendingFile.
  static Expected<OutputFile> create(const std::filesystem::path& file);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// commit() reports write errors.
  void write(std::string_view text);
  /// Writes all buffered data; nothing can be added afterwards. Error: some of it could not be written.
  Expected<void> finish();
  /// Calls finish() if necessary, and renames the file. On an error the file with the final name is unchanged.
  Expected<void> commit();

private:
  OutputFile(PendingFile file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  void flush();

  PendingFile file_;
  int descriptor_;
  int error_ = 0; ///< errno of the first error
  std::string buffer_;
};

/// Writes a whole file at once.
Expected<void> write_whole(const std::filesystem::path& file, std::string_view text);
/// Checks before a long run whether the file can be written. Errors: as PendingFile::create().
Expected<void> check_output(const std::filesystem::path& file);

} // namespace warplens::api
