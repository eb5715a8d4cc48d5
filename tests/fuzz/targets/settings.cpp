// SPDX-License-Identifier: Apache-2.0
// What users write in TOML: launch files, device files, rule files. Small plans also run.
#include "tests/fuzz/target.hpp"

#include "api/plan/launch_file.hpp"
#include "emulator/base/limits.hpp"
#include "model/device.hpp"
#include "rules/rule_set.hpp"

#include <algorithm>

namespace warplens::fuzz {

namespace {

constexpr std::string_view kKernel = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

bool uses_files(const api::Plan& plan) {
  return !plan.device.empty() || std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const api::BufferPlan& b) {
    return b.initial.kind == api::Initial::Kind::file || b.save || b.expect;
  });
}

void run_launch_file(std::string_view text) {
  static const std::string limits = set_limits("buffer-bytes=1048576,shared-bytes=1048576");
  const auto plan = api::parse_launch_file(text, "fuzz/launch.toml", {});
  if (!plan) return void(render(plan.error(), text));
  if (uses_files(*plan)) return;
  api::PlanOptions options;
  options.launch.max_steps = 5000;
  options.launch.workers = 1;
  options.read_module = [](const std::filesystem::path&) -> Expected<std::vector<api::Source>> {
    return std::vector<api::Source>{{std::string(kKernel), "k.ptx"}};
  };
  if (const auto report = api::run_plan(*plan, options); !report) render(report.error(), text);
}

void run_device(std::string_view text) {
  const auto device = model::load_device(text, "fuzz.toml");
  if (!device) return void(render(device.error(), text));
  const std::string written = model::device_text(*device);
  const auto again = model::load_device(written, "written.toml");
  if (!again) wrong("a written device is refused: " + render(again.error(), written));
  if (model::device_text(*again) != written) wrong("a device is written in two ways");
}

void run_rule(std::string_view text) {
  const auto rule = rules::parse_rule(text, "fuzz.toml");
  if (!rule) return void(render(rule.error(), text));
  if (rules::label(*rule).name.empty()) wrong("a rule without name");
}

std::vector<std::string> words_of_launch_files() {
  return {"module",
          "kernel",
          "grid",
          "block",
          "shared",
          "shared_per_thread",
          "registers",
          "device",
          "arg",
          "buffer",
          "type",
          "count",
          "iota",
          "zeros",
          "fill",
          "random",
          "seed",
          "file",
          "save",
          "expect",
          "total",
          "cluster",
          "launch",
          "tolerance",
          "texture",
          "sampler",
          "surface",
          "[[arg]]",
          "[buffer]",
          "{",
          "libraries",
          "tensor_map",
          "cooperative",
          "true",
          "[1, 2, 3]",
          "\"f32\"",
          "1e308",
          "nan",
          "-inf",
          "1979-05-27",
          "0xffffffffffffffff",
          "\"\"\"",
          "[[launch]]",
          "height",
          "width"};
}

std::vector<std::string> words_of_rules() {
  return {"rule",  "\"coalescing\"", "\"banks\"", "name",      "words", "bytes", "segment", "half_warp", "banks",
          "width", "lanes",          "[[word]]",  "[[words]]", "64",    "-1",    "true",    "\"max\"",   "source"};
}

} // namespace

const Target target::launch_file{"launch_file", run_launch_file, mutate_text, words_of_launch_files};
const Target target::device_file{"device_file", run_device, mutate_text};
const Target target::rule_file{"rule_file", run_rule, mutate_text, words_of_rules};

} // namespace warplens::fuzz
