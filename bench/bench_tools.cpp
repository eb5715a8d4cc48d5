// SPDX-License-Identifier: Apache-2.0
// Measures what the tools cost: processor time of each kernel of warplens-bench with a tool, relative to that without,
// and the shadow memory, relative to the memory that the kernel uses. One worker; the best of five alternating runs.
// docs/sanitizer.md has the results.
//
//   build/bin/bench_tools [NAME [TOOL [RUNS]]]     only kernels whose name contains NAME; TOOL "none" measures nothing
#include "api/session/freed_memory.hpp"
#include "bench/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace warplens;
using namespace warplens::bench;

struct Cost {
  double seconds = 1e9;
  std::size_t shadow = 0; ///< bytes
};

/// Buffers that the kernel only writes are new to initcheck.
void run(const Launch& launch, const std::string& tool, Cost& cost) {
  api::LaunchRequest request = launch.request();
  std::unique_ptr<api::Sanitizer> tools;
  if (tool != "none") {
    api::CheckOptions options;
    options.tools = need(api::parse_tools(tool));
    tools = need(api::Sanitizer::create(std::move(options)));
    request.options.sanitizer = tools.get();
    for (const auto& buffer : launch.outputs()) tools->given(buffer->address(), buffer->bytes().size(), false);
  }
  cost.seconds = std::min(cost.seconds, seconds_of(request));
  if (tools != nullptr) cost.shadow = tools->shadow_bytes();
}

void measure(const Case& c, const std::vector<std::string>& tools, int runs) {
  const Launch launch(c);
  double used = 0;
  for (const Argument& a : c.arguments) used += a.kind == Argument::buffer ? 4 * a.value : 0;
  Cost plain;
  std::vector<Cost> costs(tools.size());
  for (int i = 0; i < runs; ++i) {
    run(launch, "none", plain);
    for (std::size_t t = 0; t < tools.size(); ++t) run(launch, tools[t], costs[t]);
  }
  fmt::print("{:<16}{:>10.3f}", c.name, plain.seconds);
  for (const Cost& cost : costs)
    fmt::print("{:>10.2f}{:>8.2f}", cost.seconds / plain.seconds, static_cast<double>(cost.shadow) / used);
  fmt::print("\n");
}

} // namespace

int main(int argc, char** argv) {
  warplens::api::keep_freed_memory(); // as the program does
  const std::string only = argc > 1 ? argv[1] : "";
  std::vector<std::string> tools = {"memcheck", "racecheck", "initcheck", "synccheck"};
  if (argc > 2) tools = {argv[2]};
  const int runs = argc > 3 ? std::atoi(argv[3]) : 5;
  if (tools == std::vector<std::string>{"none"}) tools.clear();
  fmt::print("slow-down, and bytes of shadow for each byte of the kernel's buffers\n{:<16}{:>10}", "kernel",
             "alone, s");
  for (const std::string& tool : tools) fmt::print("{:>10}{:>8}", tool, "bytes");
  fmt::print("\n");
  for (const Case& c : cases())
    if (std::string(c.name).find(only) != std::string::npos) measure(c, tools, runs);
}
