// SPDX-License-Identifier: Apache-2.0
#include "analyzers/streams.hpp"

#include "analyzers/coalescing.hpp"
#include "analyzers/footprint.hpp"
#include "analyzers/local_memory.hpp"

#include <bit>
#include <optional>

namespace warplens::analyzers {

namespace {

// A header, in a separate word before the lines.
LineUse header(const exec::Access& access, std::size_t lines) {
  return {std::uint64_t{access.instruction} << 32 | std::uint64_t{access.space == isa::Space::local} << 24 |
          static_cast<std::uint64_t>(access.kind) << 16 | lines};
}
/// Behind the last line that a 64-bit address can have.
constexpr std::uint64_t kFirstLocalLine = std::uint64_t{1} << 57;

constexpr std::size_t kFirstWords = 16;
constexpr std::uint64_t kSectorsOfLine = kLineBytes / kSectorBytes;

/// A byte range that touches every sector from the first to the last.
struct Run {
  std::uint64_t first, last;
  [[nodiscard]] std::uint64_t first_line() const { return first / kLineBytes; }
  [[nodiscard]] std::uint64_t last_line() const { return last / kLineBytes; }
  [[nodiscard]] LineUse part_in(std::uint64_t line) const {
    const std::uint64_t from = std::max(first / kSectorBytes, line * kSectorsOfLine) % kSectorsOfLine,
                        to = std::min(last / kSectorBytes, line * kSectorsOfLine + 3) % kSectorsOfLine;
    return LineUse::of(line, (2u << to) - (1u << from));
  }
};

/// The byte range of an access, if it is easy to determine.
std::optional<Run> run_of(const exec::Access& access) {
  if (access.shape == exec::Shape::irregular || access.stride < 0 ||
      access.stride > static_cast<std::int64_t>(kSectorBytes))
    return std::nullopt;
  const exec::Mask lanes = access.mask >> std::countr_zero(access.mask);
  if (access.stride != 0 && (lanes & (lanes + 1)) != 0) return std::nullopt; // there is a gap
  const std::uint64_t low = access.addresses[std::countr_zero(access.mask)],
                      high = access.addresses[31 - std::countl_zero(access.mask)];
  if (high < low) return std::nullopt; // around the end of the address space
  return Run{low, high + access.lane_bytes - 1};
}

/// The byte ranges of the two halves of a warp, if they are in ascending order and in separate lines: rows of a tile.
std::optional<std::pair<Run, Run>> runs_of_halves(const exec::Access& access) {
  if (access.mask != ~exec::Mask{0}) return std::nullopt;
  const std::uint64_t* const a = access.addresses;
  const std::uint64_t stride = a[1] - a[0];
  std::uint64_t differing = stride > kSectorBytes ? 1 : 0;
  for (int i = 0; i < 15; ++i) differing |= (a[i + 1] - a[i] - stride) | (a[i + 17] - a[i + 16] - stride);
  if (differing != 0) return std::nullopt;
  const Run low{a[0], a[15] + access.lane_bytes - 1}, high{a[16], a[31] + access.lane_bytes - 1};
  if (low.last < low.first || high.last < high.first || low.last_line() >= high.first_line()) return std::nullopt;
  return std::pair(low, high);
}

/// The maximum that is recorded of a launch.
struct Room {
  std::uint64_t warps;
  std::size_t words;
};
constexpr Room kOfWaves = {Streams::kWarps, Streams::kWords};
constexpr Room kOfGlance = {4096, std::size_t{3} << 16}; ///< 1.5 MB
constexpr Room kOfSample = {~std::uint64_t{0}, std::size_t{1} << 18};

} // namespace

Streams::Streams(const exec::LaunchShape& shape, const Board& board, Part part) : shape_(shape), board_(board) {
  board_.multiprocessors = std::max(1u, board_.multiprocessors);
  board_.resident_ctas = std::max(1u, board_.resident_ctas);
  const Room& room = part == Part::first_waves ? kOfWaves : part == Part::glance ? kOfGlance : kOfSample;
  const std::uint64_t warps = std::max(1u, shape.warps()), ctas = shape.ctas(), wave = board_.wave();
  const std::uint64_t blocks = std::max<std::uint64_t>(room.warps / warps, 1), waves = (ctas + wave - 1) / wave;
  kept_ = {.wave = wave, .ctas = ctas, .first_waves = 1, .multiprocessors = board_.multiprocessors};
  switch (part) {
  case Part::first_waves:
    kept_.first_waves = std::clamp<std::uint64_t>(blocks / wave, 1, waves);
    if (blocks < wave) kept_.ctas = std::min(ctas, blocks);
    break;
  case Part::glance:
    kept_.first_waves = std::clamp<std::uint64_t>(blocks / wave / (blocks >= ctas ? 1 : 2), 1, waves);
    kept_.middle_waves = std::min(kept_.first_waves, waves - kept_.first_waves);
    kept_.every =
        std::min<std::uint64_t>((std::min(ctas, kept_.waves() * wave) - 1) / blocks + 1, board_.multiprocessors);
    break;
  case Part::one_multiprocessor:
    kept_.middle_waves = waves > 1 ? 1 : 0;
    kept_.every = board_.multiprocessors;
    break;
  }
  kept_.middle = std::max(kept_.first_waves, (waves - kept_.middle_waves) / 2);
  kept_.sampled = static_cast<std::uint32_t>(std::min<std::uint64_t>(ctas, board_.multiprocessors) / 2);
  const std::uint64_t kept = std::min(kept_.ctas, kept_.waves() * wave);
  words_per_warp_ = room.words / std::max<std::uint64_t>(((kept - 1) / kept_.every + 1) * warps, 1);
}

std::unique_ptr<Streams::Shard> Streams::make_shard() const { return std::make_unique<Shard>(*this); }

bool Streams::Shard::begin_cta(std::uint64_t cta) {
  if (!records(cta)) return false;
  ctas_[cta].resize(warps_);
  return true;
}

/// Null if the warp is not recorded, or if its space is used up.
Streams::Warp* Streams::Shard::warp_of(const exec::WarpId& id) {
  if (id.warp >= warps_) return nullptr;
  if (last_ == nullptr || last_number_ != id.cta) {
    const auto found = ctas_.find(id.cta);
    if (found == ctas_.end()) return nullptr;
    last_ = &found->second;
    last_number_ = id.cta;
  }
  Warp& warp = (*last_)[id.warp];
  return warp.full ? nullptr : &warp;
}

void Streams::Shard::each_access(const exec::WarpId& id, const exec::Access& access) {
  const bool local = access.space == isa::Space::local && with_local_;
  if (access.space != isa::Space::global && !local) return;
  Warp* const found = warp_of(id);
  if (found == nullptr) return;
  Warp& warp = *found;
  if (warp.words.empty()) warp.words.reserve(std::min(words_, kFirstWords));
  const std::size_t begin = warp.words.size();
  warp.words.emplace_back();
  const auto push = [&](const Run& run) {
    for (std::uint64_t line = run.first_line(); line <= run.last_line(); ++line)
      warp.words.push_back(run.part_in(line));
  };
  if (local) {
    local_lines(access, warp.words);
  } else if (const std::optional<Run> run = run_of(access)) {
    push(*run);
  } else if (const auto halves = runs_of_halves(access)) {
    push(halves->first);
    push(halves->second);
  } else {
    const Footprint footprint(access.addresses, access.mask, access.lane_bytes);
    for (const Footprint::Line& line : footprint.lines()) warp.words.push_back(LineUse::of(line.number, line.sectors));
  }
  if (warp.words.size() > words_) {
    warp.full = true;
    warp.words.resize(begin);
    return;
  }
  warp.words[begin] = header(access, warp.words.size() - begin - 1);
  ++(local ? local_ : recorded_).kept;
  for (std::size_t i = begin + 1; local && i < warp.words.size(); ++i)
    local_lines_ = std::max(local_lines_, warp.words[i].line() + 1);
}

void Streams::absorb(Shard& shard) {
  ctas_.merge(shard.ctas_);
  shard.ctas_.clear();
  shard.last_ = nullptr;
  recorded_.add(shard.recorded_);
  local_.add(shard.local_);
  local_lines_ = std::max(local_lines_, shard.local_lines_);
}

/// The read position in the accesses of a warp.
struct Streams::Cursor {
  const Warp* warp;
  StreamPlace place;
  std::optional<std::uint64_t> local_place; ///< the first line of the warp's local memory; none: skip local memory
  std::size_t next = 0;

