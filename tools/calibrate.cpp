// SPDX-License-Identifier: Apache-2.0
// warplens calibrate: fit a device, or the weight of a kernel, to measured times.
#include "api/launch/launch.hpp"
#include "api/predict/answers.hpp"
#include "api/predict/predict.hpp"
#include "api/report/table.hpp"
#include "tools/command_line.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;

constexpr std::string_view kCalibrateHelp = R"(usage: warplens calibrate RUNS.csv --device D [--model NAME] [options]

Fits a model to measured run times. RUNS.csv has a row for each run, with fields of the statistics (warplens predict
--fields) and the column 'milliseconds'. It can also be a CSV file of the CUDA Visual Profiler, where 'gputime' is the
time.

  dasgupta              (default) tunes the device in the order of the thesis: clock, latency, delays of 32, 64 and 128
                        bytes, delay of vector requests. The transactions of a run determine what it tunes.
  amaris, karan-kumar   fits the weight of one kernel.
  critical-path         RUNS.csv has the answers of the micro-benchmarks of tests/data/hardware/ask/calibration.cu on the device.

)";
constexpr std::string_view kCalibrateExamples = R"(
Examples:
  warplens calibrate microbenchmarks.csv --device c1060 --output my_c1060.toml
  warplens calibrate answers.csv --device h100 --model critical-path --output my_h100.toml
  warplens calibrate vector_add.csv --device titanv --model karan-kumar --fit first
)";

po::options_description calibrate_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("device", po::value<std::string>()->value_name("NAME|FILE"), "the device that the runs were measured on");
  add("model", po::value<std::string>()->value_name("NAME")->default_value("dasgupta"), "the model to fit");
  add("output", po::value<std::string>()->value_name("FILE"), "write the tuned device; '-' is standard output");
  add("fit", po::value<std::string>()->value_name("first|mean|squares")->default_value("mean"),
      "the weight is exact for the first run, makes predicted / measured 1 on average, or minimises squared errors");
  add("help,h", "show this help");
  return options;
}

int tune_device(const model::Device& device, std::span<const model::MeasuredRun> runs, const std::string& output) {
  const model::Calibration tuned = value_or_throw(model::calibrate_dasgupta(device, runs));
  if (!output.empty()) write_file(output, model::device_text(tuned.device));
  if (output == "-") return kFine;
  const Style style = style_for(STDOUT_FILENO);
  api::Table table({{"parameter"},
                    {"before", api::Table::right},
                    {"tuned", api::Table::right},
                    {"runs", api::Table::right},
                    {"difference"}});
  for (const model::TunedParameter& step : tuned.steps)
    table.row({std::string(step.name), fmt::format("{:.5g}", step.before),
               step.runs == 0 ? "" : fmt::format("{:.5g}", step.after), fmt::format("{}", step.runs),
               step.runs == 0 ? "kept: no run depends on it alone"
                              : fmt::format("at most {:.2g} %", 100 * step.largest_difference)});
  std::string text = table.text(style.dim, style.reset);
  for (const std::string& remark : tuned.remarks) text += api::wrapped(remark, "  ");
  write(text);
  return kFine;
}

int take_answers(const model::Device& device, const std::string& file, const std::string& output) {
  const api::MeasuredDevice measured = value_or_throw(api::measured_device(file, device));
  if (!output.empty()) write_file(output, model::device_text(measured.device));
  if (output == "-") return kFine;
  const Style style = style_for(STDOUT_FILENO);
  api::Table table({{"parameter"}, {"before", api::Table::right}, {"measured", api::Table::right}});
  for (const api::MeasuredDevice::Parameter& one : measured.parameters)
    table.row({std::string(one.name), one.before ? fmt::format("{:.5g}", *one.before) : "",
               fmt::format("{:.5g}", one.measured)});
  write(table.text(style.dim, style.reset));
  return kFine;
}

int weigh_kernel(std::string_view id, const model::Device& device, std::span<const model::MeasuredRun> runs,
                 const std::string& how) {
  using Fit = model::WeightFit;
  if (how != "first" && how != "mean" && how != "squares")
    throw UsageError{fmt::format("--fit: expected first, mean or squares, got '{}'", how), ""};
  const Fit fit = how == "first" ? Fit::first : how == "mean" ? Fit::mean_ratio : Fit::least_squares;
  const model::FittedWeight fitted = value_or_throw(model::fit_weight(id, device, runs, fit));
  const Style style = style_for(STDOUT_FILENO);
  api::Table table({{"run"},
                    {"measured, ms", api::Table::right},
                    {"predicted, ms", api::Table::right},
                    {"ratio", api::Table::right}});
  for (std::size_t i = 0; i < runs.size(); ++i)
    table.row({runs[i].name, fmt::format("{:.5g}", runs[i].milliseconds), fmt::format("{:.5g}", fitted.predicted[i]),
               fmt::format("{:.4f}", fitted.predicted[i] / runs[i].milliseconds)});
  const model::ErrorMetrics& e = fitted.errors;
  write(fmt::format("{}\n{}adjusting_weight {:.8g}{}\nmean absolute error {:.4g} ms, root mean square error {:.4g} ms, "
                    "mean deviation {:.3g} %\n",
                    table.text(style.dim, style.reset), style.bold, fitted.weight, style.reset, e.mean_absolute,
                    e.root_mean_square, 100 * e.mean_relative));
  return kFine;
}

} // namespace

int calibrate(const Strings& arguments) {
  const po::options_description visible = calibrate_options();
  const CommandLine line = parse_command_line(arguments, visible);
  const po::variables_map& values = line.values;
  if (values.count("help") != 0) return show_help(kCalibrateHelp, visible, kCalibrateExamples);
  if (line.inputs.size() != 1)
    throw UsageError{"expected one table of runs", "warplens calibrate runs.csv --device c1060"};
  if (values.count("device") == 0) throw UsageError{"--device is missing", "warplens list devices"};
  const model::Device device = value_or_throw(api::load_device(values["device"].as<std::string>()));
  if (values["model"].as<std::string>() == model::kCriticalPath)
    return take_answers(device, line.inputs.front(),
                        values.count("output") != 0 ? values["output"].as<std::string>() : "");
  const std::vector<model::MeasuredRun> runs =
      value_or_throw(api::measured_runs(value_or_throw(api::collect(line.inputs.front(), device))));

  const std::string& id = values["model"].as<std::string>();
  const std::string output = values.count("output") != 0 ? values["output"].as<std::string>() : "";
  if (id == model::kDasgupta) return tune_device(device, runs, output);
  if (!output.empty()) throw UsageError{"--output needs --model dasgupta: the other models do not tune the device", ""};
  return weigh_kernel(id, device, runs, values["fit"].as<std::string>());
}

} // namespace warplens::tools
