// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/checked.hpp"
#include "emulator/base/limits.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace warplens {
namespace checked_test {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

TEST(Checked, IsPlainArithmeticWhereItFits) {
  EXPECT_EQ((Checked(6) * 7 + 8 - 50).value(), 0u);
  EXPECT_EQ((Checked(kMost) + 0).value(), kMost);
  EXPECT_EQ((Checked(std::uint64_t{1} << 32) * 0xffff'ffffu).value(), 0xffff'ffff'0000'0000u);
  EXPECT_EQ(Checked(257).aligned(256).value(), 512u);
  EXPECT_EQ(Checked(512).aligned(256).value(), 512u);
  EXPECT_EQ(Checked(10).aligned(12).value(), 12u);
  EXPECT_EQ(Checked(10).aligned(0).value(), 10u);
}

TEST(Checked, NothingWraps) {
  EXPECT_FALSE((Checked(kMost) + 1).valid());
  EXPECT_FALSE((Checked(0) - 1).valid());
  EXPECT_FALSE((Checked(std::uint64_t{1} << 62) * 4).valid());
  EXPECT_FALSE(Checked(kMost - 100).aligned(256).valid());
  EXPECT_FALSE(Checked(-1).valid());
}

TEST(Checked, WhatIsInvalidStaysSo) {
  const Checked bad = Checked(kMost) + 1;
  EXPECT_FALSE((bad * 0).valid());
  EXPECT_FALSE((Checked(1) - bad).valid());
  EXPECT_FALSE(bad.aligned(16).valid());
  EXPECT_FALSE(bad.at_most(kMost));
  EXPECT_EQ(bad.saturated(), kMost);
}

TEST(Checked, ConvertsOnlyWhatFits) {
  EXPECT_EQ(Checked(0xffff'ffffu).as<std::uint32_t>(), 0xffff'ffffu);
  EXPECT_FALSE(Checked(std::uint64_t{1} << 32).as<std::uint32_t>());
  EXPECT_FALSE(Checked(std::uint64_t{1} << 31).as<std::int32_t>());
  EXPECT_FALSE(Checked(kMost).as<std::int64_t>());
}

TEST(Checked, WithinKnowsRangesThatWrap) {
  EXPECT_TRUE(within(0, 0, 0));
  EXPECT_TRUE(within(8, 8, 16));
  EXPECT_FALSE(within(9, 8, 16));
  EXPECT_FALSE(within(kMost - 3, 4, 16));
  EXPECT_FALSE(within(8, kMost, 16));
}

TEST(Checked, TheLeastNumberHasAMagnitude) {
  EXPECT_EQ(magnitude(-5), 5u);
  EXPECT_EQ(magnitude(5), 5u);
  EXPECT_EQ(magnitude(std::numeric_limits<std::int64_t>::min()), std::uint64_t{1} << 63);
}

TEST(Limits, AreNamedInTheErrorAndCanBeLifted) {
  Limit limit("some-bytes", "bytes of something", 16);
  EXPECT_TRUE(limit.admits(16));
  EXPECT_FALSE(limit.admits(Checked(0) - 1));
  EXPECT_EQ(limit.exceeded("kernel 'f'", 17), "kernel 'f' needs 17 bytes of something: the limit some-bytes is 16");
  EXPECT_EQ(limit.exceeded("kernel 'f'", Checked(kMost) + 1),
            "kernel 'f' needs more than 2^64 - 1 bytes of something: the limit some-bytes is 16");

  const std::uint64_t before = limits::kLocalBytes.most();
  EXPECT_EQ(set_limits("local-bytes=123,registers=8388608"), "");
  EXPECT_EQ(limits::kLocalBytes.most(), 123u);
  EXPECT_EQ(set_limits("local-bytes=" + std::to_string(before)), "");
  EXPECT_NE(set_limits("local-byte=1").find("there is no limit 'local-byte'"), std::string::npos);
  for (const char* wrong : {"local-bytes", "local-bytes=", "local-bytes=-1", "local-bytes=1x", "local-bytes=1e3"})
    EXPECT_NE(set_limits(wrong).find("expects a number"), std::string::npos) << wrong;
  EXPECT_EQ(limits::kLocalBytes.most(), before);
}

TEST(Limits, AreDocumented) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/limits.md");
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (const Limit* limit : limits::all())
    EXPECT_NE(page.find("`" + std::string(limit->name()) + "`"), std::string::npos) << limit->name();
}

TEST(Limits, HaveDistinctNames) {
  for (const Limit* a : limits::all())
    for (const Limit* b : limits::all()) EXPECT_TRUE(a == b || a->name() != b->name());
}

} // namespace checked_test
} // namespace warplens
