// SPDX-License-Identifier: Apache-2.0
#include "api/files/xml.hpp"

#include "emulator/base/printable.hpp"

namespace warplens::api {

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    case '\n': out += "&#10;"; break;
    case '\t': out += "&#9;"; break;
    default: out += c;
    }
  }
  return out;
}

} // namespace warplens::api
