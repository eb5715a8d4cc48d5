// SPDX-License-Identifier: Apache-2.0
#include "api/report/json_layout.hpp"

#include <algorithm>

namespace warplens::api {

namespace {

using LaidOut = nlohmann::ordered_json;

constexpr std::size_t kIndent = 2;

bool is_row(const LaidOut& array) {
  return array.is_array() && std::all_of(array.begin(), array.end(),
                                         [](const LaidOut& value) { return value.is_primitive() || is_row(value); });
}

/// An object that an array contains: of plain values and rows of these.
bool is_flat(const LaidOut& object) {
  return std::all_of(object.begin(), object.end(),
                     [](const LaidOut& value) { return value.is_primitive() || is_row(value); });
}

std::string plain(const LaidOut& value) { return value.dump(-1, ' ', false, LaidOut::error_handler_t::replace); }

/// With a space after colons and commas, as on lines of their own.
void write_on_one_line(const LaidOut& value, std::string& out) {
  if (value.is_primitive()) {
    out += plain(value);
    return;
  }
  out += value.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) out += ", ";
    first = false;
    if (value.is_object()) out += plain(LaidOut(key)) + ": ";
    write_on_one_line(member, out);
  }
  out += value.is_object() ? "}" : "]";
}

void write(const LaidOut& value, std::size_t indent, bool in_array, std::string& out) {
  if (value.is_primitive() || value.empty() || is_row(value) || (in_array && is_flat(value))) {
    write_on_one_line(value, out);
    return;
  }
  out += value.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out.append(indent + kIndent, ' ');
    if (value.is_object()) out += plain(LaidOut(key)) + ": ";
    write(member, indent + kIndent, value.is_array(), out);
  }
  out += "\n";
  out.append(indent, ' ');
  out += value.is_object() ? "}" : "]";
}

} // namespace

std::string laid_out(const LaidOut& document) {
  std::string text;
  write(document, 0, false, text);
  return text + "\n";
}

} // namespace warplens::api
