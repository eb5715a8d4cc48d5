// SPDX-License-Identifier: Apache-2.0
// Writes and reads rows of a sweep as JSON.
//
//   sweep_line(row)  ->  {"settings":{"launch":"naive.toml","block":"64"},"failure":null,"kernel":"naive",…}\n
#pragma once

#include "api/sweep/sweep_trust.hpp"

namespace warplens::api {

/// A row as one line; ends with a newline.
std::string sweep_line(const SweepRow& row);
/// Error: not such a line, or a truncated one.
Expected<SweepRow> parse_sweep_line(std::string_view line);

/// The result: the rows, and the recommended settings, which may be empty.
std::string json_sweep(std::span<const SweepRow> rows, const Settings& recommended);
/// The same for the HTML page, which also shows what to know about the times.
std::string json_sweep_page(std::span<const SweepRow> rows, const Settings& recommended,
                            std::span<const SweepNote> notes);

} // namespace warplens::api
