// SPDX-License-Identifier: Apache-2.0
// warplens sweep: runs one launch under many configurations.
#include "api/html/page.hpp"
#include "api/plan/launch_file.hpp"
#include "tools/command_line.hpp"
#include "tools/launch_options.hpp"
#include "tools/limit_options.hpp"
#include "tools/module_file.hpp"
#include "tools/output.hpp"
#include "tools/plot.hpp"
#include "tools/progress.hpp"
#include "tools/sweep_axes.hpp"
#include "tools/sweep_file.hpp"
#include "tools/sweep_program.hpp"
#include "tools/sweep_result.hpp"
#include "tools/workers.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;
using analyzers::MetricId;
using api::Settings;
using api::SweepRow;

constexpr std::string_view kSweepHelp = R"(usage: warplens sweep LAUNCH.toml | FOLDER … [OPTION…]
       warplens sweep [OPTION…] -- PROGRAM [ARGUMENT…]

Runs a launch under every combination of the given values (blocks, devices, rules, sizes, …), shows one table, and
recommends a configuration. A folder stands for every launch file in it or, if there is none, for the launch.toml of
every folder in it. Configurations that differ only in device, rule, first-level cache or registers are emulated once.

A LIST consists of values and ranges, separated by commas: 64,128   64..1024*2   32..256+32   1..8
If the block varies, the grid changes so that its threads stay as in the launch file, in each dimension. --total sets
other threads, --grid sets other blocks, and --grid fixed keeps the blocks of the launch file.

A PROGRAM runs once for each combination of --device, --l1 and --registers, as 'warplens exec' runs it; the table has
the predicted time of all its launches. --analyzers and --csv apply, too.

)";

constexpr std::string_view kSweepExamples = R"(
Examples:
  warplens sweep samples/vector_add/launch.toml --block 32..1024*2 --device gtx280,gtx480
  warplens sweep samples/ubench/launch.toml --index all --block all:192 --l1 off,on --csv ubench.csv
  warplens sweep samples/fmm_ulist/launch.toml --kernel 'cuda*' --block 64,128 --grid fixed --resume fmm.jsonl
  warplens sweep l.toml --set arg.0.s32=1024..65536*2 --with buffer.x.count=1024..65536*2 --with total=1024..65536*2
  warplens sweep l.toml --block 64,128 --with shared=1024,2048 --by transactions --json sweep.json
  warplens sweep --device h200,a100,gtx480 -- ./vectorAdd
Exit status: 0 success; 1 a configuration has no result (the table shows why); 2 bad usage or input.
)";

/// Options whose values become settings of the same name.
struct AxisOption {
  const char* name;
  const char* value;
  const char* help;
};
constexpr AxisOption kAxes[] = {
    {"block", "LIST", "block size in threads: 64, 16x16, 8x8x4; all:256 is every two-dimensional shape of 256 threads"},
    {"grid", "LIST|fixed", "grid size in blocks, in the same form; fixed: as in the launch file for every block size"},
    {"total", "LIST", "threads of the grid: 65536, 1024x768; the grid gets as many blocks as they need"},
    {"shared", "LIST", "dynamic shared memory per block, in bytes"},
    {"registers", "LIST", "registers per thread, for the occupancy"},
    {"device", "LIST", "GPUs to emulate: names from 'warplens list devices' or device files"},
    {"rule", "LIST",
     "rules for global or shared memory instead of the device's: names from 'warplens list rules' or files"},
    {"l1", "LIST", "first-level cache for global loads: off, on, enlarged"},
};

