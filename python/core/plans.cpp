// SPDX-License-Identifier: Apache-2.0
// Launch files, sweeps and comparisons.
#include "api/plan/launch_file.hpp"
#include "api/sweep/compare.hpp"
#include "api/sweep/json_compare.hpp"
#include "api/sweep/sweep.hpp"
#include "api/sweep/sweep_json.hpp"
#include "api/sweep/sweep_table.hpp"
#include "python/core/catalogue.hpp"
#include "python/core/interrupts.hpp"
#include "python/core/launch.hpp"
#include "python/core/report.hpp"
#include "tools/module_file.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

namespace warplens::python {

namespace py = pybind11;

namespace {

/// A module of a launch file, which may be CUDA source or a program.
auto reader_for(model::ComputeCapability capability) {
  return [capability](const std::filesystem::path& file) -> Expected<std::vector<api::Source>> {
    Expected<tools::CodeOfFile> code = tools::read_code(file, capability);
    if (!code) return failure(code.error());
    if (code->modules.size() != 1)
      return failure(fmt::format("'{}' has {} modules: expected one", file.string(), code->modules.size()));
    return std::move(code->modules.front());
  };
}

/// The reports of a launch file, and its buffers with their types after the last launch.
py::tuple run_file(const std::string& file, const std::vector<std::pair<std::string, std::string>>& settings,
                   py::handle device, const std::vector<std::string>& analyzers, py::handle rules, bool per_block) {
  refuse_forks();
  note_use();
  std::vector<api::Override> overrides;
  for (const auto& [path, value] : settings) overrides.push_back({path, value});
  std::filesystem::path path = file;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path /= "launch.toml";
  api::Plan plan = value_or_throw(api::read_launch_file(path, overrides), "InputError");
  if (!device.is_none()) plan.device = std::string(py::str(device));
  api::PlanOptions options;
  options.launch.analyzers = analyzers;
  options.launch.rules = rules_of(rules);
  options.launch.per_block = per_block;
  options.launch.keep_accesses = true;
  options.read_module = reader_for(value_or_throw(api::device_or_default(plan.device), "InputError").capability);
  const Interrupts interrupts;
  Expected<api::PlanReport> result = [&] {
    const Unlocked unlocked;
    return api::run_plan(plan, options);
  }();
  interrupts.raise();
  api::PlanReport report = value_or_throw(std::move(result), "LaunchError");
  py::list reports, buffers, mismatches;
  for (api::LaunchReport& launch : report.launches) reports.append(ReportObject(api::with_children(std::move(launch))));
  for (std::size_t i = 0; i < report.buffers.size(); ++i) {
    const std::span<const std::byte> bytes = report.contents[i]->bytes();
    buffers.append(py::make_tuple(report.buffers[i].name, std::string(isa::name(report.buffers[i].type)),
                                  py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  for (const api::Mismatch& m : report.mismatches)
    mismatches.append(
        fmt::format("buffer '{}' does not match {}: {} of {} elements differ; first [{}]: expected {}, got {}",
                    m.buffer, m.expected_file, m.differing, m.count, m.first, m.expected, m.got));
  return py::make_tuple(reports, buffers, mismatches);
}

/// A sweep as the JSON of `warplens sweep --json`, without recommended settings.
std::string sweep(const std::vector<api::Settings>& configurations, const std::string& model,
                  const std::vector<std::string>& analyzers, py::handle progress) {
  refuse_forks();
  note_use();
  for (const api::Settings& one : configurations)
    if (const Expected<api::SweepPlan> plan = api::sweep_plan(one); !plan) throw Failure("InputError", plan.error());
  api::SweepOptions options;
  options.model = model;
  options.launch.analyzers = analyzers;
  options.read_module = [](const std::filesystem::path& file, model::ComputeCapability capability) {
    return reader_for(capability)(file);
  };
  std::vector<api::SweepRow> rows(configurations.size());
  const Interrupts interrupts;
  std::size_t done = 0;
  for (const std::vector<std::size_t>& group : api::share_emulations(configurations)) {
    std::vector<api::Settings> together;
    for (const std::size_t i : group) together.push_back(configurations[i]);
    std::vector<api::SweepRow> made = [&] {
      const Unlocked unlocked;
      return api::run_configurations(together, options);
    }();
    interrupts.raise();
    for (std::size_t i = 0; i < group.size(); ++i) rows[group[i]] = std::move(made[i]);
    done += group.size();
    if (!progress.is_none()) progress(done, configurations.size());
  }
  return api::json_sweep(rows, {});
}

/// Files of `warplens sweep --results` as the JSON of a sweep, and what is left out.
std::pair<std::string, std::string> read_sweep(const std::vector<std::string>& files) {
  const api::SweepTable table = value_or_throw(api::read_sweep_tables(files), "InputError").finish();
  return {api::json_sweep(table.rows, {}), table.note()};
}

/// The JSON of `warplens compare --json`.
std::string compare(const std::vector<std::pair<std::string, std::string>>& reports) {
  std::vector<api::ReportFile> files;
  for (const auto& [name, text] : reports) files.push_back(value_or_throw(api::read_report(text, name), "InputError"));
  const std::span others = std::span(files).subspan(1);
  std::vector<std::vector<api::LaunchComparison>> all;
  for (const api::ReportFile& other : others) all.push_back(api::compare_reports(files.front(), other));
  return api::json_comparison(files.front(), others, all);
}

} // namespace

void add_plans(py::module_& module) {
  module.def("run_file", &run_file, py::arg("file"), py::arg("settings"), py::arg("device"), py::arg("analyzers"),
             py::arg("rules"), py::arg("per_block"));
  module.def("sweep", &sweep, py::arg("configurations"), py::arg("model"), py::arg("analyzers"), py::arg("progress"));
  module.def("read_sweep", &read_sweep, py::arg("files"));
  module.def("compare", &compare, py::arg("reports"));
}

} // namespace warplens::python
