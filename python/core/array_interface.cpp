// SPDX-License-Identifier: Apache-2.0
#include "python/core/array_interface.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace warplens::python {

namespace py = pybind11;

namespace {

/// "<f4" as a format of Python's module struct, without the size.
std::string format_of(const std::string& type, std::uint64_t item_bytes) {
  const std::string order = type[0] == '>' ? ">" : "";
  switch (type[1]) {
  case 'f': return order + (item_bytes == 2 ? "e" : item_bytes == 4 ? "f" : "d");
  case 'c': return order + (item_bytes == 8 ? "Zf" : "Zd");
  case 'b': return "?";
  case 'i': return order + "i";
  case 'u': return order + "I";
  default: return "T";
  }
}

/// Whether these are the strides of C order; those of dimensions with one element do not matter.
bool is_contiguous(const std::vector<std::uint64_t>& shape, const std::vector<std::int64_t>& strides,
                   std::uint64_t item_bytes) {
  if (strides.size() != shape.size()) return false;
  auto expected = static_cast<std::int64_t>(item_bytes);
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= static_cast<std::int64_t>(shape[i]);
  }
  return true;
}

} // namespace

ArrayInterface array_interface(py::handle object) {
  ArrayInterface array;
  const char* key = "__cuda_array_interface__";
  try {
    const auto all = object.attr(key).cast<py::dict>();
    key = "data";
    array.address = all[key].cast<py::tuple>()[0].cast<std::uint64_t>();
    key = "typestr";
    const auto type = all[key].cast<std::string>(); // "<f4"
    if (type.size() < 3) throw py::value_error();
    array.item_bytes = std::strtoull(type.c_str() + 2, nullptr, 10);
    array.format = format_of(type, array.item_bytes);
    key = "shape";
    const auto shape = all[key].cast<std::vector<std::uint64_t>>();
    array.bytes = array.item_bytes;
    for (const std::uint64_t n : shape) array.bytes *= n;
    key = "strides";
    if (all.contains(key) && !all[key].is_none())
      array.is_strided = !is_contiguous(shape, all[key].cast<std::vector<std::int64_t>>(), array.item_bytes);
    array.is_masked = all.contains("mask") && !all["mask"].is_none();
  } catch (const py::error_already_set&) { // the object's, or a missing key
    array.wrong = fmt::format("'{}'", key);
  } catch (const py::builtin_exception&) { // a value of another type
    array.wrong = fmt::format("'{}'", key);
  }
  return array;
}

} // namespace warplens::python
