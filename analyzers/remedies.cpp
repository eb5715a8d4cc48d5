// SPDX-License-Identifier: Apache-2.0
#include "analyzers/remedies.hpp"

#include "analyzers/finding_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <functional>
#include <set>

namespace warplens::analyzers {

namespace {

using isa::Space;

// A structure is seldom larger: then neighbouring elements are rows of a matrix.
constexpr std::int64_t kLargestStructure = 128;
// Iterations of a loop that compilers and people make one: so many words further is the next access of an instruction.
constexpr std::int64_t kUnrolled = 8;
// Of the range that an instruction spans, the share that it accesses from which on it counts as dense. Halos and the
// rest of the last block leave some of a matrix out.
constexpr double kDense = 0.6;
// Instructions belong together, like the load and the store of a copy, if their numbers of requests differ by less.
constexpr double kSimilar = 2;
// Rows end within a warp if requests have this many runs of consecutive words, of this share of neighbouring lanes.
constexpr double kSeveralRuns = 1.5, kMostPairs = 0.75;
// Padding must remove this share of an instruction's conflicts: more than a detour through another pattern would.
constexpr double kWorthPadding = 0.5;
// Of a stage in shared memory, per request: the store and the load, and the computation of two addresses.
constexpr double kStagePasses = 2, kStageInstructions = 4;
// Of a tile of 32 x 32 words, as blocks of 32 x 8 threads move it: M. Harris, An Efficient Matrix Transpose in CUDA
// C/C++.
constexpr int kWordsOfThread = 4;

std::uint64_t requests_of(const InstructionRow& row) {
  std::uint64_t sum = 0;
  for (const TransactionCount& one : row.counts.transactions) sum += one.requests;
  return sum;
}

bool is_load(const InstructionRow& row) { return row.counts.of_global(exec::AccessKind::load).requests != 0; }

/// The distance of all lanes from one access to the other, if it is the same and the lanes are.
std::optional<std::int64_t> distance(const RecordedAccess& from, const RecordedAccess& to) {
  if (from.mask != to.mask || from.space != to.space || from.kind != to.kind) return std::nullopt;
  const int first = std::countr_zero(from.mask);
  const std::uint64_t moved = to.addresses[first] - from.addresses[first];
  for (const int lane : exec::EachLane(from.mask))
    if (to.addresses[lane] - from.addresses[lane] != moved) return std::nullopt;
  return static_cast<std::int64_t>(moved);
}

/// The distance between two consecutive visits of a warp, if it is always the same.
std::optional<std::int64_t> between_visits(const InstructionRow& row) {
  std::optional<std::int64_t> found;
  for (std::size_t i = 0; i + 1 < row.recorded.size(); ++i) {
    const RecordedAccess &a = row.recorded[i], &b = row.recorded[i + 1];
    if (a.cta != b.cta || a.warp != b.warp || a.visit + 1 != b.visit) continue;
    const auto moved = distance(a, b);
    if (!moved || (found && *found != *moved)) return std::nullopt;
    found = moved;
  }
  return found;
}

/// The distance from the first warp to the second.
std::optional<std::int64_t> between_warps(const InstructionRow& row) {
  for (const RecordedAccess& a : row.recorded)
    for (const RecordedAccess& b : row.recorded)
      if (a.warp == 0 && b.warp == 1 && a.cta == b.cta && a.visit == b.visit && a.visit == 0) return distance(a, b);
  return std::nullopt;
}

/// Lanes in groups: `stride` from lane to lane, `step` from group to group. One group: the whole warp.
struct Lattice {
  std::int64_t stride = 0, step = 0;
  int group = exec::kWarpSize;
};

std::optional<Lattice> lattice_of(const RecordedAccess& a) {
  if (a.mask != ~exec::Mask{0}) return std::nullopt;
  const auto from_first = [&](std::uint32_t lane) { return a.addresses[lane] - a.addresses[0]; };
  for (const std::uint32_t group : {32u, 16u, 8u, 4u, 2u}) {
    const std::uint64_t stride = from_first(1), step = group == exec::kWarpSize ? 0 : from_first(group);
    bool fits = true;
    for (std::uint32_t lane = 0; lane < exec::kWarpSize && fits; ++lane)
      fits = from_first(lane) == lane % group * stride + lane / group * step;
    if (fits)
      return Lattice{static_cast<std::int64_t>(stride), static_cast<std::int64_t>(step), static_cast<int>(group)};
  }
  return std::nullopt;
}

const RecordedAccess* typical(const InstructionRow& row, Space space) {
  for (const RecordedAccess& a : row.recorded)
    if (a.space == space && a.role == RecordedAccess::Role::typical) return &a;
  return nullptr;
}

/// Whether both are of one line of the source and of one kind: a loop that the compiler has unrolled.
bool same_line(const InstructionRow& a, const InstructionRow& b) {
  return a.source_line != 0 && a.source_line == b.source_line && a.source_file == b.source_file &&
         is_load(a) == is_load(b);
}

/// The share of the bytes from the lowest to the highest recorded address that the line of the instruction accesses in
/// the launch.
double density(const InstructionRow& row, const Profile& profile) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0, asked = 0;
  for (const InstructionRow& one : profile.instructions) {
    if (&one != &row && (!same_line(one, row) || !range_of(one).meets(range_of(row)))) continue;
    for (const RecordedAccess& a : one.recorded)
      for (const int lane : exec::EachLane(a.mask)) {
        low = std::min(low, a.addresses[lane]);
        high = std::max(high, a.addresses[lane] + a.lane_bytes);
      }
    for (const TransactionCount& count : one.counts.transactions) asked += count.asked;
  }
  return low < high ? static_cast<double>(asked) / static_cast<double>(high - low) : 1;
}

/// The distance of neighbouring lanes, also of those in shorter rows; 0 without one.
std::int64_t between_lanes(const InstructionRow& row) {
  if (row.stride != 0) return row.stride;
  const RecordedAccess* const usual = typical(row, Space::global);
  const auto lanes = usual != nullptr ? lattice_of(*usual) : std::nullopt;
  return lanes ? lanes->stride : 0;
}

/// The share of the bytes of structures that instructions of the same kind access, each less than a structure away and
/// in the same order; 0 if there is no other instruction.
double used_share(const InstructionRow& row, const Profile& profile) {
  const RecordedAccess* const own = typical(row, Space::global);
  const std::int64_t size = magnitude(between_lanes(row));
  if (own == nullptr || size <= row.lane_bytes || size > kLargestStructure) return 0;
  std::bitset<kLargestStructure> used;
  const auto use = [&](std::int64_t offset) {
    for (std::int64_t byte = offset; byte < offset + row.lane_bytes; ++byte)
      used.set(static_cast<std::size_t>((byte % size + size) % size));
  };
  std::bitset<2 * kLargestStructure> known; // distances that others have, from -size on
  const int lane = std::countr_zero(own->mask);
  for (const InstructionRow& other : profile.instructions) {
    if (&other == &row || other.stride != row.stride || other.pattern != row.pattern) continue;
    for (const RecordedAccess& a : other.recorded) {
      if (a.cta != own->cta || a.warp != own->warp || a.visit != own->visit) continue;
      const auto apart = static_cast<std::int64_t>(a.addresses[lane] - own->addresses[lane]);
      if (apart == 0 || apart <= -size || apart >= size) continue;
      if (known.test(static_cast<std::size_t>(apart + size)) || distance(*own, a) != apart) continue;
      known.set(static_cast<std::size_t>(apart + size));
      use(apart);
    }
  }
  if (known.none()) return 0;
  use(0);
  return static_cast<double>(used.count()) / static_cast<double>(size);
}

/// What remains of the transactions of an instruction if its accesses are perfect.
double remaining_of(const InstructionRow& row, const rules::Coalescing& rule) {
  double taken = 0, least = 0;
  const rules::Coalescing::Unit unit = unit_of_waste(rule);
  if (unit == rules::Coalescing::Unit::sectors) {
    taken = static_cast<double>(row.metrics.integer(MetricId::global_sectors));
    least = static_cast<double>(row.metrics.integer(MetricId::global_sectors_ideal));
  } else {
    const TransactionSums sum = row.counts.described(rule).sum;
    taken = static_cast<double>(unit == rules::Coalescing::Unit::bytes ? sum.bytes() : sum.total());
    least = static_cast<double>(sum.ideal);
  }
  return taken > 0 ? std::min(1.0, least / taken) : 1;
}

/// Of all instructions whose neighbouring lanes are as far apart: a change of the data or of the indices moves them
/// all.
Changes ideal_of_all(std::int64_t stride, const Profile& profile, const rules::Coalescing& rule, IdealAccesses& known) {
  Changes changes;
  auto& all = known[stride];
  changes.common = all;
  if (all) return changes;
  std::vector<Changes::Access> accesses;
  for (const InstructionRow& row : profile.instructions) {
    const RecordedAccess* const a = typical(row, Space::global);
    const auto lanes = a != nullptr ? lattice_of(*a) : std::nullopt;
    if (!lanes || magnitude(lanes->stride) != stride) continue;
    if (const double remaining = remaining_of(row, rule); remaining < 1)
      accesses.push_back({row.instruction, remaining});
  }
  changes.common = all = std::make_shared<const std::vector<Changes::Access>>(std::move(accesses));
  return changes;
}

/// Whether the kernel also has coalesced accesses of the other kind, about as many: exchanging the indices would make
/// these uncoalesced.
bool transposes(const InstructionRow& row, const Profile& profile) {
  const auto own = static_cast<double>(requests_of(row));
  return std::any_of(profile.instructions.begin(), profile.instructions.end(), [&](const InstructionRow& other) {
    const auto requests = static_cast<double>(requests_of(other));
    if (requests == 0 || is_load(other) == is_load(row)) return false;
    if (requests > kSimilar * own || own > kSimilar * requests) return false;
    const RecordedAccess* const a = typical(other, Space::global);
    const auto lanes = a != nullptr ? lattice_of(*a) : std::nullopt;
    return lanes && lanes->stride == a->lane_bytes && (lanes->group > 2);
  });
}

Changes ideal(const InstructionRow& row, double remaining) {
  Changes changes;
  changes.accesses.push_back({row.instruction, remaining});
  return changes;
}

/// Instructions that a thread executes for each of its words, if each warp makes each access once and a thread could
/// move several words: accesses, and computations with what they load. Empty if it could not.
std::set<std::uint32_t> executed_for_each_word(const Profile& profile, const Code& code) {
  if (code.function == nullptr || code.module == nullptr || ties_threads(*code.function)) return {};
  std::vector<const InstructionRow*> accesses;
  for (const InstructionRow& row : profile.instructions)
    if (requests_of(row) != 0) accesses.push_back(&row);
  const auto warps = static_cast<double>(profile.integer(MetricId::warps_launched));
  const bool once =
      std::all_of(accesses.begin(), accesses.end(), [&](const InstructionRow* row) { return executed(*row) == warps; });
  DataUses uses = uses_of_data(code, accesses);
  if (!once || uses.branch) return {};
  for (const InstructionRow* row : accesses) uses.instructions.insert(row->instruction);
  return std::move(uses.instructions);
}

/// A warp that moves several words of a tile computes its indices once for all of them.
Remedy staged(const InstructionRow& row, double remaining, const Profile& profile, const Code& code) {
  const auto requests = static_cast<double>(requests_of(row));
  const std::set<std::uint32_t> repeated = executed_for_each_word(profile, code);
  Remedy remedy{
      fmt::format("stage a tile in shared memory: load and store it with neighbouring threads on neighbouring "
                  "words, and exchange rows and columns in between{}",
                  repeated.empty() ? "" : fmt::format("; let each thread move {} words of the tile", kWordsOfThread)),
      ideal(row, remaining)};
  remedy.changes.bank_passes = -kStagePasses * requests;
  remedy.changes.instructions = -kStageInstructions * requests;
  remedy.changes.barriers = -requests;
  if (repeated.empty()) return remedy;
  remedy.changes.threads = 1.0 / kWordsOfThread;
  remedy.changes.barriers *= remedy.changes.threads;
  for (const InstructionRow& other : profile.instructions)
    if (repeated.count(other.instruction) == 0)
      remedy.changes.instructions += executed(other) * (1 - remedy.changes.threads);
  return remedy;
}

std::optional<Remedy> of_structures(const InstructionRow& row, const Profile& profile, const rules::Coalescing& rule,
                                    IdealAccesses& ideal_accesses) {
  const std::int64_t stride = magnitude(between_lanes(row));
  const double used = used_share(row, profile);
  if (used == 0) return std::nullopt;
  return Remedy{fmt::format("store the fields of these structures of {} bytes in separate arrays, so that neighbouring "
                            "threads access neighbouring words",
                            stride),
                ideal_of_all(stride, profile, rule, ideal_accesses), used >= kDense};
}

std::optional<Remedy> of_rows(const InstructionRow& row, const Lattice& lanes, double remaining, const Profile& profile,
                              const rules::Coalescing& rule, const Code& code, IdealAccesses& ideal_accesses) {
  const std::int64_t word = row.lane_bytes, stride = magnitude(lanes.stride);
  if (lanes.stride == word) {
    if (lanes.group == exec::kWarpSize) return std::nullopt; // only misaligned
    return Remedy{fmt::format("make the x dimension of the block a multiple of {} threads, so that a warp accesses "
                              "longer rows",
                              exec::kWarpSize),
                  ideal(row, remaining)};
  }
  if (stride <= word) return std::nullopt;
  if (const auto loop = between_visits(row);
      loop && *loop != 0 && magnitude(*loop) <= kUnrolled * word && magnitude(*loop) < stride)
    return Remedy{"exchange the roles of the thread index and the loop counter: each thread walks along a row of its "
                  "own, but neighbouring threads should access neighbouring words in each iteration",
                  ideal(row, remaining)};
  if (density(row, profile) < kDense)
    return Remedy{fmt::format("store the words that the kernel uses next to each other: neighbouring threads use {} of "
                              "every {} bytes",
                              word, stride),
                  ideal(row, remaining)};
  if (transposes(row, profile)) return staged(row, remaining, profile, code);
  const auto warps = between_warps(row);
  const std::int64_t step = lanes.group < exec::kWarpSize ? lanes.step : warps.value_or(word);
  if (magnitude(step) > word) return std::nullopt;
  return Remedy{fmt::format("exchange x and y: neighbouring threads in x are {} bytes apart, those in y access "
                            "neighbouring words",
                            stride),
                ideal_of_all(stride, profile, rule, ideal_accesses)};
}

} // namespace

