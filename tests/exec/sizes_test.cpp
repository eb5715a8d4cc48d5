// SPDX-License-Identifier: Apache-2.0
// Sizes and offsets in PTX that wrap around or are too large: an error names the limit, or the kernel runs, but it
// never accesses memory outside its own.
#include "api/launch/launch.hpp"
#include "emulator/base/limits.hpp"
#include "emulator/exec/state/texture.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace warplens::tests {
namespace sizes_test {

std::string kernel(const std::string& declarations, const std::string& body, const std::string& parameters = "") {
  return ".version 8.3\n.target sm_90\n.address_size 64\n" + declarations + ".visible .entry k(" + parameters +
         ")\n{\n" + body + "\nret;\n}\n";
}

// The error that prevents the kernel from running, from loading or decoding.
std::string error_of(const std::string& text) {
  auto module = api::Module::load(*api::Context::create(), text, "test.ptx");
  if (!module) return render(module.error(), {});
  const auto found = (*module)->kernel("k");
  if (!found) return render(found.error(), {});
  const auto program = (*module)->program(*found->function, false, {});
  return program ? "" : render(program.error(), {});
}

void expect_limit(const std::string& text, const std::string& name) {
  const std::string error = error_of(text);
  EXPECT_NE(error.find("the limit " + name + " is "), std::string::npos) << error << "\nof " << text.substr(0, 400);
  EXPECT_EQ(error.find("internal"), std::string::npos) << error;
}

/// Sets a limit for the lifetime of the object.
class Limited {
public:
  Limited(Limit& limit, std::uint64_t most) : limit_(limit), before_(limit.most()) { limit.set(most); }
  ~Limited() { limit_.set(before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

private:
  Limit& limit_;
  std::uint64_t before_;
};

/// Runs with `limit` at `most`, and is refused with one less.
void expect_limit_at(Limit& limit, std::uint64_t most, const std::string& text) {
  {
    const Limited exact(limit, most);
    EXPECT_EQ(error_of(text), "");
  }
  const Limited less(limit, most - 1);
  expect_limit(text, std::string(limit.name()));
}

TEST(Registers, NamesHaveALimit) { // of up to seven digits after a prefix
  expect_limit_at(limits::kRegisterNameBytes, 5 * (2 + 7), kernel("", ".reg .b32 %q<5>;"));
}

TEST(Blocks, InsideOneAnotherHaveALimit) { // with the body itself
  expect_limit_at(limits::kBlockDepth, 3, kernel("", "{ { .reg .b32 %q; mov.u32 %q, 1; } }"));
  const Limited raised(limits::kBlockDepth, 1000);
  EXPECT_EQ(error_of(kernel("", std::string(500, '{') + ".reg .b32 %q; mov.u32 %q, 1;" + std::string(500, '}'))), "");
}

TEST(Tables, TargetsHaveALimit) {
  const std::string branch = "brx.idx %r, t;\n";
  expect_limit_at(limits::kTableTargets, 6,
                  kernel("", ".reg .b32 %r; mov.u32 %r, 0;\nt: .branchtargets a, b, c;\n" + branch +
                                 "a: mov.u32 %r, 1;\nb: mov.u32 %r, 2;\nc: mov.u32 %r, 3;\n" + branch));
}

TEST(Calls, TargetsHaveALimit) {
  expect_limit_at(limits::kCallTargets, 3, kernel(".func f() { ret; }\n", "call f;\ncall f;\ncall f;\n"));
}

TEST(Calls, RegistersKeptAcrossThemHaveALimit) { // %a and %b, in a function that calls itself
  const std::string function = ".func f()\n{\n.reg .b32 %a, %b; .reg .pred %p;\n"
                               "mov.u32 %a, %tid.x; mov.u32 %b, %tid.y; setp.eq.u32 %p, %a, 0;\n@%p ret;\n"
                               "call f;\nadd.u32 %a, %a, %b; ret;\n}\n";
  expect_limit_at(limits::kSavedRegisters, 2, kernel(function, "call f;\n"));
}

TEST(Registers, OffsetsDoNotWrap) {
  expect_limit(kernel("", ".reg .v2 .b64 %q<8388607>;"), "register-bytes");
  expect_limit(kernel("", ".reg .v2 .b64 %q<8388600>; .reg .b64 %r<2>; mov.u64 %r1, 1;"), "register-bytes");
  expect_limit(kernel("", ".reg .b128 %q<1048576>;"), "register-bytes");
  expect_limit(kernel("", ".reg .v4 .b32 %q<8388608>;"), "register-bytes");
  expect_limit(kernel("", ".reg .b32 %q<8388609>;"), "registers");
  EXPECT_EQ(error_of(kernel("", ".reg .b64 %q<100000>; mov.u64 %q99999, 1;")), "");
}

TEST(Variables, SizesThatNobodyHas) {
  for (const std::string size : {"1099511627776", "4611686018427387904", "2305843009213693951"}) {
    const std::string array = ".align 4 .b8 x[" + size + "];\n";
    EXPECT_NE(error_of(kernel(".shared " + array, ".reg .b32 %r; mov.u32 %r, x;")), "") << size;
    EXPECT_NE(error_of(kernel("", ".local " + array)), "") << size;
    EXPECT_NE(error_of(kernel(".const " + array, "")), "") << size;
    EXPECT_NE(error_of(kernel(".global " + array, "")), "") << size;
    EXPECT_NE(error_of(kernel("", "", ".param .align 4 .b8 x[" + size + "]")), "") << size;
  }
  expect_limit(kernel("", ".local .b8 x[17000000];"), "local-bytes");
  expect_limit(kernel(".shared .b8 x[1073741825];", ".reg .b32 %r; mov.u32 %r, x;"), "shared-bytes");
  expect_limit(kernel(".global .b8 x[2199023255552];", ""), "variable-bytes");
  expect_limit(kernel(".global .b32 x[4294967296][4294967296];", ""), "variable-bytes");
}

TEST(Variables, ManyThatAreLargeTogether) {
  std::string many;
  for (int i = 0; i < 9; ++i) many += ".shared .align 16 .b8 s" + std::to_string(i) + "[1099511627776];\n";
  std::string uses = ".reg .b32 %r;";
  for (int i = 0; i < 9; ++i) uses += "mov.u32 %r, s" + std::to_string(i) + ";\n";
  expect_limit(kernel(many, uses), "shared-bytes");
}

TEST(Parameters, FitTheirBuffer) {
  expect_limit(kernel("", "", ".param .b8 x[32765]"), "parameter-bytes");
  expect_limit(kernel("", "", ".param .b8 x[4294967296], .param .b32 y"), "parameter-bytes");
  expect_limit(kernel("", "", ".param .b8 x[1099511627776]"), "parameter-bytes");
  EXPECT_EQ(error_of(kernel("", "", ".param .b8 x[32764]")), "");
}

TEST(Initialisers, NeverLeaveTheirVariable) {
  for (const char* variable :
       {".global .b32 x[][2305843009213693951] = {{1}, {2}};",
        ".global .b64 x[][2305843009213693951] = {{1}, {2}, {3}};",
        ".global .b8 x[][4611686018427387904][4] = {{{1}}, {{2}}};", ".global .b32 x[][4294967296] = {{1},{2},{3}};",
        ".global .b64 x[][1099511627776] = {{},{},{1}};", ".global .b8 x[274877906944][2] = {{1},{2}};"}) {
    const std::string error = error_of(kernel(variable, ""));
    EXPECT_NE(error, "") << variable;
    EXPECT_NE(error.find("test.ptx:4:"), std::string::npos) << error;
  }
  EXPECT_EQ(error_of(kernel(".global .b32 x[][3] = {{1,2,3},{4}};", "")), "");
}

TEST(Alignment, IsKeptByVariables) {
  auto module = *api::Module::load(*api::Context::create(),
                                   kernel(".global .b8 pad;\n.global .align 65536 .b8 a[4];\n"
                                          ".const .align 1024 .b8 b[4];\n.global .align 16777216 .b8 c[4];\n",
                                          ""),
                                   "test.ptx");
  EXPECT_EQ(module->variable("a")->address() % 65536, 0u);
  EXPECT_EQ(module->variable("b")->address() % 1024, 0u);
  EXPECT_EQ(module->variable("c")->address() % 16777216, 0u);
}

double seconds_of_isspacep(int count) {
  std::string constants, tests;
  for (int i = 0; i < count; ++i) {
    constants += ".const .b32 c" + std::to_string(i) + ";\n";
    tests += "isspacep.const %p, %r;\n";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of(kernel(constants, ".reg .pred %p; .reg .b64 %r; mov.u64 %r, 1;\n" + tests)), "");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Isspacep, TakesTimeInProportion) {
  const double once = seconds_of_isspacep(2000), four = seconds_of_isspacep(8000);
  EXPECT_LT(four, 10 * once + 0.2);
}

api::LaunchReport run(const std::string& text, bool past_ends) {
  auto module = *api::Module::load(*api::Context::create(), text, "test.ptx");
  api::LaunchRequest request;
  request.kernel = *module->kernel("k");
  request.device = *api::load_device("h200");
  request.options.analyze = false;
  request.past_ends = past_ends;
  return *api::launch(request);
}

// On an H200 they are stored (tests/data/hardware/allocation_ends.jsonl); PTX says that constant memory is read-only.
TEST(Constants, AreWrittenOnlyWhereTheHardwareIsFollowed) {
  const std::string text = kernel(".const .u32 c = 5;\n.global .u32 seen;\n",
                                  ".reg .b64 %a; .reg .b32 %r; mov.u64 %a, c; cvta.const.u64 %a, %a; ld.u32 %r, [%a];"
                                  "st.u32 [%a], 7; ld.const.u32 %r, [c]; setp.ne.u32 %p, %r, 7; @%p trap;");
  const std::string with_predicate = std::string(text).replace(text.find(".reg .b64"), 0, ".reg .pred %p; ");
  const api::LaunchReport strict = run(with_predicate, false), passed = run(with_predicate, true);
  ASSERT_TRUE(strict.trap);
  EXPECT_NE(
      strict.trap->message.find("is in constant memory, which kernels may only read: 0 bytes into allocation 'c'"),
      std::string::npos)
      << strict.trap->message;
  EXPECT_FALSE(passed.trap) << passed.trap->message;
  EXPECT_EQ(passed.overruns.size(), 1u);
}

TEST(Images, PitchesDoNotWrap) {
  exec::Image image;
  image.width = 4;
  image.height = 1u << 17;
  image.pitch = (std::uint64_t{1} << 47) + 4;
  image.lay_out();
  EXPECT_EQ(image.bytes(), ~std::uint64_t{0});
  image.height = 2;
  image.pitch = (std::uint64_t{1} << 33) + 4;
  image.lay_out();
  EXPECT_EQ(image.bytes(), (std::uint64_t{1} << 33) + 4 + 16);
  image.dimensions = 3;
  image.depth = 16384;
  image.pitch = ~std::uint64_t{0} - 3;
  image.lay_out();
  EXPECT_EQ(image.bytes(), ~std::uint64_t{0});
}

} // namespace sizes_test
} // namespace warplens::tests
