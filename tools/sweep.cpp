// SPDX-License-Identifier: Apache-2.0
// warplens sweep: runs one launch under many configurations.
#include "api/plan/launch_file.hpp"
#include "api/report/table.hpp"
#include "api/sweep/sweep_json.hpp"
#include "tools/command_line.hpp"
#include "tools/launch_options.hpp"
#include "tools/limit_options.hpp"
#include "tools/module_file.hpp"
#include "tools/output.hpp"
#include "tools/plot.hpp"
#include "tools/ranks.hpp"
#include "tools/sweep_axes.hpp"
#include "tools/sweep_program.hpp"
#include "tools/sweep_result.hpp"
#include "tools/sweep_run.hpp"
#include "tools/sweep_submit.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
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
       warplens sweep RESULTS … [OPTION…]
       warplens sweep [OPTION…] -- PROGRAM [ARGUMENT…]

Runs a launch under every combination of the given values (blocks, devices, rules, sizes, …), shows one table, and
recommends a configuration. A folder stands for every launch file in it or, if there is none, for the launch.toml of
every folder in it. Configurations that differ only in device, rule, first-level cache or registers are emulated once.

A LIST consists of values and ranges, separated by commas: 64,128   64..1024*2   32..256+32   1..8
If the block varies, the grid changes so that its threads stay as in the launch file, in each dimension. --total sets
other threads, --grid sets other blocks, and --grid fixed keeps the blocks of the launch file.

RESULTS are files of --results: their rows are shown, and nothing is run.

A PROGRAM runs once for each combination of --device, --l1 and --registers, as 'warplens exec' runs it; the table has
the predicted time of all its launches. --analyzers, --csv, --json and --html apply, too.

)";

constexpr std::string_view kSweepExamples = R"(
Examples:
  warplens sweep samples/vector_add/launch.toml --block 32..1024*2 --device gtx280,gtx480
  warplens sweep samples/ubench/launch.toml --index all --block all:192 --l1 off,on --csv ubench.csv
  warplens sweep samples/fmm_ulist/launch.toml --kernel 'cuda*' --block 64,128 --grid fixed --results fmm.jsonl
  warplens sweep l.toml --set arg.0.s32=1024..65536*2 --with buffer.x.count=1024..65536*2 --with total=1024..65536*2
  warplens sweep l.toml --block 64,128 --with shared=1024,2048 --by transactions --json sweep.json
  warplens sweep l.toml --set arg.1.f32=1..10000 --results rows.jsonl --submit slurm --shards 16
  warplens sweep rows.jsonl --csv rows.csv
  warplens sweep --device h200,a100,gtx480 --html sweep.html -- ./vectorAdd
Exit status: 0 success; 1 a configuration has no result (the table shows why); 2 bad usage or input.
)";

constexpr std::size_t kMostShown = 1000; ///< rows of the table as text
constexpr const char* kOutputs[] = {"csv", "json", "html", "plot"};

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
  add("results", po::value<std::string>()->value_name("FILE"),
      "append each run to FILE as soon as it is complete, and do not run what FILE has; 'warplens sweep FILE' shows "
      "the "
      "table, also while it grows");
  add("resume", po::value<std::string>()->value_name("FILE"), "the same as --results");
  add("shard", po::value<std::string>()->value_name("I/N"), "of --results: run only the I-th of N parts");
  add("submit", po::value<std::string>()->value_name("NAME|FILE"),
      "of --results: write a script that runs all shards, and start it: slurm (an array job), local (processes), or a "
      "template of your own");
  add("shards", po::value<unsigned>()->value_name("N"), "of --submit: the number of shards; default 8");
  add("dry-run", "of --submit: only write the script, and show how to start it");
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

/// What to beware of, whichever configuration is recommended.
std::string cautions(const std::vector<SweepRow>& rows, const Ranking& ranking) {
  std::string text;
  if (!ranking.by_time()) return text;
  for (const api::SweepNote& note : api::sweep_notes(rows))
    if (note.caution) text += api::wrapped("caution: " + note.text, "  ");
  return text.empty() ? "" : "\n" + text;
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
  write_to("json", [&] { return api::json_sweep(rows, recommended_settings(recommended)); });
  write_to("html", [&] { return sweep_page(rows, recommended, ranking); });
  if (values.count("plot") != 0)
    draw(sweep_plot(rows, ranking, values.count("x") != 0 ? values["x"].as<std::string>() : ""),
         values["plot"].as<std::string>());
  if (!quiet) {
    const Style style = style_for(STDOUT_FILENO);
    write(rows.size() <= kMostShown ? sweep_text(rows, ranking, metrics, style)
                                    : fmt::format("{} configurations: --csv FILE writes them\n", rows.size()));
    write(recommendation_text(recommended, ranking, style));
    write(cautions(rows, ranking));
  }
  return std::all_of(rows.begin(), rows.end(), [](const SweepRow& r) { return r.failure.empty(); }) ? kFine : kFound;
}

