// Text from outside, made fit for a terminal: names in PTX, file names, strings of launch files and traces may hold
// escape sequences, which move the cursor, change the title, or hide what was printed before.
//
//   printable("k\x1b[2J\xff")   ->   "k\x1b[2J\xff" in letters: backslash, x, 1, b, …
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace warplens {

/// The text with these written as \x1b or \u202e: control characters but newline and tab, bytes that are not UTF-8,
/// characters that change the direction of text. `kept`: sequences that stay as they are, those of the program's own
/// colours.
std::string printable(std::string_view text, std::span<const std::string_view> kept = {});

} // namespace warplens
