// SPDX-License-Identifier: Apache-2.0
#include "python/core/catalogue.hpp"

#include "analyzers/analyzers.hpp"
#include "api/predict/collector.hpp"
#include "api/predict/predict.hpp"
#include "model/calibration.hpp"
#include "rules/rule_set.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

namespace warplens::python {

namespace py = pybind11;

namespace {

py::dict device_facts(const model::Device& d) {
  py::dict facts;
  facts["compute_capability"] = to_string(d.capability);
  facts["multiprocessors"] = d.multiprocessors;
  facts["cores_per_multiprocessor"] = d.cores_per_multiprocessor;
  facts["clock_ghz"] = d.clock_ghz;
  facts["bandwidth_gb_s"] = d.bandwidth_gb_s;
  facts["coalescing_rule"] = d.coalescing_rule.name;
  facts["bank_rule"] = d.bank_rule.name;
  facts["registers"] = d.limits.registers;
  facts["registers_per_thread"] = d.limits.registers_per_thread;
  facts["shared_bytes"] = d.limits.shared_bytes;
  facts["shared_bytes_per_block"] = d.limits.shared_bytes_per_block;
  facts["warps"] = d.limits.warps;
  facts["blocks"] = d.limits.blocks;
  facts["threads_per_block"] = d.limits.threads_per_block;
  return facts;
}

void add_devices(py::module_& module) {
  py::class_<model::Device>(module, "Device", "A GPU: its limits, and the parameters of the models.")
      .def_static(
          "load", [](const std::string& name) { return value_or_throw(api::load_device(name), "InputError"); },
          py::arg("name"))
      .def_static(
          "parse",
          [](const std::string& text) {
            return value_or_throw(model::load_device(text, "<text>"), "InputError",
                                  std::vector<api::Source>{{text, "<text>"}});
          },
          py::arg("text"))
      .def_readonly("name", &model::Device::name)
      .def_readonly("id", &model::Device::id)
      .def_property_readonly("facts", &device_facts)
      .def("text", [](const model::Device& d) { return model::device_text(d); });
  module.def("devices", [] { return model::built_in_devices(); });
}

void add_rules(py::module_& module) {
  py::class_<RuleObject>(module, "Rule", "A rule of global or shared memory.")
      .def_static(
          "find",
          [](const std::string& name) {
            rules::RuleSet all = value_or_throw(api::load_rules({&name, 1}), "InputError");
            return RuleObject{all.coalescing.empty() ? rules::Rule(std::move(all.banks.front()))
                                                     : rules::Rule(std::move(all.coalescing.front()))};
          },
          py::arg("name"))
      .def_static(
          "parse",
          [](const std::string& text) {
            const std::vector<api::Source> source = {{text, "<text>"}};
            return RuleObject{value_or_throw(rules::parse_rule(text, "<text>"), "InputError", source)};
          },
          py::arg("text"))
      .def_property_readonly("name", [](const RuleObject& r) { return rules::label(r.rule).name; })
      .def_property_readonly("kind",
                             [](const RuleObject& r) {
                               return std::holds_alternative<rules::CoalescingRule>(r.rule) ? "coalescing" : "banks";
                             })
      .def_property_readonly("sentences", [](const RuleObject& r) {
        return std::visit([](const auto& rule) { return rules::explain(rule); }, r.rule);
      });
  module.def("rule_names", [] {
    const std::vector<std::string_view> names = rules::rule_names();
    return std::vector<std::string>(names.begin(), names.end());
  });
}

py::list metrics() {
  py::list list;
  for (const analyzers::MetricInfo& m : analyzers::metric_infos()) {
    py::dict one;
    one["name"] = std::string(m.name);
    one["unit"] = std::string(m.unit);
    one["definition"] = std::string(m.definition);
    one["analyzer"] = std::string(m.analyzer);
    one["formula"] = std::string(m.formula);
    one["is_count"] = m.type == analyzers::MetricInfo::Type::count;
    one["is_family"] = m.family;
    one["ideal"] = m.ideal ? py::object(py::float_(*m.ideal)) : py::object(py::none());
    list.append(one);
  }
  return list;
}

py::list models() {
  py::list list;
  for (const model::Model& m : model::models()) {
    py::dict one;
    one["id"] = std::string(m.id);
    one["title"] = std::string(m.title);
    one["source"] = std::string(m.source);
    one["says"] = std::string(m.says);
    one["needs"] = std::vector<std::string>(m.needs.begin(), m.needs.end());
    list.append(one);
  }
  return list;
}

py::list analyzer_infos() {
  py::list list;
  for (const analyzers::AnalyzerInfo* a : analyzers::analyzers()) {
    py::dict one;
    one["id"] = std::string(a->id);
    one["title"] = std::string(a->title);
    one["description"] = std::string(a->description);
    one["always"] = a->cost == analyzers::Cost::small;
    list.append(one);
  }
  return list;
}

py::dict occupancy(const std::string& capability, std::int64_t threads, std::int64_t registers, std::int64_t shared) {
  model::OccupancyQuery query;
  query.capability = value_or_throw(model::parse_compute_capability(capability), "ArgumentError");
  query.threads = threads;
  query.registers = registers;
  query.shared_bytes = shared;
  const model::Occupancy o = value_or_throw(model::occupancy(query), "ArgumentError");
  std::vector<std::string> bound;
  for (const model::OccupancyLimiter limiter : o.bound_by) bound.emplace_back(to_string(limiter));
  py::dict result;
  result["blocks"] = o.blocks;
  result["warps"] = o.warps;
  result["ratio"] = o.ratio;
  result["limit_warps"] = o.limit_warps;
  result["limit_blocks"] = o.limit_blocks;
  result["limit_registers"] = o.limit_registers;
  result["limit_shared"] = o.limit_shared;
  result["bound_by"] = bound;
  return result;
}

py::dict limits_of(const std::string& capability) {
  const model::OccupancyLimits l = value_or_throw(
      model::find_occupancy_limits(value_or_throw(model::parse_compute_capability(capability), "ArgumentError")),
      "ArgumentError");
  py::dict result;
  result["threads_per_block"] = l.threads_per_block;
  result["registers_per_thread"] = l.registers_per_thread;
  result["shared_bytes_per_block"] = l.shared_bytes_per_block;
  result["shared_unit"] = l.shared_unit;
  return result;
}

model::KernelStatistics statistics_of(const std::map<std::string, double>& given) {
  model::KernelStatistics statistics;
  std::vector<std::string_view> names;
  std::size_t used = 0;
  for (const model::StatisticField& field : model::statistic_fields()) {
    names.push_back(field.name);
    const auto found = given.find(std::string(field.name));
    if (found == given.end()) continue;
    field.get(statistics) = found->second;
    ++used;
  }
  if (used == given.size()) return statistics;
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Failure("ArgumentError", fmt::format("no such statistic: '{}'", name), did_you_mean(name, names));
  return statistics;
}

py::list statistic_names() {
  py::list list;
  for (const model::StatisticField& field : model::statistic_fields()) {
    py::dict one;
    one["name"] = std::string(field.name);
    one["unit"] = std::string(field.unit);
    one["meaning"] = std::string(field.meaning);
    list.append(one);
  }
  return list;
}

std::string predict(const std::map<std::string, double>& statistics, py::handle device,
                    const std::vector<std::string>& models) {
  const model::Device d = device_of(device);
  api::CollectedLaunch launch;
  launch.statistics = statistics_of(statistics);
  const api::PredictedLaunch one = value_or_throw(api::predict_launch(launch, d, {}, models), "ArgumentError");
  return api::json_predictions(d, {&one, 1});
}

std::string predict_file(const std::string& file, py::handle device, const std::vector<std::string>& models) {
  const model::Device d = device_of(device);
  std::vector<api::PredictedLaunch> all;
  for (const api::CollectedLaunch& launch : value_or_throw(api::collect(file, d), "InputError"))
    all.push_back(value_or_throw(api::predict_launch(launch, d, {}, models), "ArgumentError"));
  return api::json_predictions(d, all);
}

std::vector<model::MeasuredRun> runs_of(const std::vector<std::pair<std::map<std::string, double>, double>>& runs) {
  std::vector<model::MeasuredRun> list;
  for (const auto& [statistics, milliseconds] : runs)
    list.push_back({fmt::format("run {}", list.size()), statistics_of(statistics), milliseconds});
  return list;
}

py::tuple calibrate(py::handle device, const std::vector<std::pair<std::map<std::string, double>, double>>& runs) {
  const model::Calibration c =
      value_or_throw(model::calibrate_dasgupta(device_of(device), runs_of(runs)), "ArgumentError");
  py::list steps;
  for (const model::TunedParameter& p : c.steps) {
    py::dict one;
    one["name"] = std::string(p.name);
    one["before"] = p.before;
    one["after"] = p.after;
    one["runs"] = p.runs;
    one["largest_difference"] = p.largest_difference;
    steps.append(one);
  }
  return py::make_tuple(c.device, steps, c.remarks);
}

} // namespace

model::Device device_of(py::handle value) {
  if (py::isinstance<model::Device>(value)) return value.cast<model::Device>();
  if (py::hasattr(value, "_core")) return device_of(value.attr("_core")); // warplens.Device
  if (!py::isinstance<py::str>(value) && !py::hasattr(value, "__fspath__"))
    throw Failure("ArgumentError", "device: expected a name, a file or a warplens.Device, found " +
                                       std::string(py::str(py::repr(value))));
  return value_or_throw(api::load_device(std::string(py::str(value))), "InputError");
}

void add_catalogue(py::module_& module) {
  add_devices(module);
  add_rules(module);
  module.def("version", [] { return std::string(api::version()); });
  module.def("metrics", &metrics);
  module.def("models", &models);
  module.def("analyzers", &analyzer_infos);
  module.def("statistic_names", &statistic_names);
  module.def("occupancy", &occupancy, py::arg("capability"), py::arg("threads"), py::arg("registers"),
             py::arg("shared"));
  module.def("limits", &limits_of, py::arg("capability"));
  module.def("predict", &predict, py::arg("statistics"), py::arg("device"), py::arg("models"));
  module.def("predict_file", &predict_file, py::arg("file"), py::arg("device"), py::arg("models"));
  module.def("calibrate", &calibrate, py::arg("device"), py::arg("runs"));
}

} // namespace warplens::python
