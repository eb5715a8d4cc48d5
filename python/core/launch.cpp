// SPDX-License-Identifier: Apache-2.0
#include "python/core/launch.hpp"

#include "api/launch/launch.hpp"
#include "python/core/callbacks.hpp"
#include "python/core/catalogue.hpp"
#include "python/core/interrupts.hpp"
#include "python/core/traces.hpp"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

namespace warplens::python {

namespace py = pybind11;

namespace {

template <class Value> Value cast(const std::string& name, py::handle value, const char* expected) {
  try {
    return value.cast<Value>();
  } catch (const py::cast_error&) {
    throw Failure("ArgumentError",
                  fmt::format("{}: expected {}, found {}", name, expected, std::string(py::str(py::repr(value)))));
  }
}

constexpr std::string_view kOptions[] = {"device",    "rules",     "analyzers", "per_block", "l1",     "registers",
                                         "workers",   "max_steps", "analyze",   "cluster",   "shared", "cooperative",
                                         "footprint", "tools",     "trace",     "progress",  "models", "stream"};

[[noreturn]] void refuse_option(const std::string& name) {
  throw Failure("ArgumentError", fmt::format("no such option of a launch: '{}'", name),
                did_you_mean(name, {std::begin(kOptions), std::end(kOptions)},
                             fmt::format("the arguments of the kernel have no names; the options are {}",
                                         fmt::join(kOptions, ", "))));
}

py::object function_of(const std::string& name, py::handle value) {
  if (PyCallable_Check(value.ptr()) != 0) return py::reinterpret_borrow<py::object>(value);
  throw Failure("ArgumentError",
                fmt::format("{}: expected a function, found {}", name, std::string(py::str(py::repr(value)))));
}

/// "memcheck,racecheck", or a list of names.
std::string tools_of(py::handle value) {
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  return fmt::format("{}", fmt::join(cast<std::vector<std::string>>("tools", value, "names of tools"), ","));
}

} // namespace

namespace {

/// Empty: not an integer. Integers that are not positive, or too large, are 0.
std::optional<std::uint64_t> positive(py::handle value) {
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  long long n = 0;
  if (index) n = PyLong_AsLongLong(index.ptr());
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  if (!index) return std::nullopt;
  return n < 1 ? 0 : static_cast<std::uint64_t>(n);
}

} // namespace

api::Extent extent_of(py::handle value, const char* what) {
  const auto wrong = [&] {
    return Failure("ArgumentError", fmt::format("{}: expected one to three positive integers, found {}", what,
                                                std::string(py::str(py::repr(value)))));
  };
  api::Extent extent{1, 1, 1};
  if (const auto single = positive(value)) {
    extent[0] = *single;
  } else {
    const bool is_text = py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value);
    if (PySequence_Check(value.ptr()) == 0 || is_text) throw wrong(); // arrays of numpy are sequences
    const auto items = py::reinterpret_borrow<py::sequence>(value);
    if (items.empty() || items.size() > 3) throw wrong();
    for (std::size_t i = 0; i < items.size(); ++i) extent[i] = positive(py::object(items[i])).value_or(0);
  }
  for (const std::uint64_t n : extent)
    if (n == 0) throw wrong();
  return extent;
}

api::FirstLevel first_level_of(const std::string& word) {
  if (word == "device") return api::FirstLevel::device;
  if (const auto level = api::parse_first_level(word)) return *level;
  throw Failure("ArgumentError",
                fmt::format("l1: expected \"device\", \"off\", \"on\" or \"enlarged\", found \"{}\"", word));
}

rules::RuleSet rules_of(py::handle list) {
  rules::RuleSet all;
  for (const py::handle one : list) {
    if (py::isinstance<RuleObject>(one)) {
      value_or_throw(all.add(one.cast<const RuleObject&>().rule), "ArgumentError");
      continue;
    }
    const auto name = cast<std::string>("rules", one, "names, files or warplens.Rule");
    rules::RuleSet loaded = value_or_throw(api::load_rules({&name, 1}), "InputError");
    for (rules::CoalescingRule& rule : loaded.coalescing) value_or_throw(all.add(std::move(rule)), "ArgumentError");
    for (rules::BankRule& rule : loaded.banks) value_or_throw(all.add(std::move(rule)), "ArgumentError");
  }
  return all;
}

LaunchSettings::LaunchSettings(const LoadedKernel& kernel, const py::dict& options) {
  request.kernel = kernel.open();
  request.options.keep_accesses = true; // the pictures of HTML reports show them
  bool has_device = false;
  for (const auto& [key, value] : options) {
    const auto name = key.cast<std::string>();
    has_device |= name == "device" && !value.is_none();
    if (!value.is_none()) set(name, value);
  }
  if (!has_device) request.device = value_or_throw(api::default_device(request.kernel.module->ir()), "Error");
}

