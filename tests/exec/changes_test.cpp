// SPDX-License-Identifier: Apache-2.0
// Parts of a launch in one process: each begins with the same memory, and is combined with the first.
#include "emulator/exec/grid/changes.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace warplens::exec {
namespace changes_test {

TEST(Share, EachClusterRunsOnce) {
  for (const unsigned ranks : {1u, 2u, 3u, 8u})
    for (const std::uint64_t clusters : {1u, 2u, 7u, 16u, 63u, 64u, 65u, 1000u}) {
      std::vector<int> runs(clusters);
      for (unsigned rank = 0; rank < ranks; ++rank) {
        const Share share{rank, ranks};
        std::uint64_t last = 0;
        for (std::uint64_t place = 0; place < share.size(clusters); ++place) {
          const std::uint64_t number = share.at(clusters, place);
          ASSERT_LT(number, clusters);
          EXPECT_TRUE(place == 0 || number > last); // a trap of a lower block is found first
          last = number;
          ++runs[number];
        }
      }
      EXPECT_EQ(runs, std::vector<int>(clusters, 1)) << ranks << " ranks, " << clusters << " clusters";
    }
}

constexpr std::size_t kWordsOfMemory = std::size_t{1} << 16;

class Changes : public ::testing::Test {
protected:
  using Part = std::function<void(WrittenPages&)>;

  Changes() {
    address_ = *arena_->allocate(kWordsOfMemory * 4, "x");
    words_ = reinterpret_cast<std::uint32_t*>(address_);
    std::iota(words_, words_ + kWordsOfMemory, 0u);
    before_.assign(words_, words_ + kWordsOfMemory);
  }

  /// Of all parts; empty: memory is as if they had run one after the other.
  std::string run(const std::vector<Part>& parts) {
    const std::string read = run_one_way(parts, false);
    const std::vector<std::uint32_t> result(words_, words_ + kWordsOfMemory);
    const std::string sent = run_one_way(parts, true);
    EXPECT_EQ(read, sent);
    EXPECT_TRUE(!sent.empty() || std::equal(result.begin(), result.end(), words_));
    return sent;
  }
  /// `sends`: parts send what they have written; otherwise it is read.
  std::string run_one_way(const std::vector<Part>& parts, bool sends) {
    std::vector<std::vector<std::uint32_t>> memory; // of each part
    std::copy(before_.begin(), before_.end(), words_);
    std::vector<Bytes> changes;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      WrittenPages written(arena_->snapshot());
      parts[i](written);
      written.stop();
      changes.push_back(changes_of(written, reduces_, sends));
      memory.emplace_back(words_, words_ + kWordsOfMemory);
      written.restore();
      EXPECT_TRUE(std::equal(before_.begin(), before_.end(), words_));
    }
    WrittenPages written(arena_->snapshot());
    parts[0](written);
    written.stop();
    Combination all(written, reduces_);
    for (std::size_t i = 0; i < changes.size() && all.conflict().empty(); ++i) {
      const auto read = [&](std::span<const std::uint64_t> pages, std::byte* to) {
        for (const std::uint64_t page : pages) {
          const auto* const from = reinterpret_cast<const std::byte*>(memory[i].data()) + (page - address_);
          to = std::copy_n(from, kHostPageBytes, to);
        }
        return readable_;
      };
      all.add(changes[i], sends ? PageSource() : PageSource(read));
    }
    sent_.clear();
    for (const Bytes& one : changes) sent_.push_back(one.size());
    unsent_ = all.pages();
    return all.conflict();
  }
  Part add(std::size_t word, std::uint32_t value) {
    return [=, this](WrittenPages& written) {
      words_[word] += value;
      written.reduced(address_ + 4 * word, code_of(Reduction::add, 4));
    };
  }
  Part store(std::size_t word, std::uint32_t value) {
    return [=, this](WrittenPages&) { words_[word] = value; };
  }

  std::unique_ptr<Arena> arena_ = *Arena::reserve();
  std::uint64_t address_ = 0;
  std::uint32_t* words_ = nullptr;
  std::vector<std::uint32_t> before_;
  ChangedPages unsent_;
  bool reduces_ = true, readable_ = true;
  std::vector<std::size_t> sent_; ///< by all but the first part
};

TEST_F(Changes, OfDifferentWordsAreAllMade) {
  EXPECT_EQ(run({store(0, 7), store(1, 8), store(5000, 9), store(0xffff, 10)}), "");
  EXPECT_EQ(words_[0], 7u);
  EXPECT_EQ(words_[1], 8u);
  EXPECT_EQ(words_[2], 2u);
  EXPECT_EQ(words_[5000], 9u);
  EXPECT_EQ(words_[0xffff], 10u);
  EXPECT_EQ(unsent_.size(), 3u);
}

