// SPDX-License-Identifier: Apache-2.0
// Tests warplens sweep as users run it.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <sys/resource.h>
#include <sys/time.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace warplens::testing {
namespace sweep_test {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

/// A launch of 128 threads on 128 elements.
class Sweep : public ::testing::Test {
protected:
  Sweep() : launch_(write_launch("launch.toml", "")) { put("k.ptx", api::testing::kScale); }

  void put(const std::string& name, std::string_view content) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
  }
  std::string write_launch(const std::string& name, std::string_view more) {
    return folder_.write(name, "module = \"k.ptx\"\nkernel = \"scale\"\ngrid = 4\nblock = 32\ndevice = \"gtx480\"\n" +
                                   std::string(more) +
                                   "arg = [{ buffer = \"x\" }, { f32 = 2 }, { u32 = 128 }]\n"
                                   "[buffer.x]\ntype = \"f32\"\ncount = 128\niota = [0, 1]\n");
  }
  Output sweep(const Words& options) const {
    Words words{"sweep", launch_};
    words.insert(words.end(), options.begin(), options.end());
    return run_program(words);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  Json rows(const Words& options) const {
    Words words = options;
    words.insert(words.end(), {"--json", "-"});
    const Output o = sweep(words);
    EXPECT_LE(o.status, 1) << o.err;
    return Json::parse(o.out)["sweep"];
  }

  Folder folder_;
  std::string launch_;
};

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), text.npos) << "'" << part << "' is not in:\n" << text;
}

TEST_F(Sweep, TheGridFollowsTheBlock) {
  const Json list = rows({"--block", "16,32..128*2,48,8x2"});
  ASSERT_EQ(list.size(), 6u);
  std::map<std::string, Json> grids;
  for (const Json& row : list) grids[row["settings"]["block"]] = row["grid"];
  EXPECT_EQ(grids["16"], Json({8, 1, 1}));
  EXPECT_EQ(grids["32"], Json({4, 1, 1}));
  EXPECT_EQ(grids["64"], Json({2, 1, 1}));
  EXPECT_EQ(grids["128"], Json({1, 1, 1}));
  EXPECT_EQ(grids["48"], Json({3, 1, 1}));
  EXPECT_EQ(grids["8x2"], Json({16, 1, 1}));
}

TEST_F(Sweep, FixedGridsAndOtherTotals) {
  EXPECT_EQ(rows({"--block", "16", "--grid", "fixed"})[0]["grid"], Json({4, 1, 1}));
  EXPECT_EQ(rows({"--block", "16", "--grid", "2x3"})[0]["grid"], Json({2, 3, 1}));
  EXPECT_EQ(rows({"--block", "16", "--total", "40"})[0]["grid"], Json({3, 1, 1}));
  EXPECT_EQ(rows({"--total", "65"})[0]["grid"], Json({3, 1, 1}));
}

TEST_F(Sweep, AllShapesOfANumberOfThreads) {
  const Json list = rows({"--block", "all:6"});
  Words blocks;
  for (const Json& row : list) blocks.push_back(row["settings"]["block"]);
  EXPECT_EQ(blocks, (Words{"6x1", "3x2", "2x3", "1x6"}));
}

TEST_F(Sweep, EveryCombinationOnceAndSameAsARun) {
  const Json list = rows({"--block", "32,64", "--device", "gtx480,c1060,h200", "--registers", "16,32"});
  ASSERT_EQ(list.size(), 12u);
  for (const Json& row : list) {
    const Json& s = row["settings"];
    const std::string block = s["block"];
    const Output one = run_program({"run", launch_, "--block", block, "--grid", block == "32" ? "4" : "2", "--device",
                                    s["device"], "--registers", s["registers"], "--json", "-"});
    ASSERT_EQ(one.status, 0) << one.err;
    const Json launch = Json::parse(one.out)["launches"][0];
    EXPECT_EQ(row["metrics"]["launch__registers_per_thread"], launch["metrics"]["launch__registers_per_thread"]);
    for (const auto& [name, value] : launch["metrics"].items()) EXPECT_EQ(row["metrics"][name], value) << name;
    for (const Json& p : launch["predictions"])
      EXPECT_EQ(row["metrics"][p["model"].get<std::string>() + ".milliseconds"], p["milliseconds"]) << p["model"];
  }
}

