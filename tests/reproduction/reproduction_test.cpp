// What the papers print is computed anew, and docs/reproduction.md says what came out.
#include "tests/reproduction/page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace warplens::reproduction {
namespace {

TEST(Reproduction, EveryRowIsWhatItsKindSays) {
  const Page page = reproduction();
  for (const std::string& failure : page.failures()) ADD_FAILURE() << failure;
}

TEST(Reproduction, ThePageIsUpToDate) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/reproduction.md", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Page page = reproduction();
  EXPECT_EQ(text, page.markdown()) << "docs/reproduction.md is stale: ninja -C build docs-reproduction";
  EXPECT_GT(page.rows(), 200);
}

TEST(Reproduction, VerdictsAreComputed) {
  Page page;
  page.number("same", "", 100, 100, 0);
  page.number("near", "", 100, 100.4, 0.005);
  page.printed("rounded", "", 2.28, 2.28125, 2);
  page.printed("cut", "", 8.28, 8.286, 2);
  page.contradiction("different", "", 100, 110, 0.05, "why");
  EXPECT_TRUE(page.failures().empty());
  page.number("far", "", 100, 101, 0.005);
  page.number("nearly", "", 100, 100.0001, 0);
  page.printed("other", "", 2.28, 2.2951, 2);
  page.contradiction("same", "", 100, 101, 0.05, "why");
  page.missed("met", "", 100, 101, 0.05, "why");
  page.claim("wrong", "a", "b", false);
  page.refuted("right", "a", "a", true, "why");
  EXPECT_EQ(page.failures().size(), 7u);
  EXPECT_NE(page.markdown().find("| far | 100 | 101 | +1 % | NOT REPRODUCED |"), std::string::npos);
}

} // namespace
} // namespace warplens::reproduction