std::optional<PartsOfRows> parts_of_rows(const InstructionRow& row) {
  constexpr std::uint64_t kSector = 32;
  double requests = 0, runs = 0, pairs = 0, taken = 0, least = 0;
  for (const RecordedAccess& a : row.recorded) {
    if (a.space != Space::global || a.mask == 0) continue;
    std::uint64_t begin = 0, end = 0;
    const auto close_run = [&] {
      if (begin == end) return;
      const std::uint64_t first = begin / kSector, last = (end - 1) / kSector,
                          needed = (end - begin + kSector - 1) / kSector;
      runs += 1;
      taken += static_cast<double>(last - first + 1);
      least += static_cast<double>(needed);
    };
    for (const int lane : exec::EachLane(a.mask)) {
      if (begin == end || a.addresses[lane] != end) {
        close_run();
        begin = a.addresses[lane];
      }
      end = a.addresses[lane] + a.lane_bytes;
    }
    close_run();
    requests += 1;
    pairs += std::popcount(a.mask) - 1;
  }
  const double together = pairs + requests - runs; // pairs of lanes in one run
  if (requests == 0 || runs < kSeveralRuns * requests || together < kMostPairs * pairs) return std::nullopt;
  return PartsOfRows{runs / requests, least / taken};
}

std::optional<Remedy> remedy_for_transactions(const InstructionRow& row, double remaining, const Profile& profile,
                                              const DeviceRules& rules, const Code& code, IdealAccesses& ideal) {
  const RecordedAccess* const usual = typical(row, Space::global);
  if (usual == nullptr) return std::nullopt;
  if (auto structures = of_structures(row, profile, rules.coalescing, ideal)) return structures;
  const auto lanes = lattice_of(*usual);
  return lanes ? of_rows(row, *lanes, remaining, profile, rules.coalescing, code, ideal) : std::nullopt;
}

