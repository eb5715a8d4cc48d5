// SPDX-License-Identifier: Apache-2.0
#include "tools/explanations.hpp"

#include "api/launch/launch.hpp"
#include "api/report/catalogue.hpp"
#include "api/report/table.hpp"
#include "tools/explained_device.hpp"
#include "tools/page.hpp"
#include "tools/rule_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace warplens::tools {

namespace {

using analyzers::MetricInfo;
using api::Style;

std::string title(std::string_view name, std::string_view kind, const Style& style) {
  return fmt::format("{}{}{}: {}\n", style.bold, name, style.reset, kind);
}

/// "  name: text", wrapped; nothing if there is no text.
std::string line(std::string_view name, std::string_view text) {
  return text.empty() ? "" : api::wrapped(fmt::format("{}: {}", name, text), "  ");
}

std::string_view page_of(std::string_view analyzer) {
  for (const analyzers::MetricGroup& group : analyzers::metric_groups())
    if (group.analyzer == analyzer) return group.page;
  return {};
}

std::string_view profiler(MetricInfo::Profiler profiler) {
  switch (profiler) {
  case MetricInfo::Profiler::ncu: return "Nsight Compute";
  case MetricInfo::Profiler::cvp: return "CUDA Visual Profiler";
  case MetricInfo::Profiler::own: return "Warplens";
  }
  return {};
}

/// What counts a metric, for those that no analyzer counts.
std::string counted_by(std::string_view analyzer) {
  if (analyzer == "launch") return "launch: resources of the launch";
  if (analyzer == "sweep") return "warplens sweep";
  if (analyzer == "rule_counts") return "--rule NAME|FILE: the rules that are counted in addition";
  return std::string(analyzer);
}

void add_metric(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  const MetricInfo* const m = analyzers::find_metric(name);
  if (m == nullptr) return;
  std::string text = title(name, "a metric", style);
  text += api::wrapped(m->definition, "  ");
  if (m->family && name != m->name)
    text += line("family", fmt::format("{}; {{}} stands for a rule, an operation, a class or a number", m->name));
  text += line("unit", m->unit);
  text += line("type", m->type == MetricInfo::Type::count ? "an exact count" : "a ratio");
  text += line("formula", m->formula);
  if (m->ideal) text += line("ideal", fmt::format("{:g}", *m->ideal));
  text += line("name of", profiler(m->profiler));
  text += line("in nvprof", m->nvprof);
  text += line("counted by", counted_by(m->analyzer));
  found.push_back({std::move(text), std::string(page_of(m->analyzer))});
}

void add_analyzer(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  for (const analyzers::AnalyzerInfo* a : analyzers::analyzers()) {
    if (a->id != name) continue;
    std::string text = title(name, "an analyzer", style);
    text += api::wrapped(a->description, "  ");
    text += line("runs", a->cost == analyzers::Cost::by_name ? fmt::format("only with --analyzers {}", name)
                                                             : std::string("in every analysis"));
    api::Table t({{"metric"}, {"unit"}, {"definition"}});
    for (const MetricInfo& m : analyzers::metrics_of(a->id))
      t.row({std::string(m.name), std::string(m.unit), std::string(m.definition)});
    found.push_back({text + "\n" + t.text(style.dim, style.reset), std::string(page_of(a->id))});
  }
}

void add_finding(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) {
    if (kind.name != name) continue;
    std::string text = title(name, "a finding of reports", style);
    text += api::wrapped(kind.meaning, "  ");
    text += line("reported if", kind.trigger);
    text += line("severity", kind.severity);
    text += "  remedies:\n";
    for (const std::string_view remedy : kind.remedies) {
      std::string item = api::wrapped(remedy, "      ");
      item.replace(4, 1, "*");
      text += item;
    }
    found.push_back({std::move(text), std::string(kind.page)});
  }
}

void add_rule(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  const std::vector<std::string_view> names = rules::rule_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return;
  const std::vector<std::string> one{name};
  const Expected<rules::RuleSet> rules = api::load_rules(one);
  if (!rules) return;
  std::string text = rules_text(*rules, style);
  text.pop_back(); // the empty line
  text.insert(text.find(" ("), ": a rule");
  found.push_back({std::move(text), rules->banks.empty() ? "rules.md#global-memory-transactions"
                                                         : "rules.md#shared-memory-passes-over-the-banks"});
}

void add_model(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  const model::Model* const m = model::find_model(name);
  if (m == nullptr) return;
  std::string text = title(name, "a model of the run time", style);
  text += api::wrapped(m->title, "  ");
  text += line("predicts", m->says);
  text += line("source", m->source);
  text += line("needs the statistics", fmt::format("{}", fmt::join(m->needs, ", ")));
  std::vector<std::string_view> devices;
  const auto& all = model::built_in_devices();
  for (const model::Device& d : all)
    if (m->knows(d)) devices.push_back(d.id);
  text += line("devices with its parameters",
               devices.size() == all.size() ? "all" : fmt::format("{}", fmt::join(devices, ", ")));
  found.push_back({std::move(text), page_about("models.md", name)});
}

void add_device(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  const Expected<model::Device> device = model::find_device(name);
  if (device) found.push_back({title(device->name, "a device", style) + device_facts(*device, style), ""});
}

/// The opcode that the name is, or that it begins with: ld of ld.global.f32.
std::string_view opcode_in(std::string_view name) {
  const std::vector<std::string_view> all = isa::opcodes();
  for (; !name.empty(); name = name.substr(0, name.rfind('.') == name.npos ? 0 : name.rfind('.')))
    if (const auto at = std::find(all.begin(), all.end(), name); at != all.end()) return *at;
  return {};
}

void add_instruction(const std::string& name, const Style& style, std::vector<Explanation>& found) {
  const std::string_view opcode = opcode_in(name);
  if (opcode.empty()) return;
  std::string text = title(opcode, "an instruction of PTX", style);
  api::Table t({{"form"}, {"since PTX", api::Table::right}, {"target"}});
  for (const isa::Entry& e : isa::table()) {
    if (e.opcode != opcode) continue;
    std::string form = fmt::format("{}{}", opcode, e.pattern_text);
    std::erase(form, '~'); // a mark for the decoder
    t.row({std::move(form), fmt::format("{}.{}", e.ptx / 10, e.ptx % 10), isa::spelled(e.targets)});
  }
  text += "  {a,b} is a choice, […] is optional; docs/instructions.md has all instructions.\n\n";
  found.push_back({text + t.text(style.dim, style.reset), ""});
}

} // namespace

std::vector<Explanation> explanations(const std::string& name, const Style& style) {
  std::vector<Explanation> found;
  for (const auto add : {add_metric, add_analyzer, add_finding, add_rule, add_model, add_device, add_instruction})
    add(name, style, found);
  return found;
}

std::vector<std::string_view> explained_names() {
  std::vector<std::string_view> names = isa::opcodes();
  for (const MetricInfo& m : analyzers::metric_infos()) names.push_back(m.name);
  for (const analyzers::AnalyzerInfo* a : analyzers::analyzers()) names.push_back(a->id);
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) names.push_back(kind.name);
  for (const std::string_view rule : rules::rule_names()) names.push_back(rule);
  for (const model::Model& m : model::models()) names.push_back(m.id);
  for (const model::Device& d : model::built_in_devices()) {
    names.push_back(d.id);
    names.push_back(d.name);
  }
  return names;
}

} // namespace warplens::tools
