// SPDX-License-Identifier: Apache-2.0
// The memory and branch counters of each block of the grid: they show which blocks do the work, and whether it is
// distributed evenly. Runs only on request: it processes each access separately, which takes several times as long as
// the emulation.
//
//   BlockTable table = counts.table();
//   table.names[0] == "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", table.rows[7].cta == 7, .values[0] == 8
#pragma once

#include "analyzers/counted_rules.hpp"
#include "analyzers/profile.hpp"
#include "emulator/exec/state/events.hpp"

#include <memory>
#include <vector>

namespace warplens::analyzers {

class BlockCounts {
public:
  class Shard;
  /// `function` and `rules` must outlive it; `named`: rules whose counters are reported as `rule.NAME.…`.
  BlockCounts(const ir::Function& function, const CountedRules& rules, rules::RuleSet named)
      : function_(function), rules_(rules), named_(std::move(named)) {}

  [[nodiscard]] std::unique_ptr<Shard> make_shard() const;
  void absorb(Shard& shard);
  /// Ascending by block. Includes blocks without memory accesses and branches.
  [[nodiscard]] BlockTable table() const;

private:
  const ir::Function& function_;
  const CountedRules& rules_;
  rules::RuleSet named_;
  BlockTable table_;
};

/// Counts of one worker, which may run several blocks at the same time.
class BlockCounts::Shard final : public exec::Shard {
public:
  explicit Shard(const BlockCounts& of);
  ~Shard() override;
  bool begin_cta(std::uint64_t cta) override;
  void end_cta(std::uint64_t cta) override;
  void each_access(const exec::WarpId& warp, const exec::Access& access) override;
  void each_branch(const exec::WarpId& warp, const exec::Branch& branch) override;
  void fields(Archive& a) override { a(table_); }

private:
  friend class BlockCounts;
  struct Open; ///< a block that has begun
  const BlockCounts& of_;
  std::vector<std::unique_ptr<Open>> open_;
  BlockTable table_;

  Open* find(std::uint64_t cta);
};

} // namespace warplens::analyzers