namespace {

/// Passes of all requests of an instruction to shared memory: the average of those recorded, after `move`.
double all_passes(const InstructionRow& row, const FastCoalescing& coalescing, const FastBanks& banks,
                  const std::function<std::uint64_t(std::uint64_t)>& move) {
  double sum = 0, count = 0;
  for (RecordedAccess a : row.recorded) {
    if (a.space != Space::shared) continue;
    for (const int lane : exec::EachLane(a.mask)) a.addresses[lane] = move(a.addresses[lane]);
    sum += cost_of(a, coalescing, banks);
    count += 1;
  }
  return count > 0 ? sum / count * static_cast<double>(row.counts.of_all_shared().requests) : 0;
}

} // namespace

std::optional<Remedy> padding(const InstructionRow& row, const Profile& profile, const DeviceRules& rules) {
  const FastCoalescing coalescing(rules.coalescing);
  const FastBanks banks(rules.banks);
  const auto total = [&](const std::function<std::uint64_t(std::uint64_t)>& move) {
    double sum = 0;
    for (const InstructionRow& one : profile.instructions) sum += all_passes(one, coalescing, banks, move);
    return sum;
  };
  const auto same = [](std::uint64_t a) { return a; };
  const double before = total(same), own = all_passes(row, coalescing, banks, same);
  const auto requests = static_cast<double>(row.counts.of_all_shared().requests);
  if (requests == 0 || own == 0) return std::nullopt;
  const PassCount counted = row.counts.of_all_shared();
  const double least = own - static_cast<double>(counted.sum.conflicts());

  std::set<std::uint64_t> pitches = {64, 128, 256, 512, 1024};
  if (row.stride != 0) pitches.insert(static_cast<std::uint64_t>(magnitude(row.stride)));
  struct Best {
    double all, own;
    std::uint64_t pitch, pad;
  };
  std::optional<Best> best;
  for (const std::uint64_t pitch : pitches)
    for (const std::uint64_t pad : std::set<std::uint64_t>{4, std::max<std::uint64_t>(row.lane_bytes, 4)}) {
      if (pad >= pitch || pitch % pad != 0) continue;
      const auto move = [=](std::uint64_t a) { return a + a / pitch * pad; };
      const Best tried{total(move), all_passes(row, coalescing, banks, move), pitch, pad};
      if (!best || tried.all < best->all) best = tried;
    }
  if (!best || best->all >= before || own - best->own < kWorthPadding * (own - least)) return std::nullopt;
  const std::string passes = fmt::format("{:.3g}", best->own / requests);
  Remedy remedy{fmt::format("pad each row of {} bytes of the shared array by {} bytes: {} pass{} per request "
                            "instead of {:.3g}",
                            best->pitch, best->pad, passes, passes == "1" ? "" : "es", own / requests),
                {}};
  remedy.changes.bank_passes = before - best->all;
  return remedy;
}

