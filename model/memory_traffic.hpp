// SPDX-License-Identifier: Apache-2.0
// What the models of current hardware assume of the memory system of a device: the sectors that a launch moves between
// its levels, and how long contended atomics keep it busy.
//
//   1000 warps load 4 sectors each and a quarter hits the L1 cache: 3000 sectors read from the L2 cache
#pragma once

#include "model/device.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

inline constexpr double kSectorBytes = 32;

/// Of a launch.
struct Traffic {
  double read = 0, written = 0; ///< sectors that reach the L2 cache
  double updated = 0;           ///< those of `written` that atomics update
  /// Share of the transactions that are of uncoalesced requests, 0 to 1. If device memory fetches pairs of sectors,
  /// only those that need one of the two.
  double scattered = 0;
  double memory_read = 0;    ///< bytes of device memory
  double memory_written = 0; ///< bytes of device memory
  double host_read = 0;      ///< bytes of memory of the host
  double host_written = 0;   ///< bytes of memory of the host

  /// Share of the L1 misses that device memory serves.
  [[nodiscard]] double cold() const;
  /// Share of the L1 misses that memory of the host serves.
  [[nodiscard]] double from_host() const;
};

/// What differs between devices.
struct MemorySystem {
  double kept_bytes = 0;         ///< written bytes that stay in the L2 cache
  double sectors_of_a_fetch = 1; ///< that device memory delivers for a sector of a scattered load
  bool host = false;             ///< whether memory of the host counts as such: it keeps what is written to it
};

/// Without l2_hit_ratio, all L1 misses come from device memory, but at most argument_bytes, and each sector that the
/// launch loads or writes once, if given. With it, words that the L2 cache evicts come from device memory again.
/// Accesses spread evenly over memory of the device and of the host. Needs the loads and stores.
Traffic traffic(const KernelStatistics& statistics, const MemorySystem& memory);

/// Cycles between two updates of one address, by atomics of different warps.
struct AtomicIntervals {
  double half_line = 0;  ///< any atomics on the same 64 bytes
  double float_word = 0; ///< floating-point atomics on the same word
  double kilobyte = 0;
};

/// Cycles in which the memory updates one address after the other.
double contention(const KernelStatistics& statistics, const AtomicIntervals& intervals);

/// Cycles in which a multiprocessor that runs `warps` reads constants at different addresses of a request, one after
/// the other; 0 if the device does not say how long that takes.
double constant_cycles(const KernelStatistics& statistics, const Device& device, double warps);

/// Cycles for one of what a unit does `whole` of in a cycle, or `scattered` if it is scattered.
double cycles_each(const Traffic& traffic, double whole, double scattered);

} // namespace warplens::model
