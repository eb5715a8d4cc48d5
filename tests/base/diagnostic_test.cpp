// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/diagnostic.hpp"

#include <gtest/gtest.h>

namespace warplens {
namespace diagnostic_test {

TEST(Render, ShowsPlaceLineCaretAndHint) {
  Diagnostics d;
  d.error({2, 3}, "unknown instruction 'ad.f32'", "did you mean 'add.f32'?");
  d.in_file("k.ptx");
  EXPECT_EQ(render(d, "first\n\tad.f32 %f1;\r\nthird\n"), "k.ptx:2:3: error: unknown instruction 'ad.f32'\n"
                                                          "  \tad.f32 %f1;\n"
                                                          "  \t ^\n"
                                                          "  hint: did you mean 'add.f32'?\n");
}

TEST(Render, NeedsNeitherPlaceNorSource) {
  Diagnostics d;
  d.error({}, "grid is zero");
  d.warning({9, 1}, "beyond the text");
  EXPECT_EQ(render(d, "one line"), "error: grid is zero\n9:1: warning: beyond the text\n");
}

TEST(Render, CutsLongLinesAroundTheCaret) {
  Diagnostics d;
  d.error({1, 400'001}, "here");
  const std::string text = render(d, std::string(400'000, 'x') + "!" + std::string(60'000, 'y'));
  EXPECT_LT(text.size(), 400u);
  EXPECT_NE(text.find("xx!yy"), std::string::npos);
  const std::size_t line = text.find('\n') + 1, caret = text.find('^');
  EXPECT_EQ(text[line + (caret - text.find('\n', line) - 1)], '!');
}

TEST(Render, StopsAtTheLimit) {
  Diagnostics d;
  for (int i = 0; i < 7; ++i) d.error({}, "e");
  EXPECT_EQ(render(d, "", 2), "error: e\nerror: e\n… and 5 more\n");
  EXPECT_EQ(d.error_count(), 7u);
}

TEST(Closest, FindsTheNearWordOnly) {
  EXPECT_EQ(closest("ad", {"add", "sub", "abs"}), "add");
  EXPECT_EQ(closest("setpp", {"set", "setp", "selp"}), "setp");
  EXPECT_EQ(closest("xyzzy", {"add", "sub"}), "");
  EXPECT_EQ(closest("gird", {"block", "grid"}), "grid");      // neighbours exchanged
  EXPECT_EQ(closest("h20", {"k20", "h200", "a100"}), "h200"); // as close as k20, but it starts like the word
  EXPECT_EQ(closest("", {"add"}), "");
}

TEST(DidYouMean, NamesAWordThatIsCloseOrSaysSomethingElse) {
  EXPECT_EQ(did_you_mean("ad", {"add", "sub"}), "did you mean 'add'?");
  EXPECT_EQ(did_you_mean("xyzzy", {"add", "sub"}), "");
  EXPECT_EQ(did_you_mean("xyzzy", {"add", "sub"}, "add or sub"), "add or sub");
}

} // namespace diagnostic_test
} // namespace warplens
