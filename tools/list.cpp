// SPDX-License-Identifier: Apache-2.0
// warplens list: lists devices, rules, analyzers, metrics, models and instructions.
#include "api/launch/launch.hpp"
#include "api/report/catalogue.hpp"
#include "api/report/table.hpp"
#include "tools/output.hpp"
#include "tools/rule_text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

namespace warplens::tools {

namespace {

constexpr std::string_view kListHelp = R"(usage: warplens list devices|rules|analyzers|metrics|models|instructions
       warplens list rules --explain [NAME|FILE…]

  devices        GPUs for --device
  rules          how requests of a warp become transactions, and how banks serve shared memory;
                 --explain describes the given rules or rule files with their sources; without names, it describes
                 all rules and the keys of rule files
  analyzers      the analyzers, with the metrics that each counts
  metrics        the metrics of reports and sweeps: unit, ideal value, name in nvprof, definition and formula
  models         analytical models that predict the run time
  instructions   the supported PTX instructions; {a,b} is a choice, […] is optional

Examples:
  warplens list devices
  warplens list rules --explain 1.2 5.x+
  warplens list instructions | grep '^ *atom'
)";

Style style() { return style_for(STDOUT_FILENO); }
void show(const api::Table& table) { write(table.text(style().dim, style().reset)); }

bool for_any(const model::Model& m) {
  const auto& all = model::built_in_devices();
  return std::all_of(all.begin(), all.end(), [&](const model::Device& d) { return m.knows(d); });
}

void devices() {
  api::Table t({{"id"},
                {"name"},
                {"compute capability"},
                {"multiprocessors", api::Table::right},
                {"clock, GHz", api::Table::right},
                {"bandwidth, GB/s", api::Table::right},
                {"models"}});
  for (const model::Device& d : model::built_in_devices()) {
    std::string known;
    for (const model::Model& m : model::models())
      if (m.knows(d) && !for_any(m)) known += fmt::format("{}{}", known.empty() ? "" : ", ", m.id);
    t.row({d.id, d.name, to_string(d.capability), fmt::format("{}", d.multiprocessors),
           fmt::format("{:g}", d.clock_ghz), fmt::format("{:g}", d.bandwidth_gb_s), known});
  }
  show(t);
  std::string any;
  for (const model::Model& m : model::models())
    if (for_any(m)) any += fmt::format("{}{}", any.empty() ? "" : ", ", m.id);
  write(fmt::format("Models for all devices: {}\n", any));
}

void rules() {
  api::Table t({{"rule"}, {"kind"}, {"description"}});
  for (const auto& r : rules::coalescing_rules()) t.row({r.name, "transactions", r.title});
  for (const auto& r : rules::bank_rules()) t.row({r.name, "banks", r.title});
  show(t);
}

/// The keys of rule files.
void language() {
  std::string_view table;
  for (const rules::Key& key : rules::keys()) {
    if (key.table != table) {
      table = key.table;
      const std::string_view kind = table.substr(0, table.find('.'));
      write(fmt::format("{}Keys of {}rule = \"{}\"{}\n", style().bold,
                        kind == table ? "" : "[[word]], [[store]], [[atomic]] and [[vector]] of ", kind,
                        style().reset));
    }
    const std::string otherwise = key.otherwise.empty() ? "" : fmt::format("; without it: {}", key.otherwise);
    write(api::wrapped(fmt::format("{}: {} ({}{})", key.name, key.meaning, takes(key), otherwise), "  "));
  }
}

int explain_rules(std::vector<std::string> names) {
  const bool all = names.empty();
  if (all)
    for (const std::string_view name : rules::rule_names()) names.emplace_back(name);
  write(rules_text(value_or_throw(api::load_rules(names)), style()));
  if (all) language();
  return kFine;
}

std::string shown_number(std::optional<double> value) { return value ? fmt::format("{:g}", *value) : ""; }

void list_analyzers() {
  for (const analyzers::AnalyzerInfo* a : analyzers::analyzers()) {
    write(fmt::format("{}{}{}: {}{}\n", style().bold, a->id, style().reset, a->description,
                      a->cost == analyzers::Cost::by_name ? "; only with --analyzers" : ""));
    api::Table t({{"metric"}, {"unit"}, {"ideal", api::Table::right}, {"definition"}});
    for (const analyzers::MetricInfo& m : analyzers::metrics_of(a->id))
      t.row({std::string(m.name), std::string(m.unit), shown_number(m.ideal), std::string(m.definition)});
    show(t);
    write("\n");
  }
}

void metrics() {
  api::Table t({{"metric"}, {"unit"}, {"ideal", api::Table::right}, {"analyzer"}, {"nvprof"}, {"definition"}});
  for (const analyzers::MetricInfo& m : analyzers::metric_infos())
    t.row({std::string(m.name), std::string(m.unit), shown_number(m.ideal), std::string(m.analyzer),
           std::string(m.nvprof),
           m.formula.empty() ? std::string(m.definition) : fmt::format("{}: {}", m.definition, m.formula)});
  show(t);
  write("{} stands for a rule, an operation, a class or a number.\n");
}

void models() {
  for (const model::Model& m : model::models())
    write(fmt::format("  {}{}{}: {}\n    predicts {}; {}\n", style().bold, m.id, style().reset, m.title, m.says,
                      m.source));
}

void instructions() {
  api::Table t({{"opcode"}, {"since PTX", api::Table::right}, {"target"}, {"followed by"}});
  for (const isa::Entry& e : isa::table()) {
    // '~' is a mark for the decoder.
    std::string pattern(e.pattern_text);
    std::erase(pattern, '~');
    t.row({std::string(e.opcode), fmt::format("{}.{}", e.ptx / 10, e.ptx % 10), isa::spelled(e.targets),
           std::move(pattern)});
  }
  show(t);
}

struct Topic {
  std::string_view name;
  void (*show)();
};
constexpr Topic kTopics[] = {{"devices", devices}, {"rules", rules},   {"analyzers", list_analyzers},
                             {"metrics", metrics}, {"models", models}, {"instructions", instructions}};

} // namespace

int list(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) return write(kListHelp), kFine;
  if (arguments.size() >= 2 && arguments[0] == "rules" && arguments[1] == "--explain")
    return explain_rules({arguments.begin() + 2, arguments.end()});
  std::vector<std::string_view> names;
  for (const Topic& topic : kTopics) names.push_back(topic.name);
  if (arguments.size() != 1) throw UsageError{"missing topic", fmt::format("one of {}", fmt::join(names, ", "))};
  for (const Topic& topic : kTopics)
    if (topic.name == arguments[0]) return topic.show(), kFine;
  const std::string near = closest(arguments[0], names);
  throw UsageError{fmt::format("unknown topic '{}'", arguments[0]),
                   near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near)};
}

} // namespace warplens::tools
