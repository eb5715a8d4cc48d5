// SPDX-License-Identifier: Apache-2.0
// Traces: they round-trip; inconsistent, truncated and damaged traces are rejected.
#include "analyzers/trace/reader.hpp"
#include "analyzers/trace/recorder.hpp"
#include "tests/analyzers/trace/events.hpp"
#include "tests/tools/folder.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace warplens::analyzers::trace {
namespace trace_test {

using testing::Folder;
using testing::made_up_counts;
using testing::made_up_shape;
using testing::MadeUp;
using testing::Told;
using testing::Witness;

constexpr Limits kLimits{MadeUp::kCtas, MadeUp::kWarps, MadeUp::kInstructions};

template <class T> T need(Expected<T> expected) {
  if (!expected) throw std::runtime_error(render(expected.error(), ""));
  return std::move(*expected);
}
void need(const Expected<void>& expected) {
  if (!expected) throw std::runtime_error(render(expected.error(), ""));
}

// As in the emulator: one shard per worker, each with its share of the CTAs.
void launch(exec::Watcher& watcher, int events, unsigned workers) {
  std::vector<std::unique_ptr<exec::Shard>> shards;
  for (unsigned w = 0; w < workers; ++w) {
    shards.push_back(watcher.make_shard());
    for (std::uint64_t cta = 0; cta < MadeUp::kCtas; ++cta) // the events of a CTA depend on nothing but its number
      if (cta % workers == w)
        MadeUp(static_cast<unsigned>(cta)).tell(*shards.back(), events, [&](std::uint64_t c) { return c == cta; });
  }
  watcher.finish(std::move(shards), made_up_counts());
}

std::string write(const Folder& folder, const std::string& name, int events, unsigned workers,
                  Selection selection = {}) {
  const std::string path = (folder.path() / name).string();
  const std::unique_ptr<File> file = need(File::create(path, "test"));
  const std::unique_ptr<Recorder> recorder =
      need(Recorder::begin(*file, "a launch", made_up_shape(), std::move(selection)));
  launch(*recorder, events, workers);
  need(recorder->end("its end"));
  need(file->close());
  return path;
}

Told read_back(const std::string& path) {
  const Reader reader = need(Reader::open(path));
  Witness witness;
  need(replay(reader, reader.launches().at(0), kLimits, witness));
  return witness.told;
}

TEST(Trace, WhatIsWrittenComesBackFromAnyNumberOfWorkers) {
  const Folder folder;
  Witness live;
  launch(live, 3000, 1);
  ASSERT_GT(live.told.each.at(0).size(), 100'000u); // the events of several blocks
  for (const unsigned workers : {1u, 2u, 5u})
    EXPECT_TRUE(read_back(write(folder, "t.h5", 3000, workers)) == live.told) << workers << " workers";
}

TEST(Trace, CtasOfOneWorkerMayTakeTurns) {
  const Folder folder;
  const std::string path = (folder.path() / "t.h5").string();
  const auto all = [](exec::Watcher& watcher) {
    std::vector<std::unique_ptr<exec::Shard>> shards;
    shards.push_back(watcher.make_shard());
    MadeUp(1).tell(*shards.back(), 300, [](std::uint64_t) { return true; });
    watcher.finish(std::move(shards), made_up_counts());
  };
  const std::unique_ptr<File> file = need(File::create(path, "test"));
  const std::unique_ptr<Recorder> recorder = need(Recorder::begin(*file, "a launch", made_up_shape(), {}));
  Witness live;
  all(live);
  all(*recorder);
  need(recorder->end(""));
  need(file->close());
  EXPECT_TRUE(read_back(path) == live.told);
}

TEST(Trace, SeveralLaunchesAreKeptApart) {
  const Folder folder;
  const std::string path = (folder.path() / "t.h5").string();
  const std::unique_ptr<File> file = need(File::create(path, "test"));
  for (const int events : {30, 90}) {
    const std::unique_ptr<Recorder> recorder =
        need(Recorder::begin(*file, "events: " + std::to_string(events), made_up_shape(), {}));
    launch(*recorder, events, 2);
    need(recorder->end(""));
  }
  need(file->close());
  const Reader reader = need(Reader::open(path));
  ASSERT_EQ(reader.launches().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const int events = i == 0 ? 30 : 90;
    EXPECT_EQ(reader.launches()[i].description, "events: " + std::to_string(events));
    Witness live, replayed;
    launch(live, events, 1);
    need(replay(reader, reader.launches()[i], kLimits, replayed));
    EXPECT_TRUE(replayed.told == live.told) << i;
  }
}

TEST(Trace, OnlyWhatIsSelectedIsKept) {
  const Folder folder;
  std::vector<bool> instructions(MadeUp::kInstructions);
  instructions[3] = true;
  const Told all = read_back(write(folder, "all.h5", 300, 2));
  const Told some = read_back(write(folder, "some.h5", 300, 2, {4, 10, 3, {}})); // CTAs 4, 7, 10
  ASSERT_EQ(some.each.size(), 3u);
  for (const std::uint64_t cta : {4u, 7u, 10u}) EXPECT_EQ(some.each.at(cta), all.each.at(cta)) << cta;
  const Told line = read_back(write(folder, "line.h5", 300, 2, {0, ~std::uint64_t{0}, 1, instructions}));
  ASSERT_FALSE(line.counts.empty());
  std::uint64_t expected = 0, kept = 0;
  for (const auto& [what, count] : all.counts)
    if (what.starts_with("3 ") || what.starts_with("branch 3 ")) expected += count;
  for (const auto& [what, count] : line.counts) kept += count;
  EXPECT_EQ(kept, expected);
}

TEST(Trace, ABlockOfTooManyWarpsIsRefused) {
  const Folder folder;
  const std::unique_ptr<File> file = need(File::create(folder.path() / "t.h5", "test"));
  exec::LaunchShape shape;
  shape.block[0] = 32 * (kMostWarps + 1);
  const auto recorder = Recorder::begin(*file, "", shape, {});
  ASSERT_FALSE(recorder);
  EXPECT_NE(render(recorder.error(), "").find("257 warps cannot be traced"), std::string::npos);
}

/// A file for whose rows there is never memory.
class NoMemory final : public File {
public:
  NoMemory() : File("no memory") {}
  using File::append;
  Expected<std::vector<std::uint64_t>> append(std::span<const Rows> tables) override {
    if (tables[0].table == Table::text) return std::vector<std::uint64_t>{0};
    throw std::bad_alloc();
  }
  Expected<std::uint64_t> append_row(Table, std::span<const std::byte>) override { return 0; }
  Expected<void> close() override { return {}; }
  [[nodiscard]] bool is_part() const override { return false; }
  Expected<std::uint64_t> rows(Table) override { return 0; }

private:
  Expected<void> check(Table, std::uint64_t, std::uint64_t) override { return {}; }
  Expected<void> read(Table, std::uint64_t, std::span<std::byte>) override { return {}; }
};

// The tasks of several workers run out of memory at the same time.
TEST(TraceCutOff, TooLittleMemoryIsAnError) {
  NoMemory file;
  const std::unique_ptr<Recorder> recorder = need(Recorder::begin(file, "a launch", made_up_shape(), {}));
  launch(*recorder, 100, 3);
  const Expected<void> end = recorder->end("its end");
  ASSERT_FALSE(end.has_value());
  EXPECT_NE(render(end.error(), "").find("out of memory"), std::string::npos) << render(end.error(), "");
}

// ---- size

/// Bytes of a file with so many accesses of one kind, each.
template <class Address> double bytes_per_access(const Folder& folder, Address&& address) {
  const std::string path = (folder.path() / "size.h5").string();
  const std::unique_ptr<File> file = need(File::create(path, "test"));
  const std::unique_ptr<Recorder> recorder = need(Recorder::begin(*file, "", made_up_shape(), {}));
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(recorder->make_shard());
  shards[0]->begin_cta(0);
  constexpr std::uint64_t kAccesses = 200'000;
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
    const testing::WarpAccess access(~0u, 4, [&](int lane) { return address(i, lane); });
    shards[0]->each_access({0, static_cast<std::uint32_t>(i % MadeUp::kWarps)},
                           access.event(exec::AccessKind::load, isa::Space::global, i % 2));
  }
  recorder->finish(std::move(shards), made_up_counts());
  need(recorder->end(""));
  need(file->close());
  return static_cast<double>(std::filesystem::file_size(path)) / kAccesses;
}

TEST(TraceSize, CoalescedCopyAndRandomGather) {
  const Folder folder;
  std::mt19937_64 random(7);
  EXPECT_LE(bytes_per_access(folder, [](std::uint64_t i, int lane) { return 0x10000 + 128 * (i / 2) + 4u * lane; }), 4);
  EXPECT_LE(bytes_per_access(folder, [&](std::uint64_t, int) { return 0x10000 + 4 * (random() % (1u << 28)); }), 140);
}

// ---- cut off

// A child that writes for ever, killed while it does.
TEST(TraceCutOff, AKilledWritersFileIsReadableUpToItsLastBlock) {
  const Folder folder;
  std::size_t with_blocks = 0;
  constexpr int kEnough = 120, kMost = 20'000; // of a machine that does nothing else, and of any
  for (int milliseconds = 20; milliseconds <= kEnough || (with_blocks == 0 && milliseconds <= kMost);
       milliseconds += milliseconds < kEnough ? 20 : milliseconds) {
    const std::string path = (folder.path() / "killed.h5").string();
    std::filesystem::remove(path);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const std::unique_ptr<File> file = need(File::create(path, "test"));
      const std::unique_ptr<Recorder> recorder = need(Recorder::begin(*file, "a launch", made_up_shape(), {}));
      for (;;) launch(*recorder, 300, 2);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const Expected<Reader> reader = Reader::open(path);
    if (!reader) { // killed before the file was set up
      EXPECT_EQ(with_blocks, 0u) << render(reader.error(), "");
      continue;
    }
    if (reader->launches().empty()) continue;
    const Launch& cut = reader->launches()[0];
    EXPECT_FALSE(cut.conclusion);
    EXPECT_TRUE(cut.counts.empty());
    with_blocks += cut.blocks.size();
    for (const BlockRow& row : cut.blocks) {
      const Expected<Block> block = reader->read(row, kLimits);
      EXPECT_TRUE(block) << render(block.error(), "");
    }
    Witness witness;
    EXPECT_TRUE(replay(*reader, cut, kLimits, witness));
  }
  EXPECT_GT(with_blocks, 0u);
}

// The shell's `ulimit -f` stands for a full disk: the operating system refuses to make the file longer.
TEST(TraceCutOff, AFullDiskIsAnErrorAndLeavesAReadableFile) {
  const Folder folder;
  const std::string path = (folder.path() / "full.h5").string();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{300'000, 300'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int status = 1;
    {
      std::unique_ptr<File> file = need(File::create(path, "test"));
      std::unique_ptr<Recorder> recorder = need(Recorder::begin(*file, "a launch", made_up_shape(), {}));
      for (int i = 0; i < 4; ++i) launch(*recorder, 3000, 2);
      const Expected<void> ended = recorder->end("");
      if (!ended && render(ended.error(), "").find("cannot write to the trace") != std::string::npos) status = 42;
      if (file->close()) status = 43;
    }
    _exit(status);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 42);
  const Expected<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << render(reader.error(), "");
  for (const BlockRow& row : reader->launches().at(0).blocks) EXPECT_TRUE(reader->read(row, kLimits));
}

// ---- bad files

std::string error_of(const std::string& path) {
  const Expected<Reader> reader = Reader::open(path);
  return reader ? "" : render(reader.error(), "");
}

TEST(BadTrace, WhatIsNoTraceIsRefused) {
  const Folder folder;
  EXPECT_NE(error_of("/no/such/file.h5").find("cannot read the trace"), std::string::npos);
  EXPECT_NE(error_of(folder.path().string()).find("cannot read the trace"), std::string::npos);
  EXPECT_NE(error_of(folder.write("empty.h5", "")).find("is not a trace, or is damaged"), std::string::npos);
  EXPECT_NE(error_of(folder.write("text.h5", "kernel,1,2\n")).find("is not a trace, or is damaged"), std::string::npos);
}

TEST(BadTrace, ATruncatedFileIsRefused) {
  const Folder folder;
  const std::string path = write(folder, "t.h5", 300, 1);
  const std::string whole = testing::read_text(path);
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{48}, std::size_t{1000}, whole.size() / 2, whole.size() - 1}) {
    const std::string cut = folder.write("cut.h5", whole.substr(0, size));
    const Expected<Reader> reader = Reader::open(cut);
    if (!reader) continue;
    Witness witness;
    EXPECT_FALSE(replay(*reader, reader->launches().at(0), kLimits, witness)) << size;
  }
}

