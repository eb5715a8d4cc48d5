// SPDX-License-Identifier: Apache-2.0
// libwarplens_hdf5.so: traces as HDF5 files.
#include "analyzers/trace/file.hpp"

#include "analyzers/trace/deflate.hpp"
#include "analyzers/trace/hdf5_handles.hpp"
#include "analyzers/trace/hdf5_parts.hpp"
#include "emulator/base/checked.hpp"
#include "emulator/base/unreadable.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>

namespace warplens::analyzers::trace {

namespace {

/// An open file with its tables.
struct Tables {
  std::string path;
  Handle file;
  std::array<Handle, kTables> tables;
  std::array<std::uint64_t, kTables> rows{};
};

/// Rows of a table, from `first` on: all rows of a table of this file, or of a part.
struct Extent {
  std::uint64_t first = 0;
  hid_t data = -1;
  const std::string* path = nullptr; ///< of the file
};

struct Handles : Tables {
  bool is_part = false;
  std::map<std::string, Tables> parts;              ///< by name
  std::array<std::vector<Extent>, kTables> extents; ///< of a file that is read
  hid_t table(Table t) const { return tables[static_cast<std::size_t>(t)].id(); }
  std::uint64_t& size(Table t) { return rows[static_cast<std::size_t>(t)]; }
  /// The rows that a row belongs to.
  [[nodiscard]] const Extent& at(Table t, std::uint64_t row) const {
    const std::vector<Extent>& all = extents[static_cast<std::size_t>(t)];
    const auto after = std::upper_bound(all.begin(), all.end(), row,
                                        [](std::uint64_t one, const Extent& other) { return one < other.first; });
    return *std::prev(after);
  }
};

class Hdf5File final : public File {
public:
  Hdf5File(std::string name, std::unique_ptr<Handles> handles) : File(std::move(name)), handles_(std::move(handles)) {}
  // After a failed write the file is not closed, as if this process had been killed: closing it would mark it as
  // complete, and it could not be opened again.
  ~Hdf5File() override {
    if (failed_) static_cast<void>(handles_.release());
  }
  Expected<std::vector<std::uint64_t>> append(std::span<const Rows> tables) override;
  Expected<std::uint64_t> append_row(Table table, std::span<const std::byte> row) override;
  Expected<void> close() override;
  Expected<std::uint64_t> rows(Table table) override;
  [[nodiscard]] bool is_part() const override { return handles_->is_part; }

private:
  Diagnostics fail();
  bool write_pieces(Table table, const std::vector<Bytes>& pieces);
  Expected<void> check(Table table, std::uint64_t first, std::uint64_t count) override;
  Expected<void> read(Table table, std::uint64_t first, std::span<std::byte> rows) override;
  Expected<void> read_piece(Table table, std::uint64_t piece, std::span<std::byte> rows);

  std::unique_ptr<Handles> handles_;
  std::mutex mutex_;
  bool failed_ = false; ///< whether a write has failed
};

Diagnostics Hdf5File::fail() {
  failed_ = true;
  Diagnostics errors;
  errors.error({}, fmt::format("cannot write to the trace '{}'{}", name(), reason()));
  return errors;
}

Expected<std::unique_ptr<File>> create_file(const std::filesystem::path& path, std::string_view creator,
                                            const std::optional<PartId>& part) {
  require_memory();
  prepare_library();
  errno = 0;
  auto handles = std::make_unique<Handles>();
  handles->path = path.string();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110); // its index has check sums
  handles->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose};
  const auto refused = [&] { return failure(fmt::format("cannot write the trace '{}'{}", path.string(), reason())); };
  if (!handles->file) return refused();
  const hid_t file = handles->file.id();
  handles->is_part = part.has_value();
  if (!write_head(file, creator, part)) return refused();
  for (std::size_t i = 0; i < kTables; ++i) {
    handles->tables[i] = create_table(file, static_cast<Table>(i));
    if (!handles->tables[i]) return refused();
    handles->extents[i].push_back({0, handles->tables[i].id(), &handles->path});
  }
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || H5Fstart_swmr_write(file) < 0) return refused();
  return std::make_unique<Hdf5File>(path.string(), std::move(handles));
}

