// SPDX-License-Identifier: Apache-2.0
// Texts of the command line: names of kernels, --set, --arg, and the values of other options.
#include "tests/fuzz/target.hpp"

#include "api/check/sanitizer.hpp"
#include "api/plan/launch_file.hpp"
#include "api/session/kernel_name.hpp"
#include "api/session/limits.hpp"
#include "emulator/base/limits.hpp"
#include "tools/output.hpp"
#include "tools/run_arguments.hpp"

#include <sstream>

namespace warplens::fuzz {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line) && lines.size() < 16;) lines.push_back(line);
  return lines;
}

// The first line is an expression, the others are names.
void run_names(std::string_view text) {
  std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) return;
  const auto pattern = api::NamePattern::create(lines[0]);
  for (const std::string& line : lines) {
    static_cast<void>(api::source_name(line));
    static_cast<void>(api::source_parameters(line));
    if (pattern) static_cast<void>(pattern->matches(line));
  }
  static_cast<void>(api::parse_tools(lines[0]));
  static_cast<void>(api::parse_size(lines[0]));
  static_cast<void>(api::parse_seconds(lines[0]));
}

constexpr std::string_view kLaunch = R"(module = "k.ptx"
kernel = "k"
grid = 4
block = [32, 2]
arg = [{ s32 = 5 }, { buffer = "x" }]
[buffer.x]
type = "f32"
count = 64
iota = [0, 1]
[[launch]]
grid = 2
)";

void run_overrides(std::string_view text) {
  std::vector<api::Override> overrides;
  for (const std::string& line : lines_of(text)) {
    try {
      overrides.push_back(tools::parse_override(line));
    } catch (const tools::UsageError&) { // no '='
    }
  }
  if (const auto plan = api::parse_launch_file(kLaunch, "fuzz/launch.toml", overrides); !plan) render(plan.error(), "");
}

void run_arguments(std::string_view text) {
  try {
    static_cast<void>(tools::parse_arguments(lines_of(text)));
  } catch (const tools::UsageError& e) {
    if (e.message.empty()) wrong("an error without a message");
  }
}

std::vector<std::string> words_of_names() {
  return {"_Z",   "_ZN", "St", "S0_",   "I", "E",  "v",   "PK", "L_Z",      "Li",
          "DpT_", "Xsr", ".*", "(a|b)", "[", "\\", "{9}", "4G", "memcheck,"};
}
std::vector<std::string> words_of_overrides() {
  return {"buffer.x.count=",
          "arg.0.s32=",
          "launch.0.grid=",
          "grid=",
          "block=",
          "[1,2,3]",
          "{s32=1}",
          "\"",
          "buffer.y=",
          "launch.1.arg.1.buffer=",
          "[[",
          "arg=",
          ".",
          "="};
}
std::vector<std::string> words_of_arguments() {
  return {"s32=", "x:f32[1024]=iota", "buffer=x", "=random:0,1,7", "=fill:", "=file:", "u64[", "b8=", "nan", "0x", ":",
          "="};
}

} // namespace

const Target target::names{"names", run_names, mutate_text, words_of_names, 512};
const Target target::overrides{"overrides", run_overrides, mutate_text, words_of_overrides, 1024};
const Target target::arguments{"arguments", run_arguments, mutate_text, words_of_arguments, 1024};

} // namespace warplens::fuzz