po::options_description sweep_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  for (const AxisOption& axis : kAxes) add(axis.name, po::value<Strings>()->value_name(axis.value), axis.help);
  add("set", po::value<Strings>()->value_name("KEY=LIST"),
      "values of the launch file, as for 'warplens run': buffer.x.count=64..1024*2, arg.1.f32=1,2");
  add("with", po::value<Strings>()->value_name("KEY=LIST"),
      "vary together with the option before it, value by value; KEY is as for --set, or the name of an option above");
  add("index", po::value<std::string>()->value_name("LIST|all"),
      "the launch of a file with several; the first is 0, the default is the last. Earlier ones run without analysis");
  add("kernel", po::value<std::string>()->value_name("LIST"), "kernels of the module; * and ? are wildcards");
  add("model", po::value<std::string>()->value_name("NAME")->default_value(""),
      "the model that predicts the time; the default is the most suitable one for the device");
  add("by", po::value<std::string>()->value_name("METRIC")->default_value("milliseconds"),
      "rank by this metric: transactions, occupancy, sim.milliseconds, or any metric of the JSON report");
  add("largest", "the largest value is the best");
  add("ties", po::value<double>()->value_name("PERCENT")->default_value(5),
      "values this close to the best are as good");
  add("analyzers", po::value<std::string>()->value_name("NAME[,NAME…]")->default_value(""),
      "run further analyzers: see 'warplens list analyzers'");
  add("metrics", po::value<std::string>()->value_name("NAME[,NAME…]|all")->default_value(""),
      "additional columns of the CSV and of the table");
  add("csv", po::value<std::string>()->value_name("FILE"),
      "write the table as CSV; '-' writes it to standard output instead of the text");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write all rows with all metrics as JSON; '-' as for --csv");
  add("html", po::value<std::string>()->value_name("FILE"), "write all rows as an HTML page with plots");
  add("plot", po::value<std::string>()->value_name("FILE.svg|png"),
      "draw the ranking metric over the block if it varies, else over the last varying setting; requires gnuplot");
  add("x", po::value<std::string>()->value_name("NAME"), "the setting for the plot's x axis");
  add("resume", po::value<std::string>()->value_name("FILE"),
      "save each row in FILE as soon as it is complete, and skip configurations that FILE already contains");
  add("jobs", po::value<unsigned>()->value_name("N")->default_value(0),
      "number of processes; 0: as many as the machine has cores");
  add_max_steps_option(options);
  add_limit_options(options);
  add("help,h", "show this help");
  return options;
}

Strings words(const std::string& list) {
  Strings result;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) result.push_back(word);
  return result;
}

/// "KEY=LIST" as an axis; a list of shapes if the key takes shapes.
Axis parse_axis(const std::string& name, const std::string& list, const std::string& option) {
  const bool shapes = name == "block" || name == "total" || (name == "grid" && list != "fixed");
  Axis axis{{name}, {}};
  for (std::string& value : shapes ? parse_shapes(list, option) : parse_values(list, option))
    axis.values.push_back({std::move(value)});
  return axis;
}