/// Opens the tables of an open file. Virtual ones have no extents yet. Error: what is wrong with the file.
Expected<void> open_tables(Tables& of, bool may_be_virtual) {
  const hid_t file = of.file.id();
  if (text_attribute(file, "format") != kFormat) return failure("it does not have the attribute 'format' of a trace");
  // The tables that refer to others come last in the list, and are opened first: a writer may add rows meanwhile.
  static_assert(Table::launches > Table::counts && Table::blocks > Table::launches && Table::ends > Table::blocks);
  for (std::size_t i = kTables; i-- > 0;) {
    const auto table = static_cast<Table>(i);
    const TableInfo& t = info(table);
    of.tables[i] = {H5Dopen2(file, std::string(t.name).c_str(), H5P_DEFAULT), H5Dclose};
    const hid_t data = of.tables[i].id();
    if (data < 0) return failure(fmt::format("the table '{}' is missing", t.name));
    const Handle type(H5Dget_type(data), H5Tclose), expected = row_type(table), space(H5Dget_space(data), H5Sclose),
                                                    properties(H5Dget_create_plist(data), H5Pclose);
    hsize_t rows = 0, piece = 0;
    const bool same_rows = type && space && properties && H5Tequal(type.id(), expected.id()) > 0 &&
                           H5Sget_simple_extent_ndims(space.id()) == 1 &&
                           H5Sget_simple_extent_dims(space.id(), &rows, nullptr) == 1;
    const bool same_layout =
        same_rows && (is_virtual(data) ? may_be_virtual && t.compressed
                                       : H5Pget_layout(properties.id()) == H5D_CHUNKED &&
                                             H5Pget_chunk(properties.id(), 1, &piece) == 1 && piece == t.piece_rows &&
                                             H5Pget_nfilters(properties.id()) == (t.compressed ? 2 : 0));
    if (!same_layout) return failure(fmt::format("the table '{}' has an unexpected type or layout", t.name));
    of.rows[i] = rows;
  }
  return {};
}

/// Opens a part of the trace, if it is not open yet. It must be complete: a part that is still being written does not
/// belong to a trace.
Expected<const Tables*> open_part(Handles& trace, const std::string& name) {
  const auto [known, is_new] = trace.parts.try_emplace(name);
  Tables& part = known->second;
  if (!is_new) return &part;
  std::error_code ignored;
  const std::filesystem::path trace_file = std::filesystem::canonical(trace.path, ignored);
  part.path = (trace_file.parent_path() / name).string();
  const auto wrong = [&](std::string_view why) {
    return failure(fmt::format("cannot read '{}', which is a part of the trace '{}': {}", part.path, trace.path, why),
                   "a trace of several ranks has a file of each in its folder, all of the same run");
  };
  if (!std::filesystem::is_regular_file(part.path, ignored)) return wrong(why_unreadable(part.path));
  part.file = {H5Fopen(part.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!part.file) return wrong("it is damaged, or incomplete: HDF5 cannot open it");
  if (const Expected<void> opened = open_tables(part, false); !opened)
    return wrong(fmt::format("it is damaged: {}", opened.error().list().front().message));
  if (text_attribute(part.file.id(), "run") != text_attribute(trace.file.id(), "run"))
    return wrong("it is of another run");
  return &part;
}

/// Where the rows of each table are. Error: see open_part().
Expected<void> find_extents(Handles& trace) {
  for (std::size_t i = 0; i < kTables; ++i) {
    const hid_t data = trace.tables[i].id();
    const TableInfo& t = info(static_cast<Table>(i));
    if (!is_virtual(data)) {
      trace.extents[i].push_back({0, data, &trace.path});
      continue;
    }
    const auto parts = parts_of(data, t);
    std::uint64_t next = 0;
    for (const PartRows& rows : parts.value_or(std::vector<PartRows>())) {
      const Expected<const Tables*> part = open_part(trace, rows.file);
      if (!part) return failure(part.error());
      if ((*part)->rows[i] != rows.rows || rows.rows % t.piece_rows != 0)
        return failure(fmt::format("the trace '{}' is damaged: '{}' has {} rows of '{}', expected {}", trace.path,
                                   (*part)->path, (*part)->rows[i], t.name, rows.rows));
      trace.extents[i].push_back({next, (*part)->tables[i].id(), &(*part)->path});
      next += rows.rows;
    }
    if (!parts || next != trace.rows[i] || next == 0)
      return failure(fmt::format("the trace '{}' is damaged: the parts of the table '{}'", trace.path, t.name));
  }
  return {};
}

Expected<std::unique_ptr<File>> open_file(const std::filesystem::path& path) {
  require_memory();
  prepare_library();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return failure(fmt::format("cannot read the trace '{}': {}", path.string(), why_unreadable(path)));
  auto handles = std::make_unique<Handles>();
  handles->path = path.string();
  handles->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!handles->file) { // the writer was killed, or is still running
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // The library doubles the wait before each retry on damaged data; the default of 100 retries never ends.
    constexpr unsigned kAttempts = 10;
    H5Pset_metadata_read_attempts(access.id(), kAttempts);
    handles->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose};
  }
  const auto no_trace = [&](std::string_view why) {
    return failure(fmt::format("'{}' is not a trace, or is damaged: {}", path.string(), why),
                   "to write a trace, use warplens run … --trace FILE.h5");
  };
  if (!handles->file) return no_trace("HDF5 cannot open it");
  const hid_t file = handles->file.id();
  const std::uint32_t version = number_attribute(file, "version").value_or(0);
  if (text_attribute(file, "format") == kFormat && version != kVersion)
    return failure(fmt::format("'{}' is a trace of version {}, expected version {}", path.string(), version, kVersion),
                   "record it again with this version, or read it with the version that wrote it");
  if (const Expected<void> opened = open_tables(*handles, true); !opened)
    return no_trace(opened.error().list().front().message);
  if (const Expected<void> found = find_extents(*handles); !found) return failure(found.error());
  handles->is_part = number_attribute(file, "rank").has_value();
  return std::make_unique<Hdf5File>(path.string(), std::move(handles));
}

