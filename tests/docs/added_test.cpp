// SPDX-License-Identifier: Apache-2.0
// The instruction, the analyzer, the rules, the device and the model of docs/extending/, in programs that are built
// with exactly the pages' edits (added.cmake).
#include "tests/tools/program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

namespace warplens::testing {
namespace added_test {

// d[lane] = the distance between lane and 10, saturated to s32, for 32 lanes.
constexpr std::string_view kKernel = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry distances(.param .u64 d)
{
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [d];
  mov.u32 %r1, %tid.x;
  dist.s32.u32.u32.sat %r2, %r1, 10;
  dist.u32.u32.s32 %r3, %r2, -3;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

const std::string kSaxpy = WARPLENS_SOURCE_DIR "/samples/saxpy/launch.toml";

TEST(AddedRules, AreBuiltIn) {
  const std::string rules = run_program({"list", "rules"}).out;
  EXPECT_NE(rules.find("\n  full-warp "), rules.npos) << rules;
  EXPECT_NE(rules.find("\n  more-banks "), rules.npos) << rules;
  const Output o = run_program({"run", kSaxpy, "--rule", "full-warp", "--rule", "more-banks", "--counters"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("rule.full-warp."), o.out.npos) << o.out;
}

TEST(AddedDevice, IsBuiltIn) {
  const std::string devices = run_program({"list", "devices"}).out;
  EXPECT_NE(devices.find("\n  gtx260 "), devices.npos) << devices;
  const Output o = run_program({"run", kSaxpy, "--device", "gtx260"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("GeForce GTX 260"), o.out.npos) << o.out;
  EXPECT_EQ(o.out, run_program({"run", kSaxpy, "--device", WARPLENS_EXAMPLES_DIR "/devices/gtx260.toml"}).out);
}

TEST(AddedInstruction, Runs) {
  const Folder folder;
  const Output o = run_program({"run", folder.write("distances.ptx", kKernel), "--kernel", "distances", "--grid", "1",
                                "--block", "32", "--arg", "d:u32[32]", "--print", "d"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("13 12 11 10 9 8 7 6 5 4 3 4 5"), o.out.npos) << o.out;
}

TEST(AddedInstruction, IsCountedInItsClass) {
  const Folder folder;
  const Output o = run_program({"run", folder.write("distances.ptx", kKernel), "--kernel", "distances", "--grid", "1",
                                "--block", "32", "--arg", "d:u32[32]", "--counters"});
  ASSERT_EQ(o.status, 0) << o.err;
  const std::size_t line = o.out.find("inst_executed_integer ");
  ASSERT_NE(line, o.out.npos) << o.out;
  // Two of dist and the addition of the address.
  EXPECT_NE(o.out.substr(line, o.out.find('\n', line) - line).find(" 3"), o.out.npos) << o.out;
}

TEST(AddedInstruction, IsSuggestedAndChecked) {
  const Folder folder;
  std::string wrong(kKernel);
  wrong.replace(wrong.find("dist.u32"), 5, "dost.");
  Output o = run_program({"check", folder.write("wrong.ptx", wrong)});
  EXPECT_NE((o.out + o.err).find("did you mean 'dist'?"), std::string::npos) << o.out << o.err;
  wrong = kKernel;
  wrong.replace(wrong.find("dist.u32"), 8, "dist.f32");
  o = run_program({"check", folder.write("wrong.ptx", wrong)});
  EXPECT_NE((o.out + o.err).find("'.f32' does not fit in 'dist.f32.u32.s32'"), std::string::npos) << o.out << o.err;
}

TEST(AddedInstruction, IsListed) {
  const Output o = run_program({"list", "instructions"});
  EXPECT_EQ(o.status, 0);
  const std::size_t at = o.out.find("dist ");
  ASSERT_NE(at, o.out.npos);
  EXPECT_NE(o.out.substr(at, o.out.find('\n', at) - at).find(".{u32,s32}.{u32,s32}.{u32,s32}[.sat]"), o.out.npos);
}

TEST(AddedInstruction, IsInTheTableOfTheDocumentation) {
  const Folder folder;
  const std::string page = (folder.path() / "instructions.md").string();
  ASSERT_EQ(std::system(("'" WARPLENS_WRITE_INSTRUCTIONS "' '" + page + "'").c_str()), 0);
  EXPECT_NE(read_text(page).find("| `dist` | `.{u32,s32}.{u32,s32}.{u32,s32}[.sat]` | 2.0 | sm_20 |"),
            std::string::npos);
}

// The analyzer of docs/extending/analyzer.md is in the same program.
TEST(AddedAnalyzer, IsListedAndReports) {
  const Output list = run_program({"list", "analyzers"});
  EXPECT_NE(list.out.find("line_requests"), list.out.npos) << list.out;
  const Folder folder;
  const Output o = run_program({"run", folder.write("distances.ptx", kKernel), "--kernel", "distances", "--grid", "1",
                                "--block", "32", "--arg", "d:u32[32]", "--counters"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("global_line_requests"), o.out.npos) << o.out;
  const Output metrics = run_program({"list", "metrics"});
  EXPECT_NE(metrics.out.find("global_lines / global_line_requests"), metrics.out.npos) << metrics.out;
}

// So is the model of docs/extending/model.md.
TEST(AddedModel, IsListedAndPredicts) {
  const Output list = run_program({"list", "models"});
  EXPECT_NE(list.out.find("bandwidth: all transactions at the peak bandwidth"), list.out.npos) << list.out;
  const Folder folder;
  const Output o = run_program({"run", folder.write("distances.ptx", kKernel), "--kernel", "distances", "--grid", "1",
                                "--block", "32", "--arg", "d:u32[32]", "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("\"model\": \"bandwidth\""), o.out.npos) << o.out;
  const Output fields = run_program({"predict", "--fields"});
  EXPECT_NE(fields.out.find("critical-path, bandwidth"), fields.out.npos) << fields.out;
}

/// Between "namespace {" and its end, the functions that a file defines.
std::set<std::string> private_functions(const std::string& text) {
  std::set<std::string> names;
  const std::regex definition(R"(\n[a-z][^\n=;(]*[ &*](\w+)\([^\n]*\{\n)");
  for (std::size_t begin = 0; (begin = text.find("\nnamespace {\n", begin)) != text.npos; ++begin) {
    const std::string part = text.substr(begin, text.find("\n} // namespace\n", begin) - begin);
    for (std::sregex_iterator it(part.begin(), part.end(), definition), end; it != end; ++it) names.insert((*it)[1]);
  }
  return names;
}

// The files of a folder are compiled in batches; those of the pages, above, are compiled alone.
TEST(AddedFiles, HaveNamesOfTheirOwn) {
  std::size_t names = 0;
  for (const std::string file : {"analyzers/line_requests.cpp", "model/bandwidth.cpp"}) {
    const std::filesystem::path folder = std::filesystem::path(WARPLENS_SOURCE_DIR "/" + file).parent_path();
    for (const std::string& name : private_functions(read_text(WARPLENS_EXAMPLES_DIR "/" + file))) {
      ++names;
      for (const auto& other : std::filesystem::directory_iterator(folder)) {
        const bool is_code = other.path().extension() == ".cpp";
        EXPECT_FALSE(is_code && private_functions(read_text(other.path().string())).contains(name)) << name << other;
      }
    }
  }
  EXPECT_GE(names, 1u);
}

} // namespace added_test
} // namespace warplens::testing
