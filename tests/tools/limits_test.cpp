// SPDX-License-Identifier: Apache-2.0
// Limits of a run, limits for the contents of files, and the destinations of results.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <chrono>
#include <thread>

namespace warplens::testing {
namespace limits_test {

using api::testing::kForever;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words forever(const std::string& file, const Words& more) {
  Words words{"run",     file, "--kernel", "forever",   "--grid",      "1",
              "--block", "32", "--arg",    "x:u32[32]", "--max-steps", "0"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words scale(const std::string& file, const Words& more) {
  Words words{"run", file, "--kernel", "scale", "--grid", "4", "--block", "32"};
  if (std::find(more.begin(), more.end(), "--arg") == more.end())
    words.insert(words.end(), {"--arg", "x:f32[128]=iota", "--arg", "f32=2", "--arg", "u32=128"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_error(const Output& o, int status, const std::string& part) {
  EXPECT_EQ(o.status, status) << o.err;
  EXPECT_NE(o.err.find(part), o.err.npos) << "'" << part << "' is not in:\n" << o.err;
}

TEST(RunLimits, ALaunchStopsWhenTheTimeIsOver) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kForever), json = (folder.path() / "r.json").string(),
                    trace = (folder.path() / "t.h5").string();
  const auto begin = std::chrono::steady_clock::now();
  expect_error(
      run_program(forever(ptx, {"--time-limit", "0.3", "--json", json, "--trace", trace, "--trace-lines", "7"})), 1,
      "time limit reached");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_NE(read_text(json).find("\"launches\""), std::string::npos);
  EXPECT_EQ(run_program({"inspect", trace, "--limit", "1"}).status, 0);
}

TEST(RunLimits, ASweepKeepsWhatItHas) {
  const Folder folder;
  (void)folder.write("k.ptx", kForever);
  const std::string toml = folder.write("l.toml", "module = \"k.ptx\"\nkernel = \"forever\"\ngrid = 1\nblock = 32\n"
                                                  "arg = [{ buffer = \"x\" }]\n"
                                                  "[buffer.x]\ntype = \"u32\"\ncount = 32\nzeros = true\n"),
                    table = (folder.path() / "table").string();
  const Output o =
      run_program({"sweep", toml, "--block", "32,64,96", "--max-steps", "0", "--time-limit", "0.5", "--resume", table});
  EXPECT_EQ(o.status, 1) << o.err;
  EXPECT_NE(o.out.find("time limit reached"), o.out.npos) << o.out;
  const std::string kept = read_text(table);
  EXPECT_EQ(kept, "") << "no row is complete";
}

TEST(RunLimits, MemoryIsLimited) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", api::testing::kScale);
  const Words large{"--arg", "x:f32[250000000]=iota", "--arg", "f32=2", "--arg", "u32=128"};
  Words limited = large;
  limited.insert(limited.end(), {"--max-memory", "200M"});
  expect_error(run_program(scale(ptx, limited)), 1, "memory limit reached: 200 MiB");
  expect_error(run_program(scale(ptx, {"--max-memory", "lots"})), 2, "--max-memory: expected a size such as 512M");
  expect_error(run_program(scale(ptx, {"--time-limit", "-1"})), 2, "--time-limit: expected seconds");
}

TEST(RunLimits, AProgramIsStoppedAndReports) {
  const Folder folder;
  const std::string json = (folder.path() / "r.json").string();
  const Output o = run_program(
      {"exec", "--time-limit", "0.5", "--json", json, "--kernel-name", "none", "--", WARPLENS_LAUNCHES, "1000000000"});
  expect_error(o, 1, "time limit reached");
  EXPECT_NE(read_text(json).find("\"launches\""), std::string::npos);
  expect_error(run_program({"exec", "--max-memory", "1M", "--", WARPLENS_LAUNCHES, "1000000000"}), 1,
               "memory limit reached: 1 MiB");
  EXPECT_EQ(run_program({"exec", "--time-limit", "60", "--max-memory", "8G", "--", WARPLENS_LAUNCHES, "1"}).status, 0);
}

TEST(RunLimits, FilesMayAskForNoMoreThanTheirLimits) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", api::testing::kScale);
  const Words table[] = {
      {"--arg", "x:f32[8000000000]=fill:1", "--arg", "f32=2", "--arg", "u32=128"},
      {"--arg", "x:f32[8000000000]=iota", "--arg", "f32=2", "--arg", "u32=128"},
      {"--arg", "x:f32[18446744073709551615]=random", "--arg", "f32=2", "--arg", "u32=128"},
  };
  for (const Words& words : table)
    expect_error(run_program(scale(ptx, words)), 2, "the limit buffer-bytes is 4294967296");
  const auto limited = [&](const std::string& limit) {
    Words words = scale(ptx, {});
    words.insert(words.begin(), {"--limit", limit});
    return run_program(words);
  };
  expect_error(limited("buffer-bytes=511"), 2, "the limit buffer-bytes is 511");
  EXPECT_EQ(limited("buffer-bytes=512").status, 0);
  expect_error(limited("buffers=1"), 2, "there is no limit 'buffers'");
  expect_error(run_program({"--limit", "input-bytes=10", "check", ptx}), 2, "the limit input-bytes is 10");
}

// One thread asks for a fill of its first word four times, and stores what it is told each time.
constexpr std::string_view kFills = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) __cudaCDP2MemsetAsync(.param .b64 a, .param .b32 b, .param .b64 c, .param .b64 d);
.visible .entry k(.param .u64 x)
{
  .reg .b64 %to, %next, %zero;
  .reg .b32 %error, %value, %round;
  .reg .pred %p;
  ld.param.u64 %to, [x];
  mov.u64 %next, %to;
  mov.u64 %zero, 0;
  mov.u32 %value, 7;
  mov.u32 %round, 0;
again:
  {
    .param .b64 p0;
    .param .b32 p1;
    .param .b64 p2;
    .param .b64 p3;
    .param .b32 told;
    st.param.b64 [p0], %to;
    st.param.b32 [p1], %value;
    st.param.b64 [p2], 1;
    st.param.b64 [p3], %zero;
    call.uni (told), __cudaCDP2MemsetAsync, (p0, p1, p2, p3);
    ld.param.b32 %error, [told];
  }
  add.u64 %next, %next, 4;
  st.global.u32 [%next], %error;
  add.u32 %round, %round, 1;
  setp.lt.u32 %p, %round, 4;
  @%p bra again;
  ret;
}
)";

TEST(RunLimits, AGridMayAskForSoManyOperations) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kFills);
  const auto told = [&](const Words& before) {
    Words words = before;
    words.insert(words.end(), {"run", ptx, "--kernel", "k", "--grid", "1", "--block", "1", "--arg", "x:u32[5]",
                               "--no-analyze", "--print", "x:5"});
    const Output o = run_program(words);
    EXPECT_EQ(o.status, 0) << o.err;
    return o.out;
  };
  EXPECT_NE(told({}).find("7 0 0 0 0"), std::string::npos) << told({});
  // cudaErrorLaunchPendingCountExceeded
  const std::string limited = told({"--limit", "device-operations=2"});
  EXPECT_NE(limited.find("7 0 0 69 69"), std::string::npos) << limited;
}