std::optional<Remedy> longer_rows(const InstructionRow& row, const DeviceRules& rules) {
  const FastCoalescing coalescing(rules.coalescing);
  const FastBanks banks(rules.banks);
  double before = 0, after = 0, count = 0;
  int rows = exec::kWarpSize;
  for (const RecordedAccess& a : row.recorded) {
    const auto lanes = a.space == Space::shared ? lattice_of(a) : std::nullopt;
    if (!lanes) continue; // not all threads
    RecordedAccess one_row = a;
    for (std::size_t lane = 1; lane < exec::kWarpSize; ++lane)
      one_row.addresses[lane] = one_row.addresses[lane - 1] + static_cast<std::uint64_t>(lanes->stride);
    before += cost_of(a, coalescing, banks);
    after += cost_of(one_row, coalescing, banks);
    count += 1;
    rows = std::min(rows, lanes->group);
  }
  const PassCount counted = row.counts.of_all_shared();
  if (rows == exec::kWarpSize || counted.requests == 0) return std::nullopt;
  const auto requests = static_cast<double>(counted.requests);
  const double saved = requests * (before - after) / count;
  if (saved < kWorthPadding * static_cast<double>(counted.sum.conflicts())) return std::nullopt;
  Remedy remedy{fmt::format("make the x dimension of the block a multiple of {} threads: the {} rows of a warp have "
                            "words in the same banks, one longer row has not",
                            exec::kWarpSize, exec::kWarpSize / rows),
                {}};
  remedy.changes.bank_passes = saved;
  return remedy;
}

} // namespace warplens::analyzers
