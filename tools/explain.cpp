// SPDX-License-Identifier: Apache-2.0
// warplens explain: what a name in a report, on the command line or in PTX means.
#include "tools/explanations.hpp"
#include "tools/output.hpp"
#include "tools/page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <set>

namespace warplens::tools {

namespace {

constexpr std::string_view kExplainHelp = R"(usage: warplens explain NAME

Explains a name, and shows the section of the documentation about it. NAME is one of these:

  a metric        definition, unit, formula, ideal value, name in nvprof: gld_64b, branch_with_7_active_lanes
  a finding       what triggers it, and how to fix it: UncoalescedGlobalAccess, SharedMemoryConflicts, ThreadDivergence
  a rule          how a GPU serves the addresses of a warp: 1.2, 5.x+
  a model         what it predicts, from which statistics, for which devices: hong-kim, roofline
  a device        its numbers and their sources: c1060, "Tesla C1060"
  an analyzer     what it counts: divergence, caches
  an instruction  its forms: fma, ld.global

Examples:
  warplens explain UncoalescedGlobalAccess
  warplens explain branch_with_7_active_lanes
  warplens explain hong-kim
Lists of all names: warplens list metrics, rules, models, devices, analyzers, instructions.
)";

[[noreturn]] void unknown(const std::string& name) {
  const std::string near = closest(name, explained_names());
  throw UsageError{fmt::format("nothing is named '{}'", name),
                   near.empty() ? "warplens explain lists what it explains" : fmt::format("did you mean '{}'?", near)};
}

} // namespace

int explain(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h")
    return write(kExplainHelp), kFine;
  const std::string name = fmt::format("{}", fmt::join(arguments, " ")); // Tesla C1060
  const Style style = style_for(STDOUT_FILENO);
  const std::vector<Explanation> found = explanations(name, style);
  if (found.empty()) unknown(name);
  std::string text;
  std::set<std::string> pages;
  for (const Explanation& e : found) {
    text += fmt::format("{}{}", text.empty() ? "" : "\n", e.facts);
    const std::string section = e.page.empty() || !pages.insert(e.page).second ? "" : section_of_page(e.page);
    if (!section.empty())
      text += fmt::format("\n{}From docs/{}{}\n{}", style.dim, e.page, style.reset, plain_text(section));
  }
  write(text);
  return kFine;
}

} // namespace warplens::tools
