// SPDX-License-Identifier: Apache-2.0
#include "emulator/base/printable.hpp"

#include "emulator/base/diagnostic.hpp"

#include <gtest/gtest.h>

#include <array>

namespace warplens {
namespace printable_test {

TEST(Printable, TextStaysAsItIs) {
  for (const std::string_view text : {"", "vector_add", "a\tb\n", "größer 字 🙂 …", "\\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreWritten) {
  EXPECT_EQ(printable("\x1b]0;title\x07\x1b[2J"), "\\x1b]0;title\\x07\\x1b[2J");
  EXPECT_EQ(printable(std::string_view("a\0b\r\x7f", 5)), "a\\x00b\\x0d\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m"); // the same as ESC [
}

TEST(Printable, SoIsWhatTurnsTextAround) { EXPECT_EQ(printable("a\u202eb\u2066c\u200f"), "a\\u202eb\\u2066c\\u200f"); }

TEST(Printable, SoAreBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                              // cut off
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");                     // longer than need be: ESC
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");            // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80x"), "\\xf4\\x90\\x80\\x80x"); // beyond U+10FFFF
}

TEST(Printable, OwnSequencesAreKept) {
  const std::array<std::string_view, 2> own{"\x1b[31m", ""};
  EXPECT_EQ(printable("\x1b[31mred\x1b[2J", own), "\x1b[31mred\\x1b[2J");
}

TEST(Printable, DiagnosticsAre) {
  Diagnostics errors;
  errors.error({1, 2}, "no kernel '\x1b[2J'", "did you mean '\x1b[H'?");
  errors.in_file("\x1b]0;x\x07.ptx");
  const std::string text = render(errors, "a\x1b[2Jb\xff");
  EXPECT_EQ(text.find('\x1b'), text.npos) << text;
  EXPECT_EQ(text.find('\xff'), text.npos) << text;
  EXPECT_NE(text.find("no kernel '\\x1b[2J'"), text.npos) << text;
}

} // namespace printable_test
} // namespace warplens
