// SPDX-License-Identifier: Apache-2.0
// Device memory of unmodified programs: runtime/programs/places.cpp.
#include "tests/tools/program.hpp"

#include <fstream>

namespace warplens::testing {
namespace memory_test {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Addresses, AreTheSameInEveryProcess) {
  if (has(run_program({"exec", "--", WARPLENS_PLACES}).err, "its usual place")) GTEST_SKIP() << "a sanitizer is there";
  for (const char* program : {WARPLENS_PLACES, WARPLENS_PLACES_FIXED})
    for (const char* what : {"addresses", "heap"})
      for (int i = 0; i < 12; ++i) { // the system chooses where the heap begins
        const Output o = run_program({"exec", "--", program, what});
        EXPECT_EQ(o.out, "0x50000000 42\n") << program << " " << what;
        EXPECT_EQ(o.err, "");
      }
}

TEST(Addresses, AreTheSameWhereTheAddressSpaceIsLimited) {
  for (const char* limit : {"800000", "8000000", "100000000"}) {
    const Output o = run_program(
        {"exec", "--", "/bin/sh", "-c", std::string("ulimit -v ") + limit + "; exec " + WARPLENS_PLACES_FIXED});
    if (has(o.err, "its usual place") || has(o.err, "ASan")) GTEST_SKIP();
    EXPECT_EQ(o.out, "0x50000000 42\n") << limit << o.err;
  }
}

TEST(PastEnds, AreToldOnceAndCounted) {
  const Output o = run_program({"exec", "--", WARPLENS_PLACES, "past", "2"});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.out, "10\n"); // past the end there are zeros
  EXPECT_EQ(count_of(o.err, "warning: __global__ read of size 4 bytes outside its allocation"), 1u) << o.err;
  EXPECT_TRUE(has(o.err, "is 0 bytes after allocation 'device memory")) << o.err;
  EXPECT_TRUE(has(o.err, "in kernel past, by thread (3,0,0) in block (0,0,0)")) << o.err;
  EXPECT_TRUE(has(o.err, "--strict")) << o.err;
  EXPECT_TRUE(has(o.err, "58 accesses of 1 instruction went past the end of an allocation")) << o.err;
}

TEST(PastEnds, AreFaultsWhereThatIsAskedFor) {
  const Output o = run_program({"exec", "--strict", "--", WARPLENS_PLACES, "past", "1"});
  EXPECT_EQ(o.status, 1);
  EXPECT_TRUE(has(o.out, "cuMemcpyDtoH_v2(&sum, data, 4): 700")) << o.out;
  EXPECT_TRUE(has(o.err, "error: invalid __global__ read of size 4 bytes: address 0x")) << o.err;
  EXPECT_FALSE(has(o.err, "went past")) << o.err;
  setenv("WARPLENS_STRICT", "1", 1);
  EXPECT_EQ(run_program({"exec", "--", WARPLENS_PLACES, "past", "1"}).status, 1);
  setenv("WARPLENS_STRICT", "0", 1);
  EXPECT_EQ(run_program({"exec", "--", WARPLENS_PLACES, "past", "1"}).status, 0);
  unsetenv("WARPLENS_STRICT");
}

TEST(Limits, AreRaisedByTheirNames) {
  const Folder folder;
  const std::string file = (folder.path() / "k.ptx").string();
  std::ofstream(file)
      << (".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .b8 x[40000]) { ret; }\n");
  const Output refused = run_program({"check", file});
  EXPECT_NE(refused.status, 0);
  EXPECT_TRUE(has(refused.err + refused.out, "'k' needs 40000 bytes of parameters: the limit parameter-bytes is 32764"))
      << refused.err;
  EXPECT_EQ(run_program({"--limit", "parameter-bytes=50000", "check", file}).status, 0);
  setenv("WARPLENS_LIMITS", "parameter-bytes=50000", 1);
  EXPECT_EQ(run_program({"check", file}).status, 0);
  setenv("WARPLENS_LIMITS", "parameter-byte=50000", 1);
  EXPECT_TRUE(has(run_program({"check", file}).err, "there is no limit 'parameter-byte'"));
  unsetenv("WARPLENS_LIMITS");
  EXPECT_EQ(run_program({"--limit", "parameter-bytes=x", "check", file}).status, 2);
}

} // namespace memory_test
} // namespace warplens::testing
