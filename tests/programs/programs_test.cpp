// Whole programs in CUDA whose blocks and threads wait for each other, against the same computed here. The PTX is made
// by `nvcc -ptx -O3 -arch=compute_80 NAME.cu -o NAME.ptx`.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>

namespace warplens::tests {
namespace {

constexpr unsigned kWorkers[] = {1, 2, 4};

class Program {
public:
  explicit Program(const std::string& name) : machine_(text_of(name), name + ".ptx") { request_.kernel = name; }

  /// Where a module has several.
  void choose(const std::string& kernel) { request_.kernel = kernel; }

  std::uint64_t buffer(const std::vector<std::uint32_t>& words) { return machine_.buffer(words); }
  static std::vector<std::uint32_t> words(std::uint64_t buffer, std::size_t count) {
    const auto* const p = reinterpret_cast<const std::uint32_t*>(buffer);
    return {p, p + count};
  }
  std::string run(std::uint32_t grid, std::uint32_t block, unsigned workers,
                  const std::vector<Emulated::Argument>& arguments, bool cooperative = false) {
    request_.shape.grid[0] = grid;
    request_.shape.block[0] = block;
    request_.workers = workers;
    request_.arguments = arguments;
    request_.cooperative = cooperative;
    return machine_.run(request_);
  }

private:
  static std::string text_of(const std::string& name) {
    std::ifstream file(std::string(WARPLENS_SOURCE_DIR) + "/tests/programs/" + name + ".ptx");
    EXPECT_TRUE(file.is_open()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Emulated machine_;
  Emulated::Request request_;
};

TEST(Programs, LookbackScan) {
  std::mt19937 random(3);
  std::vector<std::uint32_t> numbers(100'003);
  std::generate(numbers.begin(), numbers.end(), [&] { return random() % 1000; });
  std::vector<std::uint32_t> sums(numbers.size());
  std::exclusive_scan(numbers.begin(), numbers.end(), sums.begin(), 0u);
  for (const unsigned workers : kWorkers) {
    Program program("lookback_scan");
    const std::size_t tiles = (numbers.size() + 511) / 512;
    const std::uint64_t in = program.buffer(numbers), out = program.buffer(std::vector<std::uint32_t>(numbers.size()));
    const std::uint64_t ticket = program.buffer({0}), state = program.buffer(std::vector<std::uint32_t>(2 * tiles));
    ASSERT_EQ(program.run(static_cast<std::uint32_t>(tiles), 128, workers,
                          {{in, 8}, {out, 8}, {numbers.size(), 4}, {ticket, 8}, {state, 8}}),
              "");
    EXPECT_EQ(Program::words(out, sums.size()), sums) << workers;
  }
}

TEST(Programs, RadixSort) {
  std::mt19937 random(5);
  std::vector<std::uint32_t> keys(20'011);
  std::generate(keys.begin(), keys.end(), [&] { return random(); });
  std::vector<std::uint32_t> sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  const auto blocks = static_cast<std::uint32_t>((keys.size() + 255) / 256);
  for (const unsigned workers : kWorkers) {
    Program program("radix_sort");
    std::uint64_t from = program.buffer(keys), to = program.buffer(std::vector<std::uint32_t>(keys.size()));
    const std::uint64_t counts = program.buffer(std::vector<std::uint32_t>(std::size_t{16} * blocks));
    for (std::uint64_t shift = 0; shift < 32; shift += 4, std::swap(from, to)) {
      program.choose("radix_count");
      ASSERT_EQ(program.run(blocks, 256, workers, {{from, 8}, {keys.size(), 4}, {shift, 4}, {counts, 8}}), "");
      program.choose("radix_scan");
      ASSERT_EQ(program.run(1, 256, workers, {{counts, 8}, {16 * blocks, 4}}), "");
      program.choose("radix_scatter");
      ASSERT_EQ(program.run(blocks, 256, workers, {{from, 8}, {to, 8}, {keys.size(), 4}, {shift, 4}, {counts, 8}}), "");
    }
    EXPECT_EQ(Program::words(from, keys.size()), sorted) << workers;
  }
}

TEST(Programs, WorkStealing) {
  constexpr std::uint32_t kNumbers = 3000, kBlocks = 6, kQueueWords = 2 + 2 * 1024;
  for (const unsigned workers : kWorkers) {
    Program program("work_stealing");
    std::vector<std::uint32_t> queues(std::size_t{kBlocks} * kQueueWords);
    queues[1] = 1;
    queues[3] = kNumbers;
    const std::uint64_t queue = program.buffer(queues), left = program.buffer({kNumbers});
    const std::uint64_t primes = program.buffer({0}), seen = program.buffer(std::vector<std::uint32_t>(kNumbers));
    const std::uint64_t stolen = program.buffer({0});
    ASSERT_EQ(program.run(kBlocks, 64, workers, {{queue, 8}, {left, 8}, {primes, 8}, {seen, 8}, {stolen, 8}}, true),
              "");
    EXPECT_EQ(Program::words(primes, 1)[0], 430u); // below 3000
    EXPECT_EQ(Program::words(seen, kNumbers), std::vector<std::uint32_t>(kNumbers, 1)) << workers;
    EXPECT_EQ(Program::words(left, 1)[0], 0u);
    EXPECT_GT(Program::words(stolen, 1)[0], 0u) << workers;
  }
}

TEST(Programs, GridReduction) {
  constexpr std::uint32_t kBlocks = 70;
  std::vector<std::uint32_t> numbers(50'000);
  std::iota(numbers.begin(), numbers.end(), ~0u - 1000); // some are negative
  const std::uint32_t sum = std::accumulate(numbers.begin(), numbers.end(), 0u);
  for (const unsigned workers : kWorkers) {
    Program program("grid_reduction");
    const std::uint64_t in = program.buffer(numbers);
    const std::uint64_t partial = program.buffer(std::vector<std::uint32_t>(kBlocks, 5));
    const std::uint64_t out = program.buffer(std::vector<std::uint32_t>(kBlocks));
    ASSERT_EQ(program.run(kBlocks, 48, workers, {{in, 8}, {numbers.size(), 4}, {partial, 8}, {out, 8}}, true), "");
    EXPECT_EQ(Program::words(out, kBlocks), std::vector<std::uint32_t>(kBlocks, sum)) << workers;
    EXPECT_EQ(Program::words(partial, kBlocks), std::vector<std::uint32_t>(kBlocks, 0)) << workers;
  }
}

// Without a cooperative launch there is no workspace: cooperative groups notice that, and trap.
TEST(Programs, GridReductionNeedsACooperativeLaunch) {
  Program program("grid_reduction");
  const std::uint64_t words = program.buffer(std::vector<std::uint32_t>(64));
  EXPECT_NE(program.run(1, 32, 1, {{words, 8}, {32, 4}, {words + 128, 8}, {words + 192, 8}}).find("trap instruction"),
            std::string::npos);
}

TEST(Programs, SpinLock) {
  constexpr std::uint32_t kBlocks = 5, kThreads = 64, kAll = kBlocks * kThreads;
  for (const unsigned workers : kWorkers) {
    Program program("spin_lock");
    const std::uint64_t lock = program.buffer({0}), sum = program.buffer({0, 0, 0, 0});
    const std::uint64_t order = program.buffer(std::vector<std::uint32_t>(kAll));
    ASSERT_EQ(program.run(kBlocks, kThreads, workers, {{lock, 8}, {sum, 8}, {order, 8}}), "");
    EXPECT_EQ(Program::words(sum, 4), (std::vector<std::uint32_t>{kAll * (kAll - 1) / 2, 0, kAll, 0}));
    std::vector<std::uint32_t> threads = Program::words(order, kAll), each(kAll);
    std::iota(each.begin(), each.end(), 0u);
    std::sort(threads.begin(), threads.end());
    EXPECT_EQ(threads, each) << workers;
  }
}

} // namespace
} // namespace warplens::tests
