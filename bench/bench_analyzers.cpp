// SPDX-License-Identifier: Apache-2.0
// Measures nanoseconds per warp access with all analyzers. Regular accesses should cost no more than the emulator's
// event; irregular accesses are analysed lane by lane.

#include "analyzers/analyzers.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <random>

namespace {

using namespace warplens;

/// 1024 accesses, used in a cycle.
struct Accesses {
  std::vector<std::array<std::uint64_t, exec::kWarpSize>> addresses;
  exec::Access event{.shape = exec::Shape::irregular, .lane_bytes = 4, .mask = 0xffffffffu};
};

template <class Address>
Accesses accesses(isa::Space space, exec::Shape shape, std::int64_t stride, Address&& address) {
  Accesses result;
  result.addresses.resize(1024);
  result.event.space = space;
  result.event.shape = shape;
  result.event.stride = stride;
  for (std::uint64_t i = 0; i < 1024; ++i)
    for (std::uint64_t lane = 0; lane < exec::kWarpSize; ++lane) result.addresses[i][lane] = address(i, lane);
  return result;
}

void feed(benchmark::State& state, Accesses accesses) {
  ir::Module module;
  ir::Function function;
  function.instructions.resize(16);
  analyzers::Analysis analysis(module, function, {});
  const auto shard = analysis.make_shard();
  std::size_t i = 0;
  for (auto _ : state) {
    accesses.event.addresses = accesses.addresses[i++ & 1023].data();
    shard->access(accesses.event);
  }
  state.SetItemsProcessed(state.iterations());
}

constexpr std::uint64_t kBase = 1 << 20;
std::mt19937_64 random_numbers(1);

void global_contiguous(benchmark::State& state) {
  feed(state, accesses(isa::Space::global, exec::Shape::contiguous, 4,
                       [](std::uint64_t i, std::uint64_t lane) { return kBase + i * 128 + lane * 4; }));
}
void global_strided(benchmark::State& state) {
  feed(state, accesses(isa::Space::global, exec::Shape::strided, 12,
                       [](std::uint64_t i, std::uint64_t lane) { return kBase + i * 384 + lane * 12; }));
}
void global_strided_any_base(benchmark::State& state) {
  feed(state, accesses(isa::Space::global, exec::Shape::strided, 12,
                       [](std::uint64_t i, std::uint64_t lane) { return kBase + i * 12 + lane * 12; }));
}
void global_rows_of_a_tile(benchmark::State& state) {
  feed(state, accesses(isa::Space::global, exec::Shape::irregular, 0, [](std::uint64_t i, std::uint64_t lane) {
         return kBase + i * 32 + lane / 8 * 4096 + lane % 8 * 4;
       }));
}
void global_irregular(benchmark::State& state) {
  const auto range = static_cast<std::uint64_t>(state.range(0));
  feed(state, accesses(isa::Space::global, exec::Shape::irregular, 0,
                       [&](std::uint64_t, std::uint64_t) { return kBase + random_numbers() % range * 4; }));
}
void shared_strided(benchmark::State& state) {
  feed(state, accesses(isa::Space::shared, exec::Shape::strided, 132,
                       [](std::uint64_t i, std::uint64_t lane) { return i * 4 + lane * 132; }));
}
void shared_irregular(benchmark::State& state) {
  const auto range = static_cast<std::uint64_t>(state.range(0));
  feed(state, accesses(isa::Space::shared, exec::Shape::irregular, 0,
                       [&](std::uint64_t, std::uint64_t) { return random_numbers() % range * 4; }));
}

BENCHMARK(global_contiguous);
BENCHMARK(global_strided);
BENCHMARK(global_strided_any_base);
BENCHMARK(global_rows_of_a_tile);
BENCHMARK(global_irregular)->Arg(64)->Arg(1024)->Arg(1 << 20);
BENCHMARK(shared_strided);
BENCHMARK(shared_irregular)->Arg(32)->Arg(256)->Arg(8192);

} // namespace

BENCHMARK_MAIN();
