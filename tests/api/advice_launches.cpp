// SPDX-License-Identifier: Apache-2.0
#include "tests/api/advice_launches.hpp"

#include <fmt/format.h>

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
