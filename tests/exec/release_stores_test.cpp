// SPDX-License-Identifier: Apache-2.0
// Asynchronous stores and reductions that release (st.async and red.async, 9.7.9.12 and 9.7.13.8), and griddepcontrol:
// they take effect at once.
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace release_stores_test {

Ran run(const std::string& body) {
  std::string text = kernel_of(body + "ret;", "", 100);
  text.replace(text.find(".version 8.3"), 12, ".version 9.0");
  Emulated machine(text, "release.ptx");
  return run_on(machine, {});
}

TEST(ReleaseStores, AreSeenByTheNextAccess) {
  for (const char* const scope : {"gpu", "sys"})
    for (const char* const space : {"", ".global"}) {
      const std::string words = std::string(".release.") + scope + space;
      const Ran got = run("st.async" + words + ".u32 [%rd2], %r1;\nred.async" + words +
                          ".add.u32 [%rd2], 5;\nred.async" + words + ".max.s32 [%rd2], 9;\n");
      EXPECT_EQ(got.trap, "") << words;
      for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(got.words[t], std::max(t + 5, 9u)) << words;
    }
  EXPECT_NE(
      run("mov.u64 %rd3, 4096; red.async.release.sys.global.add.u32 [%rd3], 5;\n").trap.find("invalid __global__"),
      std::string::npos);
}

TEST(ReleaseStores, GridsThatDependOnOthersGoOn) {
  const Ran got = run("griddepcontrol.launch_dependents; griddepcontrol.wait; st.global.u32 [%rd2], %r1;\n");
  EXPECT_EQ(got.trap, "");
  EXPECT_EQ(got.words[31], 31u);
}

} // namespace release_stores_test
} // namespace warplens::tests
