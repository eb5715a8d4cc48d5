// SPDX-License-Identifier: Apache-2.0
// How many lines of constant memory and of kernel parameters a block reads: the first block on a multiprocessor waits
// for each of them, one after the other, because the cache of constants does not hold them yet.
//
//   for (int i = 0; i < 64; ++i) sum += c[i];   // of float c[64]:  constant_lines 4, constant_segments 1
//
// The lines are those of the first or the last block, whichever reads more. Parameters whose addresses the code names
// are known without running it. The first bytes of the parameters are there when a launch begins.
#pragma once

#include "analyzers/metrics.hpp"
#include "emulator/exec/state/events.hpp"
#include "emulator/ir/module.hpp"

#include <array>
#include <memory>
#include <vector>

namespace warplens::analyzers {

class ConstantLines {
public:
  static constexpr std::uint64_t kLineBytes = 64, kSegmentBytes = 256, kParametersThere = 256;

  /// `function` must outlive it.
  ConstantLines(const ir::Function& function, const exec::LaunchShape& shape)
      : function_(function), last_cta_(shape.ctas() - 1) {}

  class Shard;
  [[nodiscard]] std::unique_ptr<Shard> make_shard() const { return std::make_unique<Shard>(last_cta_); }
  void absorb(Shard& shard);
  [[nodiscard]] bool records(std::uint64_t cta) const { return cta == 0 || cta == last_cta_; }
  /// `counts`: which instructions ran.
  void conclude(const std::vector<exec::InstructionCount>& counts);
  void report(Metrics& launch) const;

private:
  /// Numbers of lines, ascending.
  struct Lines {
    std::vector<std::uint64_t> constants, parameters;
  };

  const ir::Function& function_;
  std::uint64_t last_cta_;
  std::array<Lines, 2> of_; ///< of the first block, and of the last one
  std::vector<std::uint64_t> named_;
};

class ConstantLines::Shard {
public:
  explicit Shard(std::uint64_t last_cta) : last_cta_(last_cta) {}
  static constexpr std::uint32_t kSpaces =
      exec::EachWanted::bit(isa::Space::constant) | exec::EachWanted::bit(isa::Space::param);
  [[nodiscard]] bool records(std::uint64_t cta) const { return cta == 0 || cta == last_cta_; }
  void each_access(const exec::WarpId& id, const exec::Access& access);
  void fields(Archive& a) {
    for (Lines& lines : of_) a(lines.constants, lines.parameters);
  }

private:
  friend class ConstantLines;
  std::uint64_t last_cta_;
  std::array<Lines, 2> of_;
};

} // namespace warplens::analyzers
