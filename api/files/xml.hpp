// SPDX-License-Identifier: Apache-2.0
// Text in XML: xml_text("a<b") == "a&lt;b".
#pragma once

#include <string>
#include <string_view>

namespace warplens::api {

/// Text for attributes and elements. XML 1.0 has no control characters, not even escaped ones, so they are spelled in
/// letters, as printable() does.
std::string xml_text(std::string_view text);

} // namespace warplens::api
