// SPDX-License-Identifier: Apache-2.0
// What reports are made of: units, bars, the names of sections, progress, quoted lines.
#include "api/report/progress_text.hpp"
#include "api/report/sections.hpp"
#include "api/report/source_text.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>

namespace warplens::api {
namespace report_parts_test {

using warplens::testing::Folder;

TEST(Units, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(readable_time(2.56e-05), "25.6 ns");
  EXPECT_EQ(readable_time(0.00367), "3.67 µs");
  EXPECT_EQ(readable_time(0.9999), "1 ms");
  EXPECT_EQ(readable_time(1), "1 ms");
  EXPECT_EQ(readable_time(123.4), "123 ms");
  EXPECT_EQ(readable_time(1500), "1.5 s");
  EXPECT_EQ(readable_time(0), "0 ns");
  EXPECT_EQ(readable_time(1e9), "1000000 s");
}

TEST(Units, BytesAndShares) {
  EXPECT_EQ(readable_bytes(0), "0 B");
  EXPECT_EQ(readable_bytes(1023), "1023 B");
  EXPECT_EQ(readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(readable_bytes(std::uint64_t{3} << 30), "3 GiB");
  EXPECT_EQ(readable_share(0), "0 %");
  EXPECT_EQ(readable_share(0.001), "<1 %");
  EXPECT_EQ(readable_share(0.999), "99 %");
  EXPECT_EQ(readable_share(1), "100 %");
}

TEST(Units, BarsHaveTheWidthOfTheirColumns) {
  EXPECT_EQ(bar(0, 4), "    ");
  EXPECT_EQ(bar(0.5, 4), "██  ");
  EXPECT_EQ(bar(1, 4), "████");
  EXPECT_EQ(bar(2, 4), "████");
  for (const double share : {0.01, 0.33, 0.66, 0.99}) EXPECT_EQ(width(bar(share, 7)), 7u) << share;
}

TEST(Units, TextIsCutBetweenCharacters) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("abcd", 3), "ab…");
  EXPECT_EQ(cut("äöüß", 3), "äö…");
}

TEST(Units, NamesStayDifferentWhenTheyAreCut) {
  const std::vector<std::string> names = {"reduce<float, 256>", "reduce<float, 512>", "copy", "scale_äöüß_of_a"};
  EXPECT_EQ(cut_names(names, 12), (std::vector<std::string>{"reduc…, 256>", "reduc…, 512>", "copy", "scale_äöüß_…"}));
  const std::vector<std::string> accents = {"ääääää1ö", "ääääää2ö"};
  EXPECT_EQ(cut_names(accents, 6), (std::vector<std::string>{"ää…ä1ö", "ää…ä2ö"}));
  EXPECT_EQ(cut_names(names, 40), names);
}

TEST(Sections, AreParsedAndSuggested) {
  const std::vector<std::string> asked = {"memory,source", "findings"};
  const Sections sections = *parse_sections(asked);
  EXPECT_TRUE(sections.has(Section::memory) && sections.has(Section::findings));
  EXPECT_FALSE(sections.has(Section::occupancy));
  EXPECT_EQ(sections.text(), "memory,source,findings");
  const std::vector<std::string> all = {"all"}, wrong = {"memry"}, empty = {""};
  EXPECT_EQ(parse_sections(all)->text(), Sections::all().text());
  EXPECT_EQ(parse_sections(wrong).error().list()[0].hint, "did you mean 'memory'?");
  EXPECT_FALSE(parse_sections(empty));
}

TEST(Progress, TellsTheTimeLeft) {
  EXPECT_EQ(progress_text("launch 1", 0, 3), "launch 1: 3 s");
  EXPECT_EQ(progress_text("launch 1", 0.25, 12), "launch 1: 25 %, 12 s, about 36 s left");
  EXPECT_EQ(progress_text("k", 0.5, 200), "k: 50 %, 3 min 20 s, about 3 min 20 s left");
  EXPECT_EQ(progress_text("k", 1, 5), "k: 100 %, 5 s");
  EXPECT_EQ(progress_text("k", 1e-9, 100), "k: 0 %, 1 min 40 s");
}

TEST(SourceText, QuotesOnlySourceFiles) {
  const Folder folder;
  const std::string secret = folder.write("secret.txt", "secret\n"), source = folder.write("a.cu", "one\ntwo\n");
  SourceText sources;
  EXPECT_EQ(sources.line(source, 2, "elsewhere/k.ptx"), "two");
  EXPECT_EQ(sources.line("a.cu", 1, (folder.path() / "k.ptx").string()), "one");
  EXPECT_EQ(sources.line(source, 3, ""), "");
  EXPECT_EQ(sources.line(source, 0, ""), "");
  EXPECT_EQ(sources.line(secret, 1, ""), "");
  EXPECT_EQ(sources.line("no.cu", 1, ""), "");
  EXPECT_EQ(sources.line("/dev/zero", 1, ""), "");
}

} // namespace report_parts_test
} // namespace warplens::api
