// SPDX-License-Identifier: Apache-2.0
#include "api/files/digest.hpp"
#include "api/launch/board.hpp"
#include "api/sweep/sweep_json.hpp"
#include "api/sweep/sweep_table.hpp"
#include "rules/rule_set.hpp"
#include "tests/api/kernels.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>

#include <sched.h>

namespace warplens::api {
namespace sweep_test {

using Groups = std::vector<std::vector<std::size_t>>;
using warplens::testing::Folder;

std::string launch_in(const Folder& folder, const std::string& ptx) {
  const std::string module = folder.write("k.ptx", ptx);
  return folder.write("l.toml", "module = \"k.ptx\"\nkernel = \"scale\"\ngrid = 4\nblock = 32\ndevice = \"c1060\"\n"
                                "arg = [{ buffer = \"x\" }, { f32 = 2 }, { u32 = 128 }]\n"
                                "[buffer.x]\ntype = \"f32\"\ncount = 128\niota = [0, 1]\n");
}

[[noreturn]] void end_with_jobs_on_one_processor() {
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int processor = 0;
  while (!CPU_ISSET(processor, &allowed)) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
  std::exit(static_cast<int>(default_jobs()));
}

// As batch systems restrict it; in a separate process, because the value is read only once.
TEST(SweepDeathTest, HasAsManyJobsAsThisProcessMayUseProcessors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(end_with_jobs_on_one_processor(), ::testing::ExitedWithCode(1), "");
}

std::vector<Settings> devices_and_blocks(const std::string& launch) {
  std::vector<Settings> all;
  for (const char* block : {"32", "64"})
    for (const char* device : {"c1060", "gtx480"})
      all.push_back({{"launch", launch}, {"block", block}, {"device", device}});
  return all;
}

TEST(Sweep, WhatDiffersInTheGpuAloneIsEmulatedOnce) {
  const Folder folder;
  const auto all = devices_and_blocks(launch_in(folder, std::string(testing::kScale)));
  EXPECT_EQ(share_emulations(all), (Groups{{0, 1}, {2, 3}}));
}

TEST(Sweep, AKernelThatAsksForItsMultiprocessorRunsOnEach) {
  const Folder folder;
  std::string ptx(testing::kScale);
  ptx.insert(ptx.find("  mov.u32 %r1"), "  mov.u32 %r1, %nsmid;\n");
  const auto all = devices_and_blocks(launch_in(folder, ptx));
  EXPECT_EQ(share_emulations(all), (Groups{{0}, {1}, {2}, {3}}));
}

TEST(Sweep, SharedEmulationsGiveTheRowsOfSingleOnes) {
  const Folder folder;
  const auto all = devices_and_blocks(launch_in(folder, std::string(testing::kScale)));
  const std::vector<SweepRow> both = run_configurations(std::span(all).first(2), {});
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<SweepRow> one = run_configurations(std::span(all).subspan(i, 1), {});
    ASSERT_EQ(one[0].failure, "");
    ASSERT_EQ(one[0].metrics.size(), both[i].metrics.size());
    for (std::size_t m = 0; m < one[0].metrics.size(); ++m) {
      EXPECT_EQ(one[0].metrics[m].name, both[i].metrics[m].name);
      EXPECT_EQ(one[0].metrics[m].value, both[i].metrics[m].value) << one[0].metrics[m].name;
    }
  }
}

TEST(Sweep, Shapes) {
  EXPECT_EQ(*parse_shape("64"), (Extent{64, 1, 1}));
  EXPECT_EQ(*parse_shape("8x4x2"), (Extent{8, 4, 2}));
  for (const char* bad : {"", "x", "8x", "8x4x2x1", "-8", "8 x 4", "99999999999999999999"})
    EXPECT_FALSE(parse_shape(bad)) << bad;
}

TEST(Board, EveryDeviceHasRulesThatExist) {
  for (const model::Device& device : model::built_in_devices()) {
    EXPECT_NE(rules::find_coalescing_rule(device.coalescing_rule.name), nullptr) << device.id;
    EXPECT_NE(rules::find_bank_rule(device.bank_rule.name), nullptr) << device.id;
  }
}

TEST(Board, TheRuleFollowsTheFirstLevel) {
  const auto rule = [](const char* device, FirstLevel level) {
    return with_first_level(*load_device(device), level).coalescing_rule.name;
  };
  EXPECT_EQ(rule("gtx480", FirstLevel::device), "2.x-l1");
  EXPECT_EQ(rule("gtx480", FirstLevel::off), "2.x-l2");
  EXPECT_EQ(rule("gtx480", FirstLevel::enlarged), "2.x-l1");
  EXPECT_EQ(rule("h200", FirstLevel::off), "6.0");
}

// The first level is there for local memory, whatever global memory does.
TEST(Board, LocalMemoryUsesTheFirstLevelAsTheDeviceDoes) {
  using Store = analyzers::CacheGeometry::Store;
  const auto board = [](const char* device, FirstLevel level) { return board_of(*load_device(device), level, 1, 0); };
  struct Case {
    const char* device;
    bool global;
    std::optional<Store> local;
  };
  for (const Case& one :
       {Case{"gtx480", true, Store::back}, Case{"k20", false, Store::back}, Case{"gtx980", false, std::nullopt},
        Case{"p100", true, Store::keep}, Case{"gtx1080", false, Store::keep}, Case{"v100", true, Store::keep},
        Case{"h200", true, Store::keep}, Case{"rtx5090", true, Store::keep}})
    for (const FirstLevel level : {FirstLevel::device, FirstLevel::off, FirstLevel::on}) {
      const analyzers::Board b = board(one.device, level);
      EXPECT_TRUE(b.l1) << one.device;
      EXPECT_EQ(b.l1_global, level == FirstLevel::device ? one.global : level == FirstLevel::on) << one.device;
      EXPECT_EQ(b.l1_local, one.local) << one.device;
    }
  EXPECT_FALSE(board("c1060", FirstLevel::on).l1);
}

TEST(SweepRows, HaveWholeNumbersOfBlocks) {
  SweepRow row;
  row.grid = row.block = {7, 1, 1};
  const std::string line = sweep_line(row);
  EXPECT_EQ(parse_sweep_line(line)->grid[0], 7u);
  const std::size_t at = line.find("[7,1,1]");
  ASSERT_NE(at, line.npos) << line;
  for (const char* grid : {"[2e73,1,1]", "[7.5,1,1]", "[-7,1,1]", "[7,1]", "[]", "7"})
    EXPECT_FALSE(parse_sweep_line(std::string(line).replace(at, 7, grid))) << grid;
}

SweepRow timed(const std::string& block, double trusted, double other) {
  SweepRow row{};
  row.settings = {{"block", block}};
  row.device = "NVIDIA H200";
  row.model = "critical-path";
  row.bound = "latency";
  row.metrics = {{"milliseconds", trusted},
                 {"critical-path.milliseconds", trusted},
                 {"throughput-latency.milliseconds", other},
                 {"bounds.milliseconds", 1 / other}};
  return row;
}

TEST(SweepNotes, NameTheModelToTrustAndItsError) {
  const std::vector<SweepNote> notes = sweep_notes(std::vector{timed("32", 2, 2), timed("64", 1, 1)});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_FALSE(notes[0].caution);
  EXPECT_TRUE(notes[0].text.starts_with("the times on NVIDIA H200 are by critical-path, the model to trust on this "
                                        "device: its median error is "))
      << notes[0].text;
}

TEST(SweepNotes, SayWhereModelsDisagree) {
  EXPECT_TRUE(other_opinions(std::vector{timed("32", 2, 2), timed("64", 1, 1)}, 5).empty());
  EXPECT_TRUE(other_opinions(std::vector{timed("32", 1.04, 1), timed("64", 1, 2)}, 5).empty()) << "within the ties";
  const std::vector<SweepNote> notes = other_opinions(std::vector{timed("32", 2, 1), timed("64", 1, 2)}, 5);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].caution);
  EXPECT_EQ(notes[0].text, "models disagree: on NVIDIA H200, the shortest time is predicted by throughput-latency for "
                           "block 32 (+100 % by critical-path)");
}

