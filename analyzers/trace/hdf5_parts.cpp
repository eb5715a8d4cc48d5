// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/hdf5_parts.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace warplens::analyzers::trace {

namespace {

constexpr std::size_t kLongestName = 255;

/// The name that HDF5 gives by `get`; empty if it is too long.
template <class Get> std::string name_by(const Get& get) {
  const ssize_t size = get(nullptr, 0);
  if (size <= 0 || static_cast<std::size_t>(size) > kLongestName) return {};
  std::string name(static_cast<std::size_t>(size) + 1, '\0');
  if (get(name.data(), name.size()) != size) return {};
  name.pop_back();
  return name;
}

struct Rows {
  hsize_t first = 0, count = 0;
};
/// The selected rows; nothing if they do not follow each other.
std::optional<Rows> rows_of(const Handle& space) {
  hsize_t first = 0, last = 0;
  if (!space || H5Sget_simple_extent_ndims(space.id()) != 1) return std::nullopt;
  if (H5Sget_select_bounds(space.id(), &first, &last) < 0 || last < first) return std::nullopt;
  const hssize_t count = H5Sget_select_npoints(space.id());
  if (count <= 0 || static_cast<hsize_t>(count) != last - first + 1) return std::nullopt;
  return Rows{first, static_cast<hsize_t>(count)};
}

/// A table that consists of those of the parts.
Handle create_virtual(hid_t file, Table table, const std::vector<FilePart>& parts) {
  const auto rows_in = [&](const FilePart& part) -> hsize_t { return part.rows[static_cast<std::size_t>(table)]; };
  const std::string name(info(table).name);
  hsize_t all = 0;
  for (const FilePart& part : parts) all += rows_in(part);
  if (all == 0) return create_table(file, table);
  const Handle type = row_type(table), space(H5Screate_simple(1, &all, nullptr), H5Sclose),
               properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  // A program that reads the table with HDF5 alone fails where a part is missing: there is no such pattern.
  constexpr std::uint16_t kMissing = 0xffff;
  static_assert(kMissing >= kBlockPatterns);
  bool fine = table != Table::pattern || H5Pset_fill_value(properties.id(), H5T_NATIVE_UINT16, &kMissing) >= 0;
  hsize_t first = 0;
  for (const FilePart& part : parts) {
    const hsize_t count = rows_in(part);
    if (count == 0) continue;
    // A range: HDF5 stores a selection, but not the size of the space.
    constexpr hsize_t kBegin = 0;
    const Handle from(H5Screate_simple(1, &count, nullptr), H5Sclose);
    fine = fine && H5Sselect_hyperslab(from.id(), H5S_SELECT_SET, &kBegin, nullptr, &count, nullptr) >= 0 &&
           H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &first, nullptr, &count, nullptr) >= 0 &&
           H5Pset_virtual(properties.id(), space.id(), part.name.c_str(), name.c_str(), from.id()) >= 0;
    first += count;
  }
  if (!fine) return {};
  H5Sselect_all(space.id());
  return {H5Dcreate2(file, name.c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT), H5Dclose};
}

template <class Row> bool write_rows(hid_t file, Table table, const std::vector<Row>& rows) {
  const Handle data = create_table(file, table);
  const hsize_t size = rows.size();
  if (!data || H5Dset_extent(data.id(), &size) < 0) return false;
  return rows.empty() || H5Dwrite(data.id(), row_type(table).id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) >= 0;
}

bool write_tables(hid_t file, const Joined& joined) {
  // The texts and the counts of the whole launches are in the first part.
  const std::vector<FilePart> first(joined.parts.begin(), joined.parts.begin() + 1);
  bool fine = true;
  for (const Table table : {Table::text, Table::counts}) fine = fine && create_virtual(file, table, first);
  for (const Table table : {Table::patterns, Table::segments, Table::pattern, Table::warp, Table::base, Table::offsets})
    fine = fine && create_virtual(file, table, joined.parts);
  return fine && write_rows(file, Table::launches, joined.launches) && write_rows(file, Table::blocks, joined.blocks) &&
         write_rows(file, Table::ends, joined.ends);
}

} // namespace

bool is_virtual(hid_t data) {
  const Handle properties(H5Dget_create_plist(data), H5Pclose);
  return properties && H5Pget_layout(properties.id()) == H5D_VIRTUAL;
}

std::optional<std::vector<PartRows>> parts_of(hid_t data, const TableInfo& table) {
  const Handle properties(H5Dget_create_plist(data), H5Pclose);
  std::size_t count = 0;
  if (!properties || H5Pget_virtual_count(properties.id(), &count) < 0) return std::nullopt;
  std::vector<PartRows> parts;
  hsize_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const hid_t of = properties.id();
    const std::string file =
        name_by([&](char* to, std::size_t size) { return H5Pget_virtual_filename(of, i, to, size); });
    const std::string name =
        name_by([&](char* to, std::size_t size) { return H5Pget_virtual_dsetname(of, i, to, size); });
    const Handle here(H5Pget_virtual_vspace(of, i), H5Sclose), there(H5Pget_virtual_srcspace(of, i), H5Sclose);
    const std::optional<Rows> to = rows_of(here), from = rows_of(there);
    if (!to || !from || to->first != next || from->first != 0 || to->count != from->count) return std::nullopt;
    // No path: a trace must not make its reader open other files.
    if (name != table.name || file.empty() || file == "." || file == ".." || file.find('/') != file.npos)
      return std::nullopt;
    parts.push_back({file, to->count});
    next += to->count;
  }
  return parts;
}

Expected<void> join_files(const std::filesystem::path& path, std::string_view creator, const Joined& joined) {
  require_memory();
  prepare_library();
  errno = 0;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  bool fine = file && write_head(file.id(), creator, std::nullopt) && write_attribute(file.id(), "run", joined.run) &&
              write_tables(file.id(), joined) && H5Fflush(file.id(), H5F_SCOPE_GLOBAL) >= 0;
  fine = file.close() && fine;
  if (!fine) return failure(fmt::format("cannot write the trace '{}'{}", path.string(), reason()));
  return {};
}

} // namespace warplens::analyzers::trace
