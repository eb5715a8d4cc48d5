// SPDX-License-Identifier: Apache-2.0
// Measures the emulator in one process: ten kernels without analyzers ("unwatched"), with the analyzers that always run
// ("watched"), with all analyzers, traced without analyzers, and analysed again from the trace; and the parser with the
// checker. Each figure is the best of several alternating rounds with one worker thread (another thread compresses and
// writes the trace). Times are processor times, so that other load on the machine matters less; with traces, where two
// threads share the work, they are wall-clock times.
//
//   build/bin/warplens-bench [NAME]      only the kernels whose name contains NAME
#include "api/session/freed_memory.hpp"
#include "bench/cases.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace warplens;
using namespace warplens::bench;

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Speed {
  double quiet, watched, all, traced, replayed; ///< seconds
  double bytes;                                 ///< of the trace
};

double seconds_traced(const api::LaunchRequest& request) {
  const double start = clock_seconds();
  trace(request);
  return clock_seconds() - start;
}

Speed measure(const Case& c) {
  const Launch launch(c);
  api::LaunchRequest request = launch.request();
  constexpr int kRounds = 7;
  Speed best{1e9, 1e9, 1e9, 1e9, 1e9, 0};
  for (int round = 0; round < kRounds; ++round) {
    request.options.analyze = false;
    best.quiet = std::min(best.quiet, seconds_of(request));
    request.options.analyze = true;
    best.watched = std::min(best.watched, seconds_of(request));
    request.options.analyzers = {"all"};
    best.all = std::min(best.all, seconds_of(request));
    request.options.analyzers.clear();
    request.options.analyze = false;
    best.traced = std::min(best.traced, seconds_traced(request));
    best.replayed = std::min(best.replayed, seconds_replayed());
  }
  best.bytes = static_cast<double>(std::filesystem::file_size(trace_file()));
  std::filesystem::remove(trace_file());
  return best;
}

/// The columns of a kernel, except the first and the last.
struct Ratios {
  double speed, watched, all, traced, replayed;
  Ratios(const Case& c, const Speed& s)
      : speed(c.thread_instructions / s.quiet / 1e9), watched(s.watched / s.quiet), all(s.all / s.quiet),
        traced(s.traced / s.quiet), replayed(s.replayed / s.watched) {}
  /// The geometric means.
  explicit Ratios(const std::vector<Ratios>& list) {
    for (double Ratios::*one : {&Ratios::speed, &Ratios::watched, &Ratios::all, &Ratios::traced, &Ratios::replayed}) {
      double sum = 0;
      for (const Ratios& r : list) sum += std::log(r.*one);
      this->*one = std::exp(sum / static_cast<double>(list.size()));
    }
  }
  void print(const char* name) const {
    fmt::print("{:<16}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}", name, speed, watched, all, traced, replayed);
  }
};

/// Returns whether there was a kernel to measure.
bool bench_kernels(const std::string& only) {
  fmt::print("G thread-instructions/s, one thread; slowdown relative to unwatched; replayed relative to watched\n"
             "{:<16}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n",
             "kernel", "unwatched", "watched", "by all", "traced", "replayed", "trace MB");
  std::vector<Ratios> all, seven; // the first seven were also measured with other programs
  for (std::size_t i = 0; i < cases().size(); ++i) {
    const Case& c = cases()[i];
    if (std::string(c.name).find(only) == std::string::npos) continue;
    const Speed s = measure(c);
    all.emplace_back(c, s);
    if (i < 7) seven.push_back(all.back());
    all.back().print(c.name);
    fmt::print("{:>10.2f}\n", s.bytes / 1e6);
  }
  if (seven.size() == 7) Ratios(seven).print("mean of seven"), fmt::print("\n");
  if (all.size() > 1) Ratios(all).print("geometric mean"), fmt::print("\n");
  return !all.empty();
}

// The kernels above, repeated under other names up to about three megabytes.
std::string large_module() {
  std::string text = ".version 9.0\n.target sm_75\n.address_size 64\n";
  for (int copy = 0; text.size() < 3'000'000; ++copy)
    for (const Case& c : cases()) {
      std::string one = text_of(c.kernel);
      one.erase(0, one.find(".visible"));
      const std::string prefix = "copy_" + std::to_string(copy) + c.name + "_";
      for (std::size_t at = 0; (at = one.find(c.kernel, at)) != std::string::npos;
           at += prefix.size() + std::strlen(c.kernel))
        one.insert(at, prefix);
      text += one;
    }
  return text;
}

void bench_parser() {
  const std::string text = large_module();
  double best = 1e9;
  std::size_t instructions = 0;
  for (int round = 0; round < 5; ++round) {
    const double start = clock_seconds();
    ir::Module module = need(ir::parse(text, "large.ptx"));
    if (ir::check(module).errors.has_errors()) std::exit(1);
    best = std::min(best, clock_seconds() - start);
    instructions = 0;
    for (const ir::Function& f : module.functions) instructions += f.instructions.size();
  }
  fmt::print("parse and check  {:.1f} MB, {} instructions: {:.3f} s\n", static_cast<double>(text.size()) / 1e6,
             instructions, best);
}

} // namespace

int main(int argc, char** argv) {
  warplens::api::keep_freed_memory(); // as the program does
  const std::string only = argc > 1 ? argv[1] : "";
  if (!bench_kernels(only)) {
    fmt::print(stderr, "warplens-bench: no kernel has '{}' in its name\n", only);
    return 2;
  }
  if (only.empty()) bench_parser();
}
