// The file behind a trace: tables of rows that only grow. file.cpp is the only one that sees HDF5.
//
//   auto file = *File::create("t.h5");
//   std::uint64_t first = *file->append(Table::base, bytes);   // whole pieces, compressed by the caller's thread
//   file->append_row(Table::blocks, row);                      // and from here on a reader finds them
//
// A file whose writer was killed holds all rows up to the last that was committed: HDF5's single-writer mode writes its
// own index in an order that leaves it whole at any time.
//
// One File may be used from several threads.
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
  /// Replaces a file of that name. Error: it cannot be made.
  static Expected<std::unique_ptr<File>> create(const std::filesystem::path& path, std::string_view creator);
  /// To read. Errors: not there, no HDF5, no trace, another version, tables missing or of other types.
  static Expected<std::unique_ptr<File>> open(const std::filesystem::path& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Rows of a compressed table; the last piece is filled up with zeros. Returns where they begin. Error: the disk is
  /// full, and the like; the file can be read up to there.
  Expected<std::uint64_t> append(Table table, std::span<const std::byte> rows);
  /// The same for several tables, with nobody else's rows between: tables that are as long as each other stay so.
  struct Rows {
    Table table{};
    std::span<const std::byte> bytes;
  };
  Expected<std::vector<std::uint64_t>> append(std::span<const Rows> tables);
  /// One row of a table that is not compressed; from now on it is in the file, whatever happens to this process.
  Expected<std::uint64_t> append_row(Table table, std::span<const std::byte> row);
  /// To be called at the end: what is not written until then is lost. Error: see append().
  Expected<void> close();

  /// Rows that there are.
  Expected<std::uint64_t> rows(Table table);
  /// Errors: there are not so many; a piece is damaged.
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
  bool failed_ = false; ///< a write has
};

} // namespace warplens::analyzers::trace
