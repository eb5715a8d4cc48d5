// SPDX-License-Identifier: Apache-2.0
// Finds races among the accesses of a launch, in the order in which the emulator executes them.
//
//   Engine engine({shape, lockstep}, meanings, memory, timeline, now);
//   Block& b = engine.begin(cta);
//   engine.access(b, warp, touch, engine.global(), values);  engine.fence(b, warp, mask, meaning);  …
//   engine.races().take()
//
// Two accesses race if they conflict, are not morally strong, and neither happens before the other in causality order
// (PTX manual, 8.7). Happens-before comes from what synchronised in this run: barriers, and release patterns that
// acquire patterns observed. The order of fence.sc among each other is not used: it could have been another one.
#pragma once

#include "emulator/exec/checks/race/races.hpp"
#include "emulator/exec/checks/race/threads.hpp"

#include <span>

namespace warplens::exec::race {

/// The lane of a warp to which its part of a product of a warp group is ascribed.
constexpr int kReadingLane = 0;

/// What was released by the writes to an address that are observed there now.
struct Location {
  struct Entry {
    Clock clock;
    Scope release{}, write{}; ///< scope of the operation or fence that released, and of the write
    std::uint64_t cta = 0, cluster = 0;
    std::uint32_t thread = 0;
    std::uint8_t bytes = 0;
    bool many = false; ///< of several blocks; both scopes include the grid
  };
  std::vector<Entry> entries;
};

/// An mbarrier: what arrivals have released in this phase, and in those before.
struct Phases {
  Clock current, complete;
};

/// A weak read of shared memory that is not yet in the shadow: Engine::may_defer().
struct DeferredRead {
  std::uint32_t instruction = 0, lane_bytes = 0, warp = 0;
  Mask mask = 0;
  Time time = 0;
  HalfWarps lanes{};
};

/// Global memory, or the shared memory of a block.
struct Memory {
  Shadow shadow;
  std::vector<DeferredRead> reads;
  Time last_read = 0;  ///< of those
  Time last_write = 0; ///< of all writes since `since`; ~0: there are asynchronous copies
  std::unordered_map<std::uint64_t, Location> locations;
  std::unordered_map<std::uint64_t, Phases> mbarriers;
  isa::Space space = isa::Space::global;
  std::uint64_t cta = 0;
  Time since = 0; ///< of shared memory: all accesses until then are those of an earlier block
};

/// An access of a warp, or, with run != 0, `run` bytes from lanes.base on by the first lane of the mask.
struct Touch {
  std::uint32_t instruction = 0;
  AccessKind kind{};
  std::uint32_t lane_bytes = 0;
  Mask mask = 0;
  HalfWarps lanes{};
  const std::int64_t* offsets = nullptr; ///< [32]: irregular addresses, from lanes.base
  std::uint64_t run = 0;
  [[nodiscard]] std::uint64_t address(int lane) const;
};

/// The values that the lanes of an access store.
class Values {
public:
  virtual ~Values() = default;
  [[nodiscard]] virtual bool stores_what_is_there(int lane) const = 0;
  [[nodiscard]] virtual bool same(int lane, int other) const = 0;
};

class Engine {
public:
  struct Grid {
    LaunchShape shape;
    bool lockstep = false; ///< lanes execute each instruction together: targets before sm_70
    bool cooperative = false;
    [[nodiscard]] std::uint64_t cluster_of(std::uint64_t cta) const;
  };
  /// `global` and `timeline` outlive the launch; time goes on from `now`.
  Engine(const Grid& grid, std::span<const Meaning> meanings, Memory& global, const Timeline& timeline, Time now);

  Block& begin(std::uint64_t cta);
  void end(std::uint64_t cta);
  Block& block(std::uint64_t cta) { return blocks_.at(cta)->threads; }
  Memory& global() { return global_; }
  /// Null if the CTA is not running.
  Memory* shared(std::uint64_t cta);

  void access(Block& block, std::uint32_t warp, const Touch& touch, Memory& memory, const Values& values);
  void fence(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning);
  void sync_warp(Block& block, std::uint32_t warp, Mask lanes, Mask live);
  void barrier(Block& block, const BarrierArrival& arrival, std::uint32_t number, std::uint32_t threads);
  void cluster_arrive(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning);
  void cluster_wait(Block& block, std::uint32_t warp, Mask lanes, Mask live);
  void commit(Block& block, std::uint32_t warp, Mask lanes, bool bulk);
  /// All but the last `running` groups have completed.
  void wait(Block& block, std::uint32_t warp, Mask lanes, bool bulk, std::uint32_t running);
  void commit_products(Block& block, std::uint32_t warp);
  /// All but the last `running` groups of products have completed, those of the whole warp group.
  void wait_for_products(Block& block, std::uint32_t warp, Mask lanes, Mask live, std::uint32_t running);

  /// Lanes arrive; what the warp does behind tick() does not belong to it.
  void mbarrier_arrive(Block& block, std::uint32_t warp, Mask lanes, Memory& memory, std::uint64_t address,
                       const Meaning& meaning, bool completes);
  /// What the warp does from now on is not part of what it has published.
  void tick(Block& block, std::uint32_t warp);
  void mbarrier_wait(Block& block, std::uint32_t warp, int lane, Memory& memory, std::uint64_t address,
                     const Meaning& meaning);

