// SPDX-License-Identifier: Apache-2.0
// Measures the overhead of ptx_run: an empty kernel on one block, in short and long texts; the same text at the same
// address, and at two addresses alternately.
//
//   build/bin/bench_ptx_run
#include "api/warplens.h"

#include <benchmark/benchmark.h>

#include <string>

namespace {

std::string empty_kernel(std::int64_t bytes) {
  std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n";
  while (text.size() < static_cast<std::size_t>(bytes)) text += "// a line of a comment that makes the text longer\n";
  return text;
}

void run(const std::string& text) { ptx_run(text.c_str(), 0, nullptr, 1, 1, 1, 1, 1, 1, 0); }

void same_address(benchmark::State& state) {
  const std::string text = empty_kernel(state.range(0));
  for (auto _ : state) run(text);
}
BENCHMARK(same_address)->Arg(0)->Arg(10'000)->Arg(100'000)->Arg(1'000'000);

/// A kernel that exits before its many instructions.
void long_kernel(benchmark::State& state) {
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { .reg .u32 %r<100>; .reg .pred %p;\n"
      "mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 1024; @%p ret;\n";
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const std::string to = std::to_string(i % 100), from = std::to_string((i + 7) % 100);
    text.append("add.u32 %r").append(to).append(", %r").append(from).append(", %r").append(to).append(";\n");
  }
  text += "ret; }\n";
  for (auto _ : state) run(text);
}
BENCHMARK(long_kernel)->Arg(100)->Arg(1000)->Arg(5000);

/// The first bytes differ, as in a program with several modules.
void two_modules_at_one_address(benchmark::State& state) {
  std::string text = "//a\n" + empty_kernel(state.range(0));
  for (auto _ : state) {
    text[2] = text[2] == 'a' ? 'b' : 'a';
    run(text);
  }
}
BENCHMARK(two_modules_at_one_address)->Arg(0)->Arg(10'000)->Arg(100'000);

} // namespace

BENCHMARK_MAIN();
