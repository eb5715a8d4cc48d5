// SPDX-License-Identifier: Apache-2.0
// Findings as JUnit XML, in the form that Jenkins, GitLab and GitHub actions read: testsuites, testsuite, testcase,
// failure, error.
#include "analyzers/finding_kinds.hpp"
#include "api/files/xml.hpp"
#include "api/report/check_files.hpp"
#include "api/report/launch_groups.hpp"
#include "api/report/report_files.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace warplens::api {

namespace {

struct TestCase {
  std::string name;
  std::vector<std::string> failures; ///< texts; none: passed
  std::string error;                 ///< empty: none
};

struct TestSuite {
  std::string kernel;
  std::vector<TestCase> cases;
};

std::string finding_place(const analyzers::Finding& f) {
  if (f.source_line != 0) return fmt::format("{}:{}: ", f.source_file, f.source_line);
  return f.lines.empty() ? "" : fmt::format("PTX line {}: ", f.lines.front());
}

std::string suite_text(const TestSuite& suite) {
  std::string cases;
  std::size_t failures = 0, errors = 0;
  for (const TestCase& c : suite.cases) {
    failures += c.failures.empty() ? 0 : 1;
    errors += c.error.empty() ? 0 : 1;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml_text(suite.kernel), xml_text(c.name));
    if (c.failures.empty() && c.error.empty()) {
      cases += "/>\n";
      continue;
    }
    cases += ">\n";
    const std::string element = c.error.empty() ? "failure" : "error";
    std::string text = c.error;
    for (const std::string& one : c.failures) text += (text.empty() ? "" : "\n") + one;
    const std::string first = text.substr(0, text.find('\n'));
    cases += fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", element, xml_text(first),
                         xml_text(c.name), xml_text(text));
    cases += "    </testcase>\n";
  }
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n{}  </testsuite>\n",
      xml_text(suite.kernel), suite.cases.size(), failures, errors, cases);
}

std::string suites_text(std::span<const TestSuite> suites) {
  std::string text;
  std::size_t tests = 0, failures = 0, errors = 0;
  for (const TestSuite& suite : suites) {
    text += suite_text(suite);
    tests += suite.cases.size();
    for (const TestCase& c : suite.cases) {
      failures += c.failures.empty() ? 0 : 1;
      errors += c.error.empty() ? 0 : 1;
    }
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"Warplens\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}</testsuites>\n",
                     tests, failures, errors, text);
}

std::string message_place(const CheckMessage& m) {
  if (!m.at || m.at->frames.empty()) return m.call.empty() ? "" : m.call + ": ";
  const CheckFrame& f = m.at->frames.front();
  return fmt::format("{}:{}: ", f.file, f.line != 0 ? f.line : f.ptx_line);
}

} // namespace

std::string junit_report(std::span<const LaunchReport> reports, std::span<const Condition> conditions) {
  std::vector<TestSuite> suites;
  std::map<std::string, std::size_t> by_kernel; // to `suites`
  const auto suite_of = [&](const LaunchReport& r) -> TestSuite& {
    const auto [known, fresh] = by_kernel.try_emplace(r.kernel, suites.size());
    if (fresh) suites.push_back({source_name(r.kernel), {}});
    return suites[known->second];
  };
  for (const KernelGroup& group : kernel_groups(reports)) {
    TestSuite& suite = suite_of(reports[group.sets[0][0]]);
    for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) {
      TestCase one{std::string(kind.name), {}, {}};
      for (const IdenticalLaunches& same : group.sets)
        for (const analyzers::Finding& f : reports[same[0]].findings)
          if (f.rule == kind.name && f.severity != Severity::note) one.failures.push_back(finding_place(f) + f.message);
      suite.cases.push_back(std::move(one));
    }
    for (const Condition& condition : conditions) {
      TestCase one{condition.text(), {}, {}};
      for (const MetCondition& met : met_conditions({&condition, 1}, reports))
        if (reports[met.launch].kernel == group.kernel) one.failures.push_back(met.text());
      suite.cases.push_back(std::move(one));
    }
  }
  for (const LaunchReport& r : reports)
    if (r.trap) suite_of(r).cases.push_back({std::string(analyzers::kTrapFinding), {}, r.trap->message});
  return suites_text(suites);
}

std::string junit_of_messages(exec::Tools tools, std::span<const CheckMessage> messages) {
  std::vector<TestSuite> suites;
  for (const exec::Tool tool :
       {exec::Tool::memcheck, exec::Tool::racecheck, exec::Tool::initcheck, exec::Tool::synccheck}) {
    if (!tools.has(tool)) continue;
    TestSuite suite{std::string(exec::name_of(tool)), {}};
    for (std::size_t i = 0; i < exec::kToolFindingKinds; ++i) {
      const auto kind = static_cast<exec::ToolFinding::Kind>(i);
      if (exec::tool_of(kind) != tool) continue;
      TestCase one{std::string(exec::id_of(kind)), {}, {}};
      for (const CheckMessage& m : messages)
        if (m.kind == kind)
          one.failures.push_back(message_place(m) + m.title + (m.detail.empty() ? "" : ". " + m.detail));
      suite.cases.push_back(std::move(one));
    }
    suites.push_back(std::move(suite));
  }
  return suites_text(suites);
}

} // namespace warplens::api