/// The requested analyzers; also `caches` if the first-level cache varies.
Strings analyzers_of(const po::variables_map& values) {
  Strings names = words(values["analyzers"].as<std::string>());
  if (values.count("l1") != 0 && std::find(names.begin(), names.end(), "caches") == names.end() &&
      std::find(names.begin(), names.end(), "all") == names.end())
    names.emplace_back("caches");
  return names;
}

/// The file of --results, or of --resume, its first name; empty: none.
std::string results_of(const po::variables_map& values) {
  const bool results = values.count("results") != 0;
  if (results && values.count("resume") != 0)
    throw UsageError{"--results and --resume are the same option", "give one of them"};
  return results                       ? values["results"].as<std::string>()
         : values.count("resume") != 0 ? values["resume"].as<std::string>()
                                       : "";
}

RunOptions run_options(const po::variables_map& values) {
  RunOptions options;
  options.limits = limits_of(values);
  options.sweep.model = values["model"].as<std::string>();
  options.sweep.launch.analyzers = analyzers_of(values);
  options.sweep.launch.max_steps = values["max-steps"].as<std::uint64_t>();
  options.sweep.read_module = read_module;
  if (!options.sweep.model.empty() && model::find_model(options.sweep.model) == nullptr)
    throw UsageError{fmt::format("--model {}: there is no such model", options.sweep.model), "warplens list models"};
  options.jobs = values["jobs"].as<unsigned>();
  if (options.jobs > 1024) throw UsageError{"--jobs: expected 0 to 1024", ""};
  const RankPlace place = rank_place();
  if (options.jobs == 0) options.jobs = std::max(1u, api::default_jobs() / place.here);
  if (values.count("shard") != 0) options.shard = parse_shard(values["shard"].as<std::string>());
  options.shard.begin = static_cast<double>(place.rank) / place.count;
  return options;
}

bool has_outputs(const po::variables_map& values) {
  return std::any_of(std::begin(kOutputs), std::end(kOutputs),
                     [&](const char* name) { return values.count(name) != 0; });
}

/// Options that need the whole table, and options that need the file.
void check_options(const po::variables_map& values, bool file) {
  if (values.count("plot") != 0) check_plot_name(values["plot"].as<std::string>());
  if (values.count("html") != 0) check_html(values["html"].as<std::string>());
  FileOptions files;
  for (const char* name : {"csv", "json"})
    if (values.count(name) != 0) files.emplace_back(name, values[name].as<std::string>());
  check_standard_output(files);
  for (const char* name : {"shard", "submit"}) {
    if (values.count(name) == 0) continue;
    if (!file) throw UsageError{fmt::format("--{} needs --results FILE", name), ""};
    if (has_outputs(values))
      throw UsageError{
          fmt::format("--{} does not have the whole table", name),
          fmt::format("afterwards, use warplens sweep {} with the options for output", results_of(values))};
  }
  for (const char* name : {"shards", "dry-run"})
    if (values.count(name) != 0 && values.count("submit") == 0)
      throw UsageError{fmt::format("--{} needs --submit", name), ""};
}

std::string counts_text(const SweepCounts& counts, const std::string& file) {
  std::string text = fmt::format("{} configurations have been run", counts.run);
  if (counts.recorded != 0) text += fmt::format(", {} were in the file", counts.recorded);
  if (counts.failed != 0) text += fmt::format("; {} have no result", counts.failed);
  if (counts.lost != 0) text += fmt::format("; {} are not known, because their process died twice", counts.lost);
  if (counts.out_of_time) text += "; others have not been run: time limit reached";
  if (counts.run != 0)
    text += fmt::format(". The processes computed {:.0f} % of {:.1f} s", 100 * counts.share, counts.seconds);
  return api::wrapped(text, "") + fmt::format("warplens sweep {} shows the table.\n", file);
}

