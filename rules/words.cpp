// SPDX-License-Identifier: Apache-2.0
#include "rules/words.hpp"

#include <fmt/format.h>

namespace warplens::rules {

std::string to_string(const Requests& requests) {
  if (!requests.groups.empty()) return "group of lanes";
  switch (requests.lanes) {
  case 32: return "warp";
  case 16: return "half-warp";
  case 8: return "quarter-warp";
  case 1: return "lane";
  default: return fmt::format("group of {} lanes", requests.lanes);
  }
}

Requests read_requests(RuleTable& entry) {
  Requests requests;
  const auto lanes = entry.given("lanes");
  requests.groups = entry.groups("groups");
  if (lanes && !requests.groups.empty()) entry.error("'lanes' and 'groups' exclude each other: give only one of them");
  requests.lanes = lanes.value_or(requests.lanes);
  return requests;
}

void read_label(RuleTable& table, std::string_view text, Label& label) {
  table.choice("rule");
  label.name = table.text("name");
  label.title = table.text("title");
  label.source = table.text("source");
  label.text = text;
}

} // namespace warplens::rules
