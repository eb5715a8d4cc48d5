// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace warplens {

namespace {

struct Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;
};

/// The first character (RFC 3629): shortest form, no surrogates, up to U+10FFFF.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t bytes = lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {bytes, code, true};
}

bool is_control(std::uint32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
}

/// The embeddings, overrides, isolates and marks of Unicode's bidirectional algorithm (UAX #9), and its line and
/// paragraph separators.
bool misleads(std::uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

} // namespace

std::string printable(std::string_view text, std::span<const std::string_view> kept) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto own =
        std::find_if(kept.begin(), kept.end(), [&](std::string_view k) { return !k.empty() && text.starts_with(k); });
    const Character c = first_of(text);
    const std::size_t taken = own != kept.end() ? own->size() : c.bytes;
    if (own != kept.end() || (c.valid && !is_control(c.code) && !misleads(c.code)))
      result += text.substr(0, taken);
    else if (!c.valid || c.code < 0x80)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else
      result += fmt::format("\\u{:04x}", c.code);
    text.remove_prefix(taken);
  }
  return result;
}

} // namespace warplens
