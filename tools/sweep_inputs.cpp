// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_inputs.hpp"

#include "api/files/digest.hpp"
#include "api/files/input_file.hpp"
#include "api/plan/launch_file.hpp"
#include "tools/module_file.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>

namespace warplens::tools {

namespace {

/// UsageError, Diagnostics: an unknown device or rule; not a number.
void check_target(const std::string& name, const std::string& value) {
  if (name == "device") value_or_throw(api::load_device(value));
  if (name == "rule") value_or_throw(api::load_rules({&value, 1}));
  if (const auto level = api::parse_first_level(value); name == "l1" && !level)
    throw UsageError{"--" + level.error().list().front().message, ""};
  if (name == "registers" && value.find_first_not_of("0123456789") != value.npos)
    throw UsageError{fmt::format("--registers {}: expected a whole number", value), ""};
}

/// CUDA source includes other files: what decides is the PTX that it becomes.
bool is_compiled(const std::filesystem::path& module) {
  return module.extension() == ".cu" || module.extension() == ".cuh";
}

} // namespace

SweepInputs::SweepInputs(const std::map<std::string, std::string>& options) {
  api::Digest digest;
  digest.add(api::version());
  for (const auto& [name, value] : options) digest.add(name).add(value);
  common_ = digest.text();
}

std::string SweepInputs::digest_of(const std::string& file) {
  const auto [known, is_new] = known_.try_emplace(file);
  std::error_code ignored;
  if (!is_new || !std::filesystem::is_regular_file(file, ignored)) return known->second;
  api::Digest digest;
  if (is_compiled(file)) {
    const auto sources = read_module(file, value_or_throw(api::device_or_default({})).capability);
    for (const api::Source& source : sources.value_or(std::vector<api::Source>{})) digest.add(source.text);
  }
  if (const auto text = api::read_file(file)) digest.add(*text); // the run says why it cannot be read
  return known->second = digest.text();
}

SweepInputs::Files SweepInputs::files_of(const api::Settings& settings) {
  Files files;
  const auto add = [&](const std::string& file) {
    if (const std::string digest = digest_of(file); !digest.empty()) files.emplace(file, digest);
  };
  const api::Plan plan = value_or_throw(api::sweep_plan(settings)).plan;
  add(*api::setting(settings, "launch"));
  add(plan.device);
  for (const api::LaunchPlan& launch : plan.launches) {
    add(launch.module.string());
    for (const auto& library : launch.libraries) add(library.string());
  }
  for (const api::BufferPlan& b : plan.buffers) add(b.initial.file.string());
  return files;
}

void SweepInputs::add(const api::Settings& settings) {
  const std::string& launch = *api::setting(settings, "launch");
  const auto [own, is_new] = of_launch_file_.try_emplace(launch);
  if (is_new) own->second = files_of({{"launch", launch}});
  bool of_plan = false;
  for (const auto& [name, value] : settings)
    if (!api::is_of_target(name))
      of_plan = of_plan || name != "launch";
    else if (checked_.try_emplace({name, value}, true).second)
      check_target(name, value);
  if (of_plan && files_of(settings) != own->second) settings_add_files_ = true;
}

api::RecordHead SweepInputs::head(const api::Settings& settings) {
  Files files;
  const auto* launch = api::setting(settings, "launch");
  if (const auto known = of_launch_file_.find(launch != nullptr ? *launch : ""); known != of_launch_file_.end())
    files = known->second;
  try {
    if (settings_add_files_) files = files_of(settings);
  } catch (const Diagnostics&) { // the run says so
  }
  for (const char* name : {"device", "rule"})
    if (const auto* value = api::setting(settings, name))
      if (const std::string digest = digest_of(*value); !digest.empty()) files.emplace(*value, digest);
  api::Digest run, scope, inputs;
  inputs.add(common_);
  for (const auto& [file, digest] : files) scope.add(file), inputs.add(file).add(digest);
  const std::string digest = inputs.text();
  run.add(digest);
  for (const auto& [name, value] : settings) run.add(name).add(value);
  return {run.text(), scope.text(), digest};
}

} // namespace warplens::tools
