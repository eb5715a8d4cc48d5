// SPDX-License-Identifier: Apache-2.0
// Updates that a copy in shared memory would not help have no finding; the pair with one is in advice_pairs.cpp.
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace advice_atomics_test {

TEST(AdviceAtomics, AreSilentWhereCopiesDoNotHelp) {
  const std::string strided = "grid = [528, 1, 1]\nblock = [256, 1, 1]", bins = "{ buffer = \"bins\" }, ",
                    n = "{ s32 = 1048576 }";
  struct Silent {
    const char* kernel;
    std::string shape, more;
  };
  for (const Silent& silent : {Silent{"count_in_shared", strided, bins + n},
                               {"count_for_block", strided, bins + n},
                               {"count_pairs", strided, bins + n},
                               {"count_once", "grid = [4096, 1, 1]\nblock = [256, 1, 1]", bins},
                               {"take_places", strided, bins + "{ buffer = \"out\" }, " + n}}) {
    const LaunchReport report =
        run("module = \"tests/data/advice/histogram.ptx\"\ndevice = \"h200\"\n" +
            launch_of(silent.kernel, silent.shape, "arg = [{ buffer = \"bytes\" }, " + silent.more + "]") +
            buffer("bytes", "s32", 1 << 20, "random = [0, 255]\nseed = 1") + buffer("bins", "s32", 1 << 18, kZeros) +
            buffer("out", "s32", 1 << 20, kZeros))
            .at(0);
    ASSERT_FALSE(report.trap) << silent.kernel << ": " << report.trap->message;
    for (const analyzers::Finding& f : report.findings)
      EXPECT_NE(f.rule, "ContendedAtomics") << silent.kernel << "\n" << list_of(report.findings);
  }
}

} // namespace advice_atomics_test
} // namespace warplens::api