  /// `moved`: a buffer for the lines of local memory at their final addresses.
  bool step(const Visit& visit, std::vector<LineUse>& moved) {
    std::uint64_t head = 0;
    std::span<const LineUse> lines;
    bool local = false;
    do {
      if (next >= warp->words.size()) return false;
      head = warp->words[next].packed;
      lines = std::span(warp->words).subspan(next + 1, head & 0xffff);
      next += 1 + lines.size();
      local = (head >> 24 & 1) != 0;
    } while (local && !local_place);
    if (local) {
      moved.assign(lines.begin(), lines.end());
      for (LineUse& use : moved) use.packed += *local_place << 4;
      lines = moved;
    }
    visit(place, {static_cast<std::uint32_t>(head >> 32), static_cast<exec::AccessKind>(head >> 16 & 0xff),
                  local ? isa::Space::local : isa::Space::global, lines});
    ++place.round;
    return true;
  }
};

std::uint64_t Streams::local_place(std::uint64_t cta, std::uint32_t warp) const {
  const std::uint64_t slot = cta % board_.wave() / board_.multiprocessors,
                      multiprocessor = cta % board_.multiprocessors,
                      number = (multiprocessor * board_.resident_ctas + slot) * shape_.warps() + warp;
  return kFirstLocalLine + number * local_lines_;
}

std::vector<std::uint64_t> Streams::ctas_of(std::uint64_t wave, std::uint32_t multiprocessor) const {
  std::vector<std::uint64_t> list;
  for (std::uint32_t slot = 0; slot < board_.resident_ctas; ++slot) {
    const std::uint64_t cta =
        kept_.number(wave) * board_.wave() + std::uint64_t{slot} * board_.multiprocessors + multiprocessor;
    if (ctas_.empty() || cta > ctas_.rbegin()->first) break;
    if (cta_of(cta) != nullptr) list.push_back(cta);
  }
  return list;
}

std::vector<std::uint64_t> Streams::kept_ctas() const {
  std::vector<std::uint64_t> list;
  for (const auto& [number, cta] : ctas_) list.push_back(number);
  return list;
}

void Streams::rounds(std::vector<Cursor> cursors, const Visit& visit) const {
  std::vector<LineUse> moved;
  while (!cursors.empty()) {
    // Finished warps are removed; the others keep their order.
    const auto gone = std::remove_if(cursors.begin(), cursors.end(), [&](Cursor& c) { return !c.step(visit, moved); });
    cursors.erase(gone, cursors.end());
  }
}

void Streams::each_of_wave(std::uint64_t wave, const Visit& visit) const {
  std::vector<Cursor> cursors;
  for (std::uint32_t m = 0; m < board_.multiprocessors; ++m)
    for (const std::uint64_t cta : ctas_of(wave, m))
      for (std::uint32_t w = 0; const Warp& warp : *cta_of(cta)) {
        cursors.push_back({&warp, {0, m, cta, w}, local_place(cta, w)});
        ++w;
      }
  rounds(std::move(cursors), visit);
}

void Streams::each_of_cta(std::uint64_t cta, const Visit& visit) const {
  std::vector<Cursor> cursors;
  if (const Cta* const warps = cta_of(cta))
    for (std::uint32_t w = 0; w < warps->size(); ++w) cursors.push_back({&(*warps)[w], {0, 0, cta, w}, {}});
  rounds(std::move(cursors), visit);
}

void Streams::each_of_warp(std::uint64_t cta, std::uint32_t warp, const Visit& visit) const {
  const Cta* const warps = cta_of(cta);
  if (warps == nullptr || warp >= warps->size()) return;
  std::vector<LineUse> moved;
  Cursor cursor{&(*warps)[warp], {0, 0, cta, warp}, {}};
  while (cursor.step(visit, moved)) {
  }
}

} // namespace warplens::analyzers
