// SPDX-License-Identifier: Apache-2.0
// User errors: a clear message on stderr, the right exit status, and never a crash.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

namespace warplens::testing {
namespace bad_input_test {

constexpr std::string_view kPtx = api::testing::kScale;

using Words = std::vector<std::string>;

/// The arguments of a valid launch, followed by changes to it.
Words launch(const std::string& file, const Words& changed = {}) {
  Words words{"run", file};
  for (const auto& [option, value] :
       {std::pair{"--kernel", "scale"}, std::pair{"--grid", "4"}, std::pair{"--block", "32"}})
    if (std::find(changed.begin(), changed.end(), option) == changed.end()) words.insert(words.end(), {option, value});
  if (std::find(changed.begin(), changed.end(), "--arg") == changed.end())
    words.insert(words.end(), {"--arg", "x:f32[128]=iota", "--arg", "f32=2", "--arg", "u32=128"});
  words.insert(words.end(), changed.begin(), changed.end());
  return words;
}

void expect_refused(const Output& o, const Words& parts) {
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_NE(o.err.find("error: "), o.err.npos) << o.err;
  for (const std::string& part : parts)
    EXPECT_NE(o.err.find(part), o.err.npos) << "'" << part << "' is not in:\n" << o.err;
  EXPECT_EQ(o.err.find("internal error"), o.err.npos) << o.err;
}

TEST(BadInput, TheGoodLaunchWorks) {
  const Folder folder;
  const Output o = run_program(launch(folder.write("k.ptx", kPtx), {"--print", "x:4"}));
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("0 2 4 6 …"), o.out.npos) << o.out;
}

TEST(GoodInput, WhatCuobjdumpListsRunsOnItsLines) {
  const Folder folder;
  const std::string head = "\nFatbin elf code:\n================\narch = sm_75\n\nFatbin ptx code:\n================\n"
                           "arch = sm_75\ncode version = [8,0]\nhost = linux\ncompressed\n\n";
  const std::string ptx(kPtx.substr(kPtx.find(".version")));
  const Output one = run_program(launch(folder.write("one.txt", head + ptx), {"--print", "x:4"}));
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_NE(one.out.find("0 2 4 6 …"), one.out.npos) << one.out;
  const Output two = run_program({"check", folder.write("two.txt", head + ptx + head + ptx + "mistake\n")});
  EXPECT_EQ(two.status, 2);
  const auto lines = std::count(head.begin(), head.end(), '\n') + std::count(ptx.begin(), ptx.end(), '\n');
  EXPECT_NE(two.err.find("two.txt:" + std::to_string(2 * lines + 1) + ":1: error:"), two.err.npos) << two.err;
  expect_refused(run_program(launch(folder.path() / "two.txt")), {"2 modules"});
}

// tests/data/cuobjdump/make.sh says how the files were made.
TEST(GoodInput, WhatCuobjdumpWrites) {
  const std::string data = WARPLENS_SOURCE_DIR "/tests/data/cuobjdump/";
  for (const char* file : {"executable.txt", "two_targets.txt", "with_sass.txt"}) {
    const Output o = run_program({"check", data + file});
    EXPECT_EQ(o.status, 0) << file << ": " << o.err;
    EXPECT_NE(o.out.find("add"), o.out.npos) << file << ": " << o.out;
    EXPECT_NE(o.out.find("_Z5scalePf"), o.out.npos) << file << ": " << o.out;
  }
  expect_refused(run_program({"check", data + "machine_code_only.txt"}), {"machine_code_only.txt", "without PTX"});
}

TEST(GoodInput, ByteOrderMarksAndForeignComments) {
  const Folder folder;
  const std::string text = "\xef\xbb\xbf" + std::string(kPtx) + "\n// caf\xc3\xa9\n";
  const Output o = run_program(launch(folder.write("k.ptx", text), {"--print", "x:4"}));
  EXPECT_EQ(o.status, 0) << o.err;
  expect_refused(run_program({"check", folder.write("wide.ptx", "\xff\xfe.\0v\0")}), {"UTF-16"});
}

TEST(BadInput, PtxCutAnywhere) {
  const Folder folder;
  for (std::size_t length = 0; length < kPtx.size() - 3; length += 7) {
    const Output o = run_program(launch(folder.write("cut.ptx", kPtx.substr(0, length))));
    SCOPED_TRACE(kPtx.substr(0, length));
    expect_refused(o, {"cut.ptx"});
  }
}

struct Replacement {
  std::string from, to;
  Words parts; ///< of the message
};

TEST(BadInput, WrongPtx) {
  const Folder folder;
  const std::vector<Replacement> table{
      {"mul.f32 %f3, %f2, %f1", "mul.f32 %f3, %r2, %f1", {"k.ptx:21:16: error:", "%r2", ".f32", "^"}},
      {"mul.f32 %f3, %f2, %f1", "mull.f32 %f3, %f2, %f1", {"k.ptx:21:3: error:", "mull", "^"}},
      {"mul.f32 %f3, %f2, %f1", "mul.f32 %f3, %f2", {"k.ptx:21:", "error:"}},
      {"mul.f32 %f3, %f2, %f1", "mul.f32 %f3, %f2, %f9", {"k.ptx:21:", "%f9"}},
      {"bra done", "bra gone", {"k.ptx:17:", "gone"}},
      {"{\n", "{ ?\n", {"k.ptx:4:"}},
      {".version 7.0", "int main() {}", {"k.ptx:1:1: error:"}},
  };
  for (const Replacement& r : table) {
    std::string text(kPtx);
    text.replace(text.find(r.from), r.from.size(), r.to);
    SCOPED_TRACE(r.to);
    expect_refused(run_program(launch(folder.write("k.ptx", text))), r.parts);
  }
}

TEST(BadInput, WrongLaunches) {
  const Folder folder;
  const std::string file = folder.write("k.ptx", kPtx);
  const std::vector<std::pair<Words, Words>> table{
      {{"--kernel", "scales"}, {"no kernel 'scales'", "did you mean 'scale'?"}},
      {{"--grid", "0"}, {"the grid is 0 x 1 x 1"}},
      {{"--block", "32,0"}, {"the block is 32 x 0 x 1"}},
      {{"--block", "1025"}, {"1025", "allows 1024 in x"}},
      {{"--block", "64,32"}, {"2048 threads", "allows 1024"}},
      {{"--block", "600", "--device", "c1060"}, {"allows 512 in x"}},
      {{"--grid", "65536", "--device", "c1060"}, {"allows 65535 in x"}},
      {{"--grid", "1,1,2", "--device", "c1060"}, {"allows 1 in z"}},
      {{"--grid", "1,65536"}, {"allows 65535 in y"}},
      {{"--shared", "1000000"}, {"1000000 bytes of dynamic shared memory"}},
      {{"--cluster", "2", "--device", "c1060"}, {"does not support clusters"}},
      {{"--cluster", "0"}, {"the cluster is 0 x 1 x 1"}},
      {{"--cluster", "17"}, {"the cluster is 17 x 1 x 1"}},
      {{"--registers", "256"}, {"256 registers per thread"}},
      {{"--grid", "four"}, {"--grid", "four"}},
      {{"--grid", "1,1,1,1"}, {"--grid"}},
      {{"--arg", "x:f32[128]"}, {"takes 3 arguments, got 1", ".u64 x, .f32 factor, .u32 count"}},
      {{"--arg", "x:f32[128]", "--arg", "f32=2", "--arg", "u32=1", "--arg", "u32=1"}, {"takes 3 arguments, got 4"}},
      {{"--arg", "x:f32[128]", "--arg", "f64=2", "--arg", "u32=1"}, {"argument 1", "f64", ".f32 factor"}},
      {{"--arg", "x:f32[128]", "--arg", "u32=2", "--arg", "u32=1"}, {"argument 1", "u32", ".f32 factor"}},
      {{"--arg", "x:f32[128]", "--arg", "buffer=x", "--arg", "u32=1"}, {"argument 1", "buffer 'x'"}},
      {{"--arg", "x:f32[128]", "--arg", "f32=2", "--arg", "u8=300"}, {"300 does not fit into u8"}},
      {{"--arg", "u32=1e2"}, {"100.0 does not fit into u32: expected an integer"}},
      {{"--arg", "u64=0xffffffffffffffff"}, {"does not fit into u64", "b64=0xffffffffffffffff"}},
      {{"--arg", "f99=1"}, {"unknown type 'f99'"}},
      {{"--arg", "f32=abc"}, {"expected a number, got 'abc'"}},
      {{"--arg", "x:f32[128]=onions"}, {"unknown initial value 'onions'"}},
      {{"--arg", "x:f32[many]"}, {"number of elements"}},
      {{"--arg", "x:f32"}, {"expected the number of elements"}},
      {{"--arg", "x:f32[99999999999999999999]"}, {"number of elements"}},
      {{"--arg", "x:f32[999999999999999]", "--arg", "f32=2", "--arg", "u32=1"}, {"the limit buffer-bytes is"}},
      {{"--arg", "buffer=nowhere"}, {"no buffer 'nowhere'"}},
      {{"--device", "c1061"}, {"c1061", "did you mean"}},
      {{"--level", "x86-64-v9"}, {"no level 'x86-64-v9'"}},
      {{"--print", "y"}, {"no buffer 'y'"}},
      {{"--json", "/nowhere/report.json"}, {"cannot write '/nowhere/report.json'"}},
      {{"--max-steps", "many"}, {"max-steps"}},
      {{"--threads", "-1"}, {"--threads"}},
      {{"--max-steps", "-1"}, {"--max-steps: expected a number"}},
      {{"--gird", "4"}, {"--gird"}},
      {{"--set", "grid=4"}, {"--set changes launch files"}},
      {{"another.ptx"}, {"cannot read 'another.ptx'"}},
      {{"another.toml"}, {"cannot read 'another.toml'"}},
      {{WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml"}, {"a launch file must be the only input, got 2 files"}},
  };
  for (const auto& [words, parts] : table) {
    SCOPED_TRACE(::testing::PrintToString(words));
    expect_refused(run_program(launch(file, words)), parts);
  }
}

TEST(BadInput, DirectivesOfTheKernel) {
  const Folder folder;
  for (const auto& [directive, part] :
       {std::pair{".maxntid 16", ".maxntid"}, std::pair{".reqntid 16, 2", ".reqntid"}}) {
    std::string text(kPtx);
    text.replace(text.find(") {"), 3, ") " + std::string(directive) + " {");
    expect_refused(run_program(launch(folder.write("k.ptx", text))), {part, "scale"});
  }
}

TEST(BadInput, Usage) {
  expect_refused(run_program({}), {"no command"});
  expect_refused(run_program({"rum"}), {"no such command: 'rum'", "did you mean 'run'?"});
  expect_refused(run_program({"zzz"}), {"no such command: 'zzz'", "commands: run, exec, analyze"});
  expect_refused(run_program({"run"}), {"no input file"});
  expect_refused(run_program({"run", "/nowhere/k.ptx", "--kernel", "k", "--grid", "1", "--block", "1"}),
                 {"cannot read '/nowhere/k.ptx'"});
  expect_refused(run_program({"run", "/nowhere/launch.toml"}), {"cannot read '/nowhere/launch.toml'"});
  expect_refused(run_program({"run", "/nowhere/k.ptx"}), {"cannot read '/nowhere/k.ptx': No such file or directory"});
  const Folder folder;
  expect_refused(run_program({"run", folder.write("k.cu", "")}), {"--kernel is missing"});
  expect_refused(run_program({"run", "/"}), {"there is no launch.toml in the folder '/'"});
  expect_refused(run_program({"check"}), {"no input file"});
  expect_refused(run_program({"check", "/nowhere/k.ptx"}), {"cannot read"});
  expect_refused(run_program({"check", "/"}), {"cannot read"});
  expect_refused(run_program({"occupancy", "--block", "256"}), {"either --device or --cc"});
  expect_refused(run_program({"occupancy", "--cc", "1.9", "--block", "256"}), {"1.9"});
  expect_refused(run_program({"occupancy", "--cc", "1.3", "--block", "0"}), {"threads per block is 0"});
  expect_refused(run_program({"occupancy", "--cc", "1.3", "--block", "18446744073709551615"}), {"block is too large"});
  expect_refused(run_program({"list"}), {"missing topic"});
  expect_refused(run_program({"list", "device"}), {"did you mean 'devices'?"});
}

TEST(BadInput, LaunchFiles) {
  const Folder folder;
  (void)folder.write("k.ptx", kPtx);
  const std::string good = R"(module = "k.ptx"
kernel = "scale"
grid = [4, 1, 1]
block = [32, 1, 1]
arg = [{ buffer = "x" }, { f32 = 2.0 }, { u32 = 128 }]
[buffer.x]
type = "f32"
count = 128
iota = [0, 1]
)";
  EXPECT_EQ(run_program({"run", folder.write("good.toml", good)}).status, 0);
  std::string dotted;
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  const std::vector<Replacement> table{
      {"kernel =", "kernle =", {"l.toml:2:1: error: unknown key 'kernle'", "did you mean 'kernel'?"}},
      {"count", "cuont", {"l.toml:8:1: error: unknown key 'cuont'"}},
      {"grid = [4, 1, 1]", "grid = [4, 1, 1", {"l.toml:4:"}},
      {"grid = [4, 1, 1]", "grid = \"4\"", {"l.toml:3:8: error: 'grid' is a string: expected an integer"}},
      {"grid = [4, 1, 1]", "grid = [-4]", {"l.toml:3:9: error: 'grid' is -4"}},
      {"grid = [4, 1, 1]", "", {"missing key 'grid'"}},
      {"grid = [4, 1, 1]",
       "grid = [4, 1, 1]\nshared_per_thread = 4611686018427387904",
       {"more than 2^64 - 1 bytes of dynamic shared memory"}},
      {"u32 = 128", "u32 = 4294967296", {"l.toml:5:", "does not fit into u32"}},
      {"u32 = 128", "u33 = 1", {"l.toml:5:", "unknown type 'u33'"}},
      {"buffer = \"x\"", "buffer = \"z\"", {"l.toml:5:", "there is no buffer 'z'"}},
      {"iota = [0, 1]", "", {"no initial values"}},
      {"iota = [0, 1]", "iota = [0, 1]\nzeros = true", {"several initial values"}},
      {"iota = [0, 1]", "file = \"missing.npy\"", {"cannot read", "missing.npy"}},
      {"iota = [0, 1]", "iota = [0]", {"l.toml:9:", "expected [start, step]"}},
      {"iota = [0, 1]", "zeros = true\ntolerance = 1", {"'tolerance' without 'expect'"}},
      {"\"k.ptx\"", "\"missing.ptx\"", {"cannot read", "missing.ptx"}},
      {"iota = [0, 1]", "a" + dotted + " = 1", {"l.toml:9:202: error: more than 100 dots in a line"}},
      {"\"scale\"", "\"scal\"", {"l.toml:2:10: error: no kernel 'scal'", "did you mean 'scale'?"}},
  };
  for (const Replacement& r : table) {
    std::string text = good;
    text.replace(text.find(r.from), r.from.size(), r.to);
    SCOPED_TRACE(r.to.substr(0, 80));
    expect_refused(run_program({"run", folder.write("l.toml", text)}), r.parts);
  }
}

TEST(BadInput, WrongRules) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kPtx);
  const std::string good =
      "rule = \"banks\"\nname = \"mine\"\ntitle = \"t\"\nbanks = 32\nbank_bytes = 4\nrow_bytes = 128\n"
      "broadcast = \"every_word\"\nsplit_words = false\nmerge_equal_pairs = false\n"
      "[[word]]\nbytes = 4\nlanes = 32\n";
  const std::string file = folder.write("good.toml", good);
  EXPECT_EQ(run_program(launch(ptx, {"--rule", file})).status, 0);
  const std::vector<Replacement> table{
      {"banks = 32", "banks = 33", {"r.toml:4:9: error:", "'banks' must be a power of two, got 33", "^"}},
      {"lanes = 32", "lane = 32", {"r.toml:12:1: error:", "unknown key 'lane'", "did you mean 'lanes'?"}},
      {"\"t\"", "7", {"r.toml:3:9: error:", "expected a string for 'title', got 7"}},
      {"row_bytes = 128", "row_bytes = 64", {"r.toml", "a row is smaller than all banks together"}},
      {"banks = 32", "banks = ", {"r.toml:4:"}},
      {"\"banks\"", "\"bank\"", {"r.toml:1:8: error:", "must be one of coalescing, banks"}},
      {"\"mine\"", "\"2.x-l1\"", {"r.toml' is named '2.x-l1', which is", "built-in rule", "a different name"}},
  };
  for (const Replacement& r : table) {
    std::string text = good;
    text.replace(text.find(r.from), r.from.size(), r.to);
    SCOPED_TRACE(r.to);
    const std::string bad = folder.write("r.toml", text);
    expect_refused(run_program(launch(ptx, {"--rule", bad})), r.parts);
    expect_refused(run_program({"list", "rules", "--explain", bad}), r.parts);
  }
  expect_refused(run_program(launch(ptx, {"--rule", "6.1"})), {"there is no rule '6.1'"});
  expect_refused(run_program(launch(ptx, {"--rule", "2.x-l3"})), {"did you mean '2.x-l"});
  expect_refused(run_program(launch(ptx, {"--rule", folder.path().string()})), {"there is no rule"});
  expect_refused(run_program(launch(ptx, {"--rule", file, "--rule", file})), {"two rules are named 'mine'"});
  expect_refused(run_program(launch(ptx, {"--rule", "1.2", "--no-analyze"})), {"--rule cannot be combined"});
  expect_refused(run_program(launch(ptx, {"--per-block", "--no-analyze"})), {"--per-block cannot be combined"});
}

