// SPDX-License-Identifier: Apache-2.0
// Compiled .cu files are kept. The compiler is a script that counts its calls and copies PTX.
#include "tests/api/kernels.hpp"
#include "tests/tools/program.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace warplens::testing {
namespace compile_cache_test {

namespace fs = std::filesystem;

/// Sets a variable for the programs that a test starts.
class Variable {
public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

constexpr std::string_view kCompiler = R"(#!/bin/sh
folder=$(dirname "$0")
case "$1" in --list-gpu-arch) echo compute_75; echo compute_90; exit 0;; esac
echo call >>"$folder/calls"
for word; do source=$word; done
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2;; -MF) list=$2;; esac
  shift
done
if grep -q mistake "$source"; then echo "there is a mistake"; exit 2; fi
cp "$folder/made.ptx" "$out"
[ ! -e "$folder/no-list" ] || exit 0
printf 'result : %s \\\n    %s\n' "$source" "$folder/with\\ space.h" >"$list"
)";

/// A source file, its header and the compiler, in a folder; the cache is in another one.
class CompileCache : public ::testing::Test {
protected:
  CompileCache() {
    (void)folder_.write("made.ptx", api::testing::kScale);
    (void)folder_.write("with space.h", "#define FACTOR 1\n");
    (void)folder_.write("k.cu", "__global__ void scale();\n");
    const std::string nvcc = folder_.write("nvcc", kCompiler);
    fs::permissions(nvcc, fs::perms::owner_all);
  }
  [[nodiscard]] Output run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"run",     source(), "--kernel", "scale",  "--grid", "4",
                                   "--block", "32",     "--print",  "x:4",    "--arg",  "x:f32[128]=iota",
                                   "--arg",   "f32=2",  "--arg",    "u32=128"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  /// Runs, and expects that the compiler has been called this often so far.
  void expect_calls(std::ptrdiff_t calls, const std::vector<std::string>& more = {}) const {
    const Output o = run(more);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_NE(o.out.find("0 2 4 6 …"), o.out.npos) << o.out;
    const std::string text = read_text(folder_.path() / "calls");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), calls);
  }
  /// Writes a file whose time of change is before that of the next call of the compiler.
  void write(const char* name, std::string_view text) const {
    (void)folder_.write(name, text);
    fs::last_write_time(folder_.path() / name, fs::file_time_type::clock::now() - std::chrono::seconds(1));
  }
  [[nodiscard]] std::string source() const { return (folder_.path() / "k.cu").string(); }
  [[nodiscard]] fs::path entries() const { return cache_.path() / "new" / "folder"; }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> list;
    for (const auto& entry : fs::directory_iterator(entries())) list.push_back(entry.path());
    return list;
  }

  Folder folder_, cache_;
  Variable path_{"PATH", folder_.path().string() + ":" + std::getenv("PATH")};
  Variable variable_{"WARPLENS_CACHE", entries().string()};
};

TEST_F(CompileCache, CompilesOnceUntilAFileThatItReadChanges) {
  expect_calls(1);
  expect_calls(1);
  write("k.cu", "__global__ void scale(); // changed\n");
  expect_calls(2);
  write("with space.h", "#define FACTOR 2\n");
  expect_calls(3);
  expect_calls(3);
  fs::last_write_time(source(), fs::file_time_type::clock::now()); // the content counts, not the time
  expect_calls(3);
  write("with space.h", "#define FACTOR 1\n");
  expect_calls(4);
}

TEST_F(CompileCache, OptionsAndTheCompilerCount) {
  expect_calls(1);
  expect_calls(2, {"--device", "t4"}); // another architecture
  expect_calls(2, {"--device", "t4"});
  expect_calls(2);
  {
    const Variable flags("NVCC_APPEND_FLAGS", "-DFACTOR=2");
    expect_calls(3);
    expect_calls(3);
  }
  (void)folder_.write("nvcc", std::string(kCompiler) + "# a new version\n");
  expect_calls(4);
  {
    const Variable flags("NVCC_APPEND_FLAGS", "--options-file more"); // what it reads is not known
    expect_calls(5);
    expect_calls(6);
  }
}