TEST_F(Sweep, TheSameBytesWithAnyNumberOfProcesses) {
  const Words options{"--block", "16..128*2", "--device", "gtx480,c1060", "--csv", "-", "--metrics", "all"};
  Words one = options, four = options;
  one.insert(one.end(), {"--jobs", "1"});
  four.insert(four.end(), {"--jobs", "4"});
  const Output a = sweep(one), b = sweep(four);
  ASSERT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(a.out, b.out);
}

TEST_F(Sweep, ValuesOfTheLaunchFileAndThoseThatVaryWithThem) {
  const Json list = rows({"--set", "buffer.x.count=64,256", "--with", "arg.2.u32=64,256", "--with", "total=64,256"});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["grid"], Json({2, 1, 1}));
  EXPECT_EQ(list[1]["grid"], Json({8, 1, 1}));
  EXPECT_EQ(list[1]["metrics"]["gst_request"], 8);
}

TEST_F(Sweep, AFailureIsARowAndDoesNotStopTheOthers) {
  const Output o = sweep({"--block", "32,64,2048", "--set", "buffer.x.count=128,64", "--csv", file("t.csv")});
  EXPECT_EQ(o.status, 1) << o.err;
  expect_contains(o.out, "the block is 2048 x 1 x 1: GeForce GTX 480 (compute capability 2.0) allows 1024 in x");
  expect_contains(o.out, "allocation 'x' (256 bytes"); // out of bounds
  EXPECT_EQ(lines_of(read_text(file("t.csv"))).size(), 7u);
  expect_contains(o.out, "recommended");
}

TEST_F(Sweep, RecommendsAndSaysWhy) {
  const Words large{"--total", "65536", "--set", "buffer.x.count=65536", "--with", "arg.2.u32=65536"};
  Words time = large, transactions = large;
  time.insert(time.end(), {"--block", "8,64,256"});
  const Output o = sweep(time);
  ASSERT_EQ(o.status, 0) << o.err;
  expect_contains(o.out, "recommended: block 256");
  EXPECT_EQ(o.out.find("caution"), o.out.npos) << "one model";
  expect_contains(o.out, "because: bound by ");
  expect_contains(o.out, "worst: block 8");
  transactions.insert(transactions.end(), {"--block", "8,64", "--by", "transactions", "--largest"});
  const Output by = sweep(transactions);
  ASSERT_EQ(by.status, 0) << by.err;
  expect_contains(by.out, "recommended: block 8");
}