TEST(SweepNotes, DifferentModelsAreACaution) {
  SweepRow one = timed("32", 2, 2), other = timed("64", 1, 1);
  const SweepRow* const rows[] = {&one, &other};
  EXPECT_FALSE(note_on_models(rows));
  other.model = "volkov";
  ASSERT_TRUE(note_on_models(rows));
  EXPECT_NE(note_on_models(rows)->text.find("(critical-path, volkov)"), std::string::npos);
}

// The values are from the description of FNV: of the empty text, and of "a".
TEST(SweepTable, DigestsAreFnv) {
  EXPECT_EQ(Digest().text(), "6c62272e07bb014262b821756295c58d");
  EXPECT_EQ(Digest().bytes("a").text(), "d228cb696f1a8caf78912b704e4a8964");
  EXPECT_NE(Digest().add("ab").add("c").text(), Digest().add("a").add("bc").text());
}

SweepRow row_of(const std::string& block, double milliseconds) {
  SweepRow row{};
  row.settings = {{"launch", "l.toml"}, {"block", block}};
  row.metrics = {{"milliseconds", milliseconds}};
  return row;
}

std::string record(const SweepRow& row, char run, char scope = 's', char inputs = 'i') {
  const auto digest = [](char c) { return Digest().bytes(std::string(1, c)).text(); };
  std::string line = sweep_record(row, {digest(run), digest(scope), digest(inputs), RunState::done});
  line.pop_back();
  return line;
}

