// Files that appear whole, under their final name, or not at all: they are written beside, and renamed at the end.
//
//   Expected<OutputFile> file = OutputFile::create("report.json");   // report.json.4711.part
//   file->write(text);
//   Expected<void> done = file->commit();                            // report.json; until then the old one is there
//
// Two that write one file at a time both write a whole one; the last stays.
#pragma once

#include "emulator/base/expected.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace warplens::api {

/// A name beside the final one, taken until commit() or abandon(). For writers that open files themselves.
class PendingFile {
public:
  /// Makes the file, empty. A link stands for the file that it names. Errors: the folder is not there or not writable;
  /// what has the final name is no regular file, or may not be written.
  static Expected<PendingFile> create(const std::filesystem::path& file);
  PendingFile(PendingFile&& other) noexcept;
  PendingFile& operator=(PendingFile&& other) noexcept;
  ~PendingFile() { abandon(); }

  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  [[nodiscard]] const std::filesystem::path& name() const { return name_; } ///< as it was given
  /// Gives the file its final name, and the permissions of the one that it replaces.
  Expected<void> commit();
  /// Removes it, unless it has been committed.
  void abandon();
  /// Leaves it where it is, as if this process had been killed.
  void keep() { temporary_.clear(); }

private:
  PendingFile() = default;
  std::filesystem::path name_, target_, temporary_; ///< temporary_ is empty where there is nothing to remove
};

class OutputFile {
public:
  /// Errors: see PendingFile.
  static Expected<OutputFile> create(const std::filesystem::path& file);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// What cannot be written, commit() reports.
  void write(std::string_view text);
  /// Everything is on its way to the disk; nothing can be added. Error: some of it could not be written.
  Expected<void> finish();
  /// finish(), if that was not done, and the final name. Error: nothing has changed under that name.
  Expected<void> commit();

private:
  OutputFile(PendingFile file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  void flush();

  PendingFile file_;
  int descriptor_;
  int error_ = 0; ///< the first, as errno has it
  std::string buffer_;
};

/// The whole file at once.
Expected<void> write_whole(const std::filesystem::path& file, std::string_view text);
/// Whether the file could be written: to be asked before a long run. Error: as PendingFile::create().
Expected<void> check_output(const std::filesystem::path& file);

} // namespace warplens::api
