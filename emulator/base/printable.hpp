// SPDX-License-Identifier: Apache-2.0
// Makes external text safe for a terminal. Names in PTX, file names, and strings in launch files and traces can contain
// escape sequences, which move the cursor, change the title, or hide earlier output.
//
//   printable("k\x1b[2J\xff")   ->   "k\x1b[2J\xff" in letters: backslash, x, 1, b, …
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warplens {

/// Writes the following as \x1b or \u202e: control characters other than newline and tab, bytes that are not UTF-8, and
/// characters that change the direction of text. The sequences in `kept` (the program's own colours) stay unchanged.
std::string printable(std::string_view text, std::span<const std::string_view> kept = {});

} // namespace warplens
