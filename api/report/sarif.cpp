// SPDX-License-Identifier: Apache-2.0
// Findings as SARIF: Static Analysis Results Interchange Format, version 2.1.0, OASIS Standard.
#include "analyzers/finding_kinds.hpp"
#include "api/predict/predict.hpp"
#include "api/report/check_files.hpp"
#include "api/report/expectations.hpp"
#include "api/report/launch_groups.hpp"
#include "api/report/report_files.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

namespace warplens::api {

namespace {

using SarifJson = nlohmann::ordered_json;

constexpr std::string_view kConditionRule = "fail-on";

/// A URI reference (RFC 3986): absolute paths get a scheme; other characters than unreserved ones are escaped.
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

/// An array of one element. Compilers disagree about `{element}`.
SarifJson only(SarifJson element) {
  SarifJson list = SarifJson::array();
  list.push_back(std::move(element));
  return list;
}

SarifJson sarif_location(const std::string& file, std::uint32_t line) {
  SarifJson physical = {{"artifactLocation", {{"uri", uri_of(file)}}}};
  if (line != 0) physical["region"] = {{"startLine", line}};
  return {{"physicalLocation", std::move(physical)}};
}

/// The rules in the order in which they were first needed; results name them by index.
class SarifRules {
public:
  std::size_t index(std::string_view id) {
    const auto [known, fresh] = indices_.try_emplace(std::string(id), list_.size());
    if (fresh) list_.push_back(description(id));
    return known->second;
  }
  [[nodiscard]] const SarifJson& list() const { return list_; }

private:
  static SarifJson description(std::string_view id) {
    std::string meaning = id == analyzers::kTrapFinding ? "the kernel was stopped"
                          : id == kConditionRule        ? "a condition of --fail-on is true"
                                                        : "";
    for (const analyzers::FindingKind& kind : analyzers::finding_kinds())
      if (kind.name == id) meaning = kind.meaning;
    for (std::size_t kind = 0; kind < exec::kToolFindingKinds; ++kind)
      if (exec::id_of(static_cast<exec::ToolFinding::Kind>(kind)) == id)
        meaning = exec::title_of(static_cast<exec::ToolFinding::Kind>(kind));
    SarifJson rule = {{"id", id}};
    if (!meaning.empty()) rule["shortDescription"] = {{"text", meaning}};
    return rule;
  }
  SarifJson list_ = SarifJson::array();
  std::map<std::string, std::size_t> indices_;
};

std::string_view level_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

class SarifWriter {
public:
  void finding(const LaunchReport& r, const analyzers::Finding& f, std::size_t launches) {
    std::string text = fmt::format("kernel {}: {}", source_name(r.kernel), f.message);
    if (!remedy_of(f).empty()) text += fmt::format(". Advice: {}", remedy_of(f));
    SarifJson one = result(f.rule, level_of(f.severity), text);
    const std::uint32_t ptx = f.lines.empty() ? 0 : f.lines.front();
    one["locations"] =
        only(f.source_line != 0 ? sarif_location(f.source_file, f.source_line) : sarif_location(r.file, ptx));
    if (f.source_line != 0) {
      one["relatedLocations"] = SarifJson::array();
      for (const std::uint32_t line : f.lines) one["relatedLocations"].push_back(sarif_location(r.file, line));
    }
    one["properties"] = {{"kernel", r.kernel}, {"launches", launches}, {"excess", f.excess}, {"unit", f.unit}};
    if (const auto speedup = f.speedup) one["properties"]["speedup"] = *speedup;
    results_.push_back(std::move(one));
  }
  void trap(const LaunchReport& r) {
    SarifJson one = result(analyzers::kTrapFinding, "error", r.trap->message);
    one["locations"] = only(sarif_location(r.trap->file.empty() ? r.file : r.trap->file, r.trap->where.line));
    one["properties"] = {{"kernel", r.kernel}};
    results_.push_back(std::move(one));
  }
  void condition(const LaunchReport& r, const MetCondition& met) {
    SarifJson one = result(kConditionRule, "error", met.text());
    one["locations"] = only(met.source_line != 0 ? sarif_location(met.source_file, met.source_line)
                                                 : sarif_location(r.file, met.ptx_line));
    one["properties"] = {{"kernel", r.kernel}, {"value", met.value}};
    results_.push_back(std::move(one));
  }
  void message(const CheckMessage& m) {
    std::string text = m.title + (m.detail.empty() ? "" : ". " + m.detail);
    SarifJson one = result(exec::id_of(m.kind), "error", text);
    if (m.at && !m.at->frames.empty()) {
      one["locations"] = only(location(m.at->frames.front()));
      one["relatedLocations"] = SarifJson::array();
      for (std::size_t i = 1; i < m.at->frames.size(); ++i)
        one["relatedLocations"].push_back(location(m.at->frames[i]));
      if (m.other && !m.other->frames.empty()) one["relatedLocations"].push_back(location(m.other->frames.front()));
    }
    one["properties"] = {{"count", m.count}};
    if (m.at) one["properties"]["kernel"] = m.at->kernel;
    if (!m.call.empty()) one["properties"]["call"] = m.call;
    results_.push_back(std::move(one));
  }
  [[nodiscard]] std::string text() const {
    const SarifJson log = {
        {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", only({{"tool", {{"driver", {{"name", "Warplens"}, {"version", version()}, {"rules", rules_.list()}}}}},
                       {"columnKind", "utf16CodeUnits"},
                       {"results", results_}})}};
    return log.dump(2, ' ', false, SarifJson::error_handler_t::replace) + "\n";
  }

private:
  static SarifJson location(const CheckFrame& f) { return sarif_location(f.file, f.line != 0 ? f.line : f.ptx_line); }
  SarifJson result(std::string_view rule, std::string_view level, const std::string& message) {
    const std::size_t index = rules_.index(rule);
    return {{"ruleId", rule}, {"ruleIndex", index}, {"level", level}, {"message", {{"text", message}}}};
  }
  SarifRules rules_;
  SarifJson results_ = SarifJson::array();
};

} // namespace

std::string sarif_report(std::span<const LaunchReport> reports, std::span<const Condition> conditions) {
  SarifWriter writer;
  for (const KernelGroup& group : kernel_groups(reports))
    for (const IdenticalLaunches& same : group.sets)
      for (const analyzers::Finding& f : reports[same[0]].findings) writer.finding(reports[same[0]], f, same.size());
  for (const MetCondition& met : met_conditions(conditions, reports)) writer.condition(reports[met.launch], met);
  for (const LaunchReport& r : reports)
    if (r.trap) writer.trap(r);
  return writer.text();
}

std::string sarif_of_messages(std::span<const CheckMessage> messages) {
  SarifWriter writer;
  for (const CheckMessage& m : messages) writer.message(m);
  return writer.text();
}

} // namespace warplens::api
