// SPDX-License-Identifier: Apache-2.0
// The file of a trace: append-only tables of rows. Only file.cpp includes HDF5.
//
//   auto file = *File::create("t.h5");
//   std::uint64_t first = *file->append(Table::base, bytes);   // whole pieces, compressed in the caller's thread
//   file->append_row(Table::blocks, row);                      // from now on, readers find them
//
// If the writer is killed, the file has all rows up to the last committed one: HDF5's single-writer mode writes its
// index in an order that keeps it consistent at any time.
//
// Several threads can use one File.
#pragma once

#include "analyzers/trace/layout.hpp"
#include "emulator/base/expected.hpp"

#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace warplens::analyzers::trace {

using Bytes = std::vector<std::byte>;

class File {
public:
  /// Replaces an existing file. Error: the file cannot be created.
  static Expected<std::unique_ptr<File>> create(const std::filesystem::path& path, std::string_view creator);
  /// Opens a file for reading. Errors: no such file, not HDF5, not a trace, another version, missing or wrong tables.
  static Expected<std::unique_ptr<File>> open(const std::filesystem::path& path);
  ~File();
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
  Expected<std::vector<std::uint64_t>> append(std::span<const Rows> tables);
  /// Appends one row to an uncompressed table. When this returns, the row is in the file, even if this process is
  /// killed.
  Expected<std::uint64_t> append_row(Table table, std::span<const std::byte> row);
  /// Must be called at the end: data not written by then is lost. Error: see append().
  Expected<void> close();

  /// The number of rows.
  Expected<std::uint64_t> rows(Table table);
  /// Errors: the table has fewer rows; a piece is damaged.
  template <class Row> Expected<std::vector<Row>> read(Table table, std::uint64_t first, std::uint64_t count) {
    if (const Expected<void> there = check(table, first, count); !there) return failure(there.error());
    std::vector<Row> rows(count);
    if (const Expected<void> done = read(table, first, std::as_writable_bytes(std::span(rows))); !done)
      return failure(done.error());
    return rows;
  }

  [[nodiscard]] const std::string& name() const { return name_; }

private:
  struct Handles;
  File(std::string name, std::unique_ptr<Handles> handles);
  Diagnostics fail();
  bool write_pieces(Table table, const std::vector<Bytes>& pieces);
  Expected<void> check(Table table, std::uint64_t first, std::uint64_t count);
  Expected<void> read(Table table, std::uint64_t first, std::span<std::byte> rows);
  Expected<void> read_piece(Table table, std::uint64_t piece, std::span<std::byte> rows);

  std::string name_;
  std::unique_ptr<Handles> handles_;
  std::mutex mutex_;
  bool failed_ = false; ///< whether a write has failed
};

} // namespace warplens::analyzers::trace
