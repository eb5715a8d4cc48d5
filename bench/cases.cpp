// SPDX-License-Identifier: Apache-2.0
#include "bench/cases.hpp"

#include "api/trace/trace.hpp"

#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

namespace warplens::bench {

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
       429793280,
       2},
      {"gather",
       "gather",
       {4096, 1, 1},
       {256, 1, 1},
       {{kBuffer, 1048576}, {kBuffer, 1048576}, {kInteger, 1048576}},
       248512512},
      {"scatter", "scatter", {4096, 1, 1}, {256, 1, 1}, {{kBuffer, 1048576}, {kInteger, 1048576}}, 244318208},
      {"histogram", "histogram", {4096, 1, 1}, {256, 1, 1}, {{kBuffer, 256}}, 186646528, 0},
  };
  return list;
}

std::string text_of(const std::string& kernel) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/bench/kernels/" + kernel + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Launch::Launch(const Case& c)
    : context_(need(api::Context::create())),
      module_(need(api::Module::load(context_, text_of(c.kernel), std::string(c.kernel) + ".ptx"))),
      outputs_(static_cast<std::ptrdiff_t>(c.outputs)) {
  request_.kernel = need(module_->kernel(c.kernel));
  request_.grid = c.grid;
  request_.block = c.block;
  request_.device = need(api::load_device("h200"));
  request_.options.workers = 1;
  request_.options.analyze = false;
  for (const Argument& a : c.arguments) {
    if (a.kind == Argument::integer) {
      const auto value = static_cast<std::int32_t>(a.value);
      request_.arguments.push_back(api::Argument::raw(std::as_bytes(std::span(&value, 1))));
    } else if (a.kind == Argument::real) {
      const auto value = static_cast<float>(a.value);
      request_.arguments.push_back(api::Argument::raw(std::as_bytes(std::span(&value, 1))));
    } else {
      const auto count = static_cast<std::size_t>(a.value);
      buffers_.push_back(need(api::Buffer::allocate(context_, 4 * count, "buffer")));
      for (std::size_t i = 0; i < count; ++i) {
        const float value = static_cast<float>(i % 97) * 0.01f + 0.5f;
        std::memcpy(buffers_.back()->bytes().data() + 4 * i, &value, sizeof value);
      }
      request_.arguments.push_back(api::Argument::buffer(*buffers_.back()));
    }
  }
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

std::string trace_file() {
  return (std::filesystem::temp_directory_path() / fmt::format("warplens-bench-{}.h5", getpid())).string();
}

void trace(api::LaunchRequest request) {
  const auto writer = need(api::TraceWriter::create(trace_file(), {}));
  request.options.recorder = writer.get();
  seconds_of(request);
  if (const Expected<void> closed = writer->close(); !closed) {
    fmt::print(stderr, "{}", render(closed.error(), ""));
    std::exit(1);
  }
}

double seconds_replayed() {
  api::Trace trace = need(api::Trace::open(trace_file()));
  return need(trace.analyze(0, {})).seconds;
}

} // namespace warplens::bench
