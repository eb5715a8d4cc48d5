// SPDX-License-Identifier: Apache-2.0
#include "api/html/page.hpp"

#include "analyzers/trace/deflate.hpp"
#include "api/html/template.hpp"

#include <limits>

namespace warplens::api {

namespace {

/// RFC 4648, with padding.
std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0; // 24 bits
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

} // namespace

Expected<void> check_html() { return {}; }

Expected<std::string> html_page(std::string_view json) {
  if (json.empty()) return failure("no data for the page");
  if (json.size() >= std::numeric_limits<std::uint32_t>::max())
    return failure("the report is too large for a page: 4 GiB or more", "analyse fewer launches, or use --json");
  // Compressed, because reports repeat themselves; in base64, because its letters mean nothing in HTML.
  const std::vector<std::byte> packed = analyzers::trace::compress(std::as_bytes(std::span(json)), 1);
  const HtmlTemplate page = html_template();
  return std::string(page.before) + base64(packed) + std::string(page.after);
}

} // namespace warplens::api
