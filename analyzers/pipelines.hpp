// SPDX-License-Identifier: Apache-2.0
// Asynchronous work in flight: how much of it a thread finds when it waits for the first part.
//
//   three groups of cp.async are committed, then cp.async.wait_group 2: 3 groups in flight
//
// In the emulator, asynchronous work completes at once. What counts is when the program starts work and when it waits,
// so that the numbers say how deep a pipeline is as it is written.
#pragma once

#include "analyzers/analyzer.hpp"

#include <array>
#include <deque>
#include <map>
#include <set>

namespace warplens::analyzers {

/// The kinds of work: groups of the three kinds of exec::AsyncStep, and phases of mbarriers.
constexpr std::size_t kPipelineKinds = 4;

struct PipelineRow {
  struct Waits {
    std::uint64_t count = 0;     ///< that find work in flight
    std::uint64_t in_flight = 0; ///< summed over these waits, …
    std::uint64_t most = 0;      ///< … and the largest
    void found(std::uint64_t parts);
    void add(const Waits& other);
  };
  std::array<Waits, kPipelineKinds> kinds;
  void add(const PipelineRow& other);
  [[nodiscard]] bool any() const;
};

class PipelineShard : public RowShard<PipelineRow> {
public:
  using RowShard::RowShard;
  void async_step(const exec::AsyncStep& step) override;
  void phase_step(const exec::PhaseStep& step) override;
  void async_waits(const exec::AsyncWaits& waits) override;
  /// All that was found, in the order of instructions and kinds.
  [[nodiscard]] std::vector<exec::AsyncWaits> found() const;
  void end_cta(std::uint64_t cta) override;

private:
  static constexpr std::size_t kMostGroups = 4096; ///< of a warp that never waits, older ones are forgotten
  /// The groups of a warp. A group without work is committed, too: a wait counts it.
  struct Groups {
    bool begun = false; ///< the group that is not committed yet has work
    std::uint64_t next = 0;
    std::deque<std::uint64_t> in_flight; ///< the numbers of those with work
    void commit();
  };
  struct Cta {
    std::map<std::uint32_t, std::array<Groups, kPipelineKinds - 1>> warps;
    std::set<std::uint64_t> phases; ///< mbarriers whose current phase has work that nobody has found complete
  };
  Cta& cta_of(std::uint64_t number);

  std::map<std::uint64_t, Cta> ctas_; ///< that have begun and not ended
  std::uint64_t last_number_ = 0;
  Cta* last_ = nullptr; ///< used last
};

class Pipelines final : public RowAnalyzer<PipelineShard> {
public:
  static constexpr AnalyzerInfo kInfo = {"pipelines", "Asynchronous work in flight",
                                         "groups and stages of asynchronous copies and products in flight at waits"};
  explicit Pipelines(std::size_t instructions) : RowAnalyzer(kInfo, instructions) {}
  void report(Metrics& launch, std::vector<InstructionRow>& rows) const override;
};

} // namespace warplens::analyzers
