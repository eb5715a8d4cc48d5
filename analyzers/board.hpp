// What analyzers need to know of the GPU that is imitated, and of how many blocks of the launch fit on it.
#pragma once

#include "emulator/isa/instruction_class.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace warplens::analyzers {

/// A cache: lines of `line_bytes`, of which a miss fetches `sector_bytes`; the least recently used line of a set goes.
struct CacheGeometry {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 128;  ///< 32, 64 or 128
  std::uint32_t sector_bytes = 32; ///< 32, 64 or 128, at most a line
  std::uint32_t ways = 4;          ///< of a set
  enum class Store : std::uint8_t {
    evict,  ///< goes on to the next level; throws the line out
    update, ///< goes on to the next level; changes a line that is there
    keep,   ///< goes on to the next level; stays here, too
    back    ///< stays here until its line is thrown out
  } store = Store::update;
  friend bool operator==(const CacheGeometry&, const CacheGeometry&) = default;
};

struct Partitions {
  std::uint32_t count = 1;
  std::uint32_t bytes = 256; ///< width
  friend bool operator==(const Partitions&, const Partitions&) = default;
};

struct Board {
  std::uint32_t multiprocessors = 1;
  std::uint32_t resident_ctas = 1;        ///< of the launch, on a multiprocessor
  std::optional<Partitions> partitions{}; ///< of device memory; none where addresses are hashed
  std::optional<CacheGeometry> l1{};      ///< of each multiprocessor
  std::optional<CacheGeometry> l2{};
  bool l1_global = true; ///< do loads of global memory look into it? Stores of global memory do with them what it says
  std::optional<CacheGeometry::Store> l1_local = CacheGeometry::Store::keep; ///< of local memory; none: it passes by
  /// By isa::InstructionClass: cycles until another instruction can read what it computed, memory aside.
  std::optional<std::array<double, isa::kInstructionClassCount>> result_latency{};
  /// Blocks that are resident at the same time.
  [[nodiscard]] std::uint64_t wave() const { return std::uint64_t{multiprocessors} * resident_ctas; }
  friend bool operator==(const Board&, const Board&) = default;
};

} // namespace warplens::analyzers
