// SPDX-License-Identifier: Apache-2.0
// Measures typical programs (bench/kernels/programs.cu) without analyzers, with one worker thread: nanoseconds of
// processor time per warp instruction and per block, best of several rounds.
//
//   build/bin/bench_programs [--rounds N] [NAME]      only the kernels whose name contains NAME
#include "api/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace warplens;

struct Argument {
  enum class Kind { reals, doubles, random, integer } kind; ///< three buffers, and a number
  std::size_t value;                                        ///< elements of a buffer
};

struct Case {
  const char* kernel;
  api::Extent grid, block;
  std::vector<Argument> arguments;
};

const std::vector<Case>& cases() {
  using enum Argument::Kind;
  static const std::vector<Case> list = {
      {"matrix_vector", {8, 1, 1}, {256, 1, 1}, {{reals, 2048 * 512}, {reals, 512}, {reals, 2048}, {integer, 512}}},
      {"sparse_matrix_vector",
       {64, 1, 1},
       {256, 1, 1},
       {{reals, 16384 * 16}, {random, 16384 * 16}, {reals, 16384}, {reals, 16384}, {integer, 16384}}},
      {"stencil3d", {2, 8, 1}, {32, 8, 1}, {{reals, 64 * 64 * 64}, {reals, 64 * 64 * 64}, {integer, 64}}},
      {"reduction", {64, 1, 1}, {256, 1, 1}, {{reals, 1 << 20}, {reals, 64}, {integer, 1 << 20}}},
      {"shared_histogram", {16, 1, 1}, {256, 1, 1}, {{random, 1 << 18}, {random, 256}, {integer, 1 << 18}}},
      {"bitonic_sort", {64, 1, 1}, {256, 1, 1}, {{random, 64 * 512}}},
      {"nbody_double", {4, 1, 1}, {128, 1, 1}, {{doubles, 3 * 512}, {doubles, 3 * 512}, {integer, 512}}},
      {"mandelbrot_double", {8, 8, 1}, {16, 16, 1}, {{random, 128 * 128}, {integer, 128}, {integer, 200}}},
      {"state_machine", {1, 1, 1}, {128, 1, 1}, {{random, 128}, {random, 128}, {integer, 10000}}},
      {"search_level",
       {128, 1, 1},
       {256, 1, 1},
       {{random, 32768 * 8}, {random, 32768}, {integer, 32768}, {integer, 7}}},
      {"lu_decomposition", {16, 1, 1}, {64, 1, 1}, {{doubles, 16 * 64 * 64}}},
      {"hash_rounds", {16, 1, 1}, {256, 1, 1}, {{random, 4096}, {integer, 400}}},
      {"monte_carlo", {16, 1, 1}, {256, 1, 1}, {{random, 4096}, {reals, 4096}, {integer, 200}}},
      {"alignment_tile", {32, 1, 1}, {32, 1, 1}, {{random, 1024}, {random, 1024}, {integer, 16}}},
      {"convolution",
       {16, 16, 1},
       {16, 16, 1},
       {{reals, 256 * 256}, {reals, 256 * 256}, {integer, 256}, {integer, 256}}},
      {"one_thread_matrix_product",
       {16, 64, 1},
       {1, 1, 1},
       {{reals, 4096}, {reals, 4096}, {reals, 4096}, {integer, 64}}},
      {"one_thread_arithmetic", {256, 1, 1}, {1, 1, 1}, {{reals, 256}, {integer, 500}}},
      {"one_thread_loads", {256, 1, 1}, {1, 1, 1}, {{random, 16384}, {random, 256}, {integer, 1000}}},
      {"one_thread_block", {100'000, 1, 1}, {1, 1, 1}, {{reals, 100'000}, {reals, 100'000}}},
      {"one_lane", {16, 1, 1}, {256, 1, 1}, {{reals, 2048}, {reals, 4096}, {integer, 1000}}},
  };
  return list;
}

// Returns the value, or prints the error and exits.
template <class T> T need(Expected<T> expected) {
  if (expected) return std::move(*expected);
  fmt::print(stderr, "{}", render(expected.error(), ""));
  std::exit(1);
}

std::string text_of_programs() {
  std::ifstream file(WARPLENS_SOURCE_DIR "/bench/kernels/programs.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T, class Value> void fill(api::Buffer& buffer, std::size_t count, Value value) {
  for (std::size_t i = 0; i < count; ++i) {
    const T element = static_cast<T>(value(i));
    std::memcpy(buffer.bytes().data() + i * sizeof element, &element, sizeof element);
  }
}

api::LaunchRequest request_of(const Case& c, const std::shared_ptr<api::Module>& module,
                              const std::shared_ptr<api::Context>& context,
                              std::vector<std::shared_ptr<api::Buffer>>& buffers) {
  api::LaunchRequest request;
  request.kernel = need(module->kernel(c.kernel));
  request.grid = c.grid;
  request.block = c.block;
  request.device = need(api::load_device("h200"));
  request.options.workers = 1;
  request.options.analyze = false;
  for (const Argument& a : c.arguments) {
    if (a.kind == Argument::Kind::integer) {
      const auto value = static_cast<std::int32_t>(a.value);
      request.arguments.push_back(api::Argument::raw(std::as_bytes(std::span(&value, 1))));
      continue;
    }
    buffers.push_back(
        need(api::Buffer::allocate(context, (a.kind == Argument::Kind::doubles ? 8 : 4) * a.value, "buffer")));
    api::Buffer& buffer = *buffers.back();
    std::mt19937 random(42);
    const auto real = [](std::size_t i) { return static_cast<float>(i % 97) * 0.01f + 0.5f; };
    if (a.kind == Argument::Kind::reals) fill<float>(buffer, a.value, real);
    if (a.kind == Argument::Kind::doubles) fill<double>(buffer, a.value, real);
    if (a.kind == Argument::Kind::random) fill<std::uint32_t>(buffer, a.value, [&](std::size_t) { return random(); });
    request.arguments.push_back(api::Argument::buffer(buffer));
  }
  return request;
}

void measure(const Case& c, int rounds) {
  const auto context = need(api::Context::create());
  const auto module = need(api::Module::load(context, text_of_programs(), "programs.ptx"));
  std::vector<std::shared_ptr<api::Buffer>> buffers;
  const api::LaunchRequest request = request_of(c, module, context, buffers);
  double best = 1e9;
  std::uint64_t steps = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::clock_t start = std::clock();
    const api::LaunchReport report = need(api::launch(request));
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    if (report.trap) {
      fmt::print(stderr, "{}: {}\n", c.kernel, report.trap->message);
      std::exit(1);
    }
    steps = report.steps;
  }
  const auto blocks = static_cast<double>(c.grid[0] * c.grid[1] * c.grid[2]);
  fmt::print("{:<28}{:>10.2f}{:>12}{:>10.1f}{:>10.0f}\n", c.kernel, 1e3 * best, steps,
             1e9 * best / static_cast<double>(steps), 1e9 * best / blocks);
}

} // namespace

int main(int argc, char** argv) {
  std::string only;
  int rounds = 7;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rounds" && i + 1 < argc)
      rounds = std::atoi(argv[++i]);
    else
      only = argument;
  }
  fmt::print("{:<28}{:>10}{:>12}{:>10}{:>10}\n", "kernel", "ms", "warp instr.", "ns/instr.", "ns/block");
  for (const Case& c : cases())
    if (std::string(c.kernel).find(only) != std::string::npos) measure(c, rounds);
}
