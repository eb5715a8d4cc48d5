// SPDX-License-Identifier: Apache-2.0
// How many blocks and warps of a launch are resident on one multiprocessor, and what limits them.
//
//   compute capability 1.2, 512 threads, 17 registers a thread  ->  1 block, 16 warps, 50 %, bound by registers
//
// The algorithm is that of NVIDIA's occupancy spreadsheets and of cuda_occupancy.h; the limits come from the same
// spreadsheets, the CUDA C Programming Guides 3.2 and 11.4, and (8.9 and later) the header.
#pragma once

#include "emulator/base/expected.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::model {

constexpr int kWarpSize = 32; ///< threads

struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// "1.3" -> {1, 3}. Errors: anything but digits, a dot, digits.
Expected<ComputeCapability> parse_compute_capability(std::string_view text);
std::string to_string(ComputeCapability capability);

/// Registers are allocated per block (1.x) or per warp (2.0 and later).
enum class RegisterAllocation : std::uint8_t { per_block, per_warp };

/// The resources of a multiprocessor of a compute capability, and their allocation units.
struct OccupancyLimits {
  ComputeCapability capability;
  int warps;                     ///< resident warps per multiprocessor
  int threads;                   ///< resident threads per multiprocessor
  int blocks;                    ///< resident blocks per multiprocessor
  int registers;                 ///< 32-bit registers per multiprocessor
  int registers_per_block;       ///< most registers of one block
  int register_unit;             ///< registers are allocated in multiples of this
  RegisterAllocation allocation; ///< what the unit applies to
  int registers_per_thread;      ///< most registers of one thread
  int shared_bytes;              ///< shared memory per multiprocessor, bytes
  int shared_bytes_per_block;    ///< most shared memory of one block, bytes
  int shared_unit;               ///< shared memory is allocated in multiples of this, bytes
  int shared_reserved_per_block; ///< bytes that the system reserves in every block
  int warp_granularity;          ///< for register allocation, warps are counted in multiples of this
  int subpartitions;             ///< the register file is split into this many parts
  int threads_per_block;         ///< most threads of one block
};

/// Errors: an unknown compute capability; the hint lists the known ones.
Expected<OccupancyLimits> find_occupancy_limits(ComputeCapability capability);

/// NVIDIA's two ways to compute how many blocks the registers allow. They give the same number of resident blocks in
/// all published examples; the register limit itself can differ (compute capability 3.7: 20 against 21).
enum class OccupancyRule : std::uint8_t {
  automatic, ///< `header` for 3.0 and later, `sheet` before
  sheet,     ///< the spreadsheets, version 11.1 and earlier
  header,    ///< cuda_occupancy.h
};

struct OccupancyQuery {
  ComputeCapability capability;
  std::int64_t threads = 0;      ///< per block
  std::int64_t registers = 0;    ///< per thread; 0: not known, so that registers are no limit
  std::int64_t shared_bytes = 0; ///< per block, static and dynamic; on 1.x including the arguments and a 16-byte header
  /// Shared memory per multiprocessor if it shares its storage with the cache, bytes; the largest by default.
  std::optional<std::int64_t> shared_configuration;
  OccupancyRule rule = OccupancyRule::automatic;
};

enum class OccupancyLimiter : std::uint8_t { warps, blocks, registers, shared };
std::string_view to_string(OccupancyLimiter limiter);

struct Occupancy {
  int blocks = 0;                         ///< resident blocks per multiprocessor; at least 1
  int warps = 0;                          ///< resident warps per multiprocessor
  double ratio = 0;                       ///< resident warps / maximum
  int limit_warps = 0;                    ///< blocks that the warps allow
  int limit_blocks = 0;                   ///< blocks that the block slots allow
  int limit_registers = 0;                ///< blocks that the registers allow
  int limit_shared = 0;                   ///< blocks that the shared memory allows
  std::vector<OccupancyLimiter> bound_by; ///< the limits that are equal to `blocks`; at least one
};

/// Errors: an unknown compute capability; no threads or too many; more registers or shared memory than a thread or
/// a block may have; a block that does not fit on a multiprocessor.
Expected<Occupancy> occupancy(const OccupancyQuery& query);

} // namespace warplens::model