TEST(SweepTable, SortsRowsByValueAndTakesTheLastOfARun) {
  SweepTableReader reader;
  for (const auto& [block, run] : {std::pair("128", 'a'), {"16x8", 'b'}, {"8x16", 'c'}, {"32", 'd'}})
    reader.add(record(row_of(block, 1), run));
  reader.add(record(row_of("32", 2), 'd'));
  ASSERT_NE(reader.find(Digest().bytes("d").text()), nullptr);
  const SweepTable table = reader.finish();
  ASSERT_EQ(table.rows.size(), 4u);
  std::vector<std::string> blocks;
  for (const SweepRow& row : table.rows) blocks.push_back(*setting(row.settings, "block"));
  EXPECT_EQ(blocks, (std::vector<std::string>{"8x16", "16x8", "32", "128"}));
  EXPECT_EQ(table.rows[2].number("milliseconds"), 2);
  EXPECT_EQ(table.note(), "");
}

TEST(SweepTable, EveryChangeOfALineIsSeen) {
  const std::string line = record(row_of("32", 1), 'a');
  ASSERT_TRUE(record_head(line));
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::string other = line;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(record_head(other)) << other;
    EXPECT_FALSE(record_head(line.substr(0, i))) << i;
    if (i != 0) {
      EXPECT_FALSE(record_head(line.substr(0, i) + line)) << "a line behind one that was cut off: " << i;
    }
  }
}

TEST(SweepTable, LeavesOutRunsOfEarlierInputsOfTheirScope) {
  SweepTableReader reader;
  reader.add(record(row_of("32", 1), 'a', 's', 'i'));
  reader.add(record(row_of("32", 1), 'b', 't', 'i'));
  reader.add(record(row_of("64", 2), 'c', 's', 'j'));
  reader.add("{\"run\":");
  const SweepTable table = reader.finish();
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.outdated, 1u);
  EXPECT_EQ(table.note(), "1 incomplete line is left out; the sweep runs what is missing again; 1 run of other inputs, "
                          "options or versions is left out");
}

} // namespace sweep_test
} // namespace warplens::api