TEST_F(Changes, OfDifferentBytesOfOneWordAreAllMade) {
  const auto byte = [&](int which, int value) {
    return
        [=, this](WrittenPages&) { reinterpret_cast<std::uint8_t*>(words_)[which] = static_cast<std::uint8_t>(value); };
  };
  EXPECT_EQ(run({byte(0, 1), byte(1, 2), byte(3, 3)}), "");
  EXPECT_EQ(words_[0], 0x0300'0201u);
}

TEST_F(Changes, OfWholePagesAreSentWithoutContentsIfTheyCanBeRead) {
  const auto inverted = [this] { // no byte stays the same
    std::vector<std::uint32_t> words = before_;
    for (std::uint32_t& word : words) word = ~word;
    return words;
  };
  const Part all = [&](WrittenPages&) { std::ranges::copy(inverted(), words_); };
  reduces_ = false;
  constexpr std::size_t kPages = kWordsOfMemory * 4 / kHostPageBytes;
  EXPECT_EQ(run_one_way({store(0, ~before_[0]), all}, false), "");
  EXPECT_EQ(sent_, (std::vector<std::size_t>{8 * kPages}));
  EXPECT_TRUE(std::ranges::equal(inverted(), std::span(words_, kWordsOfMemory)));
  EXPECT_EQ(run_one_way({store(0, ~before_[0]), all}, true), "");
  EXPECT_EQ(sent_, (std::vector<std::size_t>{(8 + kHostPageBytes) * kPages}));
}

TEST_F(Changes, ThatCannotBeReadAreAConflict) {
  readable_ = false;
  EXPECT_NE(run_one_way({store(0, 1), store(1, 2)}, false), "");
}

TEST_F(Changes, MayStoreTheSameValue) {
  EXPECT_EQ(run({store(3, 1), store(3, 1)}), "");
  EXPECT_EQ(words_[3], 1u);
  EXPECT_NE(run({store(4, 1), store(4, 2)}), "");
}

TEST_F(Changes, OfSumsAddUp) {
  EXPECT_EQ(run({add(1, 255), add(1, 1), add(1, 0x10000), add(2, 5)}), "");
  EXPECT_EQ(words_[1], 1 + 0x10100u);
  EXPECT_EQ(words_[2], 7u);
}

TEST_F(Changes, ByStoresAndSumsConflict) {
  EXPECT_NE(run({add(1, 5), store(1, 9)}), "");
  EXPECT_NE(run({store(2, 9), add(2, 5)}), "");
}

TEST_F(Changes, ByTwoOperationsConflict) {
  const Part largest = [&](WrittenPages& written) {
    words_[1] = 100;
    written.reduced(address_ + 4, code_of(Reduction::maximum, 4));
  };
  EXPECT_NE(run({add(1, 5), largest}), "");
  EXPECT_NE(run({add(2, 5),
                 [&](WrittenPages& written) {
                   add(2, 1)(written);
                   written.reduced(address_ + 8, code_of(Reduction::maximum, 4));
                 }}),
            "");
}

TEST_F(Changes, OfWideWordsCarry) {
  const auto wide = [&](std::uint64_t value) {
    return [=, this](WrittenPages& written) {
      *reinterpret_cast<std::uint64_t*>(words_ + 2) += value;
      written.reduced(address_ + 8, code_of(Reduction::add, 8));
    };
  };
  const std::uint64_t before = std::uint64_t{3} << 32 | 2;
  EXPECT_EQ(run({wide(0xffff'fff0u), wide(0xff), wide(0xffu)}), "");
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(words_ + 2), before + 0xffff'fff0u + 2 * 0xffu);
}

TEST(Reductions, Combine) {
  const auto of = [](Reduction r, std::size_t bytes, std::uint64_t before, std::uint64_t one, std::uint64_t other) {
    return combined(code_of(r, bytes), before, one, other);
  };
  EXPECT_EQ(of(Reduction::add, 4, 0xffff'ffffu, 3, 0), 4u); // each wraps: + 4, + 1
  EXPECT_EQ(of(Reduction::conjunction, 4, 15, 14, 7), 6u);
  EXPECT_EQ(of(Reduction::disjunction, 4, 1, 3, 5), 7u);
  EXPECT_EQ(of(Reduction::exclusive, 4, 1, 0, 3), 2u);
  EXPECT_EQ(of(Reduction::minimum, 4, 9, 0xffff'ffffu, 2), 2u);
  EXPECT_EQ(of(Reduction::signed_minimum, 4, 9, 0xffff'ffffu, 2), 0xffff'ffffu);
  EXPECT_EQ(of(Reduction::signed_maximum, 8, 9, ~std::uint64_t{0}, 2), 2u);
  EXPECT_EQ(of(Reduction::maximum, 8, 9, ~std::uint64_t{0}, 2), ~std::uint64_t{0});
}

TEST_F(Changes, ReachTheOtherRanks) {
  ASSERT_EQ(run({store(0, 7), store(5000, 9)}), "");
  const std::vector<std::uint32_t> result(words_, words_ + kWordsOfMemory);
  const Bytes news = contents_of(unsent_);
  std::copy(before_.begin(), before_.end(), words_);
  take_over(news);
  EXPECT_TRUE(std::equal(result.begin(), result.end(), words_));
}

} // namespace changes_test
} // namespace warplens::exec
