// SPDX-License-Identifier: Apache-2.0
#include "analyzers/cache.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

namespace {
constexpr std::uint32_t kSector = 32, kLine = 128;
} // namespace

Cache::Cache(const CacheGeometry& geometry)
    : geometry_(geometry), sectors_per_line_(geometry.line_bytes / kSector),
      sets_(std::max<std::uint64_t>(geometry.bytes / (std::uint64_t{geometry.line_bytes} * geometry.ways), 1)) {}

template <class Part> void Cache::split(std::uint64_t line, std::uint32_t sectors, Part&& part) {
  const std::uint32_t parts = kLine / geometry_.line_bytes, mask = (1u << sectors_per_line_) - 1;
  for (std::uint32_t i = 0; i < parts; ++i)
    if (const std::uint32_t own = sectors >> (i * sectors_per_line_) & mask)
      part(line * parts + i, own, i * sectors_per_line_);
}

std::uint32_t Cache::number_of(std::uint64_t line) {
  const auto [number, is_new] = numbers_.of(line);
  if (is_new) {
    lines_.emplace_back();
    lines_.back().number = line;
    lines_.back().set = static_cast<std::uint32_t>(line % sets_.size());
  }
  return number;
}

void Cache::link(std::uint32_t number) {
  Line& line = lines_[number];
  Set& set = sets_[line.set];
  line.newer = kNone;
  line.older = set.newest;
  (set.newest == kNone ? set.oldest : lines_[set.newest].newer) = number;
  set.newest = number;
}

void Cache::unlink(std::uint32_t number) {
  const Line& line = lines_[number];
  Set& set = sets_[line.set];
  (line.newer == kNone ? set.newest : lines_[line.newer].older) = line.older;
  (line.older == kNone ? set.oldest : lines_[line.older].newer) = line.newer;
}

void Cache::use(std::uint32_t number) {
  if (sets_[lines_[number].set].newest == number) return;
  unlink(number);
  link(number);
}

void Cache::throw_out(std::uint32_t number) {
  Line& line = lines_[number];
  if (!line.here) return;
  unlink(number);
  --sets_[line.set].count;
  line.here = false;
  line.valid = line.dirty = 0;
}

// A line that is not cached.
void Cache::bring(std::uint32_t number, Outcome& outcome) {
  Set& set = sets_[lines_[number].set];
  if (set.count == geometry_.ways) {
    ++outcome.evicted;
    if (const Line& oldest = lines_[set.oldest]; oldest.dirty != 0) {
      if (outcome.written == 0) written_.clear();
      outcome.written += static_cast<std::uint32_t>(std::popcount(oldest.dirty));
      const std::uint64_t parts = kLine / geometry_.line_bytes;
      written_.push_back(
          {oldest.number / parts, std::uint32_t{oldest.dirty} << oldest.number % parts * sectors_per_line_});
    }
    throw_out(set.oldest);
  }
  ++set.count;
  lines_[number].here = true;
  link(number);
}

Cache::Outcome Cache::load(std::uint64_t whole, std::uint32_t wanted) {
  Outcome outcome;
  split(whole, wanted, [&](std::uint64_t address, std::uint32_t sectors, std::uint32_t shift) {
    const std::uint32_t number = number_of(address);
    if (lines_[number].here)
      use(number);
    else
      bring(number, outcome);
    Line& line = lines_[number];
    const std::uint32_t missing = sectors & ~line.valid;
    std::uint32_t fetched = 0;
    const std::uint32_t together = geometry_.sector_bytes / kSector, group = (1u << together) - 1;
    for (std::uint32_t s = 0; missing && s < sectors_per_line_; s += together)
      if (missing >> s & group) fetched |= group << s;
    outcome.hit |= (sectors & line.valid) << shift;
    outcome.missed |= (fetched & ~line.valid) << shift;
    outcome.again |= (missing & line.held) << shift;
    line.valid = static_cast<std::uint8_t>(line.valid | fetched);
    line.held = static_cast<std::uint8_t>(line.held | fetched);
  });
  return outcome;
}

Cache::Outcome Cache::store(std::uint64_t whole, std::uint32_t wanted, CacheGeometry::Store how) {
  Outcome outcome;
  split(whole, wanted, [&](std::uint64_t address, std::uint32_t sectors, std::uint32_t shift) {
    const bool allocates = how == CacheGeometry::Store::keep || how == CacheGeometry::Store::back;
    const std::optional<std::uint32_t> known = allocates ? number_of(address) : numbers_.find(address);
    if (!known) return;
    Line& line = lines_[*known];
    outcome.hit |= (sectors & line.valid) << shift;
    if (how == CacheGeometry::Store::evict) return throw_out(*known);
    if (line.here) use(*known);
    if (!allocates) return;
    if (!line.here) bring(*known, outcome);
    line.valid = static_cast<std::uint8_t>(line.valid | sectors);
    if (how == CacheGeometry::Store::back) line.dirty = static_cast<std::uint8_t>(line.dirty | sectors);
    line.held = static_cast<std::uint8_t>(line.held | sectors);
  });
  return outcome;
}

void Cache::invalidate(std::uint64_t whole) {
  split(whole, 15, [&](std::uint64_t address, std::uint32_t, std::uint32_t) {
    if (const auto number = numbers_.find(address)) throw_out(*number);
  });
}

} // namespace warplens::analyzers