// As in the report of a run: "25.6 ns" instead of "2.56e-05 ms".
TEST_F(Sweep, TimesHaveReadableUnits) {
  const Output o = sweep({"--block", "32,64", "--device", "h200", "--metrics", "volkov.milliseconds"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Words lines = lines_of(o.out);
  expect_contains(lines.at(0), " time ");
  expect_contains(lines.at(0), "time by volkov");
  EXPECT_EQ(lines.at(0).find("ms"), std::string::npos) << lines[0];
  expect_contains(lines.at(1), " µs");
  expect_contains(lines.at(1), " ns");
  EXPECT_EQ(o.out.find("e-0"), o.out.npos) << o.out;
  const Output by = sweep({"--block", "32,64", "--device", "h200", "--by", "volkov.milliseconds", "--ties", "0"});
  ASSERT_EQ(by.status, 0) << by.err;
  EXPECT_EQ(by.out.find("milliseconds"), by.out.npos) << by.out;
}

TEST_F(Sweep, ModelsThatAreNotToTrustHaveACaution) {
  const Output other = sweep({"--block", "32,64", "--device", "h200", "--model", "volkov"});
  ASSERT_EQ(other.status, 0) << other.err;
  expect_contains(other.out, "by volkov, but the model to trust on this device is");
  const Output unknown = sweep({"--block", "32,64", "--device", "a100"});
  ASSERT_EQ(unknown.status, 0) << unknown.err;
  expect_contains(unknown.out, "caution: the times on NVIDIA A100 are by critical-path");
  EXPECT_EQ(sweep({"--block", "32,64", "--device", "h200"}).out.find("caution"), std::string::npos);
}

TEST_F(Sweep, SeveralFilesAndFolders) {
  write_launch("second.toml", "shared_per_thread = 4\n");
  const Output o = run_program({"sweep", folder_.path().string(), "--block", "32,64", "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json list = Json::parse(o.out)["sweep"];
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0]["metrics"]["dynsmemperblock"], 0);
  EXPECT_EQ(list[2]["metrics"]["dynsmemperblock"], 128);
  EXPECT_EQ(list[3]["metrics"]["dynsmemperblock"], 256);
}

// On a Fermi, loads past the first level come in segments of 32 bytes instead of lines of 128.
TEST_F(Sweep, TheFirstLevelDecidesTheSizeOfTransactions) {
  const Json list = rows({"--l1", "on,off"});
  const auto of = [&](std::size_t i, const char* name) { return list[i]["metrics"][name].get<double>(); };
  EXPECT_EQ(of(0, "rule.2.x-l1.ld_128b"), 4);
  EXPECT_EQ(of(1, "rule.2.x-l2.ld_32b"), 16);
  EXPECT_EQ(of(0, "transactions"), 8);
  EXPECT_EQ(of(1, "transactions"), 32);
}

/// Predicted milliseconds of ubench_1 (index 0, mode A) or ubench_3 (index 1, mode B) on a GTX 480, by block and first
/// level ("192x1 off"). The matrix is smaller than the paper's: times grow with it, and ratios stay.
std::map<std::string, double> ubench(const std::string& index, const std::string& blocks, const Words& more = {}) {
  Words words{"sweep",   WARPLENS_SOURCE_DIR "/samples/ubench/launch.toml",
              "--index", index,
              "--set",   "launch." + index + ".arg.1.s32=384",
              "--set",   "buffer.input.count=1",
              "--total", "384x384",
              "--block", blocks,
              "--json",  "-"};
  words.insert(words.end(), more.begin(), more.end());
  const Output o = run_program(words);
  EXPECT_EQ(o.status, 0) << o.err;
  const Json report = Json::parse(o.out);
  std::map<std::string, double> times;
  for (const Json& row : report["sweep"]) {
    const Json& s = row["settings"];
    times[s["block"].get<std::string>() + (s.contains("l1") ? " " + s["l1"].get<std::string>() : "")] =
        row["metrics"]["milliseconds"];
  }
  return times;
}

// Torres and others, section 5, "Near-to-optimum threadblock size": at most 5 % are lost with 192 threads.
TEST(UBench, NearTheOptimumWith192Threads) {
  for (const char* index : {"0", "1"}) {
    const auto times = ubench(index, "32,64,128,192,384");
    ASSERT_EQ(times.size(), 5u);
    double best = times.at("192");
    for (const auto& [block, time] : times) best = std::min(best, time);
    EXPECT_LE(times.at("192"), 1.05 * best);
    EXPECT_GT(times.at("128"), 1.05 * best); // fewer do not fill a multiprocessor
  }
}

// "In B-mode there is no correlation between threadblock shape and performance".
TEST(UBench, ShapesDoNotMatterInModeB) {
  const auto mode_a = ubench("0", "192x1,2x96"), mode_b = ubench("1", "192x1,12x16,2x96");
  ASSERT_EQ(mode_b.size(), 3u);
  for (const auto& [block, time] : mode_b) EXPECT_EQ(time, mode_b.at("192x1")) << block;
  EXPECT_GT(mode_a.at("2x96"), 2 * mode_a.at("192x1"));
}

// "It is better to disconnect L1": where accesses are scattered; where they are coalesced it costs nothing.
TEST(UBench, ScatteredAccessesAreBetterOffWithoutTheFirstLevel) {
  const auto times = ubench("0", "192x1,4x48", {"--l1", "on,off"});
  ASSERT_EQ(times.size(), 4u);
  EXPECT_GT(times.at("4x48 on"), 2 * times.at("4x48 off"));
  EXPECT_NEAR(times.at("192x1 on") / times.at("192x1 off"), 1, 0.02);
}

TEST_F(Sweep, RulesReplaceThoseOfTheDevice) {
  const Json list = rows({"--rule", "1.2,2.x-l1,6.0"});
  EXPECT_EQ(list[0]["metrics"]["transactions"], 16); // 64 bytes for each half-warp
  EXPECT_EQ(list[1]["metrics"]["transactions"], 8);
  EXPECT_EQ(list[2]["metrics"]["transactions"], 32);
}

// 16 x 16 threads read columns of a tile 16 words wide: two words of each of two banks in a pass, or one of 16.
TEST(SharedCopy, BankRulesReplaceThatOfTheDevice) {
  const Output o = run_program({"sweep", WARPLENS_SOURCE_DIR "/samples/shared_copy/small.toml", "--index", "1",
                                "--rule", "1.x,2.x,3.x-64,5.x+", "--device", "gtx480", "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json list = Json::parse(o.out)["sweep"];
  const auto passes = [&](std::size_t row) { return list.at(row)["metrics"]["bank_conflict_passes"].get<double>(); };
  EXPECT_GT(passes(0), passes(1)); // half-warps, 16 banks
  EXPECT_LT(passes(2), passes(1)); // a pass serves 256 bytes
  EXPECT_EQ(passes(3), passes(1)); // words of 4 bytes: nothing changed from 2.x to 5.x
  EXPECT_EQ(passes(2), list.at(2)["metrics"]["rule.3.x-64.conflicts"].get<double>());
}

TEST_F(Sweep, Plots) {
  for (const char* name : {"t.svg", "t.png"}) {
    const Output o = sweep({"--block", "32,64", "--device", "gtx480,h200", "--plot", file(name)});
    ASSERT_EQ(o.status, 0) << o.err;
  }
  const std::string svg = read_text(file("t.svg"));
  expect_contains(svg, "<svg");
  expect_contains(svg, "block, threads");
  expect_contains(svg, "predicted time, ms");
  expect_contains(svg, "device h200");
  EXPECT_EQ(read_text(file("t.png")).substr(1, 3), "PNG");
  EXPECT_EQ(sweep({"--block", "32", "--plot", file("t.gif")}).status, 2);
  EXPECT_EQ(sweep({"--block", "32", "--plot", file("t.svg"), "--x", "colour"}).status, 2);
}

// Names go to gnuplot, which knows commands in its strings.
TEST_F(Sweep, PlotsWithoutGnuplot) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", file("").c_str(), 1);
  const Output o = sweep({"--block", "32,64", "--plot", file("t.svg")});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(o.status, 2);
  expect_contains(o.err, "plots require gnuplot, which is not installed");
}

// A thousand rounds of arithmetic for 38 million threads take longer than a second.
TEST(UBench, AProcessThatIsKilledIsARow) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CPU, &before), 0);
  rusage used{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
  const rlimit second{static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &second), 0);
  const Output o = run_program({"sweep", WARPLENS_SOURCE_DIR "/samples/ubench/sweep.toml", "--index", "6", "--jobs",
                                "2", "--set", "launch.6.arg.1.s32=96,6144", "--with", "total=96x96,6144x6144", "--with",
                                "buffer.matrix.count=9216,37748736", "--json", "-"});
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &before), 0);
  EXPECT_EQ(o.status, 1) << o.err;
  const Json list = Json::parse(o.out)["sweep"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0]["failure"].is_null());
  expect_contains(list[1]["failure"].get<std::string>(), "its process was killed by signal");
}

