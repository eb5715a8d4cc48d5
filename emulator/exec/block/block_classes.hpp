// SPDX-License-Identifier: Apache-2.0
// Blocks that behave alike: each warp of them entered the same basic blocks equally often. A class is known by the hash
// of these counts, its signature. Memory is bounded: of many classes, those are kept whose hash is below a bound, which
// depends only on all hashes, and not on the workers that saw them.
//
//   classes.add(digest(visits), true);       // at the end of each block
//   classes.merge(other);  classes.count(), classes.seen(), classes.unseen_blocks()
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace warplens::exec {

class BlockClasses {
public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  void add(std::uint64_t signature, bool watched) {
    ++blocks_;
    add(signature, Members{1, watched ? 1u : 0u});
  }
  void merge(const BlockClasses& other) {
    blocks_ += other.blocks_;
    lower(other.shift_);
    for (const auto& [signature, members] : other.classes_) add(signature, members);
  }

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  /// Whether all are kept; otherwise, the numbers below are extrapolated.
  [[nodiscard]] bool complete() const { return shift_ == 0; }
  [[nodiscard]] std::uint64_t count() const { return classes_.size() << shift_; }
  /// Classes with watched blocks.
  [[nodiscard]] std::uint64_t seen() const {
    std::uint64_t n = 0;
    for (const auto& [signature, members] : classes_) n += members.watched != 0 ? 1 : 0;
    return n << shift_;
  }
  /// The blocks of the other classes.
  [[nodiscard]] std::uint64_t unseen_blocks() const {
    std::uint64_t n = 0;
    for (const auto& [signature, members] : classes_) n += members.watched == 0 ? members.blocks : 0;
    return n << shift_;
  }

private:
  struct Members {
    std::uint64_t blocks = 0, watched = 0;
  };
  [[nodiscard]] bool keeps(std::uint64_t signature) const {
    return shift_ == 0 || (signature * kMix) >> (64 - shift_) == 0;
  }
  void add(std::uint64_t signature, const Members& more) {
    if (!keeps(signature)) return;
    Members& own = classes_[signature];
    own.blocks += more.blocks;
    own.watched += more.watched;
    while (classes_.size() > kMost) lower(shift_ + 1);
  }
  void lower(unsigned shift) {
    if (shift <= shift_) return;
    shift_ = shift;
    std::erase_if(classes_, [this](const auto& one) { return !keeps(one.first); });
  }
  static constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15u; ///< makes the upper bits depend on all
  std::unordered_map<std::uint64_t, Members> classes_;
  std::uint64_t blocks_ = 0;
  unsigned shift_ = 0; ///< one of so many powers of two of the hashes is kept
};

} // namespace warplens::exec
