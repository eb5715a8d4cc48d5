// SPDX-License-Identifier: Apache-2.0
#include "model/occupancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace warplens::model {
namespace occupancy_test {

std::vector<std::vector<std::string>> read_csv(const std::string& name) {
  std::ifstream file(std::string(WARPLENS_SOURCE_DIR) + "/tests/data/vectors/" + name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    std::vector<std::string>& row = rows.emplace_back();
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  if (!rows.empty()) rows.erase(rows.begin()); // the header
  return rows;
}

TEST(OccupancyLimits, AreThoseOfTheReferenceTable) {
  const auto rows = read_csv("occupancy_limits.csv");
  std::string capabilities;
  for (const auto& row : rows) capabilities += (capabilities.empty() ? "known: " : ", ") + row.at(0);
  EXPECT_EQ(find_occupancy_limits({99, 0}).error().list().front().hint, capabilities);
  for (const auto& row : rows) {
    const auto capability = parse_compute_capability(row.at(0));
    ASSERT_TRUE(capability) << row[0];
    const auto l = find_occupancy_limits(*capability);
    ASSERT_TRUE(l) << row[0];
    const std::vector<std::string> ours{to_string(l->capability),
                                        std::to_string(l->warps),
                                        std::to_string(l->threads),
                                        std::to_string(l->blocks),
                                        std::to_string(l->registers),
                                        std::to_string(l->registers_per_block),
                                        std::to_string(l->register_unit),
                                        l->allocation == RegisterAllocation::per_block ? "block" : "warp",
                                        std::to_string(l->registers_per_thread),
                                        std::to_string(l->shared_bytes),
                                        std::to_string(l->shared_bytes_per_block),
                                        std::to_string(l->shared_unit),
                                        std::to_string(l->shared_reserved_per_block),
                                        std::to_string(l->warp_granularity),
                                        std::to_string(l->subpartitions),
                                        std::to_string(l->threads_per_block)};
    EXPECT_EQ(ours, row);
  }
}

struct Worked {
  ComputeCapability capability;
  std::int64_t threads, registers, shared;
  int blocks, warps;
  int limit_warps, limit_registers, limit_shared; ///< as the guides print them: the first is also bound by block slots
  OccupancyRule rule = OccupancyRule::automatic;
  std::optional<std::int64_t> configuration{};
};

// Best Practices Guides 5.5 and 12.x, Programming Guide 3.2, NVIDIA's spreadsheets of 2012 to 11.1, course notes.
const Worked kWorked[] = {
    {{8, 6}, 320, 10, 1024, 4, 40, 4, 12, 50, OccupancyRule::automatic},
    {{3, 7}, 256, 18, 4224, 8, 64, 8, 20, 26, OccupancyRule::sheet},
    {{3, 7}, 256, 18, 4224, 8, 64, 8, 21, 26, OccupancyRule::header},
    {{1, 0}, 128, 12, 0, 5, 20, 6, 5, 8},
    {{1, 0}, 256, 12, 0, 2, 16, 3, 2, 8},
    {{1, 0}, 256, 10, 0, 3, 24, 3, 3, 8},
    {{1, 2}, 512, 16, 0, 2, 32, 2, 2, 8},
    {{1, 2}, 512, 17, 0, 1, 16, 2, 1, 8},
    {{2, 0}, 32, 60, 1024, 8, 8, 8, 16, 48}, // the sheet of 2012, which does not round the warps down, has 17
    {{2, 1}, 256, 32, 4096, 4, 32, 6, 4, 12},
    {{3, 5}, 256, 32, 4096, 8, 64, 8, 8, 12},
    {{6, 0}, 128, 48, 4096, 10, 40, 16, 10, 16},
    {{6, 1}, 256, 32, 2048, 8, 64, 8, 8, 48},
    {{7, 0}, 128, 37, 0, 12, 48, 16, 12, 32},
    {{7, 0}, 320, 37, 0, 4, 40, 6, 4, 32},
    {{8, 6}, 1024, 32, 20480, 1, 32, 1, 2, 3, OccupancyRule::automatic, 65536},
};

void expect_worked(const Worked& w) {
  const auto o = occupancy({w.capability, w.threads, w.registers, w.shared, w.configuration, w.rule});
  ASSERT_TRUE(o);
  EXPECT_EQ(o->blocks, w.blocks);
  EXPECT_EQ(o->warps, w.warps);
  EXPECT_EQ(std::min(o->limit_warps, o->limit_blocks), w.limit_warps);
  EXPECT_EQ(o->limit_registers, w.limit_registers);
  EXPECT_EQ(o->limit_shared, w.limit_shared);
}

TEST(Occupancy, WorkedExamples) {
  for (const Worked& w : kWorked) {
    SCOPED_TRACE(to_string(w.capability) + " with " + std::to_string(w.threads) + " threads");
    expect_worked(w);
  }
}

// The limits of the CUDA C++ Programming Guide 13.0 (technical specifications per compute capability) and the units of
// cuda_occupancy.h, computed by hand: each limit binds once or more.
const Worked kCurrent[] = {
    {{6, 1}, 128, 64, 24576, 4, 16, 16, 8, 4},   {{7, 5}, 32, 32, 0, 16, 16, 16, 64, 16},
    {{7, 5}, 256, 64, 16384, 4, 32, 4, 4, 4},    {{8, 0}, 32, 32, 0, 32, 32, 32, 64, 164},
    {{8, 0}, 256, 64, 50176, 3, 24, 8, 4, 3},    {{8, 6}, 64, 40, 5120, 16, 32, 16, 24, 16},
    {{8, 6}, 1024, 32, 101376, 1, 32, 1, 2, 1},  {{8, 7}, 256, 32, 50176, 3, 24, 6, 8, 3},
    {{8, 7}, 32, 32, 0, 16, 16, 16, 64, 164},    {{8, 9}, 32, 32, 0, 24, 24, 24, 64, 100},
    {{8, 9}, 64, 40, 3072, 24, 48, 24, 24, 25},  {{9, 0}, 128, 168, 75776, 3, 12, 16, 3, 3},
    {{10, 0}, 32, 32, 0, 32, 32, 32, 64, 228},   {{10, 0}, 256, 32, 0, 8, 64, 8, 8, 228},
    {{10, 0}, 128, 168, 232448, 1, 4, 16, 3, 1}, {{12, 0}, 32, 32, 0, 24, 24, 24, 64, 100},
    {{12, 0}, 256, 32, 0, 6, 48, 6, 8, 100},     {{12, 0}, 256, 48, 33792, 2, 16, 6, 5, 2},
};

TEST(Occupancy, CurrentDevices) {
  for (const Worked& w : kCurrent) {
    SCOPED_TRACE(to_string(w.capability) + " with " + std::to_string(w.threads) + " threads");
    expect_worked(w);
  }
  // One byte more than a block may have.
  EXPECT_FALSE(occupancy({{8, 9}, 32, 32, 101377, {}, {}}));
  EXPECT_FALSE(occupancy({{10, 0}, 32, 32, 232449, {}, {}}));
  EXPECT_FALSE(occupancy({{12, 0}, 32, 32, 101377, {}, {}}));
}

TEST(Occupancy, NamesWhatBinds) {
  const auto registers = occupancy({{1, 2}, 512, 17, 0, {}, {}});
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->bound_by, std::vector{OccupancyLimiter::registers});
  EXPECT_DOUBLE_EQ(registers->ratio, 0.5);
  const auto both = occupancy({{3, 5}, 256, 32, 4096, {}, {}});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->bound_by, (std::vector{OccupancyLimiter::warps, OccupancyLimiter::registers}));
  const auto slots = occupancy({{1, 3}, 32, 8, 0, {}, {}});
  ASSERT_TRUE(slots);
  EXPECT_EQ(slots->limit_warps, 32);
  EXPECT_EQ(slots->bound_by.front(), OccupancyLimiter::blocks);
}

