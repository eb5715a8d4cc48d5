// SPDX-License-Identifier: Apache-2.0
#include "api/report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace warplens::api {

std::string Sections::text() const {
  std::string list;
  for (const SectionInfo& info : kSections)
    if (has(info.section)) list += fmt::format("{}{}", list.empty() ? "" : ",", info.name);
  return list;
}

Expected<Sections> parse_sections(std::span<const std::string> texts) {
  Sections sections;
  std::vector<std::string_view> names = {kAllSections};
  for (const SectionInfo& info : kSections) names.push_back(info.name);
  for (const std::string& text : texts) {
    std::istringstream list(text);
    bool any = false;
    for (std::string name; std::getline(list, name, ','); any = true) {
      if (name == kAllSections) {
        sections = Sections::all();
        continue;
      }
      const auto* const known = std::find_if(std::begin(kSections), std::end(kSections),
                                             [&](const SectionInfo& s) { return s.name == name; });
      if (known == std::end(kSections)) {
        return failure(fmt::format("there is no section '{}'", name),
                       did_you_mean(name, names, fmt::format("sections: {}", fmt::join(names, ", "))));
      }
      sections.add(known->section);
    }
    if (!any) return failure("expected the name of a section", fmt::format("sections: {}", fmt::join(names, ", ")));
  }
  return sections;
}

} // namespace warplens::api
