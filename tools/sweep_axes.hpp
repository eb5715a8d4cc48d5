// SPDX-License-Identifier: Apache-2.0
// The values of a sweep: lists and ranges, as written on the command line.
//
//   parse_values("64,128..512*2", "--block")  ->  64 128 256 512
//   parse_shapes("32,all:64", "--block")      ->  32 64x1 32x2 16x4 8x8 4x16 2x32 1x64
#pragma once

#include "api/sweep/sweep.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// Names whose values vary together: values[i] has one value for each name.
struct Axis {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;
};

/// Comma-separated values; commas in brackets and quotation marks belong to a value. A..B, A..B+STEP and A..B*FACTOR
/// are ranges of whole numbers. UsageError: an empty value, an empty or endless range, or one with more than 100 000
/// numbers. `option` is for messages.
std::vector<std::string> parse_values(std::string_view list, std::string_view option);

/// The same for shapes: numbers, 16x16, 8x8x4, and all:N for each two-dimensional shape with N threads.
/// UsageError also: an extent of 0, or an invalid shape.
std::vector<std::string> parse_shapes(std::string_view list, std::string_view option);

} // namespace warplens::tools
