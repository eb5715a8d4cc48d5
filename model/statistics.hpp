// SPDX-License-Identifier: Apache-2.0
// The counts of a launch that the analytical models need, from the emulator, from a profiler or entered by hand. All
// models use this struct. Each model declares the fields that it needs; fields that were not measured are empty.
//
//   KernelStatistics tiled;                 // the matrix multiplication of Hong & Kim, section 3.5
//   tiled.threads_per_block = 128;
//   tiled.blocks = 80;
//   tiled.resident_blocks = 5;
//   tiled.instructions = 33;                // 27 computations and 6 loads, by each warp
//   tiled.uncoalesced_requests = 6;
//   …
//
// "Per warp" is a dynamic average: the total of the launch divided by the number of its warps (blocks times warps per
// block). A warp instruction counts once for any number of active lanes; both sides of a divergent branch count.
#pragma once

#include "emulator/base/expected.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::model {

/// Instructions that occupy the issue port longer than others.
enum class IssueClass : std::uint8_t {
  reciprocal,             ///< rcp.f32
  reciprocal_square_root, ///< rsqrt.f32
  square_root,            ///< sqrt.f32
  divide,                 ///< div.f32, rounded
  fast_divide,            ///< div.approx.f32, div.full.f32
  logarithm,              ///< lg2.f32
  exponential,            ///< ex2.f32
  sine_cosine,            ///< sin.f32, cos.f32
  integer_multiply,       ///< 32-bit mul and mad; not mul24
  double_precision,       ///< arithmetic on f64
};
constexpr std::size_t kIssueClasses = 10;
/// The name in device files and fields: "square_root".
std::string_view to_string(IssueClass issue_class);
/// Whether the special-function units execute all or most of it: reciprocal, roots, division, transcendental functions.
bool runs_on_special_units(IssueClass issue_class);

/// An absent number counts as none.
inline double value_of(const std::optional<double>& field) { return field.value_or(0); }

struct KernelStatistics {
  using Field = std::optional<double>;

  Field threads_per_block; ///< threads
  Field blocks;            ///< blocks of the grid
  Field resident_blocks;   ///< blocks that fit on a multiprocessor, for any grid size: occupancy().blocks

  Field instructions; ///< warp instructions of all kinds, memory and barriers included, per warp

  // Device memory: global and local.
  Field global_requests;          ///< load, store and atomic instructions to device memory, per warp
  Field coalesced_requests;       ///< those that the rule of the device coalesces, per warp
  Field uncoalesced_requests;     ///< those that it does not coalesce, per warp
  Field uncoalesced_transactions; ///< transactions of one such request, average; default: the device's
  Field bytes_per_request;        ///< bytes that the lanes of a request access, average: 128 for 32 lanes of 4 bytes

  Field transactions_32;         ///< memory transactions of 32 bytes, of all requests, per warp
  Field transactions_64;         ///< of 64 bytes
  Field transactions_128;        ///< of 128 bytes
  Field vector_transactions_32;  ///< those of transactions_32 that vector requests cause (ld.v2, …); default 0
  Field vector_transactions_64;  ///< those of transactions_64
  Field vector_transactions_128; ///< those of transactions_128

  Field load_transactions;   ///< transactions of all sizes that loads cause, per warp
  Field store_transactions;  ///< those that stores cause, per warp; atomics cause the others
  Field atomic_transactions; ///< of atomics, repeated for colliding lanes, per warp; 0 unless given
  /// Bytes of the allocations that the arguments of the launch point into: the most that device memory delivers if the
  /// caches keep all data for further accesses
  Field argument_bytes;

  Field duplicate_loads;   ///< scalar requests in flight together that fetch the same data, average; 1 unless given
  Field load_waits;        ///< how often a warp waits for loads; global_requests / independent_loads unless given
  Field independent_loads; ///< requests that a warp has in flight before it needs one, average; 1 unless given
  /// Warps of a block that fetch the same data with the same load, average: the value of duplicate_loads if the memory
  /// controller saw all of them at once. See model/merging.hpp.
  Field ideal_duplicate_loads;
  /// Instructions that a warp issues between a request and the first use of its data, average; 0 unless given
  Field independent_instructions;
  Field l1_hit_ratio; ///< of the load transactions, 0 to 1; 0 unless given
  Field l2_hit_ratio; ///< of those that miss the L1 cache, 0 to 1; 0 unless given
  /// Passes over the L1 cache and shared memory that loads, stores and atomics take, per warp: the largest of the
  /// passes over the banks, one per register of each lane, and one per four lines that are looked up
  Field l1_wavefronts;

  Field synchronizations;      ///< barrier instructions, per warp; 0 unless given
  Field bank_conflict_passes;  ///< half-warp passes over the shared-memory banks after the first of each request, per
                               ///< warp: a 16-way conflict of both halves is 30; 0 unless given
  Field shared_requests;       ///< load, store and atomic instructions to shared memory, per warp; 0 unless given
  Field issue_chain;           ///< cycles that a single warp takes to issue its instructions, without memory, per warp
  Field lanes_per_instruction; ///< lanes that take part in an instruction, average: 32 without divergence
  Field integer_divisions;     ///< integer divisions and remainders, per warp; 0 unless given
  Field instruction_parallelism;     ///< ILP: consecutive independent instructions of a warp, average; 1 unless given
  Field floating_point_instructions; ///< floating-point warp instructions, per warp
  Field flops;                       ///< floating-point operations of all lanes, per warp; a fused multiply-add is two

  // Properties of the kernel from other sources.
  Field registers_per_thread;   ///< for the occupancy on another device
  Field shared_bytes_per_block; ///< static and dynamic, bytes; for the occupancy on another device
  Field thread_cycles;          ///< weighted computation of one thread, cycles: see model/karan_kumar.hpp
  Field adjusting_weight;       ///< fitted from measured runs of this kernel on this device: see model/calibration.hpp

  /// Warp instructions by IssueClass, per warp; 0 unless given. All are part of `instructions`.
  std::array<Field, kIssueClasses> by_class{};
};

/// A field of KernelStatistics. Files, messages and lists of fields use the same table.
struct StatisticField {
  std::string_view name; ///< "transactions_32"
  std::string_view unit; ///< "per warp"
  std::string_view meaning;
  std::optional<double>& (*get)(KernelStatistics&);
};
const std::vector<StatisticField>& statistic_fields();

double warps_per_block(const KernelStatistics& statistics); ///< needs threads_per_block
double total_warps(const KernelStatistics& statistics);     ///< needs threads_per_block and blocks
/// Transactions of all sizes per warp, and their bytes. Need the transactions of each size.
double transactions(const KernelStatistics& statistics);
double transaction_bytes(const KernelStatistics& statistics);

/// Whether the statistics are valid and sufficient for a model. Errors: a missing field that the model needs (the hint
/// names the models that do not need it); a value that is negative, infinite or not a number; parts larger than their
/// whole; requests without instructions, transactions or bytes.
Diagnostics check_statistics(const KernelStatistics& statistics, std::string_view model_id);

} // namespace warplens::model
