// SPDX-License-Identifier: Apache-2.0
// `warplens exec --tool initcheck` on the programs of tests/data/faults: all planted faults are found, with their
// places and threads.
#include "tests/tools/fault_programs.hpp"

namespace warplens::testing {
namespace init_programs_test {

const std::vector<std::string> kTrack = {"--track-unused-memory"};

TEST(InitPrograms, InitcheckFindsAll) {
  std::size_t faulty = 0;
  for (const FaultJson& one : fault_cases("initcheck")) {
    if (!one.contains("expect")) continue;
    ++faulty;
    const CheckedRun run =
        check_program(one, "initcheck", one["expect"]["kind"] == "unused" ? kTrack : std::vector<std::string>{});
    const FaultDifference difference(one, run.messages, {});
    EXPECT_EQ(difference.text(), "") << one["id"] << ": " << one["what"] << "\n" << run.output.err;
    EXPECT_NE(run.output.status, 0) << one["id"];
  }
  EXPECT_EQ(faulty, 47u);
}

FaultJson the_case(const std::string& id) {
  for (const FaultJson& one : fault_cases("initcheck"))
    if (one["id"] == id) return one;
  ADD_FAILURE() << id;
  return {};
}

/// The program of a case, with other steps.
CheckedRun with_steps(const std::string& id, const std::vector<std::string>& steps,
                      const std::vector<std::string>& options = {}) {
  FaultJson one = the_case(id);
  one["steps"] = steps;
  return check_program(one, "initcheck", options);
}

TEST(InitPrograms, MessagesHaveTheKnownLayout) {
  const Output o = check_program(the_case("device_tail_not_written"), "initcheck").output;
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("========= Uninitialized __global__ memory read of size 4 bytes\n"
                       "=========     at read_word() in initial.cu:66\n"
                       "=========     by thread (31,0,0) in block (0,0,0)\n"
                       "=========     Address 0x"),
            o.err.npos)
      << o.err;
  EXPECT_NE(o.err.find("=========     and is 124 bytes inside the allocation at "), o.err.npos) << o.err;
  EXPECT_NE(o.err.find("=========     Allocated by cuMemAlloc_v2\n"), o.err.npos) << o.err;
  EXPECT_NE(o.err.find("========= ERROR SUMMARY: 1 error (initcheck)\n"), o.err.npos) << o.err;
}

TEST(InitPrograms, ThePartOfAnAccessIsNamed) {
  const Output vector = check_program(the_case("device_vector_tail"), "initcheck").output;
  EXPECT_NE(vector.err.find("Uninitialized __global__ memory read of size 16 bytes\n"
                            "=========     4 of these bytes are uninitialized, the first one at 0x"),
            vector.err.npos)
      << vector.err;
  const Output name = check_program(the_case("register_not_written"), "initcheck").output;
  EXPECT_NE(name.err.find("Uninitialized register %t read of size 4 bytes\n"), name.err.npos) << name.err;
}

TEST(InitPrograms, CopiesNameTheOrigin) {
  const Output device = check_program(the_case("device_copy_of_nothing"), "initcheck").output;
  EXPECT_NE(device.err.find("cuMemcpyDtoD_v2 copied the uninitialized bytes from 0x"), device.err.npos) << device.err;
  const CheckedRun async = check_program(the_case("async_copy_of_nothing"), "initcheck");
  ASSERT_EQ(async.messages.size(), 1u) << async.output.err;
  EXPECT_EQ(async.messages[0]["other"]["frames"][0]["line"], the_case("async_copy_of_nothing")["expect"]["other_line"]);
  EXPECT_EQ(async.messages[0]["memory"]["size"], 128) << "where the copy read";
  const Output host = check_program(the_case("host_reads_nothing"), "initcheck").output;
  EXPECT_NE(host.err.find("Host API memory access error at host access to 0x"), host.err.npos) << host.err;
  EXPECT_NE(host.err.find("128 of these bytes are uninitialized"), host.err.npos) << host.err;
}

TEST(InitPrograms, UnusedMemoryOnlyIfAskedFor) {
  EXPECT_TRUE(check_program(the_case("unused_array"), "initcheck").messages.empty());
  const CheckedRun rest = check_program(the_case("unused_rest"), "initcheck", kTrack);
  ASSERT_EQ(rest.messages.size(), 1u);
  EXPECT_NE(rest.output.err.find("of size 512 bytes\n=========     Not written 384 bytes at offset 0x80 (0x"),
            rest.output.err.npos)
      << rest.output.err;
  EXPECT_NE(rest.output.err.find("; 75.0% of the allocation were unused\n"), rest.output.err.npos) << rest.output.err;
  // Also of memory that the program does not free; a copy uses its destination.
  EXPECT_EQ(with_steps("unused_array", {"alloc a 64"}, kTrack).messages.size(), 1u);
  EXPECT_TRUE(
      with_steps("unused_array", {"alloc a 64", "set a 0 64", "alloc b 64", "copy b a 64"}, kTrack).messages.empty());
  EXPECT_EQ(run_program({"exec", "--track-unused-memory", "--", WARPLENS_PLAY}).status, 2) << "needs --tool";
}

// The program itself writes pinned and managed memory.
TEST(InitPrograms, WhatTheProgramWritesItself) {
  for (const std::string kind : {"pinned", "managed"}) {
    const std::string launch = "launch read_word 1 32 a b";
    EXPECT_TRUE(with_steps("managed_not_written", {kind + " a 128", "poke a 0 7", "alloc b 128", launch, "sync"})
                    .messages.empty())
        << kind;
    EXPECT_EQ(with_steps("managed_not_written", {kind + " a 128", "alloc b 128", launch, "sync"}).messages.size(), 1u)
        << kind;
    EXPECT_TRUE(with_steps("managed_not_written", {kind + " a 128", "alloc b 128", "launch write_word 1 32 a", "sync",
                                                   "poke a 3 7", launch, "sync"})
                    .messages.empty())
        << kind;
  }
}

TEST(InitPrograms, MemoryOfAStreamIsGivenAnew) {
  const std::vector<std::string> steps = {"stream s",
                                          "alloc-async a 128 s",
                                          "set a 0 128 s",
                                          "free-async a s",
                                          "alloc-async c 128 s",
                                          "alloc b 128",
                                          "launch read_word 1 32 c b stream=s",
                                          "sync"};
  EXPECT_EQ(with_steps("pool_not_written", steps).messages.size(), 1u);
}

TEST(InitPrograms, LaunchesThatAreNotSelectedStillWrite) {
  const std::vector<std::string> steps = {"alloc a 128", "alloc b 128", "launch write_word 1 32 a",
                                          "launch read_word 1 32 a b", "sync"};
  EXPECT_TRUE(with_steps("kernel_ran_too_late", steps, {"--kernel-name", "read_word"}).messages.empty());
  EXPECT_TRUE(check_program(the_case("device_not_written"), "initcheck", {"--launch-skip", "1"}).messages.empty());
}

TEST(InitPrograms, SuppressionsAndOtherForms) {
  const Folder folder;
  const std::string file = (folder.path() / "known.json").string(), sarif = (folder.path() / "m.sarif").string(),
                    junit = (folder.path() / "m.xml").string();
  std::ofstream(file) << R"({"messages": [{"kind": "uninitialized", "file": "initial.cu", "line": 66}]})";
  const FaultJson one = the_case("device_not_written");
  EXPECT_TRUE(check_program(one, "initcheck", {"--suppressions", file}).messages.empty());
  check_program(one, "all", {"--sarif", sarif, "--junit", junit});
  const FaultJson log = FaultJson::parse(read_text(sarif));
  EXPECT_EQ(log["runs"][0]["results"][0]["ruleId"], "uninitialized");
  EXPECT_EQ(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 66);
  EXPECT_NE(read_text(junit).find("<testsuite name=\"initcheck\" tests=\"2\" failures=\"1\""), std::string::npos)
      << read_text(junit);
}

TEST(InitPrograms, WarplensRunChecksToo) {
  const Folder folder;
  const std::string file = (folder.path() / "shared.ptx").string();
  std::ofstream(file) << ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
                         ".shared .u32 s; .reg .u64 %a; .reg .u32 %r; ld.param.u64 %a, [p];\n"
                         "ld.shared.u32 %r, [s]; st.global.u32 [%a], %r; ret; }\n";
  const Output o = run_program(
      {"run", file, "--kernel", "k", "--grid", "1", "--block", "2", "--arg", "x:u32[1]", "--tool", "initcheck"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("Uninitialized __shared__ memory read of size 4 bytes"), o.err.npos) << o.err;
}

TEST(InitPrograms, MessagesAreTheSameInEachRun) {
  for (const char* id : {"device_guarded_write", "async_copy_of_nothing", "cluster_not_written"}) {
    const std::vector<FaultJson> first = check_program(the_case(id), "initcheck").messages;
    EXPECT_EQ(check_program(the_case(id), "initcheck").messages, first) << id;
  }
}

} // namespace init_programs_test
} // namespace warplens::testing
