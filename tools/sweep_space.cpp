// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_space.hpp"

#include "tools/module_file.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

#include <fnmatch.h>

#include <algorithm>
#include <sstream>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;
using api::Settings;

constexpr std::size_t kMostConfigurations = 1'000'000;
constexpr std::size_t kLargestGroup = 64; ///< configurations that one process runs together

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
Axis kernels_of(const api::LaunchPlan& launch, const std::string& list) {
  const auto sources = value_or_throw(read_module(launch.module, api::device_or_default({})->capability));
  auto context = value_or_throw(api::Context::create());
  const auto module = value_or_throw(api::Module::load(context, sources));
  Axis axis{{"kernel"}, {}};
  std::istringstream patterns(list);
  for (std::string pattern; std::getline(patterns, pattern, ',');) {
    const std::size_t before = axis.values.size();
    for (const auto* kernel : module->kernels())
      if (const std::string name(kernel->name); fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
        axis.values.push_back({name});
    if (axis.values.size() == before)
      throw UsageError{fmt::format("--kernel {}: '{}' has no such kernel", pattern, launch.module.string()),
                       "warplens check lists the kernels"};
  }
  return axis;
}

void append(Settings& settings, const Axis& axis, std::size_t value) {
  for (std::size_t i = 0; i < axis.names.size(); ++i) settings.emplace_back(axis.names[i], axis.values[value][i]);
}

} // namespace

void SweepSpace::add(Settings first, std::vector<Axis> axes, bool device_matters) {
  Part part{std::move(first), std::move(axes), {}};
  for (const Axis& axis : part.axes) {
    if (part.size * axis.values.size() > kMostConfigurations - size_)
      throw UsageError{fmt::format("more than {} configurations", kMostConfigurations), ""};
    part.size *= axis.values.size();
    const bool shared = std::all_of(axis.names.begin(), axis.names.end(), [&](const std::string& name) {
      return api::is_of_target(name) && (name != "device" || !device_matters);
    });
    part.shared.push_back(shared);
    if (shared) part.sharing *= axis.values.size();
  }
  if (part.size == 0) return;
  part.pieces = (part.sharing + kLargestGroup - 1) / kLargestGroup;
  size_ += part.size;
  groups_ += part.groups();
  parts_.push_back(std::move(part));
}

Settings SweepSpace::at(std::size_t index) const {
  auto part = parts_.begin();
  for (; index >= part->size; ++part) index -= part->size;
  Settings settings = part->first;
  std::size_t stride = part->size;
  for (const Axis& axis : part->axes) {
    stride /= axis.values.size();
    append(settings, axis, index / stride % axis.values.size());
  }
  return settings;
}

std::vector<std::size_t> SweepSpace::group(std::size_t number) const {
  auto part = parts_.begin();
  std::size_t before = 0;
  for (; number >= part->groups(); ++part) number -= part->groups(), before += part->size;
  const std::size_t piece = number % part->pieces, length = (part->sharing + part->pieces - 1) / part->pieces;
  std::vector<std::size_t> members;
  for (std::size_t m = piece * length; m < std::min(part->sharing, (piece + 1) * length); ++m) {
    std::size_t apart = number / part->pieces, together = m, index = before, stride = 1;
    for (std::size_t i = part->axes.size(); i-- > 0;) {
      const std::size_t count = part->axes[i].values.size();
      std::size_t& digits = part->shared[i] ? together : apart;
      index += digits % count * stride;
      digits /= count;
      stride *= count;
    }
    members.push_back(index);
  }
  return members;
}

void SweepSpace::each_value(const std::function<void(const Settings&)>& visit) const {
  for (const Part& part : parts_)
    for (std::size_t varied = 0; varied < std::max<std::size_t>(part.axes.size(), 1); ++varied)
      for (std::size_t value = varied == 0 ? 0 : 1; value == 0 || value < part.axes[varied].values.size(); ++value) {
        Settings settings = part.first;
        for (std::size_t i = 0; i < part.axes.size(); ++i) append(settings, part.axes[i], i == varied ? value : 0);
        visit(settings);
        if (part.axes.empty()) break;
      }
}

SweepSpace sweep_space(const po::variables_map& values, const std::vector<Axis>& axes) {
  SweepSpace space;
  for (const std::string& file : launch_files(values["input"].as<Strings>())) {
    const Settings first{{"launch", file}};
    const api::SweepPlan plan = value_or_throw(api::sweep_plan(first));
    std::vector<Axis> own;
    std::size_t launch = plan.launch;
    if (values.count("index") != 0) {
      const auto& list = values["index"].as<std::string>();
      Axis& indices = own.emplace_back(Axis{{"index"}, {}});
      for (std::string& index :
           parse_values(list == "all" ? fmt::format("0..{}", plan.plan.launches.size() - 1) : list, "--index")) {
        launch = value_or_throw(api::sweep_plan({{"launch", file}, {"index", index}})).launch;
        indices.values.push_back({std::move(index)});
      }
    }
    if (values.count("kernel") != 0)
      own.push_back(kernels_of(plan.plan.launches[launch], values["kernel"].as<std::string>()));
    own.insert(own.end(), axes.begin(), axes.end());
    space.add(first, std::move(own), api::device_matters(plan.plan));
  }
  return space;
}

} // namespace warplens::tools