TEST(Occupancy, Granularities) {
  const auto registers = [](const OccupancyQuery& query) { return occupancy(query)->limit_registers; };
  // 1.x counts warps in pairs: a block of one warp pays for two.
  EXPECT_EQ(registers({{1, 3}, 32, 16, 0, {}, {}}), 16384 / (2 * 32 * 16));
  // The sheets hand out 128 registers at a time where a thread of 2.x has 21, else 64: 42 warps instead of 46.
  EXPECT_EQ(registers({{2, 1}, 32, 21, 0, {}, OccupancyRule::sheet}), 42);
  EXPECT_EQ(registers({{2, 1}, 32, 20, 0, {}, OccupancyRule::sheet}), 50);
  // The system's 1024 bytes: the sheets count them for 8.0 only, the header for every later one too.
  const auto shared = [](const OccupancyQuery& query) { return occupancy(query)->limit_shared; };
  EXPECT_EQ(shared({{8, 0}, 32, 8, 1024, {}, OccupancyRule::sheet}), 167936 / 2048);
  EXPECT_EQ(shared({{8, 6}, 32, 8, 1024, {}, OccupancyRule::sheet}), 102400 / 1024);
  EXPECT_EQ(shared({{8, 6}, 32, 8, 1024, {}, OccupancyRule::header}), 102400 / 2048);
  // A block may have half of the registers of a 5.3 multiprocessor.
  EXPECT_EQ(registers({{5, 3}, 1024, 32, 0, {}, {}}), 2);
  EXPECT_FALSE(occupancy({{5, 3}, 1024, 64, 0, {}, {}}));
}

