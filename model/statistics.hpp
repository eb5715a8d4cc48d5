// What a kernel did, as the analytical models need it: the summary of a launch, from the emulator, from a profiler or
// by hand. One struct serves all models; each says which fields it needs, and a field that was not measured stays
// empty.
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
// block). A warp instruction counts once, however many of its lanes are active; both sides of a divergent branch count.
#pragma once

#include "emulator/base/expected.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace warplens::model {

/// Instructions that keep the issue port longer than others.
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
/// The name as in device files and field names: "square_root".
std::string_view to_string(IssueClass issue_class);
/// Whether the special-function units compute it, or most of it: reciprocal, roots, division, transcendental functions.
bool runs_on_special_units(IssueClass issue_class);

struct KernelStatistics {
  using Field = std::optional<double>;

  Field threads_per_block; ///< threads
  Field blocks;            ///< blocks of the grid
  Field resident_blocks;   ///< blocks that fit on a multiprocessor, whatever the size of the grid: occupancy().blocks

  Field instructions; ///< warp instructions of all kinds, memory and barriers included, per warp

  // Device memory: global and local.
  Field global_requests;          ///< load, store and atomic instructions on device memory, per warp
  Field coalesced_requests;       ///< of them, coalesced by the rule of the device, per warp
  Field uncoalesced_requests;     ///< of them, not coalesced, per warp
  Field uncoalesced_transactions; ///< transactions of one such request, average; unless given, the device's
  Field bytes_per_request; ///< bytes that the lanes of a request ask for together, average: 128 for 32 lanes of 4 bytes

  Field transactions_32;         ///< memory transactions of 32 bytes, of all requests, per warp
  Field transactions_64;         ///< of 64 bytes
  Field transactions_128;        ///< of 128 bytes
  Field vector_transactions_32;  ///< of transactions_32, those of vector requests (ld.v2, st.v4, …); 0 unless given
  Field vector_transactions_64;  ///< of transactions_64
  Field vector_transactions_128; ///< of transactions_128

  Field load_transactions;   ///< of the transactions, of all sizes, those of loads, per warp
  Field store_transactions;  ///< those of stores, per warp; the others are of atomics
  Field atomic_transactions; ///< of atomics, again for lanes that collide, per warp; 0 unless given
  /// Bytes of the allocations that the arguments of the launch point into, the whole launch: the most that device
  /// memory has to deliver once where the caches keep the rest
  Field argument_bytes;

  Field duplicate_loads;   ///< scalar requests in flight together that fetch the same data, average; 1 unless given
  Field load_waits;        ///< how often a warp waits for loads; global_requests / independent_loads unless given
  Field independent_loads; ///< requests that a warp has in flight before it needs one, average; 1 unless given
  /// Warps of a block that fetch the same data with the same load, average: what duplicate_loads would be if the memory
  /// controller saw all of them at once. See model/merging.hpp.
  Field ideal_duplicate_loads;
  /// Instructions that a warp issues between a request and the first use of its data, average; 0 unless given
  Field independent_instructions;
  Field l1_hit_ratio; ///< of the transactions of loads, 0 to 1; 0 unless given
  Field l2_hit_ratio; ///< of those that miss the first cache, 0 to 1; 0 unless given
  /// Passes over the first cache and shared memory that loads, stores and atomics take, per warp: as many as one of the
  /// banks, a register of each lane, or four looked-up lines a pass need
  Field l1_wavefronts;

  Field synchronizations;      ///< barrier instructions, per warp; 0 unless given
  Field bank_conflict_passes;  ///< half-warp passes over the shared-memory banks beyond the first of each request, per
                               ///< warp: a 16-way conflict of both halves is 30; 0 unless given
  Field shared_requests;       ///< load, store and atomic instructions on shared memory, per warp; 0 unless given
  Field issue_chain;           ///< cycles that a warp alone takes to issue its instructions, memory aside, per warp
  Field lanes_per_instruction; ///< lanes that take part in an instruction, average: 32 without divergence
  Field integer_divisions;     ///< integer divisions and remainders, per warp; 0 unless given
  Field instruction_parallelism;     ///< ILP: independent instructions of a warp in a row, average; 1 unless given
  Field floating_point_instructions; ///< warp instructions that compute floating-point numbers, per warp
  Field flops;                       ///< floating-point operations of all lanes, per warp; a fused multiply-add is two

  // What is known of a kernel from elsewhere.
  Field registers_per_thread;   ///< for the occupancy on another device
  Field shared_bytes_per_block; ///< static and dynamic, bytes; for the occupancy on another device
  Field thread_cycles;          ///< weighted computation of one thread, cycles: see model/karan_kumar.hpp
  Field adjusting_weight;       ///< fitted from measured runs of this kernel on this device: see model/calibration.hpp

  /// Warp instructions by IssueClass, per warp; 0 unless given. All are part of `instructions`.
  std::array<Field, kIssueClasses> by_class{};
};

/// A field of KernelStatistics, so that files, messages and lists of fields are all made from one table.
struct StatisticField {
  std::string_view name; ///< "transactions_32"
  std::string_view unit; ///< "per warp"
  std::string_view meaning;
  std::vector<std::string_view> needed_by; ///< ids of the models that cannot do without
  std::optional<double>& (*get)(KernelStatistics&);
};
const std::vector<StatisticField>& statistic_fields();

double warps_per_block(const KernelStatistics& statistics); ///< needs threads_per_block
double total_warps(const KernelStatistics& statistics);     ///< needs threads_per_block and blocks
/// Transactions of a warp, of all sizes, and their bytes. Need the transactions of each size.
double transactions(const KernelStatistics& statistics);
double transaction_bytes(const KernelStatistics& statistics);

/// Whether the statistics can be and suffice for a model. Errors: a needed field that is missing (the hint names the
/// models that do without it); a value that is negative, infinite or not a number; parts larger than their whole;
/// requests without instructions, transactions or bytes.
Diagnostics check_statistics(const KernelStatistics& statistics, std::string_view model_id);

} // namespace warplens::model
