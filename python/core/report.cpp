// SPDX-License-Identifier: Apache-2.0
#include "python/core/report.hpp"

#include "api/html/page.hpp"
#include "api/report/conditions.hpp"
#include "api/report/json_report.hpp"
#include "api/report/report_files.hpp"
#include "api/report/report_text.hpp"
#include "api/session/kernel_name.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <algorithm>

namespace warplens::python {

namespace py = pybind11;

namespace {

std::string_view trap_kind(exec::Trap::Kind kind) {
  using Trap = exec::Trap::Kind;
  switch (kind) {
  case Trap::out_of_bounds: return "out_of_bounds";
  case Trap::misaligned: return "misaligned";
  case Trap::trap_instruction: return "trap_instruction";
  case Trap::step_limit: return "step_limit";
  case Trap::deadlock: return "deadlock";
  case Trap::divergent_barrier: return "divergent_barrier";
  case Trap::invalid_barrier: return "invalid_barrier";
  case Trap::invalid_membermask: return "invalid_membermask";
  case Trap::incomplete_warp: return "incomplete_warp";
  case Trap::invalid_call: return "invalid_call";
  case Trap::invalid_branch: return "invalid_branch";
  case Trap::invalid_free: return "invalid_free";
  case Trap::assertion: return "assertion";
  case Trap::stack_overflow: return "stack_overflow";
  case Trap::invalid_texture: return "invalid_texture";
  case Trap::invalid_mbarrier: return "invalid_mbarrier";
  case Trap::invalid_copy: return "invalid_copy";
  case Trap::invalid_tensor_copy: return "invalid_tensor_copy";
  case Trap::invalid_group: return "invalid_group";
  case Trap::invalid_tensor_memory: return "invalid_tensor_memory";
  case Trap::tensor_memory_leak: return "tensor_memory_leak";
  case Trap::async_hazard: return "async_hazard";
  case Trap::out_of_memory: return "out_of_memory";
  }
  return "";
}

/// The kind of the trap, its message, and the message as a list of dictionaries; None: no launch trapped.
py::object trap_of(const ReportObject& report) {
  const api::LaunchReport& last = report.launches().back();
  if (!last.trap) return py::none();
  Diagnostics why;
  why.error(last.trap->where, last.trap->message, last.trap->hint);
  why.in_file(last.trap->file);
  const auto none = std::vector<api::Source>{};
  std::string text = rendered(why, last.sources ? *last.sources : none);
  while (text.ends_with('\n')) text.pop_back();
  return py::make_tuple(std::string(last.trap_kind ? trap_kind(*last.trap_kind) : ""),
                        py::bytes(text).attr("decode")("utf-8", "replace"), entries_of(why));
}

/// Text of reports is UTF-8 except where the PTX or the output of a kernel is not.
py::object unicode(const std::string& text) { return py::bytes(text).attr("decode")("utf-8", "replace"); }

} // namespace

std::string ReportObject::text(const std::vector<std::string>& details, bool counters, std::size_t columns) const {
  api::TextOptions options;
  options.columns = columns;
  options.details = value_or_throw(api::parse_sections(details), "InputError");
  options.counters = counters;
  return value_or_throw(api::text_report(launches_, api::Style{}, options), "InputError");
}

std::string ReportObject::json(bool accesses) const {
  if (accesses) return api::json_report(launches_.front().device, launches_);
  std::vector<api::LaunchReport> plain = launches_;
  for (api::LaunchReport& launch : plain)
    for (analyzers::InstructionRow& row : launch.profile.instructions) row.recorded.clear();
  return api::json_report(plain.front().device, plain);
}

std::string ReportObject::html() const {
  value_or_throw(api::check_html(), "Error");
  return value_or_throw(api::html_page(api::json_for_page(launches_.front().device, launches_)), "Error");
}

std::string ReportObject::file(const std::string& format, const std::vector<std::string>& conditions) const {
  std::vector<api::Condition> parsed;
  for (const std::string& one : conditions) parsed.push_back(value_or_throw(api::Condition::parse(one), "InputError"));
  for (const api::ReportFileOption& option : api::report_file_options())
    if (format == option.option) return api::report_text_of(option, {}, launches_.front().device, launches_, parsed);
  throw Failure("InputError", fmt::format("no such format: '{}'", format),
                "formats: json, csv, sarif, junit, html, text");
}

py::object ReportObject::condition(const std::string& name) const {
  const auto names = api::condition_names();
  if (std::none_of(names.begin(), names.end(), [&](const auto& n) { return n.name == name; })) return py::none();
  const api::Condition any = value_or_throw(api::Condition::parse(name + ">=0"), "InputError");
  const auto met = api::met_conditions({&any, 1}, {&launches_.front(), 1});
  return met.empty() ? py::object(py::none()) : py::cast(met.front().value);
}

void ReportObject::add_rule(const std::string& name, std::uint64_t transactions, std::uint64_t bytes_moved,
                            const std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>>& rows) {
  using analyzers::MetricId;
  analyzers::Profile& profile = launches_.front().profile;
  const std::string prefix = fmt::format("rule.{}.transactions", name);
  if (profile.metrics.find(prefix) != nullptr)
    throw Failure("ArgumentError", fmt::format("two rules are named '{}'", name));
  profile.metrics.add({MetricId::rule_transactions, name}, transactions);
  if (bytes_moved != 0) profile.metrics.add({MetricId::rule_bytes_moved, name}, bytes_moved);
  for (const auto& [instruction, count, bytes] : rows)
    for (analyzers::InstructionRow& row : profile.instructions) {
      if (row.instruction != instruction) continue;
      row.metrics.add({MetricId::rule_transactions, name}, count);
      if (bytes_moved != 0) row.metrics.add({MetricId::rule_bytes_moved, name}, bytes);
    }
}

void ReportObject::add_prediction(model::Prediction prediction) {
  api::LaunchReport& launch = launches_.front();
  for (const model::Prediction& other : launch.predictions)
    if (other.model == prediction.model)
      throw Failure("ArgumentError", fmt::format("two models are named '{}'", prediction.model));
  prediction.device = launch.device.name;
  launch.predictions.push_back(std::move(prediction));
}

void add_reports(py::module_& module) {
  py::class_<ReportObject>(module, "Report", "The report of a launch.")
      .def(
          "text",
          [](const ReportObject& r, const std::vector<std::string>& details, bool counters, std::size_t columns) {
            return unicode(r.text(details, counters, columns));
          },
          py::arg("details"), py::arg("counters"), py::arg("columns"))
      .def(
          "json", [](const ReportObject& r, bool accesses) { return unicode(r.json(accesses)); }, py::arg("accesses"))
      .def("html", [](const ReportObject& r) { return unicode(r.html()); })
      .def(
          "file",
          [](const ReportObject& r, const std::string& format, const std::vector<std::string>& conditions) {
            return unicode(r.file(format, conditions));
          },
          py::arg("format"), py::arg("conditions"))
      .def("condition", &ReportObject::condition, py::arg("name"))
      .def("add_rule", &ReportObject::add_rule, py::arg("name"), py::arg("transactions"), py::arg("bytes_moved"),
           py::arg("rows"))
      .def(
          "add_prediction",
          [](ReportObject& r, const std::string& name, double milliseconds, const std::string& bound,
             const std::vector<std::tuple<std::string, double, std::string>>& terms) {
            model::Prediction p;
            p.model = name;
            p.milliseconds = milliseconds;
            p.cycles = milliseconds * 1e6 * r.launches().front().device.clock_ghz;
            p.bound = bound;
            for (const auto& [term, value, unit] : terms) p.terms.push_back({term, value, unit});
            r.add_prediction(std::move(p));
          },
          py::arg("name"), py::arg("milliseconds"), py::arg("bound"), py::arg("terms"))
      .def_property_readonly("trap", &trap_of)
      .def_property_readonly("analyzed", [](const ReportObject& r) { return r.launches().front().analyzed; })
      .def_property_readonly("kernel", [](const ReportObject& r) { return r.launches().front().kernel; })
      .def_property_readonly("name",
                             [](const ReportObject& r) { return api::source_name(r.launches().front().kernel); })
      .def_property_readonly("device_id", [](const ReportObject& r) { return r.launches().front().device.id; })
      .def_property_readonly("steps", [](const ReportObject& r) { return r.launches().front().steps; })
      .def_property_readonly("seconds", [](const ReportObject& r) { return r.launches().front().seconds; })
      .def_property_readonly("remarks", [](const ReportObject& r) { return r.launches().front().remarks; })
      .def_property_readonly("printed", [](const ReportObject& r) {
        std::string all;
        for (const api::LaunchReport& launch : r.launches()) all += launch.printed;
        return unicode(all);
      });
}

} // namespace warplens::python
