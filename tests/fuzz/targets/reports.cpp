// SPDX-License-Identifier: Apache-2.0
// What `predict` and `compare` read: JSON reports, tables of profilers; and the lines of a sweep.
#include "tests/fuzz/target.hpp"

#include "api/launch/launch.hpp"
#include "api/predict/predict.hpp"
#include "api/sweep/compare.hpp"
#include "api/sweep/json_compare.hpp"
#include "api/sweep/sweep_json.hpp"
#include "api/sweep/sweep_table.hpp"

namespace warplens::fuzz {

namespace {

const model::Device& device(std::string_view name) {
  static const model::Device h200 = *model::find_device("h200"), c1060 = *model::find_device("c1060");
  return name == "h200" ? h200 : c1060;
}

void predict_all(std::string_view text) {
  for (const std::string_view name : {"h200", "c1060"}) {
    const auto launches = api::collect_text(text, "fuzz", device(name));
    if (!launches) {
      render(launches.error(), "");
      continue;
    }
    std::vector<api::PredictedLaunch> predicted;
    for (const api::CollectedLaunch& l : *launches)
      if (auto p = api::predict_launch(l, device(name))) predicted.push_back(std::move(*p));
    if (api::json_predictions(device(name), predicted).empty()) wrong("no predictions are written");
    if (const auto runs = api::measured_runs(*launches); !runs) render(runs.error(), "");
  }
}

void run_report(std::string_view text) {
  predict_all(text);
  const auto report = api::read_report(text, "a.json");
  if (!report) return void(render(report.error(), ""));
  api::ReportFile other = *report;
  for (api::ReportedLaunch& l : other.launches)
    for (auto& line : l.lines) line.where += "0";
  const std::vector<std::vector<api::LaunchComparison>> changes{api::compare_reports(*report, other)};
  if (api::json_comparison(*report, {&other, 1}, changes).empty()) wrong("no comparison is written");
}

void run_sweep(std::string_view text) {
  api::SweepTableReader reader;
  reader.add(text);
  if (const api::SweepTable table = reader.finish(); table.rows.size() + table.damaged != 1) wrong("a line is lost");
  const auto row = api::parse_sweep_line(text);
  if (!row) return void(render(row.error(), ""));
  const std::string line = api::sweep_line(*row);
  const auto again = api::parse_sweep_line(line);
  if (!again || api::sweep_line(*again) != line) wrong("a row of a sweep changes when written");
  for (const auto& [name, value] : row->settings) static_cast<void>(api::parse_shape(value));
  const api::RecordHead head{std::string(32, '1'), std::string(32, '2'), std::string(32, '3'), api::RunState::failed};
  const std::string record = api::sweep_record(*row, head);
  const auto again_head = api::record_head(std::string_view(record).substr(0, record.size() - 1));
  if (!again_head || again_head->state != head.state || again_head->inputs != head.inputs)
    wrong("a record of a sweep changes when written");
}

std::vector<std::string> words_of_csv() {
  return {"method",       "kernel",  "milliseconds",   "gputime",   "# CUDAPROFILELOG", ",",      "\"",        "warps",
          "instructions", "gld_64b", "gst_incoherent", "registers", "threads",          "blocks", "occupancy", "nan",
          "inf",          "-1",      "1e400"};
}

} // namespace

const Target target::report_json{"report_json", run_report, mutate_text};
const Target target::profile_csv{"profile_csv", predict_all, mutate_text, words_of_csv};
const Target target::sweep_rows{"sweep_rows", run_sweep, mutate_text};

} // namespace warplens::fuzz
