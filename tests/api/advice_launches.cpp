// SPDX-License-Identifier: Apache-2.0
#include "tests/api/advice_launches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace warplens::api {

std::vector<LaunchReport> run(const std::string& launches, const std::vector<std::string>& analyzers) {
  const std::filesystem::path file = std::filesystem::path(WARPLENS_SOURCE_DIR) / "table.toml"; // of the relative paths
  const Expected<Plan> plan = parse_launch_file(launches, file, {});
  if (!plan) throw std::runtime_error(render(plan.error(), launches));
  PlanOptions options;
  options.launch.analyzers = analyzers;
  Expected<PlanReport> report = run_plan(*plan, options);
  if (!report) throw std::runtime_error(render(report.error(), launches));
  return std::move(report->launches);
}

namespace {

std::string argument(const tests::PairArgument& a) {
  if (const auto* name = std::get_if<std::string>(&a)) return fmt::format("{{ buffer = \"{}\" }}", *name);
  if (const auto* number = std::get_if<int>(&a)) return fmt::format("{{ s32 = {} }}", *number);
  return fmt::format("{{ f32 = {} }}", std::get<float>(a));
}

std::string text_of(const tests::PairLaunch& launch) {
  std::vector<std::string> arguments;
  for (const tests::PairArgument& a : launch.arguments) arguments.push_back(argument(a));
  return launch_of(
      launch.kernel,
      fmt::format("grid = [{}]\nblock = [{}]", fmt::join(launch.grid, ", "), fmt::join(launch.block, ", ")),
      fmt::format("arg = [{}]", fmt::join(arguments, ", ")));
}

std::string text_of(const tests::PairBuffer& b) {
  using Holds = tests::PairBuffer::Holds;
  const std::string random = fmt::format("random = [0, {}]\nseed = 1", b.most);
  return buffer(b.name.c_str(), b.type.c_str(), static_cast<int>(b.count),
                b.holds == Holds::zeros  ? kZeros
                : b.holds == Holds::iota ? kIota
                                         : random.c_str());
}

} // namespace

std::vector<LaunchReport> run(const tests::AdvicePair& pair) {
  std::string text = fmt::format("module = \"{}\"\ndevice = \"{}\"\n{}{}", pair.module, pair.device,
                                 text_of(pair.before), text_of(pair.after));
  for (const tests::PairBuffer& b : pair.buffers) text += text_of(b);
  std::vector<std::string> analyzers;
  if (!pair.analyzer.empty()) analyzers.push_back(pair.analyzer);
  return run(text, analyzers);
}

const analyzers::Finding* find(const tests::AdvicePair& pair, const LaunchReport& report) {
  for (const analyzers::Finding& f : report.findings)
    if (f.rule == pair.rule && f.remedy.find(pair.remedy) != std::string::npos) return &f;
  return nullptr;
}

double predicted_speedup(const LaunchReport& before, const LaunchReport& after) {
  return model::trusted_for_changes(before.predictions)->milliseconds /
         model::trusted_for_changes(after.predictions)->milliseconds;
}

std::string buffer(const char* name, const char* type, int count, const char* content) {
  return fmt::format("[buffer.{}]\ntype = \"{}\"\ncount = {}\n{}\n", name, type, count, content);
}

std::string launch_of(const std::string& kernel, const std::string& shape, const std::string& arguments) {
  return fmt::format("[[launch]]\nkernel = \"{}\"\n{}\n{}\n", kernel, shape, arguments);
}

std::string list_of(const std::vector<analyzers::Finding>& findings) {
  std::string all;
  for (const analyzers::Finding& f : findings)
    all += fmt::format("{}, {}:{}: {}; {} ({})\n", f.rule, f.source_file, f.source_line, f.message, f.remedy,
                       f.speedup.value_or(0));
  return all;
}

} // namespace warplens::api
