// SPDX-License-Identifier: Apache-2.0
// Traces: our own (HDF5) and those of Accel-Sim.
#include "tests/fuzz/target.hpp"

#include "api/report/json_report.hpp"
#include "api/trace/accelsim.hpp"
#include "api/trace/trace.hpp"
#include "api/trace/trace_inspect.hpp"
#include "emulator/base/limits.hpp"

namespace warplens::fuzz {

namespace {

constexpr int kMostEvents = 500; // shown of a launch

void inspect(const api::Trace& trace, std::size_t launch) {
  const auto view = api::TraceView::open(trace, launch, {});
  if (!view) return;
  int left = kMostEvents;
  const auto done = view->visit({}, [&](const api::SeenEvent& e) { return !api::json_line(e).empty() && --left > 0; });
  if (!done) render(done.error(), "");
}

void run_trace(std::string_view content) {
  const std::string file = file_with(content, "fuzz.h5");
  auto trace = api::Trace::open(file);
  if (!trace) return void(render(trace.error(), ""));
  for (std::size_t i = 0; i < std::min<std::size_t>(trace->launches().size(), 4); ++i) {
    api::ReplayOptions options;
    options.launch.analyzers = {"all"};
    const auto report = trace->analyze(i, options);
    if (report && api::json_report(report->device, {&*report, 1}).empty()) wrong("an empty report");
    inspect(*trace, i);
  }
}

void run_accelsim(std::string_view content) {
  static const std::string limits = set_limits("shared-bytes=1048576");
  const std::string file = file_with(content, "kernel-1.traceg");
  api::AccelSimImport import;
  const auto request = import.read(file, std::nullopt);
  if (!request) return void(render(request.error(), ""));
  api::LaunchRequest all = *request;
  all.options.workers = 1;
  all.options.analyzers = {"all"};
  const auto report = api::launch(all);
  if (report && api::json_report(report->device, {&*report, 1}).empty()) wrong("an empty report");
}

std::vector<std::string> words_of_accelsim() {
  return {"-kernel name = ",
          "-grid dim = (1,1,1)",
          "-block dim = (32,1,1)",
          "-shmem = 0",
          "-nregs = 8",
          "-binary version = 70",
          "-enable lineinfo = 0",
          "#BEGIN_TB",
          "#END_TB",
          "thread block = 0,0,0",
          "warp = 0",
          "insts = 1",
          "LDG.E",
          "STG.E",
          "LDS",
          "BAR.SYNC",
          "EXIT",
          "ATOMG.ADD",
          "HMMA.16816.F32",
          "ffffffff",
          "0x7f0000000000"};
}

} // namespace

const Target target::trace{"trace", run_trace, mutate_bytes};
const Target target::accelsim{"accelsim", run_accelsim, mutate_text, words_of_accelsim};

} // namespace warplens::fuzz