void LaunchSettings::set(const std::string& name, py::handle value) {
  api::LaunchOptions& o = request.options;
  if (name == "device")
    request.device = device_of(value);
  else if (name == "rules")
    o.rules = rules_of(value);
  else if (name == "analyzers")
    o.analyzers = cast<std::vector<std::string>>(name, value, "a list of names");
  else if (name == "per_block")
    o.per_block = cast<bool>(name, value, "True or False");
  else if (name == "l1")
    o.first_level = first_level_of(cast<std::string>(name, value, "a word"));
  else if (name == "registers")
    o.registers = cast<std::uint32_t>(name, value, "a positive integer");
  else if (name == "workers")
    o.workers = cast<std::uint16_t>(name, value, "0 to 65535");
  else if (name == "max_steps")
    o.max_steps = cast<std::uint64_t>(name, value, "a positive integer, or 0");
  else if (name == "analyze")
    o.analyze = cast<bool>(name, value, "True or False");
  else if (name == "cluster")
    request.cluster = extent_of(value, "cluster");
  else if (name == "shared")
    request.dynamic_shared_bytes = cast<std::uint64_t>(name, value, "a number of bytes");
  else if (name == "cooperative")
    request.cooperative = cast<bool>(name, value, "True or False");
  else if (name == "footprint")
    o.footprint = cast<bool>(name, value, "True or False");
  else if (name == "tools")
    tools = tools_of(value);
  else if (name == "trace")
    trace = py::str(value);
  else if (name == "progress")
    progress = function_of(name, value);
  else if (name == "_merged")
    merged = value.cast<std::vector<py::object>>();
  else if (name == "_each")
    each = value.cast<std::vector<py::object>>();
  else
    refuse_option(name);
}

namespace {

/// Launches in another thread, and tells `progress` how far the launch is while it runs.
Expected<api::LaunchReport> launch_with_progress(api::LaunchRequest& request, const py::object& progress,
                                                 const Interrupts& interrupts) {
  exec::BlocksDone blocks;
  request.options.progress = &blocks;
  std::future<Expected<api::LaunchReport>> result;
  const auto wait = [&](auto&& body) {
    const Unlocked unlocked;
    return body();
  };
  result = std::async(std::launch::async, [&] { return api::launch(request); });
  try {
    bool ready = false;
    while (!ready) {
      ready = wait([&] { return result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready; });
      if (!ready) interrupts.raise();
      if (const std::uint64_t all = blocks.all; all != 0) progress(blocks.done.load(), all);
    }
  } catch (...) {
    Interrupts::stop();
    wait([&] { return result.wait(), 0; });
    Interrupts::resume();
    throw;
  }
  return result.get();
}

} // namespace

py::tuple launch(const LoadedKernel& kernel, py::handle grid, py::handle block, const py::tuple& arguments,
                 const py::dict& options) {
  LaunchSettings settings(kernel, options);
  api::LaunchRequest& request = settings.request;
  request.grid = extent_of(grid, "grid");
  request.block = extent_of(block, "block");
  BoundArguments bound(kernel, arguments);
  request.arguments = bound.take_arguments();
  const std::unique_ptr<api::LaunchRecorder> trace = trace_recorder(settings.trace, options);
  PythonRecorder recorder(trace.get());
  for (const py::object& f : settings.merged) recorder.add(f, false);
  for (const py::object& f : settings.each) recorder.add(f, true);
  if (!recorder.empty()) request.options.workers = 1; // so that the order of the events is always the same
  request.options.recorder = recorder.empty() ? trace.get() : &recorder;
  std::unique_ptr<api::Sanitizer> tools;
  if (!settings.tools.empty()) {
    api::CheckOptions checks;
    checks.tools = value_or_throw(api::parse_tools(settings.tools), "InputError");
    tools = value_or_throw(api::Sanitizer::create(std::move(checks)), "Error");
    request.options.sanitizer = tools.get();
  }
  const Interrupts interrupts;
  const bool has_progress = settings.progress && !settings.progress.is_none();
  Expected<api::LaunchReport> result = [&] {
    if (has_progress) {
      bound.copy_in();
      Expected<api::LaunchReport> launched = launch_with_progress(request, settings.progress, interrupts);
      bound.copy_out();
      return launched;
    }
    const Unlocked unlocked;
    bound.copy_in();
    Expected<api::LaunchReport> launched = api::launch(request);
    bound.copy_out();
    return launched;
  }();
  interrupts.raise();
  recorder.rethrow();
  if (trace) value_or_throw(trace->close(), "Error");
  if (!result) throw Failure("LaunchError", result.error(), request.kernel.module->sources());
  bound.check_read_only();
  std::uint64_t errors = 0;
  py::list messages;
  if (tools)
    for (const api::CheckMessage& m : tools->take()) {
      errors += m.count;
      messages.append(py::bytes(api::message_text(m)).attr("decode")("utf-8", "replace"));
    }
  return py::make_tuple(ReportObject(api::with_children(std::move(*result))), messages, errors);
}

} // namespace warplens::python
