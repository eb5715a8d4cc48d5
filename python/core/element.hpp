// SPDX-License-Identifier: Apache-2.0
// The types of array elements: of buffers in Python, by the formats of its module struct, and of C++ parameters.
//
//   parse_element("<f", 4)          -> {real, 4}
//   element_of_source("float2")     -> {real, 4}: an array of float2 is an array of float
//   fits({real, 4}, {real, 4})
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warplens::python {

struct Element {
  /// Signed and unsigned integers fit each other: C++ lets kernels convert them. `other`: a structure.
  enum class Kind : std::uint8_t { integer, real, complex, boolean, other } kind{};
  std::uint64_t bytes = 0;
  std::string text; ///< "float32"
};

/// Whether the elements contain objects of Python, whose addresses no kernel may see.
bool holds_objects(std::string_view format);
/// Of an element of a buffer. Empty: big endian, which no GPU is.
std::optional<Element> parse_element(std::string_view format, std::uint64_t bytes);
/// Of a type of C++ or CUDA: "float", "unsigned int", "float4". Empty: not known, such as a structure.
std::optional<Element> element_of_source(std::string_view type);
/// Whether a kernel that expects `wanted` may get `given`.
bool fits(const Element& wanted, const Element& given);

} // namespace warplens::python
