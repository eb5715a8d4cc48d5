// SPDX-License-Identifier: Apache-2.0
// Numbers with units that people can read, and bars for terminals.
//
//   readable_time(2.56e-05) -> "25.6 ns"     readable_bytes(1536) -> "1.5 KiB"     bar(0.5, 4) -> "██"
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::api {

/// Three significant digits in ns, µs, ms or s.
std::string readable_time(double milliseconds);
/// Bytes, KiB, MiB or GiB.
std::string readable_bytes(std::uint64_t bytes);
/// "7 %", "<1 %" for a small share, "100 %" only for all.
std::string readable_share(double share);
/// Eighths of characters for a share between 0 and 1; `columns` for 1, padded with spaces.
std::string bar(double share, std::size_t columns);
/// "1 block", "2 blocks"
std::string plural(std::uint64_t n, std::string_view thing);
/// The part of a path after the last slash.
std::string_view base_name(std::string_view path);
/// At most `columns` columns of `text`; "…" marks what is missing. Never cuts a UTF-8 sequence.
std::string cut(std::string_view text, std::size_t columns);
/// The same of different names, which stay different where possible: of those that would be equal, the middle is left
/// out. "reduce<float, …int, 1024>"
std::vector<std::string> cut_names(std::span<const std::string> names, std::size_t columns);

} // namespace warplens::api
