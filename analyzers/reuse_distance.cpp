// SPDX-License-Identifier: Apache-2.0
#include "analyzers/reuse_distance.hpp"

#include "emulator/base/processors.hpp"

#include <bit>

namespace warplens::analyzers {

namespace {

/// The number of set bits in [begin, end) of the words.
WARPLENS_PER_PROCESSOR std::uint64_t count_bits(const std::vector<std::uint64_t>& words, std::size_t begin,
                                                std::size_t end) {
  if (begin >= end) return 0;
  const std::size_t first = begin / 64, last = (end - 1) / 64;
  const std::uint64_t low = ~std::uint64_t{0} << begin % 64, high = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) return static_cast<std::uint64_t>(std::popcount(words[first] & low & high));
  int sum = std::popcount(words[first] & low) + std::popcount(words[last] & high);
  for (std::size_t i = first + 1; i < last; ++i) sum += std::popcount(words[i]);
  return static_cast<std::uint64_t>(sum);
}

} // namespace

std::uint64_t StackDistance::between(std::size_t begin, std::size_t end) const {
  const std::size_t first = begin / kPage + 1, last = end / kPage; // whole pages
  if (first >= last) return count_bits(last_uses_, begin, end);
  std::uint64_t sum = count_bits(last_uses_, begin, first * kPage) + count_bits(last_uses_, last * kPage, end);
  for (std::size_t page = first; page < last; ++page) sum += pages_[page];
  return sum;
}

std::optional<std::uint64_t> StackDistance::use(std::uint64_t line) {
  if (now_ % kWord == 0) last_uses_.push_back(0);
  if (now_ % kPage == 0) pages_.push_back(0);
  const auto [number, is_new] = lines_.of(line);
  std::optional<std::uint64_t> distance;
  if (is_new) {
    last_use_.push_back(now_);
  } else {
    std::size_t& last = last_use_[number];
    distance = between(last + 1, now_);
    last_uses_[last / kWord] &= ~(std::uint64_t{1} << last % kWord);
    --pages_[last / kPage];
    last = now_;
  }
  last_uses_[now_ / kWord] |= std::uint64_t{1} << now_ % kWord;
  ++pages_[now_ / kPage];
  ++now_;
  return distance;
}

void StackDistance::clear() {
  last_uses_.clear();
  pages_.clear();
  lines_.clear();
  last_use_.clear();
  now_ = 0;
}

void ReuseDistance::Row::add(const Row& other) {
  first += other.first;
  again += other.again;
  between += other.between;
}

void ReuseDistance::study(const Streams& streams) {
  recorded_ = streams.recorded();
  StackDistance stack;
  for (const std::uint64_t cta : streams.kept_ctas()) {
    stack.clear();
    streams.each_of_cta(cta, [&](const StreamPlace&, const StreamAccess& access) {
      Row& row = rows_[row_of(access.instruction)];
      for (const LineUse& use : access.lines) {
        const std::optional<std::uint64_t> distance = stack.use(use.line());
        if (!distance) {
          ++row.first;
          continue;
        }
        ++row.again;
        row.between += *distance;
        ++histogram_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(*distance)), kBuckets - 1)];
      }
    });
  }
}

namespace {

void add_reuse(Metrics& metrics, const ReuseDistance::Row& row) {
  metrics.add(MetricId::reuse_first, row.first);
  metrics.add(MetricId::reuse_again, row.again);
  metrics.add_ratio(MetricId::reuse_mean, static_cast<double>(row.between), static_cast<double>(row.again));
}

} // namespace

void ReuseDistance::report(Metrics& launch, std::vector<InstructionRow>& rows) const {
  const Row total = add_rows(rows_, rows, add_reuse);
  launch.add_ratio(MetricId::reuse_coverage, 100 * static_cast<double>(recorded_.kept),
                   static_cast<double>(recorded_.all));
  add_reuse(launch, total);
  for (std::size_t b = 0; b < kBuckets; ++b) {
    if (b != 0 && histogram_[b] == 0) continue;
    const std::uint64_t low = b == 0 ? 0 : std::uint64_t{1} << (b - 1), high = b == 0 ? 0 : 2 * low - 1;
    const std::string range = high > low ? std::to_string(low) + "_to_" + std::to_string(high) : std::to_string(low);
    launch.add({MetricId::reuse_of_distance, range}, histogram_[b]);
  }
}

} // namespace warplens::analyzers
