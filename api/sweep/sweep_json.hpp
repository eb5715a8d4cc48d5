// Rows of a sweep as JSON, there and back.
//
//   sweep_line(row)  ->  {"settings":{"launch":"naive.toml","block":"64"},"failure":null,"kernel":"naive",…}\n
#pragma once

#include "api/sweep/sweep.hpp"

#include <map>

namespace warplens::api {

/// A line of a table that a sweep can be resumed from; ends with a newline.
std::string sweep_line(const SweepRow& row);
/// Error: no such line, or one that was cut off.
Expected<SweepRow> parse_sweep_line(std::string_view line);

/// What rows must have in common to stand in one table.
struct SweepIdentity {
  std::map<std::string, std::string> inputs;  ///< file -> hash of its content
  std::map<std::string, std::string> options; ///< "model" -> "sim"
};
/// The first line of the table.
std::string sweep_header(const SweepIdentity& identity);
/// Errors: it is no such line; another version of Warplens wrote it.
Expected<SweepIdentity> parse_sweep_header(std::string_view line);

/// The result: rows, and the settings that are recommended, which may be none.
std::string json_sweep(std::span<const SweepRow> rows, const Settings& recommended);

} // namespace warplens::api