/// The rows of the file in the order of the configurations; `others`: rows that are not there.
std::vector<SweepRow> rows_in_order(const SweepSpace& space, SweepInputs& inputs, const std::string& file,
                                    const std::map<std::size_t, SweepRow>& others) {
  const api::SweepTableReader table = value_or_throw(api::read_sweep_tables({&file, 1}));
  std::vector<SweepRow> rows;
  rows.reserve(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Settings settings = space.at(i);
    const auto other = others.find(i);
    if (const SweepRow* row = table.find(inputs.head(settings).run); row != nullptr && other == others.end())
      rows.push_back(*row);
    else
      rows.push_back(other != others.end() ? other->second
                                           : row_without_result(settings, "not run: time limit reached"));
  }
  return rows;
}

int run_into_file(const SweepSpace& space, SweepInputs& inputs, const RunOptions& options,
                  const po::variables_map& values) {
  SweepFile file(results_of(values));
  std::map<std::size_t, SweepRow> others;
  const SweepCounts counts = run_sweep(
      space, inputs, options, &file, [&](std::size_t i, SweepRow row) { others.insert_or_assign(i, std::move(row)); });
  if (rank_place().rank != 0) return kFine; // rank 0 waits for all runs, and shows them
  if (has_outputs(values) || (options.shard.count == 1 && space.size() <= kMostShown))
    return show(rows_in_order(space, inputs, file.name(), others), values);
  write(counts_text(counts, file.name()));
  return counts.failed == 0 && counts.lost == 0 && !counts.out_of_time ? kFine : kFound;
}

int sweep_all(const CommandLine& line) {
  const po::variables_map& values = line.values;
  const RunOptions options = run_options(values);
  const LimitGuard guard(options.limits);
  const SweepSpace space = sweep_space(values, axes_of(line.options));
  const std::string file = results_of(values);
  check_options(values, !file.empty());
  if (file.empty() && rank_place().count > 1)
    throw UsageError{"an MPI launcher has started several processes", "they share a sweep by --results FILE"};
  SweepInputs inputs({{"model", options.sweep.model},
                      {"analyzers", fmt::format("{}", fmt::join(options.sweep.launch.analyzers, ","))},
                      {"max-steps", fmt::format("{}", options.sweep.launch.max_steps)}});
  space.each_value([&](const Settings& settings) { inputs.add(settings); });
  if (values.count("submit") != 0) return submit_sweep(line, file);
  if (!file.empty()) return run_into_file(space, inputs, options, values);
  std::vector<SweepRow> rows(space.size());
  run_sweep(space, inputs, options, nullptr, [&](std::size_t i, SweepRow row) { rows[i] = std::move(row); });
  return show(rows, values);
}

bool is_table(const std::string& name) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(name, ignored)) return false;
  std::ifstream file(name, std::ios::binary);
  std::string start(16, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return api::is_sweep_table(start);
}

/// The table of files that sweeps have written, or are writing.
int show_tables(const CommandLine& line) {
  constexpr std::string_view kTaken[] = {"input", "by",   "largest", "ties", "metrics",
                                         "csv",   "json", "html",    "plot", "x"};
  for (const auto& option : line.options)
    if (std::find(std::begin(kTaken), std::end(kTaken), option.string_key) == std::end(kTaken))
      throw UsageError{fmt::format("--{} needs a launch file, not a table", option.string_key), ""};
  check_options(line.values, false);
  const api::SweepTable table = value_or_throw(api::read_sweep_tables(line.inputs)).finish();
  if (table.rows.empty()) throw UsageError{fmt::format("'{}' has no run yet", line.inputs.front()), ""};
  if (const std::string note = table.note(); !note.empty()) {
    Diagnostics warnings;
    warnings.warning({}, fmt::format("warplens: {}: {}", line.inputs.front(), note));
    print(warnings);
  }
  return show(table.rows, line.values);
}

} // namespace

int sweep(const Strings& arguments) {
  const po::options_description visible = sweep_options();
  const auto program = std::find(arguments.begin(), arguments.end(), "--");
  const CommandLine line = parse_command_line({arguments.begin(), program}, visible, {"jobs", "max-steps", "shards"});
  if (line.values.count("help") != 0) return show_help(kSweepHelp, visible, kSweepExamples);
  if (program != arguments.end()) return sweep_program(line, axes_of(line.options), {program + 1, arguments.end()});
  if (line.inputs.empty()) throw UsageError{"no launch file", "warplens sweep LAUNCH.toml --block 64,128,256"};
  if (std::any_of(line.inputs.begin(), line.inputs.end(), is_table)) return show_tables(line);
  return sweep_all(line);
}

} // namespace warplens::tools
