// SPDX-License-Identifier: Apache-2.0
// One CTA: its warps, shared and local memory, barriers. A worker runs it in turns until all warps are done.
#pragma once

#include "emulator/exec/block/barriers.hpp"
#include "emulator/exec/block/repetition.hpp"
#include "emulator/exec/block/warp_groups.hpp"
#include "emulator/exec/block/worker.hpp"
#include "emulator/exec/memory/guarded_memory.hpp"
#include "emulator/exec/memory/tensor_memory.hpp"

#include <optional>
#include <set>

namespace warplens::exec {

struct Cluster;

/// Two warps run in turns, instruction by instruction, only if two register files fit in the first-level cache.
constexpr std::uint32_t kLargestPair = 20'000;

struct Cta {
  explicit Cta(Worker& worker);

  /// Becomes a member of the cluster: its shared memory gets its addresses.
  void join(Cluster& of, std::uint32_t as);

  /// Prepares the slot for CTA number `number` (linear).
  void start(std::uint64_t number);

  enum class Progress : std::uint8_t { done, trapped, paused };
  /// Runs every warp until it waits, at most about `budget` instructions in all.
  Progress run(std::int64_t budget);

  /// A warp arrives at a barrier, which may release it: barriers.cpp. Returns false if the arrival stops the kernel;
  /// `op` is the instruction that the trap names.
  bool arrive(const Op* op, Warp& warp, std::uint32_t barrier, const BarrierState& arrival);

  /// All lanes of the warp arrive at a barrier of all warps, as arrive() does. Returns the next op if they go on;
  /// false: it is not as simple.
  bool wait(const Op* op, Warp& warp, const Op*& next);

  /// Whether every warp has only waited or repeated itself since the last call.
  bool quiet();
  /// Whether the answer of quiet() is known.
  [[nodiscard]] bool looked_at();
  /// Digest of shared and local memory.
  [[nodiscard]] std::uint64_t memory_digest() const;
  /// Traps with a list of the warps and lanes that wait, and of the lines that others repeat.
  void report_deadlock();

  /// Fills in the instruction and thread of the trap when the CTA is stopped from outside.
  void where(Trap& trap);

  /// Gives each thread at least `bytes` of local memory. Returns false if the machine runs out of memory.
  bool grow_local(std::uint64_t bytes);

  Warp& warp(std::uint32_t i) { return *reinterpret_cast<Warp*>(warps_.get() + std::size_t{i} * warp_stride_); }

  Worker& worker;
  const Program& program;
  const bool independent; ///< threads of a warp wait for each other only where the program says so: sm_70
  std::uint64_t number = 0;
  std::uint32_t position[3]{}; ///< %ctaid
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::uint64_t shared_begin = 0;              ///< address in the shared space of the cluster
  std::byte* local = nullptr;                  ///< of thread 0; thread i at i * local_stride
  std::uint64_t local_bytes = 0;               ///< per thread: more than the program's after its stack has grown
  std::uint64_t local_stride = 0;              ///< distance between the local memories of consecutive threads
  std::vector<WarpGroup> groups;               ///< of four warps
  std::set<std::uint64_t> mbarriers;           ///< for synccheck: offsets of the valid ones
  std::unique_ptr<TensorMemory> tensor_memory; ///< of programs that use it
  bool exited = false;                         ///< all its warps have
  std::uint32_t done_warps = 0;                ///< warps of which no lane is left
  Cluster* cluster = nullptr;                  ///< the cluster of this CTA; usually it has no other CTA
  std::uint32_t rank = 0;                      ///< in the cluster

private:
  void set_local(std::uint64_t bytes);
  void set_position(std::uint64_t n);
  void write_special_rows(Warp& warp);
  void write_rows_of_cta();
  [[nodiscard]] std::uint64_t place_in_cluster(const SpecialRow& special) const;
  /// The value of a special register that is the same in all warps of a CTA, but not in all CTAs; nothing of another
  /// one.
  [[nodiscard]] std::optional<std::uint64_t> value_in_cta(const SpecialRow& special) const;
  void release_if_complete(std::uint8_t barrier);
  void release_all(std::uint8_t barrier, const BarrierState& complete);
  static void release(Warp& warp, std::uint8_t barrier, const BarrierState& complete);
  void begin_turn(Warp& warp);
  std::int64_t end_turn(Warp& warp);
  void turn_is_over(Warp& warp);
  Warp* partner_of(const Warp& a, const PairHandler* pairs);
  bool run_pair(Warp& a, Warp& b, const PairHandler* pairs, std::int64_t& budget);
  Warp* next_ready(std::uint32_t& from);
  Warp* next_ready_by_seed(std::uint32_t& from);
  void count_longest();

  struct RowOfCta {
    SpecialRow special;
    std::optional<std::uint64_t> written; ///< what is in the rows of the warps
  };
  std::vector<RowOfCta> by_cta_; ///< special registers that are not the same in all CTAs
  std::uint32_t warp_count_ = 0;
  std::size_t warp_stride_ = 0;
  std::vector<Paths> paths_;            ///< by warp
  std::vector<Repetition> repetitions_; ///< by warp
  std::vector<std::int64_t> lengths_;   ///< length of the next turn, by warp
  std::vector<std::uint64_t> visits_;   ///< of the counted blocks, warp by warp
  AlignedBytes warps_, shared_memory_, local_memory_;
  std::size_t local_room_ = 0; ///< size of local_memory_ in bytes
  BarrierState barriers_[kBarriers];
  std::uint32_t short_pairs_ = 0;   ///< turns that two warps began together and that were not worth it, lately
  const bool quick_barriers_;       ///< who arrives need not be remembered, and the last one goes on at once
  std::uint32_t used_barriers_ = 0; ///< a bit for each one at which a warp of this CTA has arrived
  /// For synccheck: the arrivals at each barrier in this phase.
  struct Arrived {
    const Op* op;
    std::uint32_t warp;
    Mask lanes;
  };
  std::vector<Arrived> arrived_[kBarriers];
  void check_arrivals();
  bool started_before_ = false;
};

/// The handler of an op as it was decoded, also where compiled code begins.
inline Handler handler_of(const Op* op, const Warp* warp) {
  const Program& program = warp->cta->program;
  const Handler runs = op->run.load(); // before the originals: they are there if it is compiled code
  const Handler* const originals = program.code->first_original.load(std::memory_order_acquire);
  return originals != nullptr ? originals[op - program.ops.data()] : runs;
}

} // namespace warplens::exec
