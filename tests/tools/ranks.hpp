// SPDX-License-Identifier: Apache-2.0
// Programs over the ranks of an MPI launcher. There may be more ranks than processors.
//
//   TEST_F(Ranks, …) { compare(3, {"run", …}); }   // one process and three ranks write the same
#pragma once

#include "tests/tools/program.hpp"

#include <algorithm>
#include <filesystem>

namespace warplens::testing {

class RanksTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    for (const char* const name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
      setenv(name, "1", 1);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1); // needs a permission that containers lack
  }
  void SetUp() override {
    if (std::string(WARPLENS_MPIEXEC).empty())
      GTEST_SKIP() << "built without MPI: -DWARPLENS_MPI=ON says what is missing";
  }

  /// Whether rank 0 forks the others, where all are on one machine.
  static bool forks() { return run_command({WARPLENS_MPIEXEC, "--version"}).out.find("Open") != std::string::npos; }

  static Output over(int ranks, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {WARPLENS_MPIEXEC, "-n", std::to_string(ranks), WARPLENS_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_command(words);
  }
  /// Runs it by one process and by so many ranks; expects the same output and report.
  static void compare(int ranks, const std::vector<std::string>& arguments, const std::string& said = "") {
    const Folder folder;
    const auto with_json = [&](const std::string& name) {
      std::vector<std::string> all = arguments;
      if (std::find(all.begin(), all.end(), "--no-analyze") == all.end())
        all.insert(all.end(), {"--json", (folder.path() / name).string()});
      return all;
    };
    const Output one = run_program(with_json("one")), many = over(ranks, with_json("many"));
    EXPECT_EQ(one.status, many.status) << many.err;
    EXPECT_EQ(one.out, many.out) << ranks;
    EXPECT_EQ(read_text(folder.path() / "one"), read_text(folder.path() / "many")) << ranks;
    // After a failure, the launcher adds text of its own.
    EXPECT_NE(many.err.find(one.err), std::string::npos) << many.err;
    if (said.empty() && one.status == 0) {
      EXPECT_EQ(many.err, one.err);
    }
    EXPECT_NE(many.err.find(said), std::string::npos) << many.err;
  }
};

/// A launch that runs for hours, or for about a second, on any number of ranks.
inline std::vector<std::string> long_launch(const Folder& folder, const std::string& rounds) {
  const std::string file = folder.write(
      "k.ptx", ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
               ".reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p1;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\n"
               "setp.lt.u32 %p1, %r1, " +
                   rounds +
                   "; @%p1 bra L;\nld.param.u64 %rd1, [x]; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4;\n"
                   "add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r2;\nret;\n}\n");
  return {"run", file,    "--kernel",        "k",       "--grid", "64",          "--block",
          "32",  "--arg", "x:u32[64]=zeros", "--print", "x:64",   "--max-steps", "30000000000"};
}

/// A rank's program: with `words` of the shell when rank 0 has forked a rank, $child.
inline std::string with_child(const Folder& folder, const std::string& words) {
  return folder.write("one.sh", "#!/bin/sh\n"
                                "[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] || exec '" WARPLENS_PROGRAM "' \"$@\"\n"
                                "'" WARPLENS_PROGRAM "' \"$@\" &\n"
                                "for turn in $(seq 500); do\n"
                                "  sleep 0.02; child=$(cat /proc/$!/task/$!/children)\n"
                                "  [ -n \"$child\" ] && break\ndone\n" +
                                    words + "\nwait $!\n");
}

inline std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

} // namespace warplens::testing
