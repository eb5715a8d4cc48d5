// SPDX-License-Identifier: Apache-2.0
// What `warplens explain` knows: facts from the tables of the program, each with a section of the documentation.
//
//   for (const Explanation& e : explanations("gld_64b", style)) write(e.facts); … plain_text(section_of_page(e.page))
#pragma once

#include "api/report/style.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

struct Explanation {
  std::string facts; ///< lines of text; the first has the name and what it is
  std::string page;  ///< "rules.md#global-memory-transactions"; empty: no section explains it
};

/// Everything that has this name: more than one thing can. Empty: there is nothing.
std::vector<Explanation> explanations(const std::string& name, const api::Style& style);

/// All names, with duplicates; families of metrics as patterns.
std::vector<std::string_view> explained_names();

} // namespace warplens::tools