std::pair<std::string, std::string> key_and_list(const std::string& text, const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) throw UsageError{fmt::format("{} {}: expected KEY=LIST", option, text), ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void add_beside(Axis& axis, const Axis& other, const std::string& text) {
  if (axis.values.size() != other.values.size())
    throw UsageError{fmt::format("--with {}: {} values, but {} has {}", text, other.values.size(), axis.names.front(),
                                 axis.values.size()),
                     "both need the same number of values"};
  axis.names.push_back(other.names.front());
  for (std::size_t i = 0; i < axis.values.size(); ++i) axis.values[i].push_back(other.values[i].front());
}

/// The axes in the order of the command line.
std::vector<Axis> axes_of(const std::vector<po::option>& options) {
  std::vector<Axis> axes;
  for (const po::option& option : options) {
    const std::string name = "--" + option.string_key;
    const bool is_axis = std::any_of(std::begin(kAxes), std::end(kAxes),
                                     [&](const AxisOption& a) { return option.string_key == a.name; });
    for (const std::string& text : option.value) {
      if (is_axis) axes.push_back(parse_axis(option.string_key, text, name));
      if (option.string_key != "set" && option.string_key != "with") continue;
      const auto [key, list] = key_and_list(text, name);
      Axis axis = parse_axis(key, list, name);
      if (option.string_key == "set")
        axes.push_back(std::move(axis));
      else if (axes.empty())
        throw UsageError{fmt::format("--with {}: there is no option before it to vary together with", text), ""};
      else
        add_beside(axes.back(), axis, text);
    }
  }
  std::set<std::string> names;
  for (const Axis& axis : axes)
    for (const std::string& name : axis.names)
      if (!names.insert(name).second)
        throw UsageError{fmt::format("'{}' is given twice", name), "put all values into one list"};
  return axes;
}

/// The given launch files, and those in the given folders, sorted by name.
Strings launch_files(const Strings& inputs) {
  Strings files;
  for (const std::string& input : inputs) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(input, ignored)) {
      files.push_back(input);
      continue;
    }
    Strings found, below;
    for (const auto& entry : std::filesystem::directory_iterator(input)) {
      if (entry.path().extension() == ".toml") found.push_back(entry.path().string());
      const std::filesystem::path of_sample = entry.path() / "launch.toml";
      if (std::filesystem::is_regular_file(of_sample, ignored)) below.push_back(of_sample.string());
    }
    if (found.empty()) found = std::move(below);
    if (found.empty()) throw UsageError{fmt::format("there is no launch file in the folder '{}'", input), ""};
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// The kernels of a launch's module that match the patterns, in source order.
Strings kernels_of(const api::LaunchPlan& launch, const std::string& list) {
  const auto sources = value_or_throw(read_module(launch.module, api::device_or_default({})->capability));
  auto context = value_or_throw(api::Context::create());
  const auto module = value_or_throw(api::Module::load(context, sources));
  Strings names;
  for (const std::string& pattern : words(list)) {
    const std::size_t before = names.size();
    for (const auto* kernel : module->kernels())
      if (const std::string name(kernel->name); fnmatch(pattern.c_str(), name.c_str(), 0) == 0) names.push_back(name);
    if (names.size() == before)
      throw UsageError{fmt::format("--kernel {}: '{}' has no such kernel", pattern, launch.module.string()),
                       "warplens check lists the kernels"};
  }
  return names;
}

/// All configurations to run, in the order of the table.
std::vector<Settings> configurations(const po::variables_map& values, const std::vector<Axis>& axes) {
  std::vector<Settings> all;
  for (const std::string& file : launch_files(values["input"].as<Strings>())) {
    const Settings base{{"launch", file}};
    const api::SweepPlan plan = value_or_throw(api::sweep_plan(base));
    std::vector<Axis> own;
    std::size_t launch = plan.launch;
    if (values.count("index") != 0) {
      const auto& list = values["index"].as<std::string>();
      own.push_back(
          parse_axis("index", list == "all" ? fmt::format("0..{}", plan.plan.launches.size() - 1) : list, "--index"));
      for (const auto& one : own.back().values) {
        launch = value_or_throw(api::sweep_plan({{"launch", file}, {"index", one.front()}})).launch;
      }
    }
    if (values.count("kernel") != 0) {
      Axis kernels{{"kernel"}, {}};
      for (const std::string& name : kernels_of(plan.plan.launches[launch], values["kernel"].as<std::string>()))
        kernels.values.push_back({name});
      own.push_back(std::move(kernels));
    }
    own.insert(own.end(), axes.begin(), axes.end());
    for (Settings& settings : combinations(base, own)) all.push_back(std::move(settings));
  }
  return all;
}

/// Rejects unknown devices, rules and keys as bad input, before they become a table of failures.
void check(const std::vector<Settings>& all) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const Settings& settings : all)
    for (const auto& [name, value] : settings) {
      if (!seen.insert({name, value}).second) continue;
      if (name == "device") value_or_throw(api::load_device(value));
      if (name == "rule") value_or_throw(api::load_rules({&value, 1}));
      if (const auto level = api::parse_first_level(value); name == "l1" && !level)
        throw UsageError{"--" + level.error().list().front().message, ""};
      if (name == "registers" && value.find_first_not_of("0123456789") != value.npos)
        throw UsageError{fmt::format("--registers {}: expected a whole number", value), ""};
      if (name != "launch" && name != "device" && name != "rule" && name != "l1")
        value_or_throw(api::sweep_plan(settings));
    }
}

