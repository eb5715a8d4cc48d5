// SPDX-License-Identifier: Apache-2.0
// Programs compiled by nvcc, with functions that are not inlined, compared with the same computation on the CPU. The
// PTX is in the tree; after changing a source, regenerate it with
//
//   nvcc -std=c++17 -arch=compute_75 -ptx FILE.cu -o FILE.ptx          linked_*.cu: with -rdc=true
#include "api/launch/launch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

namespace warplens::api {
namespace calling_programs_test {

class CallingPrograms : public ::testing::TestWithParam<bool> {
protected:
  CallingPrograms() : context_(*Context::create()) {}

  static Source source(const std::string& name) {
    const std::string file = WARPLENS_SOURCE_DIR "/tests/programs/" + name;
    std::ifstream in(file, std::ios::binary);
    return {{std::istreambuf_iterator<char>(in), {}}, file};
  }

  template <class T> std::shared_ptr<Buffer> buffer(const std::vector<T>& values) {
    auto memory = *Buffer::allocate(context_, values.size() * sizeof(T), "buffer");
    std::memcpy(memory->bytes().data(), values.data(), values.size() * sizeof(T));
    return memory;
  }

  static std::vector<std::int32_t> words(const Buffer& memory) {
    std::vector<std::int32_t> result(memory.bytes().size() / 4);
    std::memcpy(result.data(), memory.bytes().data(), memory.bytes().size());
    return result;
  }

  LaunchReport run(const std::vector<std::string>& files, std::string_view kernel, std::uint64_t blocks,
                   std::uint64_t threads, const std::vector<Argument>& arguments) {
    std::vector<Source> sources;
    for (const std::string& file : files) sources.push_back(source(file));
    const auto module = Module::load(context_, sources);
    if (!module) {
      ADD_FAILURE() << render(module.error(), sources.front().text);
      return {};
    }
    LaunchRequest request;
    request.kernel = *(*module)->kernel(kernel);
    request.grid = {blocks, 1, 1};
    request.block = {threads, 1, 1};
    request.arguments = arguments;
    request.device = *load_device("h200");
    request.options.analyze = GetParam();
    auto report = launch(request);
    EXPECT_TRUE(report) << render(report.error(), "");
    if (!report) return {};
    EXPECT_FALSE(report->trap) << report->trap->message;
    return std::move(*report);
  }

