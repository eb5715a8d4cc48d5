// SPDX-License-Identifier: Apache-2.0
// --strict-async: a kernel fails if it uses an asynchronous copy too early. Products of warp groups: the programs of
// tests/programs/hopper.
#include "tests/tools/program.hpp"

namespace warplens::testing {
namespace strict_async_test {

// Each thread copies a word to shared memory and reads it.
std::string copying(const std::string& wait) {
  return R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry copying(.param .u64 x) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<3>;
  .shared .align 4 .b8 s[128];
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r2, s;
  mad.lo.u32 %r2, %r1, 4, %r2;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.commit_group;
)" + wait +
         R"(
  ld.shared.u32 %r3, [%r2];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
}

Output run_copying(const std::string& wait, const std::vector<std::string>& more) {
  const Folder folder;
  std::vector<std::string> words{
      "run",      folder.write("k.ptx", copying(wait)), "--kernel", "copying", "--grid", "1", "--block", "32", "--arg",
      "x:u32[32]"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

TEST(StrictAsync, ACopyWithoutItsWaitIsAFault) {
  const Output strict = run_copying("", {"--strict-async"});
  EXPECT_EQ(strict.status, 1);
  EXPECT_NE(
      strict.err.find("Missing wait for an asynchronous copy: the thread of the copy has not waited for its group "
                      "(line 14)"),
      std::string::npos)
      << strict.err;
  EXPECT_NE(strict.err.find("k.ptx:17"), std::string::npos) << strict.err;
}

TEST(StrictAsync, ByDefaultCopiesAreCompleteAtOnce) { EXPECT_EQ(run_copying("", {}).status, 0); }

TEST(StrictAsync, ACopyWithItsWaitIsNoFault) {
  EXPECT_EQ(run_copying("cp.async.wait_group 0;", {"--strict-async"}).status, 0);
}

// synccheck reports all of them, and exits with its own status.
TEST(StrictAsync, ToolsReportAsWithoutIt) {
  const Output both = run_copying("", {"--strict-async", "--tool", "synccheck", "--error-exitcode", "9"});
  EXPECT_EQ(both.status, 9) << both.err;
  EXPECT_NE((both.out + both.err).find("Missing wait for an asynchronous copy"), std::string::npos);
}

} // namespace strict_async_test
} // namespace warplens::testing