/// Runs the configurations without a row and adds their rows, which arrive in any order.
void run_all(const std::vector<Settings>& all, std::vector<std::optional<SweepRow>>& rows,
             const api::SweepOptions& options, const api::RunLimits& limits, unsigned jobs, SweepFile* file) {
  std::vector<std::size_t> open;
  std::vector<Settings> missing;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!rows[i]) open.push_back(i), missing.push_back(all[i]);
  const auto groups = api::share_emulations(missing);
  if (groups.empty()) return;
  const auto count = static_cast<unsigned>(std::min<std::size_t>(jobs, groups.size()));
  api::SweepOptions each = options;
  each.launch.workers = std::max(1u, jobs / count);
  Workers workers(count, [&](std::size_t job) {
    static const LimitGuard guard(limits); // per process; the time started with the sweep
    std::vector<Settings> group;
    for (const std::size_t i : groups[job]) group.push_back(missing[i]);
    std::string lines;
    for (const SweepRow& row : api::run_configurations(group, each)) lines += api::sweep_line(row);
    return lines;
  });
  Progress progress;
  std::size_t known = all.size() - missing.size();
  progress.now(fmt::format("{} of {} configurations", known, all.size()), known, all.size());
  workers.run(groups.size(), [&](std::size_t job, Expected<std::string> result) {
    std::istringstream lines(result ? *result : std::string());
    for (const std::size_t i : groups[job]) {
      SweepRow row{};
      if (std::string line; std::getline(lines, line)) {
        row = value_or_throw(api::parse_sweep_line(line));
        if (file != nullptr && row.failure.find(exec::kOutOfTime) == row.failure.npos) file->append(row);
      } else {
        row.settings = missing[i];
        row.failure = result ? "the process returned no row" : result.error().list().front().message;
      }
      rows[open[i]] = std::move(row);
    }
    known += groups[job].size();
    progress.now(
        fmt::format("{} of {} configurations, last: {}", known, all.size(), api::text_of(missing[groups[job].back()])),
        known, all.size());
  });
}

constexpr MetricId kUsualMetrics[] = {MetricId::milliseconds,
                                      MetricId::occupancy,
                                      MetricId::resident_warps,
                                      MetricId::transactions,
                                      MetricId::transactions_per_request,
                                      MetricId::warp_instructions,
                                      MetricId::bank_conflict_passes,
                                      MetricId::divergent_branch};

Strings csv_metrics(std::span<const SweepRow> rows, const Strings& asked, const std::string& by) {
  Strings names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const MetricId metric : kUsualMetrics) add(std::string(analyzers::info(metric).name));
  for (const SweepRow& row : rows)
    for (const analyzers::NamedValue& m : row.metrics)
      if (m.name.ends_with(".milliseconds")) add(m.name);
  add(by);
  for (const std::string& name : asked) add(name);
  return names;
}

int show(const std::vector<SweepRow>& rows, const po::variables_map& values) {
  const Ranking ranking{values["by"].as<std::string>(), values.count("largest") != 0, values["ties"].as<double>()};
  const Strings metrics = words(values["metrics"].as<std::string>());
  const bool any = std::any_of(rows.begin(), rows.end(), [](const SweepRow& r) { return r.failure.empty(); });
  const auto has = [&](const std::string& name) {
    return std::any_of(rows.begin(), rows.end(), [&](const SweepRow& r) { return r.number(name).has_value(); });
  };
  const std::string near = analyzers::did_you_mean_metric(ranking.metric);
  if (any && !has(ranking.metric))
    throw UsageError{fmt::format("--by {}: no row has this metric", ranking.metric),
                     near.empty() ? "--metrics all --csv - shows the names" : near};
  const std::vector<Recommendation> recommended = recommend(rows, ranking);
  bool quiet = false;
  const auto write_to = [&](const char* option, const auto& text) {
    if (values.count(option) == 0) return;
    const auto& file = values[option].as<std::string>();
    write_file(file, text());
    quiet = quiet || file == "-";
  };
  write_to("csv", [&] { return sweep_csv(rows, csv_metrics(rows, metrics, ranking.metric)); });
  write_to("json", [&] {
    const bool one = recommended.size() == 1;
    return api::json_sweep(rows, one ? recommended.front().best->settings : Settings{});
  });
  write_to("html", [&] {
    const bool one = recommended.size() == 1;
    return value_or_throw(api::html_page(api::json_sweep(rows, one ? recommended.front().best->settings : Settings{})));
  });
  if (values.count("plot") != 0)
    draw(sweep_plot(rows, ranking, values.count("x") != 0 ? values["x"].as<std::string>() : ""),
         values["plot"].as<std::string>());
  if (!quiet) {
    const Style style = style_for(STDOUT_FILENO);
    write(sweep_text(rows, ranking, metrics, style));
    write(recommendation_text(recommended, ranking, style));
  }
  return std::all_of(rows.begin(), rows.end(), [](const SweepRow& r) { return r.failure.empty(); }) ? kFine : kFound;
}