  std::shared_ptr<Context> context_;
};

Argument s32(std::int64_t value) { return *Argument::scalar(Type::s32, value); }

TEST_P(CallingPrograms, Quicksort) {
  constexpr int kThreads = 96, kCount = 50;
  std::mt19937 random(3);
  std::vector<std::int32_t> values(2 * kThreads * kCount);
  for (std::int32_t& v : values) v = static_cast<std::int32_t>(random() % 1000);
  const auto memory = buffer(values);
  run({"quicksort.ptx"}, "quicksort", 2, kThreads, {Argument::buffer(*memory), s32(kCount)});
  for (int t = 0; t < 2 * kThreads; ++t) {
    const auto piece = values.begin() + t * kCount;
    std::sort(piece, piece + kCount - t % 7);
  }
  EXPECT_EQ(words(*memory), values);
}

// What shapes.cu says, in numbers that wrap around.
std::uint32_t step(std::uint32_t which, std::uint32_t x) {
  return which == 0 ? x + 1 : which == 1 ? 2 * x : which == 2 ? x * x : 0 - x;
}

std::uint32_t interpreted(const unsigned char* code, std::uint32_t length, std::uint32_t x) {
  for (std::uint32_t i = 0; i < length; ++i) {
    switch (code[i]) {
    case 0: x += 7; break;
    case 1: x *= 3; break;
    case 2: x ^= 0x55; break;
    case 3: x = step(i % 4, x); break;
    case 4: x -= i; break;
    case 5: return x;
    case 6: x = static_cast<std::uint32_t>(static_cast<std::int32_t>(x) / 3) + i; break;
    case 7: x = static_cast<std::uint32_t>(std::popcount(x)); break;
    default: x = 1; break;
    }
  }
  return 0 - x;
}

std::uint32_t area(std::uint32_t shape, std::uint32_t size) {
  if (shape == 0) return size * size;
  if (shape == 1) return size * 3;
  std::uint32_t sum = 0;
  for (std::uint32_t i = 1; i <= size % 9; ++i) sum += i * i * 3;
  return sum;
}

TEST_P(CallingPrograms, Shapes) {
  constexpr std::uint32_t kThreads = 100, kLength = 20;
  std::mt19937 random(4);
  std::vector<unsigned char> code(kThreads * kLength);
  for (unsigned char& c : code) c = static_cast<unsigned char>(random() % 10);
  const auto out = buffer(std::vector<std::int32_t>(kThreads)), program = buffer(code);
  run({"shapes.ptx"}, "shapes", 1, kThreads, {Argument::buffer(*out), Argument::buffer(*program), s32(kLength)});
  const std::vector<std::int32_t> got = words(*out);
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    const std::uint32_t shape = t * 5 % 3, by = t % 4, a = area(shape, t);
    const std::uint32_t sum = a + (shape == 1 ? a + by : a * by);
    const std::uint32_t expected = step(sum & 3, sum) + interpreted(&code[t * kLength], kLength, t);
    EXPECT_EQ(static_cast<std::uint32_t>(got[t]), expected) << t;
  }
}

// The lines that a walk of the tree prints; a std::map has the values in order, but not the depths.
struct Tree {
  struct Node {
    int count = 0, depth = 0;
  };
  std::map<int, Node> nodes;
  void insert(int value) {
    const auto [found, fresh] = nodes.try_emplace(value);
    ++found->second.count;
    if (!fresh) return;
    // One below the deeper of its neighbours: that is where an unbalanced tree puts it.
    const auto after = std::next(found);
    if (found != nodes.begin()) found->second.depth = std::prev(found)->second.depth + 1;
    if (after != nodes.end()) found->second.depth = std::max(found->second.depth, after->second.depth + 1);
  }
};

TEST_P(CallingPrograms, Tree) {
  constexpr int kBlocks = 6, kCount = 40;
  const LaunchReport report = run({"tree.ptx"}, "tree", kBlocks, 1, {s32(kCount)});
  std::string expected;
  for (unsigned block = 0; block < kBlocks; ++block) {
    Tree tree;
    unsigned state = block * 7919 + 17;
    for (int i = 0; i < kCount; ++i) {
      state = state * 1664525u + 1013904223u;
      tree.insert(static_cast<int>(state >> 27));
    }
    expected += "block " + std::to_string(block) + ":\n";
    for (const auto& [value, node] : tree.nodes) {
      char line[100];
      std::snprintf(line, sizeof line, "%*s%d x%d (%5.2f)\n", node.depth, "", value, node.count, value / 8.0);
      expected += line;
    }
  }
  EXPECT_EQ(report.printed, expected);
}

TEST_P(CallingPrograms, Linked) {
  const auto out = buffer(std::vector<std::int32_t>(64));
  run({"linked_kernel.ptx", "linked_library.ptx"}, "linked", 1, 64, {Argument::buffer(*out)});
  const std::vector<std::int32_t> got = words(*out);
  for (std::int32_t t = 0; t < 64; ++t) EXPECT_EQ(got[t], (2 * t + 100) * (t % 8 == 0 ? 5 : t % 8 + 1) + 101) << t;
}

INSTANTIATE_TEST_SUITE_P(WatchedOrNot, CallingPrograms, ::testing::Bool(),
                         [](const auto& watched) { return watched.param ? "Watched" : "Unwatched"; });

} // namespace calling_programs_test
} // namespace warplens::api