TEST(Outputs, AreCheckedBeforeTheRun) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kForever); // would never end
  expect_error(run_program(forever(ptx, {"--json", "/nowhere/r.json"})), 2, "cannot write '/nowhere/r.json'");
  expect_error(run_program(forever(ptx, {"--json", "/dev/null"})), 2, "not a regular file");
  expect_error(run_program(forever(ptx, {"--json", ptx})), 2, "would overwrite the input");
  expect_error(run_program(forever(ptx, {"--trace", ptx})), 2, "would overwrite the input");
  expect_error(run_program({"exec", "--json", "/dev/null", "--", "true"}), 2, "not a regular file");
  EXPECT_EQ(read_text(ptx), kForever);
}

TEST(Outputs, OnlyOneIsStandardOutput) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kForever); // would never end
  const std::string twice = "another file is '-', too";
  expect_error(run_program(forever(ptx, {"--json", "-", "--csv", "-"})), 2, twice);
  const std::string launch = WARPLENS_SOURCE_DIR "/samples/saxpy/launch.toml";
  expect_error(run_program({"sweep", launch, "--block", "64,128", "--json", "-", "--csv", "-"}), 2, twice);
  expect_error(run_program({"sweep", "--device", "h200", "--json", "-", "--csv", "-", "--", "true"}), 2, twice);
  expect_error(run_program({"compare", launch, launch, "--json", "-", "--csv", "-"}), 2, twice);
}