std::vector<Bytes> compressed_pieces(const File::Rows& rows) {
  const TableInfo& t = info(rows.table);
  const std::size_t piece_bytes = std::size_t{t.row_bytes} * t.piece_rows;
  std::vector<Bytes> pieces;
  for (std::size_t at = 0; at < rows.bytes.size(); at += piece_bytes) {
    const auto piece = rows.bytes.subspan(at, std::min(piece_bytes, rows.bytes.size() - at));
    if (piece.size() == piece_bytes) {
      pieces.push_back(compress(piece, t.row_bytes));
      continue;
    }
    Bytes padded(piece_bytes);
    std::copy(piece.begin(), piece.end(), padded.begin());
    pieces.push_back(compress(padded, t.row_bytes));
  }
  return pieces;
}

bool Hdf5File::write_pieces(Table table, const std::vector<Bytes>& pieces) {
  if (pieces.empty()) return true;
  const std::uint64_t rows = info(table).piece_rows;
  hsize_t at = handles_->size(table);
  const hsize_t size = at + pieces.size() * rows;
  if (H5Dset_extent(handles_->table(table), &size) < 0) return false;
  for (const Bytes& piece : pieces) {
    if (H5Dwrite_chunk(handles_->table(table), H5P_DEFAULT, 0, &at, piece.size(), piece.data()) < 0) return false;
    at += rows;
  }
  handles_->size(table) = size;
  return true;
}

Expected<std::vector<std::uint64_t>> Hdf5File::append(std::span<const Rows> tables) {
  std::vector<std::vector<Bytes>> pieces;
  for (const Rows& rows : tables) pieces.push_back(compressed_pieces(rows));
  const std::lock_guard lock(mutex_);
  prepare_library();
  errno = 0;
  std::vector<std::uint64_t> first;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    first.push_back(handles_->size(tables[i].table));
    if (!write_pieces(tables[i].table, pieces[i])) return failure(fail());
  }
  return first;
}

Expected<std::uint64_t> Hdf5File::append_row(Table table, std::span<const std::byte> row) {
  const std::lock_guard lock(mutex_);
  prepare_library();
  errno = 0;
  const hid_t data = handles_->table(table);
  const std::uint64_t first = handles_->size(table);
  const hsize_t size = first + 1, at = first, one = 1;
  bool fine = true;
  // The data that the row refers to must be in the file first.
  for (std::size_t i = 0; i < kTables; ++i)
    if (info(static_cast<Table>(i)).compressed) fine = fine && H5Dflush(handles_->tables[i].id()) >= 0;
  fine = fine && H5Dset_extent(data, &size) >= 0;
  const Handle type = row_type(table), file_space(H5Dget_space(data), H5Sclose),
               memory_space(H5Screate_simple(1, &one, nullptr), H5Sclose);
  fine = fine && H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, &at, nullptr, &one, nullptr) >= 0 &&
         H5Dwrite(data, type.id(), memory_space.id(), file_space.id(), H5P_DEFAULT, row.data()) >= 0 &&
         H5Dflush(data) >= 0;
  if (!fine) return failure(fail());
  handles_->size(table) = size;
  return first;
}

