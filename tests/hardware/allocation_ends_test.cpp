// SPDX-License-Identifier: Apache-2.0
// Accesses around allocations (tests/data/hardware/allocation_ends.jsonl): those that we permit succeeded on an H200.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace warplens::tests {
namespace allocation_ends_test {

// An allocation as from the driver API (runtime/driver/machine/memory.cpp), at the same offset in its page.
exec::Allocation allocation_of(const nlohmann::json& line) {
  const std::string kind = line["kind"];
  const std::uint64_t size = line["size"], rounded = (size + 15) / 16 * 16, block = line["block"];
  const std::uint64_t begin = 64 * exec::kPageBytes + block - (line["direction"] == "after" ? rounded : 0);
  const bool of_device = kind == "cudaMalloc" || kind == "cudaMallocAsync" || kind == "variable of a module";
  const bool ends_exactly = kind.starts_with("cuMemMap") || (!of_device && size > exec::kPageBytes);
  return {begin, begin + size, kind, false, ends_exactly ? exec::kHostPageBytes : exec::kPageBytes};
}

TEST(AllocationEnds, WhatPassesHerePassedThere) {
  std::istringstream lines(data_file("hardware/allocation_ends.jsonl"));
  int asked = 0;
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (!line.contains("direction") || line["direction"] == "inside" || line["error"] == 716) continue;
    const exec::Allocation a = allocation_of(line);
    const bool after = line["direction"] == "after";
    const std::uint64_t from = after ? a.begin + (a.size() + 15) / 16 * 16 : a.begin;
    const std::int64_t faulted = line["faulted"];
    if (line["error"] == 0) continue; // all that was asked for passed
    ++asked;
    EXPECT_FALSE(exec::in_used_pages({&a, 1}, from + static_cast<std::uint64_t>(faulted),
                                     from + static_cast<std::uint64_t>(faulted) + 1))
        << text;
  }
  EXPECT_GT(asked, 50);
}

TEST(AllocationEnds, ReadsGiveZerosWhereNobodyHasWritten) {
  std::istringstream lines(data_file("hardware/allocation_ends.jsonl"));
  int zeros = 0, all = 0;
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text);
    if (!line.contains("direction") || line["kind"] != "cudaMalloc" || line["direction"] != "after") continue;
    ++all;
    zeros += line["nonzero"] == 0 ? 1 : 0;
  }
  EXPECT_GE(zeros, all - 2) << all; // elsewhere is what the driver keeps there
}

} // namespace allocation_ends_test
} // namespace warplens::tests
