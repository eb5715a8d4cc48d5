// SPDX-License-Identifier: Apache-2.0
// Recomputes the values of the papers; docs/reproduction.md must contain the results.
#include "tests/reproduction/page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace warplens::reproduction {
namespace reproduction_test {

TEST(Reproduction, EveryRowIsWhatItsKindSays) {
  const Page page = reproduction();
  for (const std::string& failure : page.failures()) ADD_FAILURE() << failure;
}

TEST(Reproduction, ThePageIsUpToDate) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/reproduction.md", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Page page = reproduction();
  EXPECT_EQ(text, page.markdown()) << "docs/reproduction.md is stale: ninja -C build docs-reproduction";
  EXPECT_GT(page.count(Kind::computed).within, 100);
}

TEST(Reproduction, ThePrintedDigitsDecide) {
  Page page;
  page.computed("same", "", "100", 100);
  page.computed("rounded", "", "2.28", 2.28125);
  page.computed("up to half a unit", "", "12.3", 12.35);
  page.computed("in the spread", "", "7.55 ± 0.05", 7.5);
  page.computed("cut", "", "8.28", 8.286);
  page.computed("explained", "", "2.28", 2.2951, "why");
  EXPECT_TRUE(page.failures().empty());
  EXPECT_EQ(page.count(Kind::computed), (Page::Count{4, 2}));
  page.computed("far", "", "100", 101);
  page.computed("nearly", "", "100.00", 100.016);
  page.computed("above the spread", "", "4.15 ± 0.05", 4.25);
  page.computed("a reason for nothing", "", "100", 100, "why");
  EXPECT_EQ(page.failures().size(), 4u);
  EXPECT_NE(page.markdown().find("| far | computed | 100 | 101 | +1 % | outside: NOT EXPLAINED |"), std::string::npos);
  EXPECT_NE(page.markdown().find("| cut | computed | 8.28 | 8.286 | +0.072 % | outside: truncated to these digits, "
                                 "not"),
            std::string::npos);
}

TEST(Reproduction, KindsAreCountedApart) {
  Page page;
  page.arithmetic("sum", "", "4", 2 + 2);
  page.claim(Kind::arithmetic, "order", "a > b", "b > a", false, "why");
  page.threshold("error", "at most 20 %", "12 %", true);
  page.threshold("error", "at most 20 %", "25 %", false);
  page.fitted("time", "ms", "303", 299, "estimated: barriers");
  EXPECT_EQ(page.count(Kind::computed), Page::Count{});
  EXPECT_EQ(page.count(Kind::arithmetic), (Page::Count{1, 1}));
  EXPECT_EQ(page.count(Kind::threshold), (Page::Count{1, 1}));
  EXPECT_EQ(page.count(Kind::fitted), (Page::Count{1, 0}));
  EXPECT_EQ(page.failures().size(), 1u); // a threshold is met, or the test fails
  EXPECT_NE(page.markdown().find("| fitted | 303 | 299 | -1.3 % | estimated: barriers; not a test |"),
            std::string::npos);
}

} // namespace reproduction_test
} // namespace warplens::reproduction