// The curves that NVIDIA's spreadsheets keep with them, over threads, registers and shared memory. Left out of the data
// are 80 points with more than 1024 threads, which are launches that cannot be, and the sheet of 2012 for 2.0, whose
// curves belong to other inputs than the ones saved with them. Where a sheet plots 0 warps, the launch is an error
// here.
TEST(Occupancy, CurvesOfTheSpreadsheets) {
  const auto rows = read_csv("occupancy_sheet_curves.csv");
  ASSERT_EQ(rows.size(), 1726u);
  int resident = 0;
  for (const auto& row : rows) {
    OccupancyQuery query;
    query.capability = *parse_compute_capability(row.at(1));
    query.threads = std::stoll(row.at(2));
    query.registers = std::stoll(row.at(3));
    query.shared_bytes = std::stoll(row.at(4));
    query.shared_configuration = std::stoll(row.at(5));
    query.rule = OccupancyRule::sheet;
    const auto o = occupancy(query);
    resident += o.has_value();
    EXPECT_EQ(o ? o->warps : 0, std::stoi(row.at(6)))
        << row[0] << " threads " << row[2] << " registers " << row[3] << " shared " << row[4];
  }
  EXPECT_GT(resident, 1300);
}

TEST(Occupancy, LaunchesThatCannotBeAreErrors) {
  const auto message = [](const OccupancyQuery& query) {
    const auto o = occupancy(query);
    return o ? std::string("no error") : o.error().list().front().message;
  };
  EXPECT_EQ(message({{1, 3}, 0, 8, 0, {}, {}}), "threads per block is 0: compute capability 1.3 allows 1 to 512");
  EXPECT_EQ(message({{1, 3}, 513, 8, 0, {}, {}}), "threads per block is 513: compute capability 1.3 allows 1 to 512");
  EXPECT_EQ(message({{9, 0}, 32, 256, 0, {}, {}}),
            "registers per thread is 256: compute capability 9.0 allows 0 to 255");
  EXPECT_EQ(message({{9, 0}, 32, -1, 0, {}, {}}), "registers per thread is -1: compute capability 9.0 allows 0 to 255");
  EXPECT_EQ(message({{1, 3}, 32, 8, 16385, {}, {}}),
            "shared bytes per block is 16385: compute capability 1.3 allows 0 to 16384");
  EXPECT_EQ(message({{9, 0}, 1024, 255, 0, {}, {}}),
            "no block fits on a multiprocessor of compute capability 9.0: not enough registers");
  EXPECT_EQ(message({{8, 6}, 32, 8, 4096, 0, {}}),
            "no block fits on a multiprocessor of compute capability 8.6: not enough shared memory");
  EXPECT_EQ(message({{4, 0}, 32, 8, 0, {}, {}}), "unknown compute capability 4.0");
}

TEST(ComputeCapability, Parses) {
  EXPECT_EQ(*parse_compute_capability("12.0"), (ComputeCapability{12, 0}));
  for (const char* bad : {"", "1", "1.", ".3", "1.3a", "a.b", "-1.0", "1.-3", " 1.3", "99999999999.1"})
    EXPECT_FALSE(parse_compute_capability(bad)) << bad;
}

} // namespace occupancy_test
} // namespace warplens::model
