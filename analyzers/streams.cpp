#include "analyzers/streams.hpp"

#include "analyzers/footprint.hpp"

#include <bit>
#include <optional>

namespace warplens::analyzers {

namespace {

// A header, in a word of its own before the lines.
LineUse header(const exec::Access& access, std::size_t lines) {
  return {std::uint64_t{access.instruction} << 32 | static_cast<std::uint64_t>(access.kind) << 8 | lines};
}

constexpr std::size_t kFirstWords = 16;
constexpr std::uint64_t kLine = 128, kSector = 32, kSectorsOfLine = kLine / kSector;

/// The bytes of an access that leaves out no sector between its first and its last; none where that is not plain to
/// see.
struct Run {
  std::uint64_t first, last;
};
std::optional<Run> run_of(const exec::Access& access) {
  if (access.shape == exec::Shape::irregular || access.stride < 0 || access.stride > static_cast<std::int64_t>(kSector))
    return std::nullopt;
  const exec::Mask lanes = access.mask >> std::countr_zero(access.mask);
  if (access.stride != 0 && (lanes & (lanes + 1)) != 0) return std::nullopt; // there is a gap
  const std::uint64_t low = access.addresses[std::countr_zero(access.mask)],
                      high = access.addresses[31 - std::countl_zero(access.mask)];
  if (high < low) return std::nullopt; // around the end of the address space
  return Run{low, high + access.lane_bytes - 1};
}

} // namespace

Streams::Streams(const exec::LaunchShape& shape, const Board& board, Part part) : shape_(shape), board_(board) {
  board_.multiprocessors = std::max(1u, board_.multiprocessors);
  board_.resident_ctas = std::max(1u, board_.resident_ctas);
  const std::uint64_t warps = std::max(1u, shape.warps()), wave = board_.wave();
  const std::uint64_t room = std::max<std::uint64_t>(kWarps / warps, 1); // blocks
  kept_ctas_ = std::min(shape.ctas(), room < wave ? room : room / wave * wave);
  std::uint64_t blocks = kept_ctas_;
  if (part == Part::one_multiprocessor) {
    kept_ctas_ = std::min(kept_ctas_, wave);
    every_ = board_.multiprocessors;
    blocks = (kept_ctas_ + every_ - 1) / every_;
  }
  constexpr std::size_t kWordsOfSample = kWords / 16;
  const std::size_t words = part == Part::one_multiprocessor ? kWordsOfSample : kWords;
  words_per_warp_ = words / std::max<std::uint64_t>(blocks * warps, 1);
}

std::unique_ptr<Streams::Shard> Streams::make_shard() const { return std::make_unique<Shard>(*this); }

bool Streams::Shard::begin_cta(std::uint64_t cta) {
  if (cta >= kept_ctas_ || cta % every_ != 0) return false;
  ctas_[cta].resize(warps_);
  return true;
}

void Streams::Shard::each_access(const exec::WarpId& id, const exec::Access& access) {
  if (access.space != isa::Space::global || id.warp >= warps_) return;
  if (last_ == nullptr || last_number_ != id.cta) {
    const auto found = ctas_.find(id.cta);
    if (found == ctas_.end()) return;
    last_ = &found->second;
    last_number_ = id.cta;
  }
  Warp& warp = (*last_)[id.warp];
  if (warp.full) return;
  if (warp.words.empty()) warp.words.reserve(std::min(words_, kFirstWords));
  const std::size_t begin = warp.words.size();
  warp.words.emplace_back();
  if (const std::optional<Run> run = run_of(access)) {
    for (std::uint64_t line = run->first / kLine; line <= run->last / kLine; ++line) {
      const std::uint64_t from = std::max(run->first / kSector, line * kSectorsOfLine) % kSectorsOfLine,
                          to = std::min(run->last / kSector, line * kSectorsOfLine + 3) % kSectorsOfLine;
      warp.words.push_back({line << 4 | ((2u << to) - (1u << from))});
    }
  } else {
    const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
    for (const Footprint::Line& line : footprint.lines()) warp.words.push_back({line.number << 4 | line.sectors});
  }
  if (warp.words.size() > words_) {
    warp.full = true;
    warp.words.resize(begin);
    return;
  }
  warp.words[begin] = header(access, warp.words.size() - begin - 1);
  ++recorded_.kept;
}

void Streams::absorb(Shard& shard) {
  ctas_.resize(kept_ctas_);
  for (auto& [number, cta] : shard.ctas_) ctas_[number] = std::move(cta);
  shard.ctas_.clear();
  shard.last_ = nullptr;
  recorded_.kept += shard.recorded_.kept;
  recorded_.all += shard.recorded_.all;
}

/// How far the accesses of a warp have been looked at.
struct Streams::Cursor {
  const Warp* warp;
  StreamPlace place;
  std::size_t next = 0;

  bool step(const Visit& visit) {
    if (next >= warp->words.size()) return false;
    const std::uint64_t head = warp->words[next].packed;
    const std::size_t lines = head & 0xff;
    visit(place, {static_cast<std::uint32_t>(head >> 32), static_cast<exec::AccessKind>(head >> 8 & 0xff),
                  std::span(warp->words).subspan(next + 1, lines)});
    next += 1 + lines;
    ++place.round;
    return true;
  }
};

std::vector<std::uint64_t> Streams::ctas_of(std::uint64_t wave, std::uint32_t multiprocessor) const {
  std::vector<std::uint64_t> list;
  for (std::uint32_t slot = 0; slot < board_.resident_ctas; ++slot) {
    const std::uint64_t cta = wave * board_.wave() + std::uint64_t{slot} * board_.multiprocessors + multiprocessor;
    if (cta < ctas_.size()) list.push_back(cta);
  }
  return list;
}

void Streams::rounds(std::vector<Cursor> cursors, const Visit& visit) const {
  while (!cursors.empty()) {
    // Those that are through leave; the others keep their order.
    const auto gone = std::remove_if(cursors.begin(), cursors.end(), [&](Cursor& c) { return !c.step(visit); });
    cursors.erase(gone, cursors.end());
  }
}

void Streams::each_of_wave(std::uint64_t wave, const Visit& visit) const {
  std::vector<Cursor> cursors;
  for (std::uint32_t m = 0; m < board_.multiprocessors; ++m)
    for (const std::uint64_t cta : ctas_of(wave, m))
      for (std::uint32_t w = 0; w < ctas_[cta].size(); ++w) cursors.push_back({&ctas_[cta][w], {0, m, cta, w}});
  rounds(std::move(cursors), visit);
}

void Streams::each_of_cta(std::uint64_t cta, const Visit& visit) const {
  std::vector<Cursor> cursors;
  if (cta < ctas_.size())
    for (std::uint32_t w = 0; w < ctas_[cta].size(); ++w) cursors.push_back({&ctas_[cta][w], {0, 0, cta, w}});
  rounds(std::move(cursors), visit);
}

void Streams::each_of_warp(std::uint64_t cta, std::uint32_t warp, const Visit& visit) const {
  if (cta >= ctas_.size() || warp >= ctas_[cta].size()) return;
  Cursor cursor{&ctas_[cta][warp], {0, 0, cta, warp}};
  while (cursor.step(visit)) {
  }
}

} // namespace warplens::analyzers