TEST(BadInput, WrongAnalyzersAndCaches) {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kPtx);
  const Output good =
      run_program(launch(ptx, {"--device", "h200", "--analyzers", "all", "--l1", "on", "--details", "all"}));
  EXPECT_EQ(good.status, 0) << good.err;
  for (const char* part : {"Loads in flight", "Caches", "Reuse distance"})
    EXPECT_NE(good.out.find(part), good.out.npos) << part;
  expect_refused(run_program(launch(ptx, {"--analyzers", "caches,reuse"})), {"unknown analyzer 'reuse'"});
  expect_refused(run_program(launch(ptx, {"--analyzers", "cache"})), {"did you mean 'caches'?"});
  expect_refused(run_program(launch(ptx, {"--analyzers", ","})), {"unknown analyzer ''"});
  expect_refused(run_program(launch(ptx, {"--analyzers", "all", "--no-analyze"})), {"--analyzers cannot be combined"});
  expect_refused(run_program(launch(ptx, {"--l1", "half"})), {"--l1 half: expected off, on or enlarged"});
  expect_refused(run_program(launch(ptx, {"--device", "c1060", "--l1", "on"})), {"no known first-level cache"});
}

TEST(BadInput, BufferTooSmallTraps) {
  const Folder folder;
  const Output o =
      run_program(launch(folder.write("k.ptx", kPtx), {"--arg", "x:f32[100]", "--arg", "f32=2", "--arg", "u32=128"}));
  EXPECT_EQ(o.status, 1);
  for (const char* part : {"k.ptx:20:3: error:", "read of size 4", "0 bytes after allocation 'x' (400 bytes",
                           "kernel scale", "thread (4,0,0) in block (3,0,0)", "ld.global.f32"})
    EXPECT_NE(o.err.find(part), o.err.npos) << part << " is not in:\n" << o.err;
}

} // namespace bad_input_test
} // namespace warplens::testing
