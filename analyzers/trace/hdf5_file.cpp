// SPDX-License-Identifier: Apache-2.0
// libwarplens_hdf5.so: traces as HDF5 files.
#include "analyzers/trace/file.hpp"

#include "analyzers/trace/deflate.hpp"
#include "emulator/base/checked.hpp"
#include "emulator/base/unreadable.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

namespace warplens::analyzers::trace {

namespace {

/// An HDF5 handle and its close function.
class Handle {
public:
  Handle() = default;
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }
  bool close() {
    const bool fine = id_ < 0 || close_(id_) >= 0;
    id_ = -1;
    return fine;
  }
  [[nodiscard]] hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// Otherwise the library prints its errors in each thread, and closes files left open by a full disk at exit: see
// ~Hdf5File().
void prepare_library() {
  [[maybe_unused]] static const herr_t once = H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// std::bad_alloc: there is too little memory to create or to open a file. The library itself would not notice that its
/// cache is missing.
void require_memory() {
  constexpr std::size_t kOfLibrary = 4 << 20;
  char* volatile room = new char[kOfLibrary]; // volatile: the compiler would remove it
  delete[] room;
}

struct Member {
  const char* name;
  std::size_t offset;
  hid_t type;
  hsize_t elements = 1;
};

Handle compound(std::size_t size, std::initializer_list<Member> members) {
  Handle type(H5Tcreate(H5T_COMPOUND, size), H5Tclose);
  for (const Member& m : members) {
    if (m.elements == 1) {
      H5Tinsert(type.id(), m.name, m.offset, m.type);
    } else {
      const Handle array(H5Tarray_create2(m.type, 1, &m.elements), H5Tclose);
      H5Tinsert(type.id(), m.name, m.offset, array.id());
    }
  }
  return type;
}

Handle row_type(Table table) {
  const hid_t u8 = H5T_STD_U8LE, u16 = H5T_STD_U16LE, u32 = H5T_STD_U32LE, u64 = H5T_STD_U64LE, i64 = H5T_STD_I64LE;
  const auto simple = [](hid_t type) { return Handle(H5Tcopy(type), H5Tclose); };
  switch (table) {
  case Table::text:
  case Table::warp: return simple(u8);
  case Table::pattern: return simple(u16);
  case Table::base: return simple(u32);
  case Table::offsets: return simple(H5T_STD_I32LE);
  case Table::patterns:
    return compound(sizeof(PatternRow), {{"origin", offsetof(PatternRow, origin), u64},
                                         {"stride", offsetof(PatternRow, stride), i64, 2},
                                         {"half", offsetof(PatternRow, half), i64},
                                         {"instruction", offsetof(PatternRow, instruction), u32},
                                         {"mask", offsetof(PatternRow, mask), u32},
                                         {"taken", offsetof(PatternRow, taken), u32},
                                         {"lane_bytes", offsetof(PatternRow, lane_bytes), u16},
                                         {"event", offsetof(PatternRow, event), u8},
                                         {"lanes", offsetof(PatternRow, lanes), u8},
                                         {"space", offsetof(PatternRow, space), u8},
                                         {"kind", offsetof(PatternRow, kind), u8},
                                         {"shape", offsetof(PatternRow, shape), u8}});
  case Table::segments:
    return compound(sizeof(SegmentRow), {{"cta", offsetof(SegmentRow, cta), u64},
                                         {"events", offsetof(SegmentRow, events), u32},
                                         {"flags", offsetof(SegmentRow, flags), u32}});
  case Table::counts: return compound(24, {{"warps", 0, u64}, {"lanes", 8, u64}, {"lanes_on", 16, u64}});
  case Table::launches:
    return compound(sizeof(LaunchRow),
                    {{"text", offsetof(LaunchRow, text), u64}, {"text_size", offsetof(LaunchRow, text_size), u64}});
  case Table::blocks:
    return compound(sizeof(BlockRow), {{"first_event", offsetof(BlockRow, first_event), u64},
                                       {"first_offset", offsetof(BlockRow, first_offset), u64},
                                       {"first_pattern", offsetof(BlockRow, first_pattern), u64},
                                       {"first_segment", offsetof(BlockRow, first_segment), u64},
                                       {"events", offsetof(BlockRow, events), u32},
                                       {"offsets", offsetof(BlockRow, offsets), u32},
                                       {"patterns", offsetof(BlockRow, patterns), u32},
                                       {"segments", offsetof(BlockRow, segments), u32},
                                       {"launch", offsetof(BlockRow, launch), u32}});
  case Table::ends: break;
  }
  return compound(sizeof(EndRow), {{"text", offsetof(EndRow, text), u64},
                                   {"text_size", offsetof(EndRow, text_size), u64},
                                   {"first_count", offsetof(EndRow, first_count), u64},
                                   {"counts", offsetof(EndRow, counts), u64},
                                   {"launch", offsetof(EndRow, launch), u32}});
}

Handle create_table(hid_t file, Table table) {
  const TableInfo& t = info(table);
  const Handle type = row_type(table);
  const hsize_t none = 0, unlimited = H5S_UNLIMITED, piece = t.piece_rows;
  const Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(properties.id(), 1, &piece);
  if (t.compressed) {
    H5Pset_shuffle(properties.id());
    H5Pset_deflate(properties.id(), 1);
  }
  return {
      H5Dcreate2(file, std::string(t.name).c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
      H5Dclose};
}

bool write_attribute(hid_t file, const char* name, hid_t type, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(file, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.id(), type, value) >= 0;
}

Handle string_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), size);
  return type;
}

bool write_attribute(hid_t file, const char* name, std::string_view value) {
  const Handle type = string_type(value.size());
  return write_attribute(file, name, type.id(), value.data());
}

// The attribute `format`, or an empty string.
std::string format_of(hid_t file) {
  const Handle attribute(H5Aopen(file, "format", H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const std::size_t size = type ? H5Tget_size(type.id()) : 0;
  if (size != kFormat.size() || H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) return {};
  std::string text(size, '\0');
  return H5Aread(attribute.id(), type.id(), text.data()) >= 0 ? text : std::string();
}

std::uint32_t version_of(hid_t file) {
  std::uint32_t version = 0;
  const Handle attribute(H5Aopen(file, "version", H5P_DEFAULT), H5Aclose);
  if (!attribute) return 0;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose), space(H5Aget_space(attribute.id()), H5Sclose);
  if (!type || !space || H5Tget_class(type.id()) != H5T_INTEGER || H5Sget_simple_extent_npoints(space.id()) != 1)
    return 0;
  return H5Aread(attribute.id(), H5T_NATIVE_UINT32, &version) >= 0 ? version : 0;
}

// The operating system's error message, if it reported an error.
std::string reason() { return errno != 0 ? fmt::format(": {}", std::strerror(errno)) : std::string(); }

struct Handles {
  Handle file;
  std::array<Handle, kTables> tables;
  std::array<std::uint64_t, kTables> rows{};
  hid_t table(Table t) const { return tables[static_cast<std::size_t>(t)].id(); }
  std::uint64_t& size(Table t) { return rows[static_cast<std::size_t>(t)]; }
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

Expected<std::unique_ptr<File>> create_file(const std::filesystem::path& path, std::string_view creator) {
  require_memory();
  prepare_library();
  errno = 0;
  auto handles = std::make_unique<Handles>();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110); // its index has check sums
  handles->file = {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose};
  const auto refused = [&] { return failure(fmt::format("cannot write the trace '{}'{}", path.string(), reason())); };
  if (!handles->file) return refused();
  const hid_t file = handles->file.id();
  if (!write_attribute(file, "format", kFormat) || !write_attribute(file, "creator", creator) ||
      !write_attribute(file, "version", H5T_NATIVE_UINT32, &kVersion))
    return refused();
  for (std::size_t i = 0; i < kTables; ++i) {
    handles->tables[i] = create_table(file, static_cast<Table>(i));
    if (!handles->tables[i]) return refused();
  }
  if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || H5Fstart_swmr_write(file) < 0) return refused();
  return std::make_unique<Hdf5File>(path.string(), std::move(handles));
}

Expected<std::unique_ptr<File>> open_file(const std::filesystem::path& path) {
  require_memory();
  prepare_library();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return failure(fmt::format("cannot read the trace '{}': {}", path.string(), why_unreadable(path)));
  auto handles = std::make_unique<Handles>();
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
  if (format_of(file) != kFormat) return no_trace("it does not have the attribute 'format' of a trace");
  if (const std::uint32_t version = version_of(file); version != kVersion)
    return failure(fmt::format("'{}' is a trace of version {}, expected version {}", path.string(), version, kVersion),
                   "record it again with this version, or read it with the version that wrote it");
  for (std::size_t i = 0; i < kTables; ++i) {
    const auto table = static_cast<Table>(i);
    const TableInfo& t = info(table);
    handles->tables[i] = {H5Dopen2(file, std::string(t.name).c_str(), H5P_DEFAULT), H5Dclose};
    const hid_t data = handles->tables[i].id();
    if (data < 0) return no_trace(fmt::format("the table '{}' is missing", t.name));
    const Handle type(H5Dget_type(data), H5Tclose), expected = row_type(table), space(H5Dget_space(data), H5Sclose),
                                                    properties(H5Dget_create_plist(data), H5Pclose);
    hsize_t rows = 0, piece = 0;
    const bool same = type && space && properties && H5Tequal(type.id(), expected.id()) > 0 &&
                      H5Sget_simple_extent_ndims(space.id()) == 1 &&
                      H5Sget_simple_extent_dims(space.id(), &rows, nullptr) == 1 &&
                      H5Pget_layout(properties.id()) == H5D_CHUNKED && H5Pget_chunk(properties.id(), 1, &piece) == 1 &&
                      piece == t.piece_rows && H5Pget_nfilters(properties.id()) == (t.compressed ? 2 : 0);
    if (!same) return no_trace(fmt::format("the table '{}' has an unexpected type or layout", t.name));
    handles->rows[i] = rows;
  }
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
  const auto damaged = [&] {
    return failure(fmt::format("the trace '{}' is damaged: piece {} of '{}'", name(), piece, t.name));
  };
  {
    const std::lock_guard lock(mutex_);
    prepare_library();
    const hid_t data = handles_->table(table);
    const hsize_t at = piece * t.piece_rows;
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
  const Checked stored = std::uint64_t{H5Dget_storage_size(handles_->table(table))};
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
    warplens::analyzers::trace::create_file, warplens::analyzers::trace::open_file};
