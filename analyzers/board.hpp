// SPDX-License-Identifier: Apache-2.0
// The properties of the emulated GPU that analyzers need, and how many blocks of the launch are resident on it.
#pragma once

#include "emulator/isa/instruction_class.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace warplens::analyzers {

/// A set-associative cache with LRU replacement. It has lines of `line_bytes`; a miss fetches `sector_bytes`.
struct CacheGeometry {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 128;  ///< 32, 64 or 128
  std::uint32_t sector_bytes = 32; ///< 32, 64 or 128, at most a line
  std::uint32_t ways = 4;          ///< of a set
  enum class Store : std::uint8_t {
    evict,  ///< writes through; evicts the line
    update, ///< writes through; updates the line if present
    keep,   ///< writes through; allocates the line
    back    ///< writes back when the line is evicted
  } store = Store::update;
  std::uint32_t partitions = 1; ///< of `bytes`; only of a second level: analyzers/second_level.hpp
  friend bool operator==(const CacheGeometry&, const CacheGeometry&) = default;
};

struct Partitions {
  std::uint32_t count = 1;
  std::uint32_t bytes = 256; ///< width
  friend bool operator==(const Partitions&, const Partitions&) = default;
};

/// Cycles until the result of an instruction of each class can be read.
using ResultLatencies = std::array<double, isa::kInstructionClassCount>;

/// Measured with one warp: cycles until a result or the data of a load can be used, and what branches and barriers
/// take.
struct PathLatencies {
  ResultLatencies results{};
  double integer_division = 0, wide_division = 0;          ///< of integers; wide: of 64 bits
  double root = 0, double_root = 0, double_reciprocal = 0; ///< that round
  double conversion = 0, wide_conversion = 0;              ///< from or to floating-point numbers; wide: of 64 bits
  double wide_multiplication = 0, vote = 0, matrix = 0;    ///< of integers; across a warp; of the matrix unit
  double special_division = 0, special_double_division = 0, special_root = 0; ///< of special operands, in addition
  double predicate = 0, branch = 0;         ///< a comparison's result; a branch that waits for it
  double reconvergence = 0, divergence = 0; ///< where the paths of a branch meet; the second of two paths, in addition
  double l1 = 0, l2 = 0, memory = 0, atomic = 0;
  /// By how much longer several fetches of two sectors from memory take than one, for each doubling of their number;
  /// each further line of a load, and each further pass of one from shared memory.
  double memory_doubling = 0, line = 0, shared_pass = 0;
  double constant_load = 0;                ///< at a computed address; 0: as all constants
  double barrier = 0, barrier_of_warp = 0; ///< of a block without warps; for each of its warps in addition
  friend bool operator==(const PathLatencies&, const PathLatencies&) = default;
};

struct Board {
  std::uint32_t multiprocessors = 1;
  std::uint32_t resident_ctas = 1;        ///< of the launch, on a multiprocessor
  std::optional<Partitions> partitions{}; ///< of device memory; none if addresses are hashed
  std::optional<CacheGeometry> l1{};      ///< of each multiprocessor
  std::optional<CacheGeometry> l2{};
  /// Whether loads of global memory use the first level; stores to global memory follow `l1->store`.
  bool l1_global = true;
  std::optional<CacheGeometry::Store> l1_local = CacheGeometry::Store::keep; ///< of local memory; none: bypasses it
  /// Cycles until another instruction can read the result, by isa::InstructionClass; excludes memory.
  std::optional<ResultLatencies> result_latency{};
  std::optional<PathLatencies> path_latency{}; ///< empty: not measured
  /// Blocks that are resident at the same time.
  [[nodiscard]] std::uint64_t wave() const { return std::uint64_t{multiprocessors} * resident_ctas; }
  friend bool operator==(const Board&, const Board&) = default;
};

} // namespace warplens::analyzers
