// SPDX-License-Identifier: Apache-2.0
// warplens predict: run-time predictions without emulation.
#include "api/predict/predict.hpp"
#include "api/launch/launch.hpp"
#include "api/report/prediction_text.hpp"
#include "api/report/table.hpp"
#include "tools/command_line.hpp"
#include "tools/launch_options.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <charconv>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;

constexpr std::string_view kPredictHelp = R"(usage: warplens predict PROFILE --device D [options]

Predicts the run time of launches from their statistics, and shows what limits them and what would improve them.
PROFILE is one of:
  a JSON report of 'warplens run --json'
  a CSV file of the CUDA Visual Profiler (compute capability 1.x)
  a CSV file whose column titles are fields of the statistics; --fields lists the fields

)";
constexpr std::string_view kPredictExamples = R"(
Examples:
  warplens run samples/transpose/naive.toml --json profile.json && warplens predict profile.json --device gtx280
  warplens predict profiler.csv --device c1060 --model dasgupta --terms
  warplens predict kernel.csv --device titanv --model karan-kumar --set adjusting_weight=432.8
)";

po::options_description predict_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add_device_option(options, "the device");
  add("model", po::value<Strings>()->value_name("NAME"), "only this model; may be repeated");
  add("set", po::value<Strings>()->value_name("FIELD=VALUE"),
      "set a field of the statistics, instead of the profile's value");
  add("terms", "show every intermediate result");
  add("fields", "list the fields of the statistics and the models that need them");
  add("json", po::value<std::string>()->value_name("FILE"), "write the predictions as JSON; '-' is standard output");
  add("repetitions", po::value<std::string>()->value_name("fractional|whole")->default_value("fractional"),
      "rounds of blocks: fractional, or rounded up to whole rounds");
  add("barriers", po::value<std::string>()->value_name("all|block"),
      "warps that wait at a barrier: all that MWP allows, or those of a block");
  add("special-functions", po::value<std::string>()->value_name("in-line|beside")->default_value("in-line"),
      "dasgupta: special functions (roots, sines, …) delay the other instructions, or run in parallel with them");
  add("help,h", "show this help");
  return options;
}

/// Whether the option is `second`. UsageError: it is neither word.
bool second_of(const po::variables_map& values, const char* option, std::string_view first, std::string_view second) {
  const auto& given = values[option].as<std::string>();
  if (given != first && given != second)
    throw UsageError{fmt::format("--{}: expected {} or {}, got '{}'", option, first, second, given), ""};
  return given == second;
}

model::ModelOptions options_of(const po::variables_map& values) {
  using Options = model::ModelOptions;
  Options options;
  if (second_of(values, "repetitions", "fractional", "whole")) options.repetitions = Options::Repetitions::whole;
  if (values.count("barriers") != 0)
    options.synchronization = second_of(values, "barriers", "all", "block") ? Options::Synchronization::block
                                                                            : Options::Synchronization::all_warps;
  if (second_of(values, "special-functions", "in-line", "beside"))
    options.special_functions = Options::SpecialFunctions::beside;
  return options;
}

void set_field(model::KernelStatistics& statistics, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  std::vector<std::string_view> known;
  for (const model::StatisticField& field : model::statistic_fields()) {
    known.push_back(field.name);
    if (field.name != name || equals == text.npos) continue;
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size()) break;
    field.get(statistics) = value;
    return;
  }
  const std::string near = closest(name, known);
  throw UsageError{fmt::format("--set: expected FIELD=NUMBER, got '{}'", text),
                   near.empty() || near == name ? "warplens predict --fields lists the fields"
                                                : fmt::format("did you mean '{}'?", near)};
}

int list_fields() {
  const Style style = style_for(STDOUT_FILENO);
  api::Table table({{"field"}, {"unit"}, {"meaning"}, {"needed by"}});
  for (const model::StatisticField& field : model::statistic_fields())
    table.row({std::string(field.name), std::string(field.unit), std::string(field.meaning),
               fmt::format("{}", fmt::join(model::models_requiring(field.name), ", "))});
  write(table.text(style.dim, style.reset));
  return kFine;
}

std::string patterns_text(const model::Patterns& p, const model::KernelStatistics& s) {
  api::Table table({{"pattern alone"}, {"slowdown", api::Table::right}, {""}});
  const auto factor = [](double f) { return f > 1 ? fmt::format("{:.3g} times", f) : std::string("none"); };
  table.row({"branching", factor(p.branching), "inactive lanes"});
  table.row({"global memory", factor(p.global_access), "bytes moved but not requested"});
  if (p.bank_conflicts)
    table.row({"bank conflicts", factor(*p.bank_conflicts), "passes over the banks beyond the first"});
  else
    table.row({"bank conflicts", "unknown",
               fmt::format("{:.3g} passes per warp beyond the first; the device has no cost of a pass",
                           s.bank_conflict_passes.value_or(0))});
  table.row({"block size", factor(p.partitioning), "lanes of warps without a thread"});
  return table.text();
}

void show(const api::PredictedLaunch& p, const model::Device& device, bool terms) {
  const Style style = style_for(STDOUT_FILENO);
  std::string text = fmt::format("{}{}{} on {}", style.bold, p.launch.kernel, style.reset, device.name);
  if (p.launch.milliseconds) text += fmt::format(", measured {:.4g} ms", *p.launch.milliseconds);
  text += "\n";
  for (const std::string& remark : p.launch.remarks) text += api::wrapped(remark, "  ");
  for (const model::Prediction& prediction : p.predictions) {
    text += "\n" + prediction_text(prediction, style, terms);
    if (p.launch.milliseconds)
      text += fmt::format("    {:+.1f} % relative to the measured time\n",
                          100 * (prediction.milliseconds / *p.launch.milliseconds - 1));
  }
  if (p.patterns) text += "\n" + patterns_text(*p.patterns, p.launch.statistics);
  if (!p.remarks.empty()) text += "\n";
  for (const std::string& remark : p.remarks) text += api::wrapped(remark, "  ");
  write(text);
}

} // namespace

int predict(const Strings& arguments) {
  const po::options_description visible = predict_options();
  const CommandLine line = parse_command_line(arguments, visible);
  const po::variables_map& values = line.values;
  if (values.count("help") != 0) return show_help(kPredictHelp, visible, kPredictExamples);
  if (values.count("fields") != 0) return list_fields();
  if (line.inputs.size() != 1) throw UsageError{"expected one profile", "warplens predict profile.json --device c1060"};
  if (values.count("device") == 0) throw UsageError{"--device is missing", "warplens list devices"};
  const model::ModelOptions options = options_of(values);
  const model::Device device = value_or_throw(api::load_device(values["device"].as<std::string>()));
  const Strings wanted = values.count("model") != 0 ? values["model"].as<Strings>() : Strings{};
  std::vector<api::PredictedLaunch> predicted;
  for (api::CollectedLaunch& launch : value_or_throw(api::collect(line.inputs.front(), device))) {
    if (values.count("set") != 0)
      for (const std::string& text : values["set"].as<Strings>()) set_field(launch.statistics, text);
    predicted.push_back(value_or_throw(api::predict_launch(launch, device, options, wanted)));
  }
  const std::string json = values.count("json") != 0 ? values["json"].as<std::string>() : "";
  if (!json.empty()) write_file(json, api::json_predictions(device, predicted));
  if (json == "-") return kFine;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (i > 0) write("\n");
    show(predicted[i], device, values.count("terms") != 0);
  }
  return kFine;
}

} // namespace warplens::tools
