// SPDX-License-Identifier: Apache-2.0
// Measures the emulator in one process: ten kernels without analyzers ("unwatched"), with the analyzers that always run
// ("watched"), with all analyzers, traced without analyzers, and analysed again from the trace; and the parser with the
// checker. Each figure is the best of several alternating rounds with one worker thread (another thread compresses and
// writes the trace). Times are processor times, so that other load on the machine matters less; with traces, where two
// threads share the work, they are wall-clock times.
//
//   build/bin/warplens-bench [NAME]      only the kernels whose name contains NAME
#include "api/trace/trace.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace warplens;

struct Argument {
  enum { buffer, integer, real } kind;
  double value; ///< elements of f32 for a buffer
};

struct Case {
  const char* name;
  const char* kernel; ///< also the name of the file under bench/kernels
  api::Extent grid, block;
  std::vector<Argument> arguments;
  double thread_instructions; ///< PTX instructions of all threads
};

const std::vector<Case>& cases() {
  constexpr auto kBuffer = Argument::buffer;
  constexpr auto kInteger = Argument::integer;
  constexpr auto kReal = Argument::real;
  static const std::vector<Case> list = {
      {"fma_loop",
       "fma_loop",
       {64, 1, 1},
       {256, 1, 1},
       {{kBuffer, 16384}, {kReal, 0.999}, {kReal, 0.001}, {kInteger, 1000}},
       180518912},
      {"vec_add",
       "vec_add",
       {4096, 1, 1},
       {256, 1, 1},
       {{kBuffer, 1048576}, {kBuffer, 1048576}, {kBuffer, 1048576}, {kInteger, 1048576}},
       23068672},
      {"matmul256",
       "matmul_tiled",
       {16, 16, 1},
       {16, 16, 1},
       {{kBuffer, 65536}, {kBuffer, 65536}, {kBuffer, 65536}, {kInteger, 256}},
       64749568},
      {"matmul512",
       "matmul_tiled",
       {32, 32, 1},
       {16, 16, 1},
       {{kBuffer, 262144}, {kBuffer, 262144}, {kBuffer, 262144}, {kInteger, 512}},
       506462208},
      {"transpose1024",
       "transpose_naive",
       {64, 64, 1},
       {16, 16, 1},
       {{kBuffer, 1048576}, {kBuffer, 1048576}, {kInteger, 1024}, {kInteger, 1024}},
       28311552},
      {"nbody4096",
       "nbody_ulist",
       {16, 1, 1},
       {256, 1, 1},
       {{kBuffer, 16384}, {kBuffer, 16384}, {kBuffer, 4096}, {kInteger, 4096}},
       234979328},
      {"scan4M",
       "scan_blelloch",
       {8192, 1, 1},
       {256, 1, 1},
       {{kBuffer, 4194304}, {kBuffer, 4194304}, {kBuffer, 8192}},
       429793280},
      {"gather",
       "gather",
       {4096, 1, 1},
       {256, 1, 1},
       {{kBuffer, 1048576}, {kBuffer, 1048576}, {kInteger, 1048576}},
       248512512},
      {"scatter", "scatter", {4096, 1, 1}, {256, 1, 1}, {{kBuffer, 1048576}, {kInteger, 1048576}}, 244318208},
      {"histogram", "histogram", {4096, 1, 1}, {256, 1, 1}, {{kBuffer, 256}}, 186646528},
  };
  return list;
}

std::string text_of(const std::string& kernel) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/bench/kernels/" + kernel + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the value, or prints the error and exits.
template <class T> T need(Expected<T> expected) {
  if (expected) return std::move(*expected);
  fmt::print(stderr, "{}", render(expected.error(), ""));
  std::exit(1);
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double seconds_of(const api::LaunchRequest& request) {
  const double start = processor_seconds();
  const api::LaunchReport report = need(api::launch(request));
  const double seconds = processor_seconds() - start;
  if (report.trap) {
    fmt::print(stderr, "{}\n", report.trap->message);
    std::exit(1);
  }
  return seconds;
}

struct Speed {
  double quiet, watched, all, traced, replayed; ///< seconds
  double bytes;                                 ///< of the trace
};

std::string trace_file() {
  return (std::filesystem::temp_directory_path() / fmt::format("warplens-bench-{}.h5", getpid())).string();
}

// Until the file is closed.
double seconds_traced(api::LaunchRequest request) {
  const double start = clock_seconds();
  const auto writer = need(api::TraceWriter::create(trace_file(), {}));
  request.options.recorder = writer.get();
  seconds_of(request);
  if (const Expected<void> closed = writer->close(); !closed) fmt::print(stderr, "{}", render(closed.error(), ""));
  return clock_seconds() - start;
}

double seconds_replayed() {
  api::Trace trace = need(api::Trace::open(trace_file()));
  return need(trace.analyze(0, {})).seconds;
}

Speed measure(const Case& c) {
  const auto context = need(api::Context::create());
  const auto module = need(api::Module::load(context, text_of(c.kernel), std::string(c.kernel) + ".ptx"));
  api::LaunchRequest request;
  request.kernel = need(module->kernel(c.kernel));
  request.grid = c.grid;
  request.block = c.block;
  request.device = need(api::load_device("h200"));
  request.options.workers = 1;
  std::vector<std::shared_ptr<api::Buffer>> buffers;
  for (const Argument& a : c.arguments) {
    if (a.kind == Argument::integer) {
      const auto value = static_cast<std::int32_t>(a.value);
      request.arguments.push_back(api::Argument::raw(std::as_bytes(std::span(&value, 1))));
    } else if (a.kind == Argument::real) {
      const auto value = static_cast<float>(a.value);
      request.arguments.push_back(api::Argument::raw(std::as_bytes(std::span(&value, 1))));
    } else {
      const auto count = static_cast<std::size_t>(a.value);
      buffers.push_back(need(api::Buffer::allocate(context, 4 * count, "buffer")));
      for (std::size_t i = 0; i < count; ++i) {
        const float value = static_cast<float>(i % 97) * 0.01f + 0.5f;
        std::memcpy(buffers.back()->bytes().data() + 4 * i, &value, sizeof value);
      }
      request.arguments.push_back(api::Argument::buffer(*buffers.back()));
    }
  }
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

void bench_kernels(const std::string& only) {
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
  const std::string only = argc > 1 ? argv[1] : "";
  bench_kernels(only);
  if (only.empty()) bench_parser();
}
