// SPDX-License-Identifier: Apache-2.0
// Sections of the documentation as plain text.
//
//   section_of_page("rules.md#global-memory-transactions") starts with "## Global memory: transactions\n"
//   plain_text("See [limits](limits.md).") == "  See limits.\n"
#pragma once

#include <string>
#include <string_view>

namespace warplens::tools {

/// The Markdown text of a section with its subsections. Without an anchor, the introduction of the page. Empty: there
/// is no such section.
std::string section_of_page(std::string_view page);
/// The anchor of the section whose heading contains `word`: "models.md#amaris-and-karan-kumar". Empty: there is none.
std::string page_about(std::string_view file, std::string_view word);

/// Without marks of Markdown; text is wrapped and indented, wide tables become lists.
std::string plain_text(std::string_view markdown);

} // namespace warplens::tools
