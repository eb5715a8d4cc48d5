// One CTA: its warps, shared and local memory, barriers. A worker runs it in turns until all warps are done.
#pragma once

#include "emulator/exec/grid.hpp"
#include "emulator/exec/paths.hpp"

#include <cstdlib>

namespace warplens::exec {

struct FreeAligned {
  void operator()(std::byte* p) const { std::free(p); }
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;

constexpr int kBarriers = 16;

struct BarrierState {
  std::uint32_t arrived = 0;  ///< threads
  std::uint32_t expected = 0; ///< threads; 0: all that live
  std::uint32_t waiting = 0;  ///< warps
};

struct Cta {
  explicit Cta(Worker& worker);

  /// Prepares the slot for CTA number `number` (linear).
  void start(std::uint64_t number);

  enum class Progress : std::uint8_t { done, trapped, paused };
  /// Runs every warp until it waits, at most about `budget` instructions in all.
  Progress run(std::int64_t budget);

  /// A warp arrives; true where that released the barrier (then the warp goes on).
  bool arrive(Warp& warp, std::uint32_t barrier, std::uint32_t expected_threads);

  /// Fills in instruction and thread of a CTA that is stopped from outside.
  void where(Trap& trap);

  Warp& warp(std::uint32_t i) { return *reinterpret_cast<Warp*>(warps_.get() + std::size_t{i} * warp_stride_); }

  Worker& worker;
  const Program& program;
  std::uint64_t number = 0;
  std::uint32_t position[3]{}; ///< %ctaid
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::byte* local = nullptr; ///< of thread 0; thread i at i * local_stride
  std::uint64_t local_stride = 0;

private:
  void write_special_rows(Warp& warp, bool first_time);
  bool release_complete_barriers();
  static void begin_turn(Warp& warp);
  std::int64_t end_turn(Warp& warp);
  Warp* next_ready(std::uint32_t& from);
  void report_deadlock();

  std::uint32_t warp_count_ = 0;
  std::size_t warp_stride_ = 0;
  std::vector<Paths> paths_; ///< by warp
  AlignedBytes warps_, shared_memory_, local_memory_;
  BarrierState barriers_[kBarriers];
  bool started_before_ = false;
};

} // namespace warplens::exec
