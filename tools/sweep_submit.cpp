// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep_submit.hpp"

#include "api/files/input_file.hpp"
#include "tools/child.hpp"
#include "tools/embedded.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;

/// A word for a shell.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

struct Template {
  std::string name, text;
};
Template template_of(const std::string& given) {
  if (const std::string_view text = embedded_text(fmt::format("tools/submit/{}.sh", given)); !text.empty())
    return {given, std::string(text)};
  std::error_code ignored;
  if (!fs::exists(given, ignored))
    throw UsageError{fmt::format("--submit {}: there is no such template", given), "slurm, local, or a file"};
  return {fs::path(given).stem().string(), value_or_throw(api::read_file(given))};
}

/// The command without what only --submit needs.
std::string command_of(const CommandLine& line) {
  std::string command = shell_word(fs::read_symlink("/proc/self/exe").string()) + " sweep";
  for (const auto& option : line.options)
    if (option.string_key != "submit" && option.string_key != "shards" && option.string_key != "dry-run")
      for (const std::string& word : option.original_tokens) command += " " + shell_word(word);
  return command;
}

/// Replaces each @WORD@ of the list.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>>& words) {
  for (const auto& [word, value] : words)
    for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

/// What stands behind "# submit: ".
std::string submit_command(const std::string& script, const std::string& name) {
  constexpr std::string_view kMark = "# submit: ";
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kMark)) return line.substr(kMark.size());
  throw UsageError{fmt::format("--submit {}: the template does not say how to start it", name),
                   "a line such as: # submit: sbatch @SCRIPT@"};
}

} // namespace

int submit_sweep(const CommandLine& line, const std::string& results) {
  const Template chosen = template_of(line.values["submit"].as<std::string>());
  const unsigned shards = line.values.count("shards") != 0 ? line.values["shards"].as<unsigned>() : 8;
  if (shards == 0) throw UsageError{"--shards: expected at least 1", ""};
  if (line.values.count("shard") != 0) throw UsageError{"--submit runs every shard, not one", "leave out --shard"};
  const std::string file = fmt::format("{}.{}.sh", results, chosen.name);
  const std::string script = filled(chosen.text, {{"@SHARDS@", fmt::format("{}", shards)},
                                                  {"@SCRIPT@", shell_word(fs::absolute(file).string())},
                                                  {"@FOLDER@", shell_word(fs::current_path().string())},
                                                  {"@RESULTS@", shell_word(fs::absolute(results).string())},
                                                  {"@COMMAND@", command_of(line)}});
  const std::string command = submit_command(script, chosen.name);
  write_file(file, script);
  fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
  if (line.values.count("dry-run") != 0) {
    write(fmt::format("{} is written. To start it: {}\n", file, command));
    return kFine;
  }
  const ChildResult child = run_child({"/bin/sh", "-c", command});
  write(child.output);
  if (child.status == 0) return kFine;
  Diagnostics errors;
  errors.error({},
               fmt::format("warplens: '{}' failed{}", command,
                           child.status > 0 ? fmt::format(" with exit status {}", child.status) : ""),
               fmt::format("the script is {}", file));
  print(errors);
  return kFound;
}

} // namespace warplens::tools
