// SPDX-License-Identifier: Apache-2.0
// Runs every command on malicious files of its kind: see tests/data/hostile/README.md. Other tests check the messages;
// this test checks only that there is a message, soon and with little memory.
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

namespace warplens::testing {
namespace hostile_test {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr auto kMostSeconds = std::chrono::seconds(20);
constexpr long kMostKilobytes = 1 << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasuresMemory = false; // a sanitizer's own
#else
constexpr bool kMeasuresMemory = true;
#endif

struct Outcome {
  std::optional<int> status; ///< none: it was ended, by itself or after kMostSeconds
  int signal = 0;
  long kilobytes = 0;
  std::string out, err;
};

Outcome run(Words words, const fs::path& folder) {
  words.insert(words.begin(), WARPLENS_PROGRAM);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const fs::path out = folder / "stdout", err = folder / "stderr";
  const pid_t process = fork();
  if (process == 0) {
    const auto redirect = [](const fs::path& file, int to, int flags) { dup2(open(file.c_str(), flags, 0600), to); };
    redirect("/dev/null", STDIN_FILENO, O_RDONLY);
    redirect(out, STDOUT_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(err, STDERR_FILENO, O_WRONLY | O_CREAT | O_TRUNC);
    if (chdir(folder.c_str()) == 0) execv(WARPLENS_PROGRAM, pointers.data());
    _exit(127);
  }
  Outcome result;
  int status = 0;
  rusage used{};
  const auto end = std::chrono::steady_clock::now() + kMostSeconds;
  while (wait4(process, &status, WNOHANG, &used) == 0) {
    if (std::chrono::steady_clock::now() > end) kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.kilobytes = used.ru_maxrss;
  result.out = read_text(out);
  result.err = read_text(err);
  return result;
}

/// Runs a command, and fails where it fails as no command may.
Outcome survive(const Words& words, const fs::path& folder) {
  std::string line;
  for (const std::string& word : words) line += word + " ";
  SCOPED_TRACE(line);
  const Outcome o = run(words, folder);
  constexpr int kInternal = 3;
  EXPECT_TRUE(o.status) << (o.signal == SIGKILL ? "hangs" : "ended by signal " + std::to_string(o.signal)) << "\n"
                        << o.err.substr(0, 4000);
  if (!o.status) return o;
  EXPECT_LT(*o.status, kInternal) << o.err.substr(0, 4000);
  for (const char* complaint : {"internal error", "Sanitizer", "runtime error: "})
    EXPECT_EQ(o.err.find(complaint), o.err.npos) << o.err.substr(0, 4000);
  EXPECT_TRUE(o.status == 0 || !o.err.empty() || !o.out.empty()) << "nothing is said";
  if (kMeasuresMemory) {
    EXPECT_LE(o.kilobytes, kMostKilobytes);
  }
  EXPECT_EQ(o.err.find('\x1b'), o.err.npos) << "an escape sequence";
  EXPECT_EQ(o.out.find('\x1b'), o.out.npos) << "an escape sequence";
  return o;
}

/// A copy of the archive's files of a kind, for commands may write beside them; empty: there are none.
class Kind {
public:
  explicit Kind(const std::string& name) : path_(folder_.path() / name) {
    const fs::path from = fs::path(WARPLENS_SOURCE_DIR) / "tests/data/hostile";
    if (fs::is_directory(from / name)) fs::copy(from / name, path_, fs::copy_options::recursive);
    if (const fs::path archive = from / (name + ".tar.xz"); fs::is_regular_file(archive)) {
      const std::string command = "cd '" + folder_.path().string() + "' && '" WARPLENS_CMAKE "' -E tar xf '" +
                                  archive.string() + "' >/dev/null";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
    if (!fs::is_directory(path_)) return;
    for (const auto& entry : fs::recursive_directory_iterator(path_))
      if (entry.is_regular_file()) files_.push_back(entry.path().string());
    std::sort(files_.begin(), files_.end());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::vector<std::string> files(std::string_view extension = "") const {
    std::vector<std::string> chosen;
    for (const std::string& file : files_)
      if (file.ends_with(extension)) chosen.push_back(file);
    return chosen;
  }

private:
  Folder folder_;
  fs::path path_;
  std::vector<std::string> files_;
};

TEST(Hostile, LaunchFiles) {
  const Kind kind("toml");
  fs::create_symlink("elsewhere", kind.path("link.npy"));
  const std::string good = kind.path("good.toml"), ptx = read_text(kind.path("vector_add_copy.ptx"));
  ASSERT_GT(kind.files(".toml").size(), 20u);
  for (const std::string& file : kind.files(".toml")) {
    survive({"run", file}, kind.folder());
    survive({"run", file, "--output-dir", "out", "--trace", "t.h5", "--json", "-"}, kind.folder());
    survive({"sweep", file, "--block", "32,64"}, kind.folder());
    survive({"run", good, "--device", file}, kind.folder());
    survive({"run", good, "--rule", file}, kind.folder());
    survive({"occupancy", "--device", file, "--block", "64"}, kind.folder());
    survive({"predict", file, "--device", "c1060"}, kind.folder());
    survive({"compare", file, file}, kind.folder());
  }
  for (const char* module : {"vector_add.ptx", "vector_add_copy.ptx"})
    EXPECT_EQ(read_text(kind.path(module)), ptx) << module << " has been overwritten";
  EXPECT_FALSE(fs::exists(kind.folder() / "escaped.npy"));
  EXPECT_FALSE(fs::exists(kind.path("elsewhere")));
  EXPECT_TRUE(fs::is_symlink(kind.path("link.npy")));
}

TEST(Hostile, Arrays) {
  const Kind kind("npy");
  ASSERT_GT(kind.files(".npy").size(), 15u);
  for (const std::string& file : kind.files(".npy")) {
    const std::string name = fs::path(file).filename().string();
    survive({"run", kind.path("l.toml"), "--set", "buffer.a={type=\"f32\",file=\"" + name + "\"}"}, kind.folder());
    survive({"run", kind.path("l.toml"), "--set", "buffer.c.expect=" + name}, kind.folder());
    survive({"compare", file, file}, kind.folder());
    survive({"predict", file, "--device", "c1060"}, kind.folder());
  }
}

TEST(Hostile, FatBinariesAndExecutables) {
  const Kind kind("fatbin");
  ASSERT_GT(kind.files().size(), 5u);
  for (const std::string& file : kind.files()) {
    survive({"check", file}, kind.folder());
    survive({"run", file, "--kernel", "k", "--grid", "1", "--block", "1"}, kind.folder());
  }
}

TEST(Hostile, TracesOfAccelSim) {
  const Kind kind("accelsim");
  ASSERT_GT(kind.files().size(), 30u);
  for (const std::string& file : kind.files()) {
    fs::remove(kind.folder() / "t.h5");
    const Outcome converted = survive({"convert", file, "t.h5"}, kind.folder());
    EXPECT_EQ(fs::exists(kind.folder() / "t.h5"), converted.status == 0) << file;
    if (converted.status != 0) continue;
    survive({"analyze", "t.h5", "--analyzers", "all"}, kind.folder());
    survive({"inspect", "t.h5"}, kind.folder());
  }
}

TEST(Hostile, Traces) {
  const Kind kind("trace");
  ASSERT_GT(kind.files(".h5").size(), 70u);
  for (const std::string& file : kind.files(".h5")) {
    const Outcome analyzed = survive({"analyze", file, "--json", "-"}, kind.folder());
    survive({"analyze", file, "--analyzers", "all", "--device", "c1060"}, kind.folder());
    const Outcome inspected = survive({"inspect", file, "--format", "jsonl", "--limit", "0"}, kind.folder());
    const Outcome converted = survive({"convert", file, "converted"}, kind.folder());
    // One check for all: what one command refuses as damaged, all do.
    if (analyzed.err.find("damaged") != std::string::npos) {
      EXPECT_EQ(inspected.status, 2) << file;
      EXPECT_EQ(converted.status, 2) << file;
    }
  }
}

TEST(Hostile, WhatIsWrongWithATraceIsSaid) {
  const Kind kind("trace");
  const std::pair<const char*, const char*> table[] = {
      {"b_twice", "two blocks have the same rows"},
      {"c_argneg", "'argument_bytes' is not a number from 0"},
      {"d_block_small", "warp 1 of a block of 1"},
      {"d_every0", "'every' is 0"},
      {"d_grid4", "'grid' is not three numbers"},
      {"d_grid_neg", "'grid' is not a number from 0"},
      {"d_grid_small", "block 1 of a grid of 1"},
      {"d_nosrc", "the module has no text"},
      {"d_param4g", "parameter-bytes"},
      {"d_regneg", "'registers' is not a number from 0"},
      {"d_shared_f", "'dynamic_shared_bytes' is not a number from 0"},
      {"n_counts", "18446744073709551615 lanes"},
      {"p_acc_to_branch", "an event that its instruction cannot make"},
      {"p_kind", "an access that its instruction cannot make"},
      {"p_space", "an access that its instruction cannot make"},
      {"p_taken", "a branch taken by inactive lanes"},
      {"r_block_seg0", "the events of a block do not match its segments"},
      {"s_doublebegin", "block 0"},
      {"s_flags", "a segment with unknown flags"},
      {"s_nobegin", "block 0 has events before it begins"},
      {"s_noend", "block 0 does not end"},
      {"x_ends_dup", "a launch that ends twice"},
      {"x_launch_sparse", "the 1073741824 rows of 'launches' are missing"},
      {"x_text_bigread", "the limit description-bytes is"},
  };
  for (const auto& [name, message] : table) {
    const Outcome o = survive({"analyze", kind.path(std::string(name) + ".h5")}, kind.folder());
    EXPECT_EQ(o.status, 2) << name;
    EXPECT_NE(o.err.find(message), o.err.npos) << name << ": " << o.err.substr(0, 500);
  }
  // A trace may call any file that of its kernel: the text of another file is not shown.
  const Outcome o = survive({"analyze", kind.path("c_trap.h5")}, kind.folder());
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.err.find("root:"), o.err.npos) << o.err;
}

struct ShownKernel {
  std::string name;
  Words arguments;
};

/// One for a parameter as `check` shows it: ".u64 a", ".f32 b[16]".
Words argument_for(std::string_view parameter, std::size_t number) {
  const std::size_t dot = parameter.find('.');
  if (dot == parameter.npos) return {};
  const std::string type(parameter.substr(dot + 1, parameter.find(' ', dot) - dot - 1));
  if (type == "u64" || type == "b64" || type == "s64") return {"--arg", "p" + std::to_string(number) + ":b8[4096]"};
  return {"--arg", type + "=1"};
}

/// The first two kernels that `check` shows: "  name(.u64 a, .f32 b)", perhaps over several lines.
std::vector<ShownKernel> kernels_in(const std::string& text) {
  std::vector<ShownKernel> kernels;
  for (std::size_t at = text.find("\n  "); at != text.npos && kernels.size() < 2; at = text.find("\n  ", at + 1)) {
    const std::size_t begin = at + 3, open = text.find('(', begin), close = text.find(')', begin);
    if (text[begin] == ' ' || open == text.npos || close == text.npos || open > text.find('\n', begin)) continue;
    constexpr std::size_t kMostOfWord = 100'000; // on a command line
    if (open - begin > kMostOfWord) continue;
    ShownKernel& kernel = kernels.emplace_back(ShownKernel{text.substr(begin, open - begin), {}});
    for (std::size_t from = open + 1, number = 0; from < close; ++number) {
      const std::size_t comma = std::min(text.find(',', from), close);
      for (std::string& word : argument_for(std::string_view(text).substr(from, comma - from), number))
        kernel.arguments.push_back(std::move(word));
      from = comma + 1;
    }
  }
  return kernels;
}

void run_kernels(const Kind& kind, const std::string& file) {
  const Outcome checked = survive({"check", file}, kind.folder());
  const std::vector<ShownKernel> kernels = kernels_in(checked.out);
  for (const ShownKernel& kernel : kernels) {
    Words words{"run",     file, "--kernel",    kernel.name, "--grid",       "1",
                "--block", "32", "--max-steps", "1000000",   "--time-limit", "10"};
    words.insert(words.end(), kernel.arguments.begin(), kernel.arguments.end());
    survive(words, kind.folder());
  }
  if (kernels.empty()) // it does not load: others are to say that, too
    survive({"run", file, "--kernel", "k", "--grid", "1", "--block", "32"}, kind.folder());
}

// All folders and archives with PTX, one test each: there may be many files.
std::vector<std::string> ptx_kinds() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(WARPLENS_SOURCE_DIR) / "tests/data/hostile")) {
    std::string name = entry.path().filename().string();
    name = name.substr(0, name.find('.'));
    constexpr std::string_view kOthers[] = {"README", "toml", "npy", "fatbin", "accelsim", "trace"};
    if (std::find(std::begin(kOthers), std::end(kOthers), name) == std::end(kOthers)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end()); // a folder and an archive are one kind
  return names;
}

class HostilePtx : public ::testing::TestWithParam<std::string> {};
TEST_P(HostilePtx, Modules) {
  const Kind kind(GetParam());
  EXPECT_FALSE(kind.files(".ptx").empty());
  for (const std::string& file : kind.files(".ptx")) run_kernels(kind, file);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HostilePtx);
INSTANTIATE_TEST_SUITE_P(Archive, HostilePtx, ::testing::ValuesIn(ptx_kinds()),
                         [](const auto& kind) { return kind.param; });

// Things that are no files: no command may wait for them, or read them without end.
TEST(Hostile, DevicesPipesAndFolders) {
  const Kind kind("toml");
  const std::string pipe = kind.path("pipe.toml"), good = kind.path("good.toml");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& file : {std::string("/dev/zero"), std::string("/dev/full"), std::string("/"), pipe}) {
    for (const Words& words :
         {Words{"check", file}, Words{"run", good, "--set", "module=" + file}, Words{"run", good, "--device", file},
          Words{"run", good, "--rule", file},
          Words{"run", good, "--set", "buffer.a={type=\"f32\",file=\"" + file + "\"}"}, Words{"analyze", file},
          Words{"inspect", file}, Words{"convert", file, "o.h5"}, Words{"compare", file, file},
          Words{"predict", file, "--device", "c1060"}, Words{"calibrate", file, "--device", "c1060"},
          Words{"run", good, "--json", file}, Words{"run", good, "--trace", file},
          Words{"run", good, "--set", "buffer.c.save=" + file}, Words{"sweep", good, "--block", "32", "--resume", file},
          Words{"sweep", good, "--block", "32", "--csv", file}})
      EXPECT_EQ(survive(words, kind.folder()).status, 2) << words.front() << " " << file;
  }
  survive({"run", pipe}, kind.folder());
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

} // namespace hostile_test
} // namespace warplens::testing
