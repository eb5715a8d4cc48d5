// SPDX-License-Identifier: Apache-2.0
// Limits, and sizes and times as written by the user.
//
//   *parse_size("1.5G") == 1610612736   *parse_seconds("0.5") == 500   size_text(68914) == "67.3 KiB"
#pragma once

#include "emulator/base/expected.hpp"
#include "emulator/base/limits.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace warplens::api {

/// "1536", "512M", "8G", "1.5GiB": bytes, in powers of 1024. Error: not a size, or 0.
Expected<std::uint64_t> parse_size(std::string_view text);
/// "30", "0.5" seconds, as milliseconds. Error: not a number, 0, or more than a year.
Expected<std::uint64_t> parse_seconds(std::string_view text);
/// "4 GiB", "67.3 KiB", "12 bytes".
std::string size_text(std::uint64_t bytes);

} // namespace warplens::api
