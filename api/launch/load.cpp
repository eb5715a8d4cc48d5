// SPDX-License-Identifier: Apache-2.0
// Loads rules and devices by name or from files.
#include "api/files/input_file.hpp"
#include "api/launch/launch.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace warplens::api {

namespace fs = std::filesystem;

namespace {

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// A built-in rule, or a file; its path is relative to the folder.
Expected<rules::Rule> load_rule(const std::string& name_or_file, const fs::path& folder) {
  Expected<rules::Rule> built_in = rules::find_rule(name_or_file);
  const fs::path file = folder / name_or_file;
  if (built_in || !is_file(file)) return built_in;
  Expected<std::string> text = read_file(file, limits::kSettingsBytes);
  if (!text) return failure(text.error());
  Expected<rules::Rule> rule = rules::parse_rule(*text, file.string());
  if (!rule) return rule;
  // Counters are named after rules.
  const std::string& name = label(*rule).name;
  if (rules::find_rule(name))
    return failure(
        fmt::format("the rule in '{}' is named '{}', which is the name of a built-in rule", file.string(), name),
        "give it a different name");
  std::error_code ignored;
  std::visit([&](rules::Label& own) { own.file = fs::absolute(file, ignored).lexically_normal().string(); }, *rule);
  return rule;
}

} // namespace

Expected<rules::RuleSet> load_rules(std::span<const std::string> names_or_files) {
  rules::RuleSet rules;
  Diagnostics errors;
  for (const std::string& one : names_or_files) {
    Expected<rules::Rule> rule = load_rule(one, {});
    if (!rule)
      errors.append(rule.error());
    else if (Expected<void> added = rules.add(std::move(*rule)); !added)
      errors.append(added.error());
  }
  if (errors.has_errors()) return failure(std::move(errors));
  return rules;
}

Expected<model::Device> load_device(std::string_view name_or_file) {
  Expected<model::Device> built_in = model::find_device(name_or_file);
  if (built_in || !is_file(name_or_file)) return built_in;
  Expected<std::string> text = read_file(name_or_file, limits::kSettingsBytes);
  if (!text) return failure(text.error());
  const fs::path folder = fs::path(name_or_file).parent_path();
  return model::load_device(*text, name_or_file, [&](const std::string& rule) { return load_rule(rule, folder); });
}

Expected<model::Device> device_or_default(std::string_view name_or_file) {
  return load_device(name_or_file.empty() ? "h200" : name_or_file);
}

Expected<model::Device> default_device(const ir::Module& module) {
  return module.sm != 0 && module.sm < 20 ? model::find_device("c1060") : device_or_default({});
}

} // namespace warplens::api
