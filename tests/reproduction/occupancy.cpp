// SPDX-License-Identifier: Apache-2.0
// Occupancy: the worked examples of papers, guides and NVIDIA's spreadsheets, and uBench's conclusion.
#include "model/occupancy.hpp"
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

namespace warplens::reproduction {
namespace {

using namespace model;

Occupancy of(ComputeCapability cc, std::int64_t threads, std::int64_t registers, std::int64_t shared,
             std::optional<std::int64_t> configuration = std::nullopt) {
  OccupancyQuery query;
  query.capability = cc;
  query.threads = threads;
  query.registers = registers;
  query.shared_bytes = shared;
  query.shared_configuration = configuration;
  const Expected<Occupancy> o = model::occupancy(query);
  return o ? *o : Occupancy{};
}

struct Example {
  ComputeCapability cc;
  int threads, registers, shared, blocks, warps;
  const char* source;
};
const Example kExamples[] = {
    {{8, 6}, 320, 10, 1024, 4, 40, "Karan Kumar, table 2"},  {{3, 7}, 256, 18, 4224, 8, 64, "CME 213"},
    {{1, 0}, 128, 12, 0, 5, 20, "Best Practices Guide 5.5"}, {{1, 0}, 256, 12, 0, 2, 16, "Best Practices Guide 5.5"},
    {{1, 0}, 256, 10, 0, 3, 24, "Best Practices Guide 5.5"}, {{1, 2}, 512, 16, 0, 2, 32, "Programming Guide 3.2"},
    {{1, 2}, 512, 17, 0, 1, 16, "Programming Guide 3.2"},    {{2, 0}, 32, 60, 1024, 8, 8, "spreadsheet of 2012"},
    {{2, 1}, 256, 32, 4096, 4, 32, "spreadsheet"},           {{3, 5}, 256, 32, 4096, 8, 64, "spreadsheet"},
    {{6, 0}, 128, 48, 4096, 10, 40, "spreadsheet"},          {{6, 1}, 256, 32, 2048, 8, 64, "spreadsheet"},
    {{7, 0}, 128, 37, 0, 12, 48, "Best Practices Guide 12"}, {{7, 0}, 320, 37, 0, 4, 40, "Best Practices Guide 12"},
};

} // namespace

void occupancy(Page& page) {
  page.section("Occupancy",
               "Resident warps per multiprocessor in the worked examples. 1726 points of NVIDIA's spreadsheets are in "
               "`tests/model/occupancy_test.cpp`.");
  for (const Example& e : kExamples)
    page.computed(fmt::format("{}: {} threads, {} registers, {} bytes ({})", to_string(e.cc), e.threads, e.registers,
                              e.shared, e.source),
                  "warps", std::to_string(e.warps), of(e.cc, e.threads, e.registers, e.shared).warps);
  page.computed("8.6, 64 KB of shared memory: 1024 threads, 32 registers, 20480 bytes (spreadsheet 11.1)", "warps",
                "32", of({8, 6}, 1024, 32, 20480, 65536).warps);
  page.computed("Dasgupta, 64 threads on 1.3: occupancy", "", "0.5", of({1, 3}, 64, 32, 0).ratio);
  page.computed("Dasgupta, unroll and jam, 33 to 40 registers: occupancy", "", "0.375", of({1, 3}, 64, 40, 0).ratio);

  int smallest = 0;
  for (int threads = 32; threads <= 1024 && smallest == 0; threads += 32)
    if (of({2, 0}, threads, 20, 0).ratio == 1) smallest = threads;
  page.claim(
      Kind::computed, "uBench: blocks of 192 threads are near the optimum on a GTX 480 (kernels with little work)",
      "192 threads", fmt::format("{} threads: the smallest block of full occupancy on 2.0", smallest), smallest == 192);
}

} // namespace warplens::reproduction