Expected<void> Hdf5File::close() {
  const std::lock_guard lock(mutex_);
  prepare_library();
  errno = 0;
  if (failed_) return failure(fail());
  // Operations that can fail come before the file is marked as complete.
  if (H5Fflush(handles_->file.id(), H5F_SCOPE_GLOBAL) < 0) return failure(fail());
  bool fine = true;
  for (Handle& table : handles_->tables) fine = table.close() && fine;
  fine = handles_->file.close() && fine;
  if (!fine) return failure(fail());
  return {};
}

Expected<std::uint64_t> Hdf5File::rows(Table table) {
  const std::lock_guard lock(mutex_);
  return handles_->size(table);
}

Expected<void> Hdf5File::read_piece(Table table, std::uint64_t piece, std::span<std::byte> rows) {
  const TableInfo& t = info(table);
  Bytes compressed;
  const Extent& from = handles_->at(table, piece * t.piece_rows);
  const hsize_t at = piece * t.piece_rows - from.first;
  const auto damaged = [&] {
    return failure(fmt::format("the trace '{}' is damaged: piece {} of '{}'", *from.path, at / t.piece_rows, t.name));
  };
  {
    const std::lock_guard lock(mutex_);
    prepare_library();
    const hid_t data = from.data;
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(data, &at, &size) < 0 || size == 0 || size > 2 * rows.size() + 1024) return damaged();
    compressed.resize(size);
    std::uint32_t filters = 0;
    if (H5Dread_chunk(data, H5P_DEFAULT, &at, &filters, compressed.data()) < 0 || filters != 0) return damaged();
  }
  if (t.compressed) return decompress(compressed, t.row_bytes, rows) ? Expected<void>() : damaged();
  if (compressed.size() != rows.size()) return damaged();
  std::copy(compressed.begin(), compressed.end(), rows.begin());
  return {};
}

Expected<void> Hdf5File::check(Table table, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t there = *rows(table);
  const TableInfo& t = info(table);
  if (!within(first, count, there))
    return failure(fmt::format("the trace '{}' is damaged: '{}' has {} rows, but {} from {} are needed", name(), t.name,
                               there, count, first));
  // A table can claim any number of rows, even if they were never written. The requested rows are allocated at once.
  constexpr std::uint64_t kOften = 1 << 20, kMostPerByte = 1032; // deflate cannot expand a byte further
  const Checked bytes = Checked(count) * t.row_bytes;
  if (bytes.at_most(kOften)) return {};
  const std::lock_guard lock(mutex_);
  Checked stored;
  for (const Extent& extent : handles_->extents[static_cast<std::size_t>(table)])
    stored += std::uint64_t{H5Dget_storage_size(extent.data)};
  if (bytes.at_most((stored * (t.compressed ? kMostPerByte : 1) + t.row_bytes * t.piece_rows).saturated())) return {};
  return failure(fmt::format("the trace '{}' is damaged: the {} rows of '{}' are missing", name(), count, t.name));
}

// Whole pieces are decompressed directly into their destination.
Expected<void> Hdf5File::read(Table table, std::uint64_t first, std::span<std::byte> rows) {
  const TableInfo& t = info(table);
  const std::uint64_t piece_bytes = std::uint64_t{t.row_bytes} * t.piece_rows;
  std::uint64_t at = first * t.row_bytes;
  Bytes whole;
  while (!rows.empty()) {
    const std::uint64_t piece = at / piece_bytes, skipped = at % piece_bytes,
                        wanted = std::min<std::uint64_t>(piece_bytes - skipped, rows.size());
    const bool all = wanted == piece_bytes;
    if (!all) whole.resize(piece_bytes);
    if (Expected<void> read = read_piece(table, piece, all ? rows.first(wanted) : std::span(whole)); !read) return read;
    if (!all) std::copy_n(whole.begin() + static_cast<std::ptrdiff_t>(skipped), wanted, rows.begin());
    rows = rows.subspan(wanted);
    at += wanted;
  }
  return {};
}

} // namespace

} // namespace warplens::analyzers::trace

extern "C" [[gnu::visibility("default")]] const warplens::analyzers::trace::FileFunctions warplens_trace_files = {
    warplens::analyzers::trace::create_file, warplens::analyzers::trace::join_files,
    warplens::analyzers::trace::open_file};
