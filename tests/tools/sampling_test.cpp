// SPDX-License-Identifier: Apache-2.0
// `warplens run --sample`: the accesses of some blocks are counted, all blocks run.
#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

namespace warplens::testing {
namespace sampling_test {

using Json = nlohmann::json;

/// `body` has the thread of the grid in %r1, the block in %r3, the thread's word of x in %rd2, and x in %rd1.
class Sampling : public ::testing::Test {
protected:
  std::string kernel(const std::string& body) {
    return folder_.write("k.ptx",
                         ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
                         ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<9>;\n"
                         "ld.param.u64 %rd1, [x]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n"
                         "mad.lo.u32 %r1, %r3, 64, %r2; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1;\n" +
                             body + "\nret;\n}\n");
  }
  Output run(const std::string& file, const std::vector<std::string>& more, const std::string& grid = "8192") {
    std::vector<std::string> words = {"run",     file,      "--kernel", "k",     "--grid",
                                      grid,      "--block", "64",       "--arg", "x:u32[1048576]=iota",
                                      "--print", "x:524288"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  Json launch(const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> all = more;
    const std::string json = (folder_.path() / "report.json").string();
    all.insert(all.end(), {"--json", json});
    const Output o = run(file, all);
    EXPECT_EQ(o.status, 0) << o.err;
    return Json::parse(read_text(json))["launches"][0];
  }
  static double sectors(const Json& launch) { return launch["metrics"]["memory_l2_theoretical_sectors_global"]; }
  static bool says(const Output& o, const std::string& what) {
    std::string text; // without line breaks
    for (const char c : o.out)
      if (c != '\n' && (c != ' ' || text.empty() || text.back() != ' '))
        text += c;
      else if (text.empty() || text.back() != ' ')
        text += ' ';
    return text.find(what) != text.npos;
  }
  Folder folder_;
};

// A loop whose trip count depends on the block, and an access in it: instruction counts are known of all blocks.
const std::string kLoops = "and.b32 %r4, %r3, 31; mov.u32 %r5, 0;\n"
                           "L: st.global.u32 [%rd2], %r5; add.u32 %r5, %r5, 1; setp.le.u32 %p1, %r5, %r4; @%p1 bra L;";

TEST_F(Sampling, BlocksWithOtherTripCountsHaveExactCounters) {
  const std::string file = kernel(kLoops);
  const Json exact = launch(file, {}), sampled = launch(file, {"--sample", "0.02"});
  EXPECT_EQ(exact["metrics"], sampled["metrics"]);
  EXPECT_FALSE(exact.contains("sampling"));
  const Json& of = sampled["sampling"];
  EXPECT_EQ(of["blocks"], 8192);
  EXPECT_GE(of["watched_blocks"], 164);
  EXPECT_LT(of["watched_blocks"], 300);
  EXPECT_EQ(of["classes"], 32);
  EXPECT_EQ(of["main_standard_error"], 0.0);
  const Json schema = Json::parse(read_text(WARPLENS_SOURCE_DIR "/docs/json-schema.json"));
  const Json& declared = schema["$defs"]["launch"]["properties"]["sampling"]["properties"];
  EXPECT_EQ(declared.size(), of.size());
  for (const auto& [key, value] : of.items()) EXPECT_TRUE(declared.contains(key)) << key;
  EXPECT_EQ(run(file, {}).out.substr(run(file, {}).out.find("\nx: ")),
            run(file, {"--sample", "0.02"}).out.substr(run(file, {"--sample", "0.02"}).out.find("\nx: ")));
}

// The stride of a store depends on a hash of the block, so that equal trip counts have other sectors.
const std::string kStrides = "mul.lo.u32 %r4, %r3, 0x9e3779b1; shr.u32 %r4, %r4, 30; shl.b32 %r5, %r2, %r4;\n"
                             "and.b32 %r6, %r3, 1023; mad.lo.u32 %r5, %r6, 512, %r5; mul.wide.u32 %rd3, %r5, 4;\n"
                             "add.u64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], 7;";

TEST_F(Sampling, EstimatesTheErrorOfOtherAddresses) {
  const std::string file = kernel(kStrides);
  const double exact = sectors(launch(file, {}));
  int near = 0;
  for (const char* const fraction : {"0.01", "0.02", "0.03", "0.05", "0.08", "0.1"}) {
    const Json sampled = launch(file, {"--sample", fraction});
    const double error = sampled["sampling"]["standard_errors"]["memory_l2_theoretical_sectors_global"];
    EXPECT_GT(error, 0.003) << fraction;
    EXPECT_LT(error, 0.15) << fraction;
    EXPECT_LT(std::abs(sectors(sampled) - exact), 4 * error * exact) << fraction;
    near += std::abs(sectors(sampled) - exact) < 2 * error * exact ? 1 : 0;
  }
  EXPECT_GE(near, 5);
}

TEST_F(Sampling, AutomaticFractionFollowsTheError) {
  const Json alike = launch(kernel(kLoops), {"--sample", "auto"});
  EXPECT_LT(alike["sampling"]["watched_blocks"], 400);
  const std::string file = kernel(kStrides);
  const Json other = launch(file, {"--sample", "auto"}), exact = launch(file, {});
  EXPECT_TRUE(!other.contains("sampling") || other["sampling"]["watched_blocks"] > 1000) << other["sampling"];
  EXPECT_LT(std::abs(sectors(other) - sectors(exact)), 0.02 * sectors(exact));
}

TEST_F(Sampling, DoesNotDependOnTheThreads) {
  const std::string file = kernel(kStrides);
  for (const char* const how : {"auto", "0.02"})
    EXPECT_EQ(launch(file, {"--sample", how, "--threads", "1"}), launch(file, {"--sample", how, "--threads", "5"}))
        << how;
}

// One block takes a path of its own: most samples miss it, and the report says so.
TEST_F(Sampling, TellsWhatNoWatchedBlockExecuted) {
  const std::string file =
      kernel("setp.ne.u32 %p1, %r3, 5000; @%p1 bra END; mov.u32 %r5, 0;\n"
             "L: st.global.u32 [%rd2], %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 9000; @%p2 bra L;\n"
             "END: st.global.u32 [%rd2], 1;");
  const Json sampled = launch(file, {"--sample", "0.01"});
  EXPECT_EQ(sampled["sampling"]["classes"], 2);
  EXPECT_EQ(sampled["sampling"]["watched_classes"], 1);
  EXPECT_EQ(sampled["sampling"]["blocks_of_other_classes"], 1);
  EXPECT_NEAR(sampled["sampling"]["missing_accesses"].get<double>(), 18000.0 / (18000 + 16384), 1e-3);
  EXPECT_TRUE(says(run(file, {"--sample", "0.01"}), "of instructions that no counted block executed, and are missing"));
}

TEST_F(Sampling, WatchesAllBlocksWhereItMust) {
  const std::string ordered = kernel("atom.global.add.u32 %r4, [%rd1], 1; st.global.u32 [%rd2+4], %r4;");
  EXPECT_TRUE(says(run(ordered, {"--sample", "0.01"}), "not sampled: the blocks depend on each other"));
  const std::string file = kernel(kLoops);
  EXPECT_TRUE(says(run(file, {"--sample", "0.01"}, "60"), "not sampled: the launch has too few blocks"));
  EXPECT_EQ(run(file, {"--sample", "exact"}).out, run(file, {}).out);
}

TEST_F(Sampling, ReachesProgramsThroughExec) {
  const Output o = run_program({"exec", "--analyze", "--sample", "0.5", "--", WARPLENS_LAUNCHES, "1"});
  EXPECT_NE(o.err.find("not sampled: the launch has too few blocks"), std::string::npos) << o.err;
}

TEST_F(Sampling, RefusesOtherWords) {
  const std::string file = kernel(kLoops);
  for (const char* const word : {"0", "1.5", "-1", "some", "0.1x", "nan", ""}) {
    const Output o = run(file, {std::string("--sample=") + word});
    EXPECT_EQ(o.status, 2) << word;
  }
  EXPECT_EQ(run(file, {"--sample", "0.1", "--per-block"}).status, 2);
  EXPECT_EQ(run(file, {"--sample", "0.1", "--no-analyze"}).status, 2);
}

} // namespace sampling_test
} // namespace warplens::testing
