// SPDX-License-Identifier: Apache-2.0
// Writes and reads rows of a sweep as JSON.
//
//   sweep_line(row)  ->  {"settings":{"launch":"naive.toml","block":"64"},"failure":null,"kernel":"naive",…}\n
#pragma once

#include "api/sweep/sweep.hpp"

#include <map>

namespace warplens::api {

/// A line of a table from which a sweep can be resumed; ends with a newline.
std::string sweep_line(const SweepRow& row);
/// Error: not such a line, or a truncated one.
Expected<SweepRow> parse_sweep_line(std::string_view line);

/// The properties that all rows of a table must share.
struct SweepIdentity {
  std::map<std::string, std::string> inputs;  ///< file -> hash of its content
  std::map<std::string, std::string> options; ///< "model" -> "sim"
};
/// The first line of the table.
std::string sweep_header(const SweepIdentity& identity);
/// Errors: not such a line; another version of Warplens wrote it.
Expected<SweepIdentity> parse_sweep_header(std::string_view line);

/// The result: the rows, and the recommended settings, which may be empty.
std::string json_sweep(std::span<const SweepRow> rows, const Settings& recommended);

} // namespace warplens::api