TEST_F(Sweep, NamesInAPlotDoNothing) {
  const std::string evil = write_launch("'`touch evil`$(touch evil);\"_.toml", "");
  const Output o = run_program({"sweep", evil, launch_, "--block", "32,64", "--plot", file("|touch evil;.svg")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_FALSE(std::filesystem::exists(file("evil")) || std::filesystem::exists("evil"));
  expect_contains(read_text(file("|touch evil;.svg")), "touch evil");
}

TEST_F(Sweep, JsonHasTheKeysOfTheSchema) {
  const Json schema = Json::parse(read_text(WARPLENS_SOURCE_DIR "/docs/sweep-schema.json"));
  const Json report = Json::parse(sweep({"--block", "32,2048", "--json", "-"}).out);
  EXPECT_EQ(keys(schema["properties"]), keys(report));
  for (const Json& row : report["sweep"]) EXPECT_EQ(keys(schema["$defs"]["row"]["properties"]), keys(row));
  EXPECT_TRUE(report["sweep"][0]["failure"].is_null());
  EXPECT_TRUE(report["sweep"][1]["failure"].is_string());
}

TEST_F(Sweep, BadInput) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--device", "gtx999"}, "gtx999"},
      {{"--device", "gtx480,"}, "a value is empty"},
      {{"--block", "128..64"}, "the range is empty"},
      {{"--block", "64..128*1"}, "the range never ends"},
      {{"--block", "64..128+0"}, "the range never ends"},
      {{"--block", "0..128*2"}, "the range never ends"},
      {{"--set", "arg.2.u32=1..99999999"}, "more than 100000 values"},
      {{"--block", "0"}, "every extent must be at least 1"},
      {{"--block", "32,16x0"}, "every extent must be at least 1"},
      {{"--block", "sixteen"}, "is not a shape"},
      {{"--block", "all:0"}, "expected a number of threads"},
      {{"--rule", "nonsense"}, "there is no rule 'nonsense'"},
      {{"--l1", "half"}, "expected off, on or enlarged"},
      {{"--set", "buffer.y.count=4"}, "y"},
      {{"--set", "arg.7.u32=4"}, "does not exist in the launch file"},
      {{"--set", "nothing"}, "expected KEY=LIST"},
      {{"--with", "shared=4"}, "no option before it"},
      {{"--block", "32,64", "--with", "shared=4"}, "1 values, but block has 2"},
      {{"--block", "32", "--block", "64"}, "given twice"},
      {{"--index", "1"}, "launch 1 does not exist"},
      {{"--kernel", "missing*"}, "no such kernel"},
      {{"--model", "oracle"}, "no such model"},
      {{"--by", "beauty"}, "no row has this metric"},
      {{"--by", "milisecond"}, "did you mean 'milliseconds'?"},
      {{"--registers", "many"}, "expected a whole number"},
      {{"--jobs", "-1"}, "expected a number"},
      {{"--plot", "/nowhere/t.svg"}, "/nowhere/t.svg"},
      {{"--csv", "/nowhere/t.csv"}, "/nowhere/t.csv"},
      {{"--results", "/nowhere/t.jsonl"}, "/nowhere/t.jsonl"},
      {{"--results", launch_}, "not a table of a sweep"}};
  for (const auto& [options, part] : cases) {
    SCOPED_TRACE(options[0] + " " + options[1]);
    const Output o = sweep(options);
    EXPECT_EQ(o.status, 2) << o.err;
    expect_contains(o.err, "error: ");
    expect_contains(o.err, part);
    EXPECT_EQ(o.err.find("internal error"), o.err.npos) << o.err;
  }
  EXPECT_EQ(run_program({"sweep"}).status, 2);
  EXPECT_EQ(run_program({"sweep", "missing.toml"}).status, 2);
  EXPECT_EQ(run_program({"sweep", "--help"}).status, 0);
}

