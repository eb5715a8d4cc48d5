#include "analyzers/cache.hpp"

#include <algorithm>
#include <bit>

namespace warplens::analyzers {

namespace {
constexpr std::uint32_t kSector = 32, kLine = 128;
} // namespace

Cache::Cache(const CacheGeometry& geometry)
    : geometry_(geometry), sectors_per_line_(geometry.line_bytes / kSector),
      sets_(std::max<std::uint64_t>(geometry.bytes / (std::uint64_t{geometry.line_bytes} * geometry.ways), 1)),
      ways_(sets_ * geometry.ways) {}

template <class Part> void Cache::split(std::uint64_t line, std::uint32_t sectors, Part&& part) {
  const std::uint32_t parts = kLine / geometry_.line_bytes, mask = (1u << sectors_per_line_) - 1;
  for (std::uint32_t i = 0; i < parts; ++i)
    if (const std::uint32_t own = sectors >> (i * sectors_per_line_) & mask)
      part(line * parts + i, own, i * sectors_per_line_);
}

Cache::Way* Cache::find(std::uint64_t line) {
  Way* const set = ways_.data() + line % sets_ * geometry_.ways;
  for (Way* way = set; way != set + geometry_.ways; ++way)
    if (way->used != 0 && way->line == line) return way;
  return nullptr;
}

// The way of a line that is not there yet.
Cache::Way& Cache::take(std::uint64_t line, Outcome& outcome) {
  Way* const set = ways_.data() + line % sets_ * geometry_.ways;
  Way* const oldest =
      std::min_element(set, set + geometry_.ways, [](const Way& a, const Way& b) { return a.used < b.used; });
  if (oldest->used != 0) {
    ++outcome.evicted;
    outcome.written += static_cast<std::uint32_t>(std::popcount(oldest->dirty));
  }
  *oldest = {line, 0, 0, 0};
  return *oldest;
}

Cache::Outcome Cache::load(std::uint64_t whole, std::uint32_t wanted) {
  Outcome outcome;
  split(whole, wanted, [&](std::uint64_t line, std::uint32_t sectors, std::uint32_t shift) {
    Way* way = find(line);
    if (way == nullptr) way = &take(line, outcome);
    way->used = ++now_;
    const std::uint32_t missing = sectors & ~way->valid;
    std::uint32_t fetched = 0;
    const std::uint32_t together = geometry_.sector_bytes / kSector, group = (1u << together) - 1;
    for (std::uint32_t s = 0; s < sectors_per_line_; s += together)
      if (missing >> s & group) fetched |= group << s;
    outcome.hit |= (sectors & way->valid) << shift;
    outcome.missed |= (fetched & ~way->valid) << shift;
    way->valid |= fetched;
  });
  return outcome;
}

Cache::Outcome Cache::store(std::uint64_t whole, std::uint32_t wanted) {
  Outcome outcome;
  split(whole, wanted, [&](std::uint64_t line, std::uint32_t sectors, std::uint32_t shift) {
    Way* way = find(line);
    if (way != nullptr) outcome.hit |= (sectors & way->valid) << shift;
    switch (geometry_.store) {
    case CacheGeometry::Store::evict:
      if (way != nullptr) *way = {};
      return;
    case CacheGeometry::Store::update:
      if (way != nullptr) way->used = ++now_;
      return;
    case CacheGeometry::Store::back: break;
    }
    if (way == nullptr) way = &take(line, outcome);
    way->used = ++now_;
    way->valid |= sectors;
    way->dirty |= sectors;
  });
  return outcome;
}

void Cache::invalidate(std::uint64_t whole) {
  split(whole, 15, [&](std::uint64_t line, std::uint32_t, std::uint32_t) {
    if (Way* const way = find(line)) *way = {};
  });
}

// A line with sectors is never 0, as some sector is set.
std::uint64_t& SectorSet::slot(std::uint64_t line) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = line * 0x9e3779b97f4a7c15u >> 20 & mask;
  while (slots_[at] != 0 && slots_[at] >> 4 != line) at = (at + 1) & mask;
  return slots_[at];
}

std::uint32_t SectorSet::add(std::uint64_t line, std::uint32_t sectors) {
  if (sectors == 0) return 0;
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<std::uint64_t> old(2 * slots_.size());
    old.swap(slots_);
    for (const std::uint64_t value : old)
      if (value != 0) slot(value >> 4) = value;
  }
  std::uint64_t& value = slot(line);
  if (value == 0) ++count_;
  const auto there = static_cast<std::uint32_t>(value & 15) & sectors;
  value |= line << 4 | sectors;
  return there;
}

} // namespace warplens::analyzers
