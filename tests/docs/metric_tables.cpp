// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/metric_tables.hpp"

#include "analyzers/analyzers.hpp"

#include <fmt/format.h>

namespace warplens::docs {

namespace {

using analyzers::MetricInfo;

constexpr std::string_view kHead =
    R"(# Metrics
All metrics of reports, traces and sweeps.
This page is generated from `analyzers/metrics.def`; `warplens list metrics` prints the same.

* A metric has the name that Nsight Compute or the CUDA Visual Profiler gives it, where one of them has it.
  The column "nvprof" has the name of the same metric in nvprof.
* Metrics of a launch cover the whole grid.
  The report has the counts of each instruction, too, and with `--per-block` those of each block.
* `{}` stands for a name or a number: there is one metric for each that occurs.
* "Ideal" is the value of a perfect kernel.
)";

std::string title_of(std::string_view group) {
  for (const analyzers::AnalyzerInfo* a : analyzers::analyzers())
    if (a->id == group) return fmt::format("{} (`{}`)", a->title, group);
  return group == "launch" ? "Resources of a launch" : "Sweeps";
}

std::string row_of(const MetricInfo& m) {
  std::string definition(m.definition);
  if (!m.formula.empty()) definition += fmt::format(": `{}`", m.formula);
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", m.name, definition, m.unit,
                     m.ideal ? fmt::format("{:g}", *m.ideal) : "",
                     m.nvprof.empty() ? "" : fmt::format("`{}`", m.nvprof));
}

/// The name of a metric as a regular expression of JSON schema, in a JSON string.
std::string pattern_of(const MetricInfo& m) {
  std::string pattern = "^";
  for (std::size_t i = 0; i < m.name.size(); ++i) {
    if (m.name[i] == '.') pattern += "\\\\";
    if (m.name[i] == '{') {
      pattern += ".+";
      ++i;
    } else {
      pattern += m.name[i];
    }
  }
  return pattern + "$";
}

/// `"NAME": {…}` of the metrics that are families, or that are none.
std::string properties(bool families) {
  std::string text;
  for (const MetricInfo& m : analyzers::metric_infos()) {
    if (m.family != families || m.analyzer == "sweep") continue;
    text += fmt::format("{}        \"{}\": {{ \"type\": \"{}\", \"description\": \"{}; {}\" }}",
                        text.empty() ? "" : ",\n", families ? pattern_of(m) : std::string(m.name),
                        m.type == MetricInfo::Type::count ? "integer" : "number", m.unit.empty() ? "1" : m.unit,
                        m.definition);
  }
  return text;
}

} // namespace

std::string metrics_page() {
  std::string text(kHead);
  for (const analyzers::MetricGroup& group : analyzers::metric_groups()) {
    text += fmt::format("\n## {}\nSee [{}]({}).\n\n", title_of(group.analyzer),
                        group.page.substr(0, group.page.find('#')), group.page);
    text += "| metric | definition | unit | ideal | nvprof |\n| --- | --- | --- | --- | --- |\n";
    for (const MetricInfo& m : analyzers::metrics_of(group.analyzer)) text += row_of(m);
  }
  return text;
}

std::string with_metrics(const std::string& schema) {
  const std::string begin = "    \"metrics\": {\n      \"type\": \"object\",\n", end = "\n    },\n";
  const std::size_t from = schema.find(begin), to = schema.find(end, from);
  if (from == schema.npos || to == schema.npos) return "there is no \"metrics\" in $defs";
  return schema.substr(0, from) + begin +
         fmt::format("      \"description\": \"metrics of the whole grid (docs/metrics.md): unit; definition\",\n"
                     "      \"properties\": {{\n{}\n      }},\n"
                     "      \"patternProperties\": {{\n{}\n      }},\n"
                     "      \"additionalProperties\": false",
                     properties(false), properties(true)) +
         schema.substr(to);
}

} // namespace warplens::docs
