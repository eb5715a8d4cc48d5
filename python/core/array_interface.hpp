// SPDX-License-Identifier: Apache-2.0
// Arrays of other libraries that say where their device memory is, by __cuda_array_interface__.
//
//   const ArrayInterface array = array_interface(object);
//   array.wrong.empty(), array.address, array.format == "f"
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

namespace warplens::python {

struct ArrayInterface {
  std::uint64_t address = 0, item_bytes = 1;
  std::uint64_t bytes = 0;  ///< of the whole array
  std::string format = "B"; ///< of an element, as in Python's module struct
  bool is_strided = false;  ///< the elements are not contiguous
  bool is_masked = false;
  std::string wrong; ///< what cannot be read: "'typestr'"; the other members are then not set
};

/// Does not throw what the object throws.
ArrayInterface array_interface(pybind11::handle object);

} // namespace warplens::python
