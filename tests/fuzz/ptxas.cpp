// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/ptxas.hpp"

#include "tests/fuzz/target.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"
#include "emulator/isa/target.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

namespace warplens::fuzz {

namespace {

constexpr std::string_view kVersion = "release 13."; // what the rules of ptxas_test.cpp are for
constexpr int kOldest = 75;                          // older targets are asked as if they were this one

struct Ran {
  int status = 0;
  std::string output;
};

Ran run_command(const std::string& command) {
  Ran ran;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;) ran.output.append(buffer, n);
  ran.status = pclose(pipe);
  return ran;
}

/// The architecture that fits the target of the module.
std::string architecture_of(const std::string& module) {
  constexpr std::string_view kTarget = ".target";
  const std::size_t at = module.find(kTarget);
  const std::string_view after = at == std::string::npos ? "" : std::string_view(module).substr(at + kTarget.size());
  const isa::Target target = isa::target_named(after.substr(0, after.find('\n')));
  static const std::set<int> known = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  const int number = known.contains(target.sm) ? target.sm : kOldest;
  std::string name = "compute_" + std::to_string(number);
  if (target.suffix != '\0' && number == target.sm) name += target.suffix;
  return name;
}

/// "ptxas page.ptx, line 12; error : text", "ptxas fatal : text"; the last line only says that there are others.
void read_complaint(std::string_view line, Complaints& complaints) {
  if (!line.starts_with("ptxas ")) return;
  const auto rest_after = [&](std::string_view mark) {
    const std::size_t at = line.find(mark);
    return at == line.npos ? std::string_view() : line.substr(at + mark.size());
  };
  std::string_view text = rest_after("; error");
  if (text.empty()) text = rest_after("; fatal");
  const bool placed = !text.empty();
  constexpr std::string_view kFatal = "ptxas fatal", kEnd = "Ptx assembly aborted due to errors";
  if (!placed && line.starts_with(kFatal) && !line.ends_with(kEnd)) text = line.substr(kFatal.size());
  if (text.empty()) return;
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" :")));
  std::uint32_t number = 0;
  if (const std::string_view digits = rest_after(", line "); placed && !digits.empty())
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
  std::string& all = complaints[number];
  all += (all.empty() ? "" : "; ") + std::string(text);
}

void add(const std::vector<Diagnostic>& list, Complaints& complaints) {
  for (const Diagnostic& d : list)
    if (d.severity == Severity::error) complaints.try_emplace(d.where.line, d.message);
}

} // namespace

Ptxas find_ptxas() {
  std::vector<std::string> names = {"ptxas", "/usr/local/cuda/bin/ptxas"};
  if (const char* const named = std::getenv("WARPLENS_PTXAS"); named != nullptr) names = {named};
  for (const std::string& name : names) {
    const Ran ran = run_command("'" + name + "' --version");
    if (ran.status != 0) continue;
    if (ran.output.find(kVersion) != std::string::npos) return {name, ""};
    return {"", name + " is not of " + std::string(kVersion) + "x, for which the known differences are"};
  }
  return {"", "ptxas is not installed (WARPLENS_PTXAS names it)"};
}

Complaints ask_ptxas(const Ptxas& ptxas, const std::string& module) {
  const std::string file = file_with(module, "page.ptx");
  const Ran ran = run_command("ulimit -t 20; exec '" + ptxas.program + "' -arch " + architecture_of(module) + " '" +
                              file + "' -o '" + file + ".out'");
  Complaints complaints;
  std::string_view rest = ran.output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    read_complaint(rest.substr(0, end), complaints);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  constexpr int kRefused = 255;
  if (ran.status == 0)
    complaints.clear(); // warnings
  else if (!WIFEXITED(ran.status) || WEXITSTATUS(ran.status) != kRefused || complaints.empty())
    complaints = {{0, std::string(kCrash)}};
  return complaints;
}

Complaints ask_checker(const std::string& module) {
  Complaints complaints;
  auto parsed = ir::parse(module, "page.ptx");
  if (!parsed) {
    add(parsed.error().list(), complaints);
    return complaints;
  }
  const ir::Checked checked = ir::check(*parsed);
  add(checked.errors.list(), complaints);
  for (const ir::Unsupported& u : checked.unsupported) add({u.why}, complaints);
  return complaints;
}

std::string without(const std::string& module, const Complaints& lines) {
  std::string text;
  std::uint32_t number = 1;
  for (std::size_t at = 0; at < module.size(); ++number) {
    const std::size_t end = std::min(module.find('\n', at), module.size() - 1) + 1;
    text += lines.contains(number) ? "\n" : module.substr(at, end - at);
    at = end;
  }
  return text;
}

std::string line_of(const std::string& module, std::uint32_t number) {
  std::size_t at = 0;
  for (std::uint32_t n = 1; n < number && at < module.size(); ++n)
    at = std::min(module.find('\n', at), module.size() - 1) + 1;
  const std::size_t end = std::min(module.find('\n', at), module.size());
  std::string line = number == 0 ? "" : module.substr(at, end - at);
  line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
  return line;
}

} // namespace warplens::fuzz