/// The requested analyzers; also `caches` if the first-level cache varies.
Strings analyzers_of(const po::variables_map& values, const std::vector<Settings>& all) {
  Strings names = words(values["analyzers"].as<std::string>());
  const bool caches =
      std::any_of(all.begin(), all.end(), [](const Settings& s) { return api::setting(s, "l1") != nullptr; });
  if (caches && std::find(names.begin(), names.end(), "caches") == names.end() &&
      std::find(names.begin(), names.end(), "all") == names.end())
    names.emplace_back("caches");
  return names;
}

int sweep_all(const po::variables_map& values, const std::vector<Axis>& axes) {
  const api::RunLimits limits = limits_of(values);
  const LimitGuard guard(limits);
  const std::vector<Settings> all = configurations(values, axes);
  check(all);
  if (values.count("plot") != 0) check_plot_name(values["plot"].as<std::string>());
  if (values.count("html") != 0) check_html(values["html"].as<std::string>());
  api::SweepOptions options;
  options.model = values["model"].as<std::string>();
  options.launch.analyzers = analyzers_of(values, all);
  options.launch.max_steps = values["max-steps"].as<std::uint64_t>();
  options.read_module = read_module;
  if (!options.model.empty() && model::find_model(options.model) == nullptr)
    throw UsageError{fmt::format("--model {}: there is no such model", options.model), "warplens list models"};
  std::vector<std::optional<SweepRow>> rows(all.size());
  std::unique_ptr<SweepFile> file;
  if (values.count("resume") != 0) {
    file = std::make_unique<SweepFile>(
        values["resume"].as<std::string>(),
        identity_of(all, {{"model", options.model},
                          {"analyzers", fmt::format("{}", fmt::join(options.launch.analyzers, ","))},
                          {"max-steps", fmt::format("{}", options.launch.max_steps)}}));
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const SweepRow* row = file->find(all[i])) rows[i] = *row;
  }
  unsigned jobs = values["jobs"].as<unsigned>();
  if (jobs > 1024) throw UsageError{"--jobs: expected 0 to 1024", ""};
  if (jobs == 0) jobs = api::default_jobs();
  run_all(all, rows, options, limits, jobs, file.get());
  std::vector<SweepRow> result;
  result.reserve(rows.size());
  for (auto& row : rows) result.push_back(std::move(*row));
  return show(result, values);
}

} // namespace

int sweep(const Strings& arguments) {
  const po::options_description visible = sweep_options();
  const auto program = std::find(arguments.begin(), arguments.end(), "--");
  const CommandLine line = parse_command_line({arguments.begin(), program}, visible, {"jobs", "max-steps"});
  const po::variables_map& values = line.values;
  if (values.count("help") != 0) return show_help(kSweepHelp, visible, kSweepExamples);
  if (program != arguments.end()) return sweep_program(line, axes_of(line.options), {program + 1, arguments.end()});
  if (line.inputs.empty()) throw UsageError{"no launch file", "warplens sweep LAUNCH.toml --block 64,128,256"};
  return sweep_all(values, axes_of(line.options));
}

} // namespace warplens::tools
