// SPDX-License-Identifier: Apache-2.0
// Translates the events of a worker into those of the race engine: which memory, which lanes, which phase of an
// mbarrier.
#pragma once

#include "emulator/exec/checks/pending_copies.hpp"
#include "emulator/exec/checks/race/engine.hpp"
#include "emulator/exec/state/checker.hpp"
#include "emulator/exec/state/program.hpp"

#include <map>
#include <optional>

namespace warplens::exec {

class RaceChecker final : public Checker {
public:
  RaceChecker(const Launch& launch, race::Memory& global, const race::Timeline& timeline, race::Time now);
  void begin_cta(std::uint64_t cta) override;
  void end_cta(std::uint64_t cta) override;
  void access(const WarpAccess& access) override;
  void step(const WarpStep& step) override;
  void fresh(const Warp&, int lane, isa::Space space, std::uint64_t address, std::uint64_t bytes) override;
  race::Engine& engine() { return engine_; }

private:
  /// Where the object of a lane lies, and whether this lane completes its phase.
  struct Object {
    int lane = 0;
    std::uint64_t cta = 0, offset = 0;
    bool completes = false;
  };
  /// What is known of an instruction between the step before it and the one after it.
  struct Begun {
    const Op* op = nullptr;
    Mask mask = 0;
    std::vector<Object> objects;
    int lane = 0;                      ///< that accesses a run
    std::optional<std::uint64_t> base; ///< of a copy by tensor map: where it begins in shared memory
    bool repeats = false;              ///< an earlier lane has issued the same copy
  };
  using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; ///< CTA, warp, instruction

  bool to_run(const WarpAccess& access, race::Touch& touch);
  void begin_lane(const WarpAccess& access, Begun& begun) const;
  void touch_cluster(const WarpAccess& access, race::Block& block, const race::Touch& touch,
                     const race::Values& values);
  void before(const WarpStep& step, race::Block& block, const race::Meaning& meaning);
  void after(const WarpStep& step, race::Block& block, const race::Meaning& meaning);
  void arrive_at_barrier(const WarpStep& step, race::Block& block, bool waits);
  void join_warp(const WarpStep& step, race::Block& block);
  void object_accessed(const WarpAccess& access, race::Block& block, const race::Meaning& meaning);
  static void find_completions(const WarpStep& step, race::Step meaning, Begun& begun);
  void read_matrix(const WarpStep& step, int lane, std::uint64_t cta, const std::vector<Extent>& extents);
  void read_matrices(const WarpStep& step);
  void begin_product(const WarpStep& step);
  void arrive(race::Block& block, std::uint32_t warp, const std::vector<Object>& objects, const race::Meaning& meaning);
  [[nodiscard]] race::Block& block_of(std::uint64_t cta);
  [[nodiscard]] std::uint32_t groups(std::uint32_t instruction) const;

  const Program& program_;
  std::vector<race::Meaning> meanings_; ///< by instruction
  race::Engine engine_;
  std::vector<const Op*> stores_; ///< by site
  std::map<Place, Begun> begun_;
  race::Block* block_ = nullptr;   ///< of the last event, with …
  race::Memory* shared_ = nullptr; ///< … its shared memory
};

} // namespace warplens::exec