  Races& races() { return races_; }
  [[nodiscard]] Time now() const { return now_; }

private:
  struct Running {
    Block threads;
    Memory shared;
  };
  /// The access that is being looked at.
  struct Current {
    Block& block;
    std::uint32_t warp; ///< in the block
    const Touch& touch;
    Memory& memory;
    const Values& values;
    Time known;   ///< the last barrier of the block, or the begin of the launch
    Time ordered; ///< accesses until then need not be looked at any more
  };
  [[nodiscard]] Record record_of(const Current& at, const Meaning& meaning, Scope scope, Time time) const;
  [[nodiscard]] bool may_defer(const Current& at, const Meaning& meaning) const;
  void defer(const Current& at, Time time);
  void catch_up(const Current& at);
  void open_copies(Block& block, std::uint32_t warp, Mask lanes, const Meaning& meaning, Time time);
  void pieces(const Current& at, Record& record);
  void sequence(const Current& at, Record& record, std::uint64_t base, std::int64_t stride, Mask lanes);
  void lanes(const Current& at, Record& record, std::uint64_t base, std::int64_t stride, Mask lanes);
  void rows(const Current& at, Record& record, std::uint64_t base, std::int64_t stride, Mask lanes);
  void scattered(const Current& at, Record& record);
  void range(const Current& at, Record& record, std::uint64_t address, std::uint64_t bytes);
  void words(const Current& at, const Record& record, std::uint64_t address);
  void words(const Current& at, Line& line, const Record& record, std::uint64_t address);
  void bytes(const Current& at, Record record, std::uint64_t line, const std::array<std::uint32_t, 4>& bytes);
  void visit(const Current& at, Line& line, const Record& record, std::uint64_t address, std::uint32_t granule);
  bool simple(const Current& at, Line& line, const Record& record, std::uint32_t granule) const;
  void compare(const Current& at, History& history, Records& list, const Record& record, std::uint64_t address,
               std::uint32_t granule);
  std::uint32_t judge(const Current& at, History& history, const Record& old, const Record& record,
                      std::uint64_t address, std::uint32_t granule);
  void remember(const Current& at, Records& list, const Record& record, std::uint32_t granule);
  void remember_cell(const Current& at, Records& list, const Record& record, const Cell& cell);
  void purge(const Current& at, Records& list, const Record& record) const;
  [[nodiscard]] bool joins(const Record& record, const Record& old) const;
  [[nodiscard]] bool in_known_order(const Current& at, const Record& old) const;
  [[nodiscard]] bool settled(const Current& at, const Record& old) const;
  [[nodiscard]] std::uint32_t unordered(const Current& at, const Record& old, const Record& record,
                                        std::uint32_t common, std::uint32_t granule) const;
  [[nodiscard]] bool in_order(const Current& at, const Record& old, Mask first, Mask second) const;
  [[nodiscard]] Mask observed(const Current& at, History& history, const Record& old, const Record& record, int granule,
                              std::uint32_t granule_bytes) const;
  [[nodiscard]] bool morally_strong(const Record& old, const Record& record) const;
  [[nodiscard]] Distance distance(std::uint64_t cta, std::uint64_t other) const;
  std::uint32_t report_all(const Current& at, History& history, const Record& old, const Record& record,
                           std::uint32_t granules, std::uint64_t address, std::uint32_t granule);
  void report(const Current& at, const Record& old, const Record& record, std::uint32_t granules, std::uint64_t address,
              std::uint32_t granule);
  void tell(const Current& at, const Record& old, const Record& record, std::pair<int, int> lanes,
            std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] Missing missing(const Current& at, const Record& old, const Record& record,
                                std::pair<int, int> lanes) const;
  [[nodiscard]] Missing missing_message(const Current& at, const Record& old, std::pair<int, int> lanes) const;
  void one_address(const Current& at, const Record& record);

  void synchronise(const Current& at, const Meaning& meaning);
  void observe(Block& block, std::uint32_t warp, int lane, const Location& location, const Meaning& meaning);
  void release(const Current& at, int lane, Location& location, const Meaning& meaning);

  Grid grid_;
  std::uint32_t warps_; ///< of a CTA
  bool local_;          ///< only a CTA itself accesses its shared memory
  std::span<const Meaning> meanings_;
  Memory& global_;
  const Timeline& timeline_;
  Time begin_, now_;
  std::map<std::uint64_t, std::unique_ptr<Running>> blocks_;
  std::unique_ptr<Running> spare_; ///< of a block that has ended: the next one uses its shadow again
  std::map<std::pair<std::uint64_t, std::uint32_t>, Clock> cluster_phases_; ///< by cluster, phase
  Races races_;
  Lesson lesson_;
  std::size_t spared_ = 0, caught_up_ = 0; ///< deferred reads that never came into the shadow, and those that did
};

} // namespace warplens::exec::race
