// SPDX-License-Identifier: Apache-2.0
#include "analyzers/trace/hdf5_handles.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace warplens::analyzers::trace {

void prepare_library() {
  [[maybe_unused]] static const herr_t once = H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void require_memory() {
  constexpr std::size_t kOfLibrary = 4 << 20;
  char* volatile room = new char[kOfLibrary]; // volatile: the compiler would remove it
  delete[] room;
}

namespace {

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

} // namespace

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

namespace {

Handle string_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), size);
  return type;
}

} // namespace

bool write_attribute(hid_t file, const char* name, std::string_view value) {
  const Handle type = string_type(value.size());
  return write_attribute(file, name, type.id(), value.data());
}

std::string text_attribute(hid_t file, const char* name) {
  constexpr std::size_t kLongest = 1024;
  const Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.id()), H5Tclose), space(H5Aget_space(attribute.id()), H5Sclose);
  const std::size_t size = type ? H5Tget_size(type.id()) : 0;
  if (!space || H5Sget_simple_extent_npoints(space.id()) != 1) return {};
  if (size == 0 || size > kLongest || H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0)
    return {};
  std::string text(size, '\0');
  return H5Aread(attribute.id(), type.id(), text.data()) >= 0 ? text : std::string();
}

std::optional<std::uint32_t> number_attribute(hid_t file, const char* name) {
  std::uint32_t number = 0;
  const Handle attribute(H5Aopen(file, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose), space(H5Aget_space(attribute.id()), H5Sclose);
  if (!type || !space || H5Tget_class(type.id()) != H5T_INTEGER || H5Sget_simple_extent_npoints(space.id()) != 1)
    return std::nullopt;
  if (H5Aread(attribute.id(), H5T_NATIVE_UINT32, &number) < 0) return std::nullopt;
  return number;
}

bool write_head(hid_t file, std::string_view creator, const std::optional<PartId>& part) {
  return write_attribute(file, "format", kFormat) && write_attribute(file, "creator", creator) &&
         write_attribute(file, "version", H5T_NATIVE_UINT32, &kVersion) &&
         (!part ||
          (write_attribute(file, "run", part->run) && write_attribute(file, "rank", H5T_NATIVE_UINT32, &part->rank)));
}

std::string reason() { return errno != 0 ? fmt::format(": {}", std::strerror(errno)) : std::string(); }

} // namespace warplens::analyzers::trace