TEST_F(CompileCache, DamagedEntriesAreCompiledAgain) {
  expect_calls(1);
  ASSERT_EQ(files().size(), 1u);
  const fs::path entry = files().front();
  const std::string good = read_text(entry);
  const std::ptrdiff_t steps = 7;
  for (std::ptrdiff_t i = 0; i < steps; ++i) {
    std::string bad = good;
    if (i % 2 == 0)
      bad.resize(good.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(steps));
    else
      bad[good.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(steps)] ^= 1;
    std::ofstream(entry, std::ios::binary) << bad;
    expect_calls(2 + i);
    EXPECT_EQ(read_text(entry), good);
  }
}

TEST_F(CompileCache, MistakesAreNotKept) {
  write("k.cu", "mistake\n");
  for (int i = 0; i < 2; ++i) {
    const Output o = run();
    EXPECT_EQ(o.status, 2);
    EXPECT_NE(o.err.find("there is a mistake"), o.err.npos) << o.err;
  }
  EXPECT_EQ(read_text(folder_.path() / "calls"), "call\ncall\n");
}

TEST_F(CompileCache, NothingIsKeptIfTheCompilerDoesNotListItsFiles) {
  (void)folder_.write("no-list", "");
  expect_calls(1);
  expect_calls(2);
}

TEST_F(CompileCache, CanBeSwitchedOff) {
  const Variable off("WARPLENS_CACHE", "off");
  expect_calls(1);
  expect_calls(2);
  EXPECT_FALSE(fs::exists(entries()));
}

TEST_F(CompileCache, IsInTheUsersCacheFolder) {
  unsetenv("WARPLENS_CACHE");
  const Variable xdg("XDG_CACHE_HOME", (cache_.path() / "xdg").string());
  expect_calls(1);
  EXPECT_FALSE(fs::is_empty(cache_.path() / "xdg/warplens/compiled"));
  const Variable home("HOME", (cache_.path() / "home").string());
  const Variable relative("XDG_CACHE_HOME", "relative"); // does not count
  expect_calls(2);
  EXPECT_FALSE(fs::is_empty(cache_.path() / "home/.cache/warplens/compiled"));
}

TEST_F(CompileCache, AFolderThatCannotBeUsedOnlyCausesAWarning) {
  const Variable file("WARPLENS_CACHE", source());
  const Output o = run();
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.err.find("warning: WARPLENS_CACHE: "), o.err.npos) << o.err;
}

TEST_F(CompileCache, RemovesTheOldestEntriesAboveItsLimit) {
  expect_calls(1);
  const auto add = [&](const char* name, std::uintmax_t megabytes, int age) {
    std::ofstream(entries() / name) << "x";
    fs::resize_file(entries() / name, megabytes << 20);
    fs::last_write_time(entries() / name, fs::file_time_type::clock::now() - std::chrono::hours(age));
  };
  add("a.entry", 100, 3);
  add("b.entry", 100, 2);
  add("c.entry", 100, 4);
  add("d.entry.4711.part", 1, 2); // of a process that was killed
  add("e.entry.4712.part", 1, 0);
  (void)folder_.write("other.txt", "");
  write("k.cu", "__global__ void scale(); // changed\n");
  expect_calls(2);
  EXPECT_FALSE(fs::exists(entries() / "c.entry"));
  EXPECT_TRUE(fs::exists(entries() / "a.entry"));
  EXPECT_TRUE(fs::exists(entries() / "b.entry"));
  EXPECT_FALSE(fs::exists(entries() / "d.entry.4711.part"));
  EXPECT_TRUE(fs::exists(entries() / "e.entry.4712.part"));
  expect_calls(2);
}

TEST_F(CompileCache, ProcessesShareIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      const Output o = run();
      EXPECT_EQ(o.status, 0) << o.err;
      EXPECT_NE(o.out.find("0 2 4 6 …"), o.out.npos) << o.out;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files().size(), 1u);
  const std::string calls = read_text(folder_.path() / "calls");
  expect_calls(std::count(calls.begin(), calls.end(), '\n'));
}

} // namespace compile_cache_test
} // namespace warplens::testing
