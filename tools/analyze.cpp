// SPDX-License-Identifier: Apache-2.0
// warplens analyze: reports from a trace, without emulation.
#include "api/report/json_report.hpp"
#include "api/report/report_text.hpp"
#include "api/trace/trace.hpp"
#include "tools/command_line.hpp"
#include "tools/launch_options.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/ranks.hpp"
#include "tools/report_options.hpp"
#include "tools/trace_options.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;

const std::string kAnalyzeHelp = R"(usage: warplens analyze TRACE.h5 [OPTION…]

Analyses the launches of a trace that 'warplens run … --trace TRACE.h5' wrote, without emulating them again.
The report is the same as that of the run, or one for another device.

)";

constexpr std::string_view kAnalyzeExamples = R"(
Examples:
  warplens run samples/transpose --trace t.h5
  warplens analyze t.h5 --device c1060
  warplens analyze t.h5 --rule 1.2 --rule my_rule.toml
  warplens analyze t.h5 --json report.json
Exit status: 0 success; 1 the kernel trapped when it was traced; 2 bad usage or input; 4 a condition of --fail-on is
true.
)";

po::options_description analyze_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("launch", po::value<std::size_t>()->value_name("N"), "only launch N; the first is 0");
  add("device", po::value<std::string>()->value_name("NAME|FILE"), "analyse for another GPU");
  add_analysis_options(options);
  add_report_options(options);
  add("time", "show how long the analysis took");
  add_limit_options(options);
  add("help,h", "show this help");
  return options;
}

struct Reports {
  model::Device device;
  std::vector<api::LaunchReport> launches;
  std::map<std::string, std::string> texts; ///< of the modules, by file
};

Reports analyze_all(const std::string& file, const po::variables_map& values, exec::Ranks* ranks) {
  Progress progress;
  progress.now("loading");
  api::ReplayOptions options;
  if (values.count("device") != 0)
    options.device = value_or_throw(api::load_device(values["device"].as<std::string>()));
  options.launch = value_or_throw(launch_options(values));
  options.launch.ranks = ranks;
  api::Trace trace = value_or_throw(api::Trace::open(file));
  const std::size_t count = trace.launches().size();
  if (count == 0) throw UsageError{fmt::format("the trace '{}' contains no launches", file), ""};
  std::size_t first = 0, last = count;
  if (values.count("launch") != 0) {
    first = values["launch"].as<std::size_t>();
    last = first + 1;
    if (first >= count)
      throw UsageError{fmt::format("--launch {}: the trace contains {} launches, counted from 0", first, count), ""};
  }
  Reports reports{options.device ? *options.device : trace.launches()[first].request.device, {}, {}};
  for (std::size_t i = first; i < last; ++i) {
    progress.now(fmt::format("launch {} of {}: {}", i + 1, count, trace.launches()[i].request.kernel.function->name),
                 i - first, last - first);
    reports.launches.push_back(value_or_throw(trace.analyze(i, options)));
    for (const api::Source& s : trace.launches()[i].request.kernel.module->sources()) reports.texts[s.file] = s.text;
  }
  return reports;
}

int show(const Reports& reports, const po::variables_map& values, ReportOptions output) {
  bool trapped = false;
  if (values.count("time") != 0)
    for (const api::LaunchReport& r : reports.launches)
      std::fputs(fmt::format("{}: analysed in {:.3f} s\n", r.kernel, r.seconds).c_str(), stderr);
  for (const api::LaunchReport& r : reports.launches) {
    if (r.trap) print(*r.trap, reports.texts);
    trapped = trapped || r.trap;
  }
  output.text.quotes = false; // a trace may name any file
  const int failed = write_report(output, reports.device, reports.launches, [&] {
    if (output.writes_stdout()) return;
    for (const api::LaunchReport& r : reports.launches) write(r.printed); // a trace's, not of a kernel that ran here
    show_text(output, reports.launches);
  });
  return trapped ? kFound : failed;
}

} // namespace

int analyze(const std::vector<std::string>& arguments) {
  exec::Ranks* const ranks = join_ranks();
  const po::options_description visible = analyze_options();
  const TraceCommand command = parse_trace_command(arguments, visible, 1, "warplens analyze TRACE.h5");
  if (command.files.empty()) return show_help(kAnalyzeHelp + report_help(), visible, kAnalyzeExamples);
  if (ranks != nullptr) ranks->start();
  const LimitGuard guard(command.values);
  const ReportOptions output = report_options(command.values, STDOUT_FILENO);
  const Reports reports = analyze_all(command.files.front(), command.values, ranks);
  if (ranks != nullptr && !ranks->is_first()) return kFine;
  for (const api::LaunchReport& r : reports.launches)
    if (!r.alone_because.empty()) tell_alone(r.kernel, r.alone_because);
  return show(reports, command.values, output);
}

} // namespace warplens::tools
