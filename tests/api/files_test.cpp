// SPDX-License-Identifier: Apache-2.0
// Reading and writing files, and the limits for both.
#include "api/files/input_file.hpp"
#include "api/files/output_file.hpp"
#include "api/files/save_path.hpp"
#include "api/plan/launch_file.hpp"
#include "api/session/limits.hpp"
#include "api/session/watchdog.hpp"
#include "tests/api/kernels.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

namespace warplens::api {
namespace files_test {

namespace fs = std::filesystem;
using warplens::testing::Folder;
using warplens::testing::read_text;

template <class T> std::string error_of(const Expected<T>& result) {
  return result ? std::string() : render(result.error(), {});
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

/// Changes a limit for the lifetime of the object.
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

TEST(InputFile, IsReadWhole) {
  const Folder folder;
  std::string text(300'000, 'x');
  text[7] = '\0';
  EXPECT_EQ(*read_file(folder.write("a", text)), text);
  EXPECT_EQ(*read_file(folder.write("empty", "")), "");
  EXPECT_EQ(read_file("/proc/self/status")->substr(0, 5), "Name:"); // its size is said to be 0
}

TEST(InputFile, WhatIsNoFileIsRefusedAtOnce) {
  const Folder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(error_of(read_file(pipe)).find("a named pipe, not a file"), std::string::npos);
  EXPECT_NE(error_of(read_file("/dev/zero")).find("a device, not a file"), std::string::npos);
  EXPECT_NE(error_of(read_file(folder.path())).find("a folder, not a file"), std::string::npos);
  EXPECT_NE(error_of(read_file(folder.path() / "none")).find("No such file"), std::string::npos);
}

TEST(InputFile, APipeThatWasGivenIsRead) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text(200'000, 'y'); // more than a pipe holds
  std::thread writer([&] {
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t got = write(ends[1], rest.data(), rest.size());
      if (got > 0) rest.remove_prefix(static_cast<std::size_t>(got));
    }
    close(ends[1]);
  });
  EXPECT_EQ(*read_file("/dev/fd/" + std::to_string(ends[0])), text);
  writer.join();
  close(ends[0]);
}

TEST(InputFile, IsNoLargerThanItsLimit) {
  const Folder folder;
  const std::string file = folder.write("a", "12345");
  const Limited four(limits::kInputBytes, 4);
  EXPECT_NE(error_of(read_file(file)).find("the limit input-bytes is 4"), std::string::npos)
      << error_of(read_file(file));
  EXPECT_TRUE(read_file(file, limits::kSettingsBytes));
}

TEST(OutputFile, AppearsWholeOrNotAtAll) {
  const Folder folder;
  const fs::path name = folder.path() / "out";
  {
    Expected<OutputFile> file = OutputFile::create(name);
    file->write("half");
    EXPECT_TRUE(file->finish());
    EXPECT_FALSE(fs::exists(name));
  }
  EXPECT_EQ(entries(folder.path()), 0u);
  EXPECT_TRUE(write_whole(name, "whole"));
  EXPECT_EQ(read_text(name), "whole");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(OutputFile, ReplacesAFileWithItsPermissions) {
  const Folder folder;
  const std::string name = folder.write("out", "old");
  fs::permissions(name, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(write_whole(name, "new"));
  EXPECT_EQ(read_text(name), "new");
  EXPECT_EQ(fs::status(name).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(OutputFile, ALinkStandsForItsFile) {
  const Folder folder;
  const std::string name = folder.write("file", "old");
  fs::create_symlink("file", folder.path() / "link");
  EXPECT_TRUE(write_whole(folder.path() / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_text(name), "new");
}

TEST(OutputFile, OnlyRegularFilesAreReplaced) {
  const Folder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& name : {fs::path("/dev/null"), pipe})
    EXPECT_NE(error_of(write_whole(name, "x")).find("not a regular file"), std::string::npos) << name;
  EXPECT_NE(error_of(write_whole(folder.path(), "x")).find("a folder with that name exists"), std::string::npos);
  EXPECT_NE(error_of(check_output(folder.path() / "none/out")).find("No such file"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(OutputFile, TwoAtATimeAreBothWhole) {
  const Folder folder;
  const fs::path name = folder.path() / "out";
  Expected<OutputFile> one = OutputFile::create(name), two = OutputFile::create(name);
  one->write("1");
  two->write("22");
  EXPECT_TRUE(one->commit());
  EXPECT_EQ(read_text(name), "1");
  EXPECT_TRUE(two->commit());
  EXPECT_EQ(read_text(name), "22");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(SavePath, StaysInOneFolder) {
  const Folder folder;
  fs::create_directory(folder.path() / "sub");
  fs::create_symlink("/tmp", folder.path() / "sub/link");
  EXPECT_EQ(*save_path("a", "out.npy", {}), "a/out.npy");
  EXPECT_EQ(*save_path("a", "out.npy", {.folder = "b"}), "b/out.npy");
  EXPECT_EQ(*save_path(folder.path(), "sub/out.npy", {}), folder.path() / "sub/out.npy");
  (void)folder.write("array", "\x93NUMPY\x01");
  (void)folder.write("letter", "Dear …");
  EXPECT_TRUE(save_path(folder.path(), "array", {}));
  for (const char* name :
       {"letter", "/tmp/out.npy", "../out.npy", "sub/../../out.npy", "sub/link", "sub/link/out.npy"}) {
    const std::string error = error_of(save_path(folder.path(), name, {}));
    EXPECT_NE(error.find("--allow-paths"), error.npos) << name << ": " << error;
    EXPECT_TRUE(save_path(folder.path(), name, {.folder = {}, .anywhere = true})) << name;
  }
}

TEST(SavePath, AnOverrideIsTheUsersOwnWord) {
  constexpr std::string_view kText = R"(module = "k.ptx"
kernel = "scale"
grid = 1
block = 1
[buffer.x]
type = "f32"
count = 1
zeros = true
)";
  const Override away{"buffer.x.save", "/tmp/x.npy"};
  const Expected<Plan> plan = parse_launch_file(kText, "l.toml", {&away, 1});
  ASSERT_TRUE(plan) << error_of(plan);
  EXPECT_EQ(*plan->buffers[0].save, "/tmp/x.npy");
  const std::string error = error_of(parse_launch_file(std::string(kText) + "save = \"/tmp/x.npy\"\n", "l.toml", {}));
  EXPECT_NE(error.find("l.toml:9:8: error: 'save' is '/tmp/x.npy', an absolute path"), error.npos) << error;
}

/// A plan with one buffer that is saved to `save`.
Plan saving(const Folder& folder, const std::string& save) {
  Plan plan;
  LaunchPlan launch;
  launch.module = folder.write("k.ptx", testing::kScale);
  launch.kernel = "scale";
  launch.arguments = {
      {std::string("x"), {}}, {ScalarPlan{Type::f32, 2.0}, {}}, {ScalarPlan{Type::u32, std::int64_t{1}}, {}}};
  plan.launches.push_back(std::move(launch));
  BufferPlan buffer;
  buffer.name = "x";
  buffer.count = 4;
  buffer.save = save;
  plan.buffers.push_back(std::move(buffer));
  return plan;
}

TEST(Saving, NeverReplacesWhatIsRead) {
  const Folder folder;
  const std::string module = (folder.path() / "k.ptx").string(), out = (folder.path() / "o.npy").string();
  EXPECT_TRUE(run_plan(saving(folder, out), {}));
  EXPECT_TRUE(fs::exists(out));
  for (const std::string& name : {module, (folder.path() / "./x/../k.ptx").string()}) {
    const std::string error = error_of(run_plan(saving(folder, name), {}));
    EXPECT_NE(error.find("which is an input file"), error.npos) << error;
  }
  EXPECT_EQ(read_text(module), testing::kScale);
  EXPECT_NE(error_of(run_plan(saving(folder, "/nowhere/o.npy"), {})).find("cannot write"), std::string::npos);
}

TEST(Saving, BuffersAreNoLargerThanTheirLimit) {
  const Folder folder;
  Plan plan = saving(folder, (folder.path() / "o.npy").string());
  for (const std::uint64_t count : {std::uint64_t{8'000'000'000}, ~std::uint64_t{0}}) {
    plan.buffers[0].count = count;
    const std::string error = error_of(run_plan(plan, {}));
    EXPECT_NE(error.find("the limit buffer-bytes is 4294967296"), error.npos) << error;
    EXPECT_NE(error.find("--limit buffer-bytes=NUMBER"), error.npos) << error;
  }
}

TEST(Limits, SizesAndSeconds) {
  EXPECT_EQ(*parse_size("1536"), 1536u);
  EXPECT_EQ(*parse_size("512M"), 512u << 20);
  EXPECT_EQ(*parse_size("1.5GiB"), 1536u << 20);
  EXPECT_EQ(*parse_size("8g"), std::uint64_t{8} << 30);
  EXPECT_EQ(*parse_seconds("0.5"), 500u);
  for (const char* wrong : {"", "0", "-1", "1X", "M", "1e300", "nan", "1 G", "99999999T"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  for (const char* wrong : {"", "0", "-1", "1s", "inf", "1e9", "99999999999"})
    EXPECT_FALSE(parse_seconds(wrong)) << wrong;
  EXPECT_EQ(size_text(12), "12 bytes");
  EXPECT_EQ(size_text(68914), "67.3 KiB");
  EXPECT_EQ(size_text(std::uint64_t{4} << 30), "4 GiB");
}

TEST(Watchdog, SaysWhenTheTimeIsOver) {
  const Watchdog none({}, [](const std::string&) { ADD_FAILURE(); });
  EXPECT_FALSE(exec::out_of_time);
  {
    RunLimits limits;
    limits.milliseconds = 1;
    const Watchdog watchdog(limits, [](const std::string&) { ADD_FAILURE(); });
    while (!exec::out_of_time) std::this_thread::yield();
  }
  exec::out_of_time = false;
}

TEST(Watchdog, EndsWhatTakesTooMuchMemory) {
  std::atomic<bool> ended{false};
  std::string said;
  {
    RunLimits limits;
    limits.bytes = 1;
    const Watchdog watchdog(limits, [&](const std::string& why) {
      said = why;
      ended = true;
    });
    while (!ended) std::this_thread::yield();
  }
  EXPECT_EQ(said, "memory limit reached: 1 bytes");
}

} // namespace files_test
} // namespace warplens::api
