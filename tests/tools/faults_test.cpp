// SPDX-License-Identifier: Apache-2.0
// Each program of tests/data/faults with the tool of its class: the planted fault is found, with its place and its
// threads, and nothing is reported of the correct twins, by all tools together.
#include "tests/tools/fault_programs.hpp"

#include <map>

namespace warplens::testing {
namespace faults_test {

/// Fields of an expectation that a message has otherwise, and why.
const std::map<std::string, std::set<std::string>>& unchecked() {
  static const std::map<std::string, std::set<std::string>> list = {
      // The stack is found too small where it is needed, in the call or alloca, and not at the first store there.
      {"stack_overflow", {"line"}},
      {"stack_overflow_alloca", {"line"}},
  };
  return list;
}

/// In PTX, a branch around the rest of a kernel is a return: the missing lanes count as exited.
const std::set<std::string> kExitedInPtx = {"ballot_in_branch", "reduce_in_branch", "tile_shuffle_in_branch"};

/// What is not found, and why (docs/sanitizer.md).
const std::map<std::string, std::set<std::string>>& missed() {
  static const std::map<std::string, std::set<std::string>> list = {
      {"memcheck", {}},
      {"synccheck",
       // The lanes that skip the barrier do nothing more: in PTX, this is a return, after which the barrier is right.
       {"barrier_in_loop", "barrier_in_function"}},
  };
  return list;
}

void find_all(const std::string& tool) {
  std::size_t faulty = 0;
  for (const FaultJson& one : fault_cases(tool)) {
    const std::string id = one["id"];
    if (!one.contains("expect")) continue;
    ++faulty;
    CheckedRun run = check_program(one, tool);
    if (missed().at(tool).contains(id)) {
      EXPECT_TRUE(run.messages.empty()) << id << " is found: take it off the list";
      continue;
    }
    if (kExitedInPtx.contains(id))
      for (FaultJson& m : run.messages)
        if (m["kind"] == "exited_lanes") m["kind"] = "lanes_missing";
    const auto known = unchecked().find(id);
    const FaultDifference difference(one, run.messages,
                                     known == unchecked().end() ? std::set<std::string>{} : known->second);
    EXPECT_EQ(difference.text(), "") << id << ": " << one["what"] << "\n" << run.output.err;
    EXPECT_NE(run.output.status, 0) << id;
  }
  EXPECT_GT(faulty, 30u);
}

TEST(FaultPrograms, MemcheckFindsAll) { find_all("memcheck"); }
TEST(FaultPrograms, SynccheckFindsAllButAList) { find_all("synccheck"); }

// All lanes store to a[3], which lane 3 reads: its fault is that of initcheck, but its twin is not free of races.
const std::string kTwinWithRace = "register_as_address.fixed";

/// In parts: there are 325 twins.
void invents_nothing(std::size_t part, std::size_t parts) {
  std::size_t i = 0;
  for (const FaultJson& one : fault_cases("")) {
    if (one.contains("expect") || i++ % parts != part) continue;
    const CheckedRun run = check_program(one, one["id"] == kTwinWithRace ? "memcheck,initcheck,synccheck" : "all");
    EXPECT_EQ(run.output.status, 0) << one["id"] << "\n" << run.output.err;
    EXPECT_TRUE(run.messages.empty()) << one["id"] << "\n" << run.output.err;
  }
}

TEST(FaultPrograms, NothingIsReportedOfCorrectTwins1) { invents_nothing(0, 2); }
TEST(FaultPrograms, NothingIsReportedOfCorrectTwins2) { invents_nothing(1, 2); }

FaultJson the_case(const std::string& id) {
  for (const FaultJson& one : fault_cases(""))
    if (one["id"] == id) return one;
  ADD_FAILURE() << id;
  return {};
}

// Layout of compute-sanitizer; the addresses are the same in each run.
TEST(FaultPrograms, MessagesHaveTheKnownLayout) {
  const Output o = check_program(the_case("global_write_past_end"), "memcheck").output;
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("========= Invalid __global__ write of size 4 bytes\n"
                       "=========     at global_write_past_end() in memory.cu:14\n"
                       "=========     by thread (4,0,0) in block (3,0,0)\n"
                       "=========     all: threads 4-31 of block 3\n"),
            o.err.npos)
      << o.err;
  EXPECT_NE(o.err.find("=========     and is 1 bytes after the nearest allocation at "), o.err.npos) << o.err;
  EXPECT_NE(o.err.find("=========     Allocated by cuMemAlloc_v2\n"), o.err.npos) << o.err;
  EXPECT_NE(o.err.find("========= ERROR SUMMARY: 28 errors (memcheck)\n"), o.err.npos) << o.err;
}

TEST(FaultPrograms, OneRunReportsSeveralFaults) {
  const CheckedRun run = check_program(the_case("two_faults_in_one_kernel"), "memcheck");
  ASSERT_EQ(run.messages.size(), 2u) << run.output.err;
  EXPECT_NE(run.messages[0]["line"], run.messages[1]["line"]);
}

TEST(FaultPrograms, ErrorsDecideTheExitStatus) {
  const FaultJson one = the_case("fault_ignored");
  EXPECT_EQ(check_program(one, "memcheck").output.status, 1);
  EXPECT_EQ(check_program(one, "memcheck", {"--error-exitcode", "77"}).output.status, 77);
  EXPECT_EQ(check_program(one, "memcheck", {"--error-exitcode", "0"}).output.status, 0);
  for (const char* status : {"256", "-1", "x", ""}) { // 256 would be 0 for the shell
    const Output o = run_program({"exec", "--tool", "memcheck", "--error-exitcode", status, "--", "true"});
    EXPECT_NE(o.status, 0) << status;
    EXPECT_NE(o.err.find("--error-exitcode: expected a number"), o.err.npos) << o.err;
  }
}

TEST(FaultPrograms, LaunchesAreSelectedAsForAnalysis) {
  const FaultJson one = the_case("global_write_past_end");
  EXPECT_TRUE(check_program(one, "memcheck", {"--kernel-name", "nothing_like_it"}).messages.empty());
  EXPECT_TRUE(check_program(one, "memcheck", {"--launch-skip", "1"}).messages.empty());
  EXPECT_EQ(check_program(one, "memcheck", {"--kernel-name", "past_end", "--launch-count", "1"}).messages.size(), 1u);
}

TEST(FaultPrograms, PrintLimitAndSuppressions) {
  const FaultJson one = the_case("two_faults_in_one_kernel");
  const Output limited = check_program(one, "memcheck", {"--print-limit", "1"}).output;
  EXPECT_NE(limited.err.find("ERROR SUMMARY: 1 messages were not printed"), limited.err.npos) << limited.err;
  const Folder folder;
  const std::string file = (folder.path() / "known.json").string();
  std::ofstream(file) << R"({"messages": [{"kind": "out_of_bounds", "file": "memory.cu", "line": 194}]})";
  const CheckedRun run = check_program(one, "memcheck", {"--suppressions", file});
  EXPECT_EQ(run.messages.size(), 1u) << run.output.err;
  EXPECT_NE(run.output.err.find("error was suppressed"), run.output.err.npos) << run.output.err;
  std::ofstream(file) << "{}";
  EXPECT_EQ(run_program({"exec", "--tool", "memcheck", "--suppressions", file, "--", WARPLENS_PLAY}).status, 2);
}

TEST(FaultPrograms, MessagesAreWrittenForOtherPrograms) {
  const Folder folder;
  const std::string sarif = (folder.path() / "m.sarif").string(), junit = (folder.path() / "m.xml").string(),
                    xml = (folder.path() / "save.xml").string();
  const FaultJson one = the_case("inlined_write");
  check_program(one, "memcheck", {"--sarif", sarif, "--junit", junit});
  const FaultJson log = FaultJson::parse(read_text(sarif));
  const FaultJson& result = log["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "out_of_bounds");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 164);
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 167) << "where it was inlined";
  const std::string suites = read_text(junit);
  EXPECT_NE(suites.find("<testsuite name=\"memcheck\" tests=\"11\" failures=\"1\""), suites.npos) << suites;
  EXPECT_NE(suites.find("type=\"out_of_bounds\">"), suites.npos) << suites;
  run_program({"exec", "--tool", "memcheck", "--save", xml, "--xml", "--", WARPLENS_PLAY, "libcuda.so.1",
               kFaults + "memory.faulty.ptx", "alloc a 4", "launch inlined_write 1 33 a"});
  EXPECT_NE(read_text(xml).find("<kind>out_of_bounds</kind>"), std::string::npos) << read_text(xml);
}

TEST(FaultPrograms, WarplensRunChecksToo) {
  const Folder folder;
  const std::string file = (folder.path() / "oob.ptx").string();
  std::ofstream(file) << ".version 7.0 .target sm_70 .address_size 64\n.visible .entry oob(.param .u64 p) {\n"
                         ".reg .u64 %a<3>; .reg .u32 %r; ld.param.u64 %a1, [p]; mov.u32 %r, %tid.x;\n"
                         "mul.wide.u32 %a2, %r, 4; add.u64 %a2, %a2, %a1;\nst.global.u32 [%a2], %r; ret; }\n";
  const std::vector<std::string> run = {"run", file, "--kernel", "oob", "--grid", "2", "--block", "40"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return run_program(more);
  };
  const Output o = with({"--arg", "x:u32[32]", "--tool", "memcheck"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("=========     all: threads 32-39 of block 0, threads 32-39 of block 1\n"), o.err.npos) << o.err;
  EXPECT_NE(o.err.find("of size 128 bytes ('x')"), o.err.npos) << o.err;
  EXPECT_NE(o.out.find("st.global.u32"), o.out.npos) << "the report is still made\n" << o.out;
  EXPECT_EQ(with({"--arg", "x:u32[40]", "--tool", "memcheck"}).status, 0);
  EXPECT_EQ(with({"--arg", "x:u32[40]", "--print-limit", "3"}).status, 2) << "needs --tool";
  EXPECT_EQ(with({"--arg", "x:u32[40]", "--tool", "valgrind"}).status, 2);
}

TEST(FaultPrograms, MessagesAreTheSameInEachRun) {
  const FaultJson one = the_case("global_rows_and_columns_exchanged");
  const std::vector<FaultJson> first = check_program(one, "memcheck").messages;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(check_program(one, "memcheck").messages, first);
}

/// A kernel with a fault in many blocks, and a kind of message that the tools must have for it.
struct ManyBlocks {
  const char* module;
  const char* kernel;
  const char* block;
  std::vector<const char*> arguments;
  const char* kind;
};
const ManyBlocks kManyBlocks[] = {
    {"memory", "global_write_past_end", "32", {"a:u32[100]", "u32=100"}, "out_of_bounds"},
    {"memory", "global_rows_and_columns_exchanged", "32", {"a:u32[256]"}, "out_of_bounds"},
    {"memory", "misaligned_vector", "8", {"a:u32[4096]", "b:u32[32]", "u32=9"}, "misaligned"},
    {"memory", "local_index_far_away", "32", {"a:u32[32]", "u32=262144"}, "out_of_bounds"},
    {"barriers", "barrier_in_branch", "32", {"a:u32[32]"}, "divergent_barrier"},
    {"barriers", "shuffle_exited_lanes", "32", {"a:u32[32]", "u32=20"}, "exited_lanes"},
    {"copies", "async_copy_no_wait", "32", {"a:u32[32]=iota", "b:u32[32]"}, "missing_wait"},
    {"copies", "mbarrier_memory_reused", "32", {"a:u32[32]"}, "mbarrier_overwritten"},
    {"clusters", "bulk_store_no_fence", "32", {"b:u32[32]"}, "missing_fence"},
    {"races", "global_blocks_two_writers", "64", {"a:u32[4096]"}, "waw"},
    {"races", "shared_no_barrier", "64", {"a:u32[64]"}, "raw"},
    {"races", "global_in_block_shift", "64", {"a:u32[65]=iota"}, "war"},
};

TEST(FaultPrograms, MessagesAreTheSameForAnyNumberOfThreads) {
  const Folder folder;
  const std::string file = (folder.path() / "messages.json").string();
  for (const ManyBlocks& one : kManyBlocks) {
    std::vector<std::string> words = {"run",      kFaults + one.module + ".faulty.ptx",
                                      "--kernel", one.kernel,
                                      "--grid",   "19",
                                      "--block",  one.block,
                                      "--tool",   "all",
                                      "--save",   file};
    for (const char* argument : one.arguments) words.insert(words.end(), {"--arg", argument});
    std::string first, shown;
    for (const char* threads : {"1", "2", "3", "7"}) {
      std::vector<std::string> with = words;
      with.insert(with.end(), {"--threads", threads});
      const Output o = run_program(with);
      EXPECT_EQ(o.status, 1) << one.kernel << "\n" << o.err;
      const std::string text = read_text(file);
      if (first.empty()) {
        first = text;
        shown = o.err;
        EXPECT_NE(text.find("\"" + std::string(one.kind) + "\""), text.npos) << one.kernel << "\n" << text;
      }
      EXPECT_EQ(text, first) << one.kernel << ", " << threads << " threads";
      EXPECT_EQ(o.err, shown) << one.kernel << ", " << threads << " threads";
    }
  }
}

} // namespace faults_test
} // namespace warplens::testing