TEST(SweepOfAProgram, HasARowForEachDevice) {
  const Output o = run_program({"sweep", "--device", "h200,l40s", "--", WARPLENS_LAUNCHES, "3"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("h200           3"), o.out.npos) << o.out;
  EXPECT_NE(o.out.find("l40s           3"), o.out.npos) << o.out;
  EXPECT_NE(o.out.find("scale"), o.out.npos) << o.out;
  EXPECT_EQ(o.out.find("8 8"), o.out.npos) << "the program's own output";
  EXPECT_NE(o.out.find("caution: the times are by different models (critical-path, volkov)"), o.out.npos) << o.out;
  const Output csv = run_program({"sweep", "--device", "h200,l40s", "--csv", "-", "--", WARPLENS_LAUNCHES, "3"});
  EXPECT_EQ(csv.out.find("device,kernel,launches,milliseconds,bound,failure\nh200,scale,3,"), 0u) << csv.out;
}

TEST(SweepOfAProgram, HasJson) {
  const Folder folder;
  const std::string file = (folder.path() / "sweep.json").string();
  const Output o = run_program({"sweep", "--device", "h200,l40s", "--json", file, "--", WARPLENS_LAUNCHES, "3"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("slowest kernel"), o.out.npos) << o.out;
  const Json report = Json::parse(read_text(file));
  ASSERT_EQ(report["sweep"].size(), 2u);
  EXPECT_EQ(report["recommended"].size(), 1u);
  const Json schema = Json::parse(read_text(WARPLENS_SOURCE_DIR "/docs/sweep-schema.json"));
  double times[2]{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& row = report["sweep"][i];
    EXPECT_EQ(keys(schema["$defs"]["row"]["properties"]), keys(row));
    EXPECT_EQ(row["settings"]["device"], i == 0 ? "h200" : "l40s");
    ASSERT_EQ(row["kernels"].size(), 1u);
    const Json& kernel = row["kernels"][0];
    EXPECT_EQ(keys(schema["$defs"]["row"]["properties"]["kernels"]["items"]["properties"]), keys(kernel));
    EXPECT_EQ(kernel["launches"], 3);
    EXPECT_EQ(row["metrics"]["launches"], 3);
    EXPECT_EQ(kernel["milliseconds"], row["metrics"]["milliseconds"]);
    EXPECT_EQ(kernel["bound"], row["bound"]);
    times[i] = row["metrics"]["milliseconds"];
  }
  EXPECT_EQ(report["recommended"]["device"], times[0] < times[1] ? "h200" : "l40s");
  const Output same = run_program({"compare", file, file});
  EXPECT_EQ(same.status, 0) << same.err;
  const Output only = run_program({"sweep", "--device", "h200", "--json", "-", "--", WARPLENS_LAUNCHES, "1"});
  EXPECT_EQ(Json::parse(only.out)["sweep"].size(), 1u) << only.out;
}

TEST(SweepOfAProgram, SaysWhyThereIsNoResult) {
  const Output o = run_program({"sweep", "--device", "h200", "--", WARPLENS_LAUNCHES, "1", "exit", "7"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.out.find("exit status 7"), o.out.npos) << o.out;
  const Output none = run_program({"sweep", "--device", "h200", "--", "true"});
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.out.find("launched no kernel"), none.out.npos) << none.out;
  for (const auto& [words, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"sweep", "--device", "h200", "--"}, "no program"},
           {{"sweep", "--", "true"}, "nothing varies"},
           {{"sweep", "--block", "32,64", "--", "true"}, "--block needs a launch file, not a program"}}) {
    const Output refused = run_program(words);
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find(message), refused.err.npos) << refused.err;
  }
}

} // namespace sweep_test
} // namespace warplens::testing
