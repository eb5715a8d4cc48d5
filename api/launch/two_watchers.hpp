// SPDX-License-Identifier: Apache-2.0
// Passes the events of a launch to both the analyzers and the trace recorder. Either may be missing.
//
//   TwoWatchers both(analysis, recorder);
//   launch.watcher = both.needed();
#pragma once

#include "emulator/exec/state/events.hpp"

#include <algorithm>

namespace warplens::api {

class TwoWatchers final : public exec::Watcher {
public:
  TwoWatchers(exec::Watcher* first, exec::Watcher* second) : first_(first), second_(second) {}
  /// Itself, or the only existing watcher; null: there is none.
  exec::Watcher* needed() { return first_ == nullptr ? second_ : second_ == nullptr ? first_ : this; }

  std::unique_ptr<exec::Shard> make_shard() override {
    return std::make_unique<Shard>(first_->make_shard(), second_->make_shard());
  }
  void longest_warps(const exec::LongestWarps& longest) override {
    first_->longest_warps(longest);
    second_->longest_warps(longest);
  }
  void in_vain() override {
    first_->in_vain();
    second_->in_vain();
  }
  void finish(std::vector<std::unique_ptr<exec::Shard>> shards,
              const std::vector<exec::InstructionCount>& counts) override {
    std::vector<std::unique_ptr<exec::Shard>> firsts, seconds;
    for (const auto& shard : shards) {
      firsts.push_back(std::move(static_cast<Shard&>(*shard).first.shard));
      seconds.push_back(std::move(static_cast<Shard&>(*shard).second.shard));
    }
    first_->finish(std::move(firsts), counts);
    second_->finish(std::move(seconds), counts);
  }

private:
  /// One of the two watchers, and the CTAs for which it wants every event.
  struct Listener {
    std::unique_ptr<exec::Shard> shard;
    std::vector<std::uint64_t> each{};

    bool begin(std::uint64_t cta) {
      const bool wanted = shard->begin_cta(cta);
      if (wanted) each.push_back(cta);
      return wanted;
    }
    void end(std::uint64_t cta) {
      std::erase(each, cta);
      shard->end_cta(cta);
    }
    [[nodiscard]] bool wants(std::uint64_t cta) const { return std::find(each.begin(), each.end(), cta) != each.end(); }
  };

  struct Shard final : exec::Shard {
    Shard(std::unique_ptr<exec::Shard> one, std::unique_ptr<exec::Shard> other)
        : first{std::move(one)}, second{std::move(other)} {}
    void access(const exec::Access& access) override {
      first.shard->access(access);
      second.shard->access(access);
    }
    void access_rows(const exec::AccessRows& rows) override {
      first.shard->access_rows(rows);
      second.shard->access_rows(rows);
    }
    void branch(const exec::Branch& branch) override {
      first.shard->branch(branch);
      second.shard->branch(branch);
    }
    void barrier(const exec::Barrier& barrier) override {
      first.shard->barrier(barrier);
      second.shard->barrier(barrier);
    }
    void product(const exec::SizedProduct& product) override {
      first.shard->product(product);
      second.shard->product(product);
    }
    void special_operands(const exec::SpecialOperands& special) override {
      first.shard->special_operands(special);
      second.shard->special_operands(special);
    }
    void bulk_copy(const exec::BulkCopy& copy) override {
      first.shard->bulk_copy(copy);
      second.shard->bulk_copy(copy);
    }
    void lane_copy(const exec::LaneCopy& copy) override {
      first.shard->lane_copy(copy);
      second.shard->lane_copy(copy);
    }
    void async_step(const exec::AsyncStep& step) override {
      first.shard->async_step(step);
      second.shard->async_step(step);
    }
    void phase_step(const exec::PhaseStep& step) override {
      first.shard->phase_step(step);
      second.shard->phase_step(step);
    }
    void async_waits(const exec::AsyncWaits& waits) override {
      first.shard->async_waits(waits);
      second.shard->async_waits(waits);
    }
    bool begin_cta(std::uint64_t cta) override {
      const bool one = first.begin(cta), other = second.begin(cta);
      return one || other;
    }
    void end_cta(std::uint64_t cta) override {
      first.end(cta);
      second.end(cta);
    }
    [[nodiscard]] exec::EachWanted each_wanted() const override {
      const exec::EachWanted one = first.shard->each_wanted(), other = second.shard->each_wanted();
      return {one.spaces | other.spaces, one.branches || other.branches, one.addresses || other.addresses,
              one.together || other.together, one.rows && other.rows};
    }
    void each_access(const exec::WarpId& of, const exec::Access& access) override {
      if (first.wants(of.cta)) first.shard->each_access(of, access);
      if (second.wants(of.cta)) second.shard->each_access(of, access);
    }
    void each_branch(const exec::WarpId& of, const exec::Branch& branch) override {
      if (first.wants(of.cta)) first.shard->each_branch(of, branch);
      if (second.wants(of.cta)) second.shard->each_branch(of, branch);
    }
    void fields(Archive& a) override {
      first.shard->fields(a);
      second.shard->fields(a);
    }
    Listener first, second;
  };

  exec::Watcher* first_;
  exec::Watcher* second_;
};

} // namespace warplens::api
