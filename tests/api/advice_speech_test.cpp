// SPDX-License-Identifier: Apache-2.0
// For each kind of finding, launches on which it must appear: at the right line, with the right remedy and, where it
// promises a speedup, with that of running the mended kernel.
#include "analyzers/finding_kinds.hpp"
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace warplens::api {
namespace advice_speech_test {

using tests::AdvicePair;

std::string line_of_source(const std::string& module, const analyzers::Finding& finding) {
  std::ifstream in(std::filesystem::path(WARPLENS_SOURCE_DIR) /
                   std::filesystem::path(module).replace_filename(finding.source_file));
  std::string line;
  for (std::uint32_t i = 0; i < finding.source_line; ++i) std::getline(in, line);
  return line;
}

void expect_place(const AdvicePair& pair, const analyzers::Finding& found) {
  EXPECT_EQ(pair.line.empty(), found.source_line == 0) << line_of_source(pair.module, found);
  EXPECT_NE(line_of_source(pair.module, found).find(pair.line), std::string::npos)
      << line_of_source(pair.module, found);
  EXPECT_FALSE(found.message.empty());
  EXPECT_TRUE(found.page.starts_with("findings.md#"));
}

std::vector<AdvicePair> all_pairs() {
  std::vector<AdvicePair> list = tests::advice_pairs();
  for (AdvicePair& pair : tests::pairs_not_asked()) list.push_back(std::move(pair));
  return list;
}

TEST(AdviceSpeech, TheRemedyIsWhatTheOtherLaunchDoes) {
  for (const AdvicePair& pair : all_pairs()) {
    SCOPED_TRACE(pair.device + " " + name_of(pair));
    const std::vector<LaunchReport> reports = run(pair);
    const LaunchReport &before = reports.at(0), &after = reports.at(1);
    const std::string all = list_of(before.findings);
    const analyzers::Finding* const found = find(pair, before);
    EXPECT_NE(found, nullptr) << all;
    if (found == nullptr) continue;
    expect_place(pair, *found);
    EXPECT_FALSE(found->values.empty()) << all;
    // Accesses with a pattern: it is not the data that needs sorting.
    EXPECT_FALSE(pair.rule == "UncoalescedGlobalAccess" && found->advice.starts_with("sort")) << found->advice;
    const double actual = predicted_speedup(before, after);
    EXPECT_LT(found->speedup.value_or(100), kTolerance * actual) << all;
    EXPECT_GT(found->speedup.value_or(0), actual / kTolerance) << all;
    EXPECT_EQ(find(pair, after), nullptr) << list_of(after.findings);
    for (const analyzers::Finding& f : after.findings)
      EXPECT_FALSE(f.rule == pair.rule && f.severity == Severity::warning) << f.message << "; " << f.remedy;
    for (const LaunchReport& report : reports)
      for (const analyzers::Finding& f : report.findings)
        EXPECT_TRUE(f.severity == Severity::note || f.speedup.value_or(2) >= analyzers::kWorthwhile) << f.message;
  }
}

constexpr const char *kSpeech = "tests/data/advice/speech.ptx", *kLoop = "bench/kernels/fma_loop.ptx",
                     *kSerialised = "tests/data/advice/serialised.ptx";
const std::string kLines = "grid = [4096, 1, 1]\nblock = [256, 1, 1]",
                  kFew = "grid = [1024, 1, 1]\nblock = [256, 1, 1]";

std::string fma_loop(const char* blocks, const char* threads) {
  return launch_of("fma_loop", fmt::format("grid = [{}, 1, 1]\nblock = [{}, 1, 1]", blocks, threads),
                   "arg = [{ buffer = \"y\" }, { f32 = 0.9 }, { f32 = 0.1 }, { s32 = 100 }]");
}

/// Of findings that promise no speedup.
struct Warned {
  const char *rule, *module;
  std::string launch;
  const char *line, *remedy;
};

std::vector<Warned> warned() {
  return {
      {"UnusedResult", kSpeech,
       launch_of("warm_up", "grid = [2048, 1, 1]\nblock = [256, 1, 1]",
                 "arg = [{ buffer = \"x\" }, { buffer = \"y\" }]"),
       "// finds UnusedResult, too", "remove the load"},
      {"RegisterSpills", kSerialised,
       launch_of("mix_in_few_registers", kFew, "arg = [{ buffer = \"x\" }, { buffer = \"y\" }, { s32 = 2 }]"), "",
       "allow 60 registers"},
      {"ImpossibleLaunch", kLoop, fma_loop("32", "512") + "registers = 255\n", "", "registers"},
  };
}

std::string buffers() {
  return buffer("x", "f32", 1 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros) +
         buffer("bytes", "s32", 1 << 20, "random = [0, 255]\nseed = 1");
}

// Shared memory is not free: its latency, barriers, and tiles that are not full.
TEST(AdviceSpeech, StagingIsNotPromisedMoreThanItSaves) {
  int asked = 0;
  for (const AdvicePair& pair : tests::advice_pairs()) {
    if (pair.rule != "RedundantLoads") continue;
    const std::vector<LaunchReport> reports = run(pair);
    const analyzers::Finding* const found = find(pair, reports.at(0));
    EXPECT_NE(found, nullptr) << name_of(pair);
    if (found == nullptr) continue;
    EXPECT_LT(found->speedup.value_or(100), 1.05 * predicted_speedup(reports[0], reports.at(1))) << name_of(pair);
    ++asked;
  }
  EXPECT_GE(asked, 4);
  for (const AdvicePair& pair : tests::close_calls()) {
    const std::vector<LaunchReport> reports = run(pair);
    EXPECT_EQ(find(pair, reports.at(0)), nullptr) << list_of(reports[0].findings);
    EXPECT_LT(predicted_speedup(reports[0], reports.at(1)), 1.1) << name_of(pair);
  }
}

// What one instruction leaves of a sector, others use: the first-level cache has it then. An H200 runs a kernel of
// whole structures 0.84 times as fast after their fields are in separate arrays (docs/findings.md).
TEST(AdviceSpeech, StructuresThatAreUsedAsAWholeAreANote) {
  const std::string buffers = buffer("x", "f32", 8 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros);
  const auto reports = run("module = \"tests/data/advice/speech.ptx\"\ndevice = \"h200\"\n" +
                           launch_of("grey_of_pixels", "grid = [4096, 1, 1]\nblock = [256, 1, 1]",
                                     "arg = [{ buffer = \"x\" }, { buffer = \"y\" }]") +
                           launch_of("weights", "grid = [4096, 1, 1]\nblock = [256, 1, 1]",
                                     "arg = [{ buffer = \"x\" }, { buffer = \"y\" }]") +
                           buffers);
  const auto uncoalesced = [](const LaunchReport& report) {
    std::vector<analyzers::Finding> list;
    for (const analyzers::Finding& f : report.findings)
      if (f.rule == "UncoalescedGlobalAccess") list.push_back(f);
    return list;
  };
  const auto whole = uncoalesced(reports.at(0)), part = uncoalesced(reports.at(1));
  ASSERT_FALSE(whole.empty());
  for (const analyzers::Finding& f : whole) {
    EXPECT_EQ(f.severity, Severity::note) << f.message;
    EXPECT_NE(f.message.find("other instructions access the rest"), std::string::npos) << f.message;
    EXPECT_NE(line_of_source("tests/data/advice/speech.ptx", f).find("used as a whole"), std::string::npos);
  }
  ASSERT_FALSE(part.empty());
  for (const analyzers::Finding& f : part) {
    EXPECT_EQ(f.severity, Severity::warning) << f.message;
    EXPECT_NE(f.remedy.find("separate arrays"), std::string::npos) << f.remedy;
  }
}

// Rows of 17 words serve rows of 16 threads on 16 banks. On 32 banks, the second row of a warp meets the first one.
TEST(AdviceSpeech, RowsOfHalfAWarpShouldBeLonger) {
  const auto reports = run("module = \"samples/transpose_16/transpose_16.ptx\"\ndevice = \"h200\"\n" +
                           launch_of("transpose_padded", "grid = [64, 64, 1]\nblock = [16, 16, 1]",
                                     "arg = [{ buffer = \"x\" }, { buffer = \"y\" }, { s32 = 1024 }]") +
                           buffer("x", "f32", 1 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros));
  int found = 0;
  for (const analyzers::Finding& f : reports.at(0).findings)
    if (f.rule == "SharedMemoryConflicts") {
      EXPECT_NE(f.remedy.find("multiple of 32 threads"), std::string::npos) << f.remedy;
      ++found;
    }
  EXPECT_EQ(found, 2) << list_of(reports[0].findings); // the store of a row, and the load of a column
}

TEST(AdviceSpeech, UnrolledLoopsAlongRows) {
  const auto reports = run("module = \"tests/data/advice/speech.ptx\"\ndevice = \"h200\"\n" +
                           launch_of("sums_of_rows", "grid = [16, 1, 1]\nblock = [256, 1, 1]",
                                     "arg = [{ buffer = \"x\" }, { buffer = \"y\" }, { s32 = 512 }]") +
                           buffer("x", "u8", 1 << 21, kZeros) + buffer("y", "s32", 1 << 20, kZeros));
  int found = 0;
  for (const analyzers::Finding& f : reports.at(0).findings)
    if (f.rule == "UncoalescedGlobalAccess") {
      EXPECT_NE(f.remedy.find("exchange the roles"), std::string::npos) << f.remedy;
      ++found;
    }
  EXPECT_GT(found, 0) << list_of(reports[0].findings);
}

/// The findings about single branches.
std::vector<analyzers::Finding> branches_of(const LaunchReport& report) {
  std::vector<analyzers::Finding> list;
  for (const analyzers::Finding& f : report.findings)
    if (f.rule == "ThreadDivergence" && !f.lines.empty()) list.push_back(f);
  return list;
}

// Every warp diverges, but the paths are short.
TEST(AdviceSpeech, ShortPathsAreANote) {
  const auto brief =
      branches_of(run("module = \"tests/data/advice/speech.ptx\"\ndevice = \"h200\"\n" +
                      launch_of("edges", kLines, "arg = [{ buffer = \"x\" }, { buffer = \"y\" }, { buffer = \"z\" }]") +
                      buffers() + buffer("z", "f32", 1 << 20, kZeros))
                      .at(0));
  ASSERT_EQ(brief.size(), 1u);
  EXPECT_EQ(brief[0].severity, Severity::note) << brief[0].message;
}

// All warps diverge in both kernels, for most of their instructions. One waits for memory, and an H200 runs it 1.03
// times as fast without divergence; the other computes, and it runs 7 times as fast.
TEST(AdviceSpeech, ARemedyThatSavesTooLittleIsANote) {
  std::map<std::string, Severity> severities;
  for (const AdvicePair& pair : tests::advice_pairs()) {
    if (pair.rule != "ThreadDivergence") continue;
    const LaunchReport before = run(pair).at(0);
    const std::vector<analyzers::Finding> found = branches_of(before);
    ASSERT_FALSE(found.empty()) << name_of(pair);
    severities[pair.before.kernel] = found[0].severity;
  }
  EXPECT_EQ(severities.at("branch_per_thread"), Severity::note);
  EXPECT_EQ(severities.at("branch_compute_bound"), Severity::warning);
}

TEST(AdviceSpeech, SomeSpeakWithoutASpeedup) {
  for (const Warned& one : warned()) {
    SCOPED_TRACE(one.launch);
    const LaunchReport report =
        run(fmt::format("module = \"{}\"\ndevice = \"h200\"\n{}{}", one.module, one.launch, buffers())).at(0);
    AdvicePair pair;
    pair.rule = one.rule;
    pair.module = one.module;
    pair.line = one.line;
    pair.remedy = one.remedy;
    const analyzers::Finding* const found = find(pair, report);
    EXPECT_NE(found, nullptr) << list_of(report.findings);
    if (found == nullptr) continue;
    expect_place(pair, *found);
    EXPECT_TRUE(!found->values.empty() || found->rule == "ImpossibleLaunch"); // nothing ran
  }
}

// Launches that look like the problem.
TEST(AdviceSpeech, NearMissesAreSilent) {
  struct Quiet {
    const char* module;
    std::string launch;
    std::set<std::string_view> rules;
  };
  const std::string xy = "arg = [{ buffer = \"x\" }, { buffer = \"y\" }]",
                    bytes_y = "arg = [{ buffer = \"bytes\" }, { buffer = \"y\" }]";
  const std::vector<Quiet> table = {
      {kSpeech, launch_of("neighbours", kFew, xy), {"NarrowLoads"}},
      {kSpeech, launch_of("triples", kFew, xy), {"NarrowLoads"}},
      {kSpeech, launch_of("hand_over", kFew, xy), {"RepeatedLoad", "UnusedResult", "UnneededBarrier"}},
      {kSpeech, launch_of("reverse_in_shared", kLines, xy), {"SharedWithinWarp", "UnneededBarrier"}},
      {kSpeech, launch_of("transpose_in_warp", "grid = [1024, 1, 1]\nblock = [32, 1, 1]", xy), {"SharedWithinWarp"}},
      {kSpeech, launch_of("smooth_bytes", kLines, bytes_y), {"NarrowAccesses"}},
      {kSpeech, launch_of("swap_bytes", kLines, bytes_y), {"NarrowAccesses"}},
      {kSpeech, launch_of("mark_bytes", kLines, bytes_y), {"NarrowAccesses"}},
      {kSpeech,
       launch_of("sum_columns", kFew, "arg = [{ buffer = \"bytes\" }, { buffer = \"y\" }, { s32 = 500000 }]"),
       {"NarrowAccesses"}},
      {kSerialised, launch_of("add_in_shared_by_warps", kLines, xy), {"ContendedAtomics"}},
      {kSerialised, launch_of("add_in_shared_by_lanes", kLines, xy), {"ContendedAtomics"}},
      {kSerialised, launch_of("count_in_one_word", kLines, bytes_y), {"ContendedAtomics"}},
      {kSerialised,
       launch_of("mix_in_registers", kFew, "arg = [{ buffer = \"x\" }, { buffer = \"y\" }, { s32 = 2 }]"),
       {"RegisterSpills"}},
      {kLoop, fma_loop("1057", "256"), {"TailEffect", "Occupancy"}},
      {kLoop, fma_loop("132", "512"), {"TailEffect", "TooFewBlocks"}},
  };
  for (const Quiet& quiet : table) {
    const LaunchReport report =
        run(fmt::format("module = \"{}\"\ndevice = \"h200\"\n{}{}", quiet.module, quiet.launch, buffers())).at(0);
    ASSERT_FALSE(report.trap) << quiet.launch << report.trap->message;
    for (const analyzers::Finding& f : report.findings)
      EXPECT_FALSE(quiet.rules.contains(f.rule)) << quiet.launch << list_of(report.findings);
  }
}

// A new kind needs a launch in one of the tables above and a section of docs/findings.md.
TEST(AdviceSpeech, EachKindHasACaseAndAPage) {
  std::set<std::string> tested;
  for (const AdvicePair& pair : all_pairs()) tested.insert(pair.rule);
  for (const Warned& one : warned()) tested.insert(one.rule);
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/findings.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) {
    EXPECT_EQ(tested.erase(std::string(kind.name)), 1u) << kind.name;
    EXPECT_NE(page.find(fmt::format("\n## {}\n", kind.name)), std::string::npos) << kind.name;
  }
  EXPECT_TRUE(tested.empty()) << *tested.begin();
}

// The speedups of pairs are compared with those of the launches that follow the remedy.
TEST(AdviceSpeech, EachKindHasASpeedupWhereItIsKnown) {
  std::set<std::string> with_speedup;
  for (const AdvicePair& pair : all_pairs()) with_speedup.insert(pair.rule);
  const std::set<std::string_view> without = {"RegisterSpills", "ImpossibleLaunch"};
  for (const analyzers::FindingKind& kind : analyzers::finding_kinds()) {
    EXPECT_NE(with_speedup.contains(std::string(kind.name)), without.contains(kind.name)) << kind.name;
    EXPECT_FALSE(kind.meaning.empty() || kind.trigger.empty() || kind.severity.empty() || kind.remedies.empty())
        << kind.name;
    std::string anchor = fmt::format("findings.md#{}", kind.name);
    std::transform(anchor.begin(), anchor.end(), anchor.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_EQ(kind.page, anchor);
  }
}

// Other sections than those of a kind: what a GPU measured.
TEST(AdviceSpeech, EachSectionOfThePageIsAKind) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/docs/findings.md");
  int others = 0;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("## ") && analyzers::page_of(line.substr(3)).empty()) {
      EXPECT_EQ(line, "## What a GPU measured");
      ++others;
    }
  EXPECT_EQ(others, 1);
}

} // namespace advice_speech_test
} // namespace warplens::api
