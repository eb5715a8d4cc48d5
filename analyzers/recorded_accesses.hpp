// SPDX-License-Identifier: Apache-2.0
// A few accesses of each memory instruction with the addresses of their lanes: to draw them, and to try remedies on
// them. Which ones depends only on their place in the launch, never on the workers of the emulator: of the first and
// the last block, the first two warps and the last one; of each warp, the visits that kVisits lists.
//
//   row.recorded[0].addresses, .mask, .cost == 32 (sectors), .role == Role::worst
//
// Addresses of shared memory are offsets in the block's shared memory. Local memory is not recorded: it is interleaved
// by lane, so that the addresses of a GPU differ from those of the program.
#pragma once

#include "analyzers/counted_rules.hpp"
#include "emulator/exec/state/events.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace warplens::analyzers {

struct InstructionRow;

struct RecordedAccess {
  enum class Role : std::uint8_t { none, typical, worst };

  std::uint64_t cta = 0; ///< linear
  std::uint32_t warp = 0;
  std::uint32_t visit = 0; ///< how often the warp had executed the instruction before
  isa::Space space{};      ///< global or shared
  exec::AccessKind kind{};
  std::uint16_t lane_bytes = 0;
  exec::Mask mask = 0;
  std::array<std::uint64_t, exec::kWarpSize> addresses{}; ///< 0 for inactive lanes
  std::uint32_t instruction = 0;
  Service service{};      ///< as the rules see it
  double cost = 0;        ///< under the device's rule: sectors, bytes, transactions (cost_unit()) or passes
  Role role = Role::none; ///< typical: the median cost of those recorded in this space; worst: the first of the largest
};

/// The unit in which findings count waste. Reports of devices with 128-byte lines also show sectors, but a line is what
/// moves.
inline rules::Coalescing::Unit unit_of_waste(const rules::Coalescing& rule) {
  return rule.unit == rules::Coalescing::Unit::sectors && rule.smallest > kSectorBytes ? rules::Coalescing::Unit::bytes
                                                                                       : rule.unit;
}
/// The unit of RecordedAccess::cost under a rule of global memory: "sectors", "bytes" or "transactions".
std::string_view cost_unit(const rules::Coalescing& rule);
/// What an access costs under the rules of a device.
double cost_of(const RecordedAccess& access, const FastCoalescing& coalescing, const FastBanks& banks);

class RecordedAccesses {
public:
  static constexpr std::uint32_t kVisits[] = {0, 1, 2, 3, 8, 64, 512};

  RecordedAccesses(std::size_t instructions, const exec::LaunchShape& shape)
      : instructions_(instructions), last_cta_(shape.ctas() - 1), last_warp_(shape.warps() - 1) {}

  class Shard;
  [[nodiscard]] std::unique_ptr<Shard> make_shard() const;
  void absorb(Shard& shard);
  [[nodiscard]] bool records(std::uint64_t cta) const { return cta == 0 || cta == last_cta_; }
  /// Adds the accesses to the rows, each with its cost and role, ordered by space, block, warp and visit.
  void report(const CountedRules& counted, const DeviceRules& device, std::vector<InstructionRow>& rows) const;

private:
  std::size_t instructions_;
  std::uint64_t last_cta_;
  std::uint32_t last_warp_;
  std::vector<RecordedAccess> accesses_;
};

class RecordedAccesses::Shard {
public:
  Shard(std::size_t instructions, std::uint64_t last_cta, std::uint32_t last_warp)
      : instructions_(instructions), last_cta_(last_cta), last_warp_(last_warp) {}
  /// Whether accesses of this block are recorded.
  bool begin_cta(std::uint64_t cta);
  [[nodiscard]] bool records(const exec::WarpId& id) const {
    return (id.cta == 0 || id.cta == last_cta_) && (id.warp <= 1 || id.warp == last_warp_);
  }
  static constexpr std::uint32_t kSpaces =
      exec::EachWanted::bit(isa::Space::global) | exec::EachWanted::bit(isa::Space::shared);
  void each_access(const exec::WarpId& id, const exec::Access& access);
  void fields(Archive& a) { a(accesses_); }

private:
  friend class RecordedAccesses;
  static constexpr std::size_t kCtas = 2, kWarps = 3;
  std::size_t instructions_;
  std::uint64_t last_cta_;
  std::uint32_t last_warp_;
  std::vector<std::uint32_t> visits_; ///< by instruction, block, warp and space; empty until a recorded block begins
  std::vector<RecordedAccess> accesses_;
};

/// Leaves at most kShown accesses of each row: those with a role, and the first of the others that differ in cost or
/// lanes.
constexpr std::size_t kShownAccesses = 8;
void keep_few(std::vector<RecordedAccess>& accesses);

} // namespace warplens::analyzers
