// SPDX-License-Identifier: Apache-2.0
// Barriers that data crosses have no finding, however much they look like those that none crosses. Pairs with findings
// are in advice_pairs.cpp.
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace advice_barriers_test {

TEST(AdviceBarriers, AreSilentWhereDataCrosses) {
  const std::string line = "grid = [64, 1, 1]\nblock = [256, 1, 1]", xy = "{ buffer = \"x\" }, { buffer = \"y\" }";
  const std::string buffers =
      buffer("x", "f32", 64 * 256, kIota) + buffer("y", "f32", 64 * 256, kZeros) + buffer("tickets", "u32", 1, kZeros);
  for (const char* kernel :
       {"needed_before_stores", "needed_for_second_store", "needed_for_ticket", "needed_in_tree", "one_barrier"}) {
    const bool ticket = std::string_view(kernel) == "needed_for_ticket";
    const LaunchReport report =
        run("module = \"tests/data/advice/barriers.ptx\"\ndevice = \"h200\"\n" +
            launch_of(kernel, line, "arg = [" + xy + (ticket ? ", { buffer = \"tickets\" }" : "") + "]") + buffers)
            .at(0);
    ASSERT_FALSE(report.trap) << kernel << ": " << report.trap->message;
    for (const analyzers::Finding& f : report.findings)
      EXPECT_NE(f.rule, "UnneededBarrier") << kernel << "\n" << list_of(report.findings);
  }
}

// Of two barriers with nothing between them, one is needed; and columns of a thread's own need none.
TEST(AdviceBarriers, OnlyThoseThatMayGoAreNamed) {
  const std::string line = "grid = [64, 1, 1]\nblock = [256, 1, 1]",
                    arguments = "arg = [{ buffer = \"x\" }, { buffer = \"y\" }]";
  const auto reports = run("module = \"tests/data/advice/barriers.ptx\"\ndevice = \"h200\"\n" +
                           launch_of("two_barriers", line, arguments) + launch_of("own_columns_wait", line, arguments) +
                           buffer("x", "f32", 64 * 256, kIota) + buffer("y", "f32", 64 * 256, kZeros));
  std::vector<std::size_t> lines;
  for (const LaunchReport& report : reports) {
    std::size_t& count = lines.emplace_back();
    for (const analyzers::Finding& f : report.findings)
      if (f.rule == "UnneededBarrier") count += f.lines.size();
  }
  EXPECT_EQ(lines.at(0), 1u) << list_of(reports[0].findings);
  EXPECT_EQ(lines.at(1), 32u) << list_of(reports[1].findings);
}

} // namespace advice_barriers_test
} // namespace warplens::api
