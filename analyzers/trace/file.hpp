// SPDX-License-Identifier: Apache-2.0
// The file of a trace: append-only tables of rows. It is an HDF5 file; libwarplens_hdf5.so, which is opened with the
// first trace, has the code that needs the HDF5 library: this one loads 30 others, which takes longer than a small
// launch.
//
//   auto file = *File::create("t.h5");
//   std::uint64_t first = *file->append(Table::base, bytes);   // whole pieces, compressed in the caller's thread
//   file->append_row(Table::blocks, row);                      // from now on, readers find them
//
// If the writer is killed, the file has all rows up to the last committed one: HDF5's single-writer mode writes its
// index in an order that keeps it consistent at any time.
//
// The file may also consist of others, of several processes that recorded a launch together: File::join().
//
// Several threads can use one File.
#pragma once

#include "analyzers/trace/layout.hpp"
#include "emulator/base/expected.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warplens::analyzers::trace {

using Bytes = std::vector<std::byte>;

/// A file that has what one of several processes has recorded.
struct PartId {
  std::string run; ///< the same text in all files of a run, and in no others
  std::uint32_t rank = 0;
};

/// A closed file of one process, …
struct FilePart {
  std::string name; ///< without its folder
  std::array<std::uint64_t, kTables> rows{};
};
/// … and the file that makes one trace of several: its rows of these tables, and all rows of the parts in the others.
struct Joined {
  std::string run;
  std::vector<FilePart> parts; ///< the first one has the texts and the counts
  std::vector<LaunchRow> launches;
  std::vector<BlockRow> blocks; ///< their rows are those of all parts together
  std::vector<EndRow> ends;
};

class File {
public:
  /// Replaces an existing file. Error: the file cannot be created.
  static Expected<std::unique_ptr<File>> create(const std::filesystem::path& path, std::string_view creator,
                                                const std::optional<PartId>& part = {});
  /// Writes a file that refers to the parts, which must be in its folder when it is opened. Error: see create().
  static Expected<void> join(const std::filesystem::path& path, std::string_view creator, const Joined& joined);
  /// Opens a file for reading. Errors: no such file, not HDF5, not a trace, another version, missing or wrong tables; a
  /// part is missing, damaged, or of another run.
  static Expected<std::unique_ptr<File>> open(const std::filesystem::path& path);
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Appends rows to a compressed table and pads the last piece with zeros. Returns the index of the first row. Error:
  /// the disk is full, or a similar failure; the earlier rows stay readable.
  Expected<std::uint64_t> append(Table table, std::span<const std::byte> rows);
  /// The same for several tables at once, without rows of other threads in between: tables of equal length stay equal.
  struct Rows {
    Table table{};
    std::span<const std::byte> bytes;
  };
  virtual Expected<std::vector<std::uint64_t>> append(std::span<const Rows> tables) = 0;
  /// Appends one row to an uncompressed table. When this returns, the row is in the file, even if this process is
  /// killed.
  virtual Expected<std::uint64_t> append_row(Table table, std::span<const std::byte> row) = 0;
  /// Must be called at the end: data not written by then is lost. Error: see append().
  virtual Expected<void> close() = 0;

  /// Whether the file has what one process of several has recorded.
  [[nodiscard]] virtual bool is_part() const = 0;
  /// The number of rows.
  virtual Expected<std::uint64_t> rows(Table table) = 0;
  /// Errors: the table has fewer rows; a piece is damaged.
  template <class Row> Expected<std::vector<Row>> read(Table table, std::uint64_t first, std::uint64_t count) {
    if (const Expected<void> there = check(table, first, count); !there) return failure(there.error());
    std::vector<Row> rows(count);
    if (const Expected<void> done = read(table, first, std::as_writable_bytes(std::span(rows))); !done)
      return failure(done.error());
    return rows;
  }

  [[nodiscard]] const std::string& name() const { return name_; }

protected:
  explicit File(std::string name) : name_(std::move(name)) {}

private:
  /// Whether there can be so many rows.
  virtual Expected<void> check(Table table, std::uint64_t first, std::uint64_t count) = 0;
  virtual Expected<void> read(Table table, std::uint64_t first, std::span<std::byte> rows) = 0;

  std::string name_;
};

/// What libwarplens_hdf5.so exports under this name.
struct FileFunctions {
  Expected<std::unique_ptr<File>> (*create)(const std::filesystem::path& path, std::string_view creator,
                                            const std::optional<PartId>& part) = nullptr;
  Expected<void> (*join)(const std::filesystem::path& path, std::string_view creator, const Joined& joined) = nullptr;
  Expected<std::unique_ptr<File>> (*open)(const std::filesystem::path& path) = nullptr;
};
constexpr const char* kFileFunctions = "warplens_trace_files";

} // namespace warplens::analyzers::trace