TEST(BadTrace, AnotherVersionIsNamed) {
  const Folder folder;
  const std::string path = write(folder, "t.h5", 30, 1);
  ASSERT_EQ(error_of(path), "");
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "version", H5P_DEFAULT);
  const std::uint32_t seven = 7;
  ASSERT_GE(H5Awrite(attribute, H5T_NATIVE_UINT32, &seven), 0);
  H5Aclose(attribute);
  H5Fclose(file);
  EXPECT_NE(error_of(path).find("is a trace of version 7, expected version 1"), std::string::npos) << error_of(path);
}

TEST(BadTrace, ALaunchOfAnotherKernelIsRefused) {
  const Folder folder;
  const std::string path = write(folder, "t.h5", 300, 1);
  const Reader reader = need(Reader::open(path));
  const auto refused = [&](Limits limits) {
    Witness witness;
    return !replay(reader, reader.launches()[0], limits, witness);
  };
  EXPECT_FALSE(refused(kLimits));
  EXPECT_TRUE(refused({kLimits.ctas - 1, kLimits.warps, kLimits.instructions}));
  EXPECT_TRUE(refused({kLimits.ctas, kLimits.warps - 1, kLimits.instructions}));
  EXPECT_TRUE(refused({kLimits.ctas, kLimits.warps, kLimits.instructions - 1}));
}

// Bytes changed at random: refused or read, never a crash.
TEST(BadTrace, DamagedBytesNeverCrash) {
  const Folder folder;
  const std::string whole = testing::read_text(write(folder, "t.h5", 100, 1));
  std::mt19937_64 random(3);
  int refused = 0;
  constexpr int kRounds = 600;
  for (int round = 0; round < kRounds; ++round) {
    std::string damaged = whole;
    const int bytes = 1 + static_cast<int>(random() % 8);
    // Half of them in the first kilobytes, where HDF5's own index is.
    const std::size_t range = round % 2 == 0 ? std::min<std::size_t>(damaged.size(), 16384) : damaged.size();
    for (int i = 0; i < bytes; ++i) damaged[random() % range] = static_cast<char>(random());
    const Expected<Reader> reader = Reader::open(folder.write("damaged.h5", damaged));
    if (!reader) {
      ++refused;
      continue;
    }
    for (const Launch& l : reader->launches()) {
      Witness witness;
      if (!replay(*reader, l, kLimits, witness)) ++refused;
    }
  }
  EXPECT_GT(refused, kRounds / 4);
}

} // namespace trace_test
} // namespace warplens::analyzers::trace