TEST(Outputs, NothingUnfinishedIsLeft) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", api::testing::kScale), trace = (folder.path() / "t.h5").string();
  EXPECT_EQ(run_program(scale(ptx, {"--trace", trace, "--shared", "100000000"})).status, 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "only k.ptx";
  EXPECT_EQ(run_program(scale(ptx, {"--trace", trace})).status, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
}

TEST(Outputs, TwoRunsMayWriteOneTrace) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", api::testing::kScale), trace = (folder.path() / "t.h5").string();
  for (int attempt = 0; attempt < 4; ++attempt) {
    Output one, two;
    std::thread other([&] { one = run_program(scale(ptx, {"--trace", trace})); });
    two = run_program(scale(ptx, {"--trace", trace}));
    other.join();
    EXPECT_EQ(one.status, 0) << one.err;
    EXPECT_EQ(two.status, 0) << two.err;
    EXPECT_EQ(run_program({"analyze", trace}).out, two.out);
  }
}

TEST(Outputs, ALaunchFileWritesInItsFolder) {
  const Folder folder;
  (void)folder.write("k.ptx", api::testing::kScale);
  const std::string outside = (folder.path() / "outside").string(), inside = (folder.path() / "in").string();
  fs::create_directory(inside);
  fs::create_symlink(outside, inside + "/link.npy");
  const auto launch = [&](const std::string& save) {
    std::ofstream(inside + "/l.toml") << "module = \"../k.ptx\"\nkernel = \"scale\"\ngrid = 4\nblock = 32\n"
                                         "arg = [{ buffer = \"x\" }, { f32 = 2.0 }, { u32 = 128 }]\n"
                                         "[buffer.x]\ntype = \"f32\"\ncount = 128\niota = [0, 1]\nsave = \""
                                      << save << "\"\n";
    return inside + "/l.toml";
  };
  for (const std::string& save : {outside, std::string("../outside"), std::string("link.npy")}) {
    expect_error(run_program({"run", launch(save)}), 2, "--allow-paths");
    EXPECT_FALSE(fs::exists(outside));
    EXPECT_EQ(run_program({"run", launch(save), "--allow-paths"}).status, 0);
    EXPECT_TRUE(fs::remove(outside));
  }
  expect_error(run_program({"run", launch("l.toml")}), 2, "file that is not an array");
  expect_error(run_program({"run", launch("l.toml"), "--allow-paths"}), 2, "which is an input file");
  expect_error(run_program({"run", launch("../k.ptx"), "--allow-paths"}), 2, "which is an input file");
  EXPECT_EQ(read_text(folder.path() / "k.ptx"), api::testing::kScale);
  const std::string results = (folder.path() / "results").string();
  EXPECT_EQ(run_program({"run", launch("o.npy"), "--output-dir", results}).status, 0);
  EXPECT_TRUE(fs::exists(results + "/o.npy"));
  EXPECT_FALSE(fs::exists(inside + "/o.npy"));
}

} // namespace limits_test
} // namespace warplens::testing
