// SPDX-License-Identifier: Apache-2.0
// What the files of libwarplens_hdf5.so have in common: handles of HDF5, tables and attributes of a trace.
//
//   const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
//   if (text_attribute(file.id(), "format") == kFormat) …
#pragma once

#include "analyzers/trace/file.hpp"

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace warplens::analyzers::trace {

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

/// Before any other call: the library must not print errors, in each thread, nor close files at exit (~Hdf5File()).
void prepare_library();

/// std::bad_alloc: there is too little memory to create or to open a file. The library itself would not notice that its
/// cache is missing.
void require_memory();

/// The rows of a table, in the file and in memory.
Handle row_type(Table table);
/// An empty table that can grow.
Handle create_table(hid_t file, Table table);

bool write_attribute(hid_t file, const char* name, hid_t type, const void* value);
bool write_attribute(hid_t file, const char* name, std::string_view value);
/// The attribute, or an empty string.
std::string text_attribute(hid_t file, const char* name);
/// The attribute; nothing if there is none with one integer.
std::optional<std::uint32_t> number_attribute(hid_t file, const char* name);

/// Format, version and creator. `part`: the file has what one process of several has recorded.
bool write_head(hid_t file, std::string_view creator, const std::optional<PartId>& part);

/// The operating system's error message, if it reported an error.
std::string reason();

} // namespace warplens::analyzers::trace
