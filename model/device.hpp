// SPDX-License-Identifier: Apache-2.0
// GPUs as data: the properties of a device that the analytical models and the occupancy calculation need.
//
// A device is described in TOML. The devices of the papers are built into the library (model/devices/*.toml); users add
// files of the same form:
//
//   name = "Tesla C1060"
//   id = "c1060"
//   compute_capability = "1.3"
//   multiprocessors = 30
//   …
//   [hong_kim]
//   memory_latency = 450
//   …
//   [sources]                       # publication of each number; optional, but every built-in number has one
//   multiprocessors = "CUDA C Programming Guide 2.0, appendix A"
#pragma once

#include "emulator/base/expected.hpp"
#include "model/occupancy.hpp"
#include "model/sources.hpp"
#include "model/statistics.hpp"
#include "rules/rule_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::model {

/// How long an instruction of one warp keeps the issue port of its multiprocessor busy, in shader cycles.
struct IssueCycles {
  double basic = 0; ///< every instruction without its own class
  /// By IssueClass; empty if the device has no such instruction.
  std::array<std::optional<double>, kIssueClasses> by_class{};
  /// Each pass of a half-warp over the shared-memory banks after the first.
  std::optional<double> bank_pass;
};

/// Parameters of Hong & Kim's model (ISCA 2009), in shader cycles.
struct HongKimParameters {
  double memory_latency = 0;           ///< Mem_LD: latency of one memory transaction
  double uncoalesced_delay = 0;        ///< Departure_del_uncoal: between two transactions of an uncoalesced request
  double coalesced_delay = 0;          ///< Departure_del_coal: between two coalesced requests
  double uncoalesced_transactions = 0; ///< #Uncoal_per_mw: transactions of an uncoalesced request, unless measured
};

/// Parameters of Dasgupta's transaction-based model (2011), tuned by micro-benchmarks; delays in shader cycles.
struct DasguptaParameters {
  double clock_ghz = 0;      ///< the tuned shader clock
  double memory_latency = 0; ///< base latency of a transaction
  double delay_32 = 0;       ///< departure delay of a 32-byte transaction of a scalar request
  double delay_64 = 0;       ///< of a 64-byte transaction
  double delay_128 = 0;      ///< of a 128-byte transaction
  double delay_vector = 0;   ///< of a transaction of a vector request (ld.v2, ld.v4) of any size
  /// Requests of a multiprocessor that the memory controller can compare with each other: see model/merging.hpp.
  std::optional<double> merge_queue;
};

/// Parameters of Sim et al. (PPoPP 2012); cycles and bytes.
struct SimParameters {
  double simd_width = 0;        ///< lanes that a multiprocessor issues in a cycle
  double sfu_width = 0;         ///< lanes of special functions that it issues in a cycle
  double departure_delay = 0;   ///< Delta: between two transactions of device memory
  double transaction_bytes = 0; ///< transaction_size
};

/// Parameters of the throughput-latency model. Rates are achieved rates, not peak rates. They apply to a multiprocessor
/// or to the whole device, as stated; cycles are those of `clock_ghz`.
struct ThroughputLatencyParameters {
  double clock_ghz = 0;             ///< clock of the measured launches
  double overhead = 0;              ///< of a launch, cycles
  double block_cycles = 0;          ///< to start a block, of the device
  double warp_cycles = 0;           ///< to start one of its warps
  double issue = 0;                 ///< machine instructions of a multiprocessor in a cycle
  double special_functions = 0;     ///< warp instructions in a cycle, of a multiprocessor
  double double_precision = 0;      ///< likewise
  double wavefronts = 0;            ///< passes over the L1 cache and shared memory in a cycle, of a multiprocessor
  double l2_read = 0;               ///< sectors in a cycle, of the device
  double l2_write = 0;              ///< likewise
  double memory_bytes = 0;          ///< bytes of device memory in a cycle, of the device
  double kept_bytes = 0;            ///< stored bytes that stay in the L2 cache after the launch
  double issue_chain = 0;           ///< actual / counted cycles that a single warp takes to issue its instructions
  double l1_latency = 0;            ///< of a wait for a load that hits the L1 cache
  double l2_latency = 0;            ///< … the L2 cache
  double memory_latency = 0;        ///< … no cache
  double barrier_latency = 0;       ///< of a barrier
  double division_instructions = 0; ///< further machine instructions of a rounded division or root
  double integer_division_instructions = 0; ///< of an integer division or remainder
  double special_instructions = 0;          ///< of an approximate special function
  double overlap = 0;                       ///< exponent of the norm that combines the bounds: larger is more overlap
  /// Cycles between two sectors of integer atomics in the same 64 bytes, between two floating-point atomics on one
  /// word, and between two sectors of atomics in the same kilobyte.
  std::optional<double> atomic_half_line, float_atomic_word, atomic_kilobyte;
  /// Cycles between two updates of a word of shared memory by atomics that the machine code makes of compare-and-swap.
  std::optional<double> shared_swap;
};

/// Cycles until another instruction can read a result, by the unit that computes it, or the data of a load, by what has
/// them; and until a block continues after the last warp has arrived at a barrier.
constexpr std::string_view kPathLatencies[] = {"latency_arithmetic",
                                               "latency_double_precision",
                                               "latency_constant",
                                               "latency_shared",
                                               "latency_warp",
                                               "latency_vote",
                                               "latency_special_function",
                                               "latency_reciprocal",
                                               "latency_root",
                                               "latency_division",
                                               "latency_double_division",
                                               "latency_double_root",
                                               "latency_double_reciprocal",
                                               "latency_integer_division",
                                               "latency_wide_division",
                                               "latency_wide_multiplication",
                                               "latency_conversion",
                                               "latency_wide_conversion",
                                               "latency_matrix",
                                               "latency_predicate",
                                               "latency_branch",
                                               "latency_reconvergence",
                                               "latency_divergence",
                                               "latency_l1",
                                               "latency_l2",
                                               "latency_memory",
                                               "latency_atomic",
                                               "latency_barrier",
                                               "latency_barrier_of_warp"};
using PathLatencies = std::array<double, std::size(kPathLatencies)>; ///< in this order

/// The place of a key in kPathLatencies. Another key does not compile.
struct PathLatency {
  std::size_t place = 0;
  consteval PathLatency(std::string_view key) { // NOLINT(google-explicit-constructor): keys are arguments
    while (kPathLatencies[place] != key) ++place;
  }
  consteval PathLatency(const char* key) : PathLatency(std::string_view(key)) {}
};

/// Parameters of the model critical-path, from micro-benchmarks (model/micro_benchmarks.hpp).
/// They apply to a multiprocessor or to the whole device, as stated; cycles are those of `clock_ghz`.
struct CriticalPathParameters {
  double clock_ghz = 0;          ///< clock of the measured launches
  double overhead = 0;           ///< of a launch, cycles
  double first_access = 0;       ///< of a launch that accesses memory on all multiprocessors, in addition
  double first_execution = 0;    ///< of an instruction that no cache holds
  double block_cycles = 0;       ///< to start a block, of the device
  double warp_cycles = 0;        ///< to start one of its warps
  PathLatencies latency{};       ///< of one warp alone
  double issue = 0;              ///< machine instructions of a multiprocessor in a cycle
  double special_functions = 0;  ///< warp instructions in a cycle, of a multiprocessor
  double double_precision = 0;   ///< likewise
  double wavefronts = 0;         ///< passes over the L1 cache and shared memory in a cycle, of a multiprocessor
  double l2_read = 0;            ///< sectors in a cycle, of the device, if all of a line are requested …
  double l2_read_scattered = 0;  ///< … and if each is of another line
  double l2_write = 0;           ///< likewise
  double l2_write_scattered = 0; ///< likewise
  double memory_read = 0;        ///< bytes of device memory in a cycle, of the device
  double memory_write = 0;       ///< likewise
  double memory_scattered = 0;   ///< bytes of reads that are 64 bytes each
  double kept_bytes = 0;         ///< stored bytes that stay in the L2 cache after the launch
  double atomic_half_line = 0;   ///< cycles between two sectors of integer atomics in the same 64 bytes
  double float_atomic_word = 0;  ///< … between two floating-point atomics on one word
  double atomic_kilobyte = 0;    ///< … between two sectors of atomics in the same kilobyte
  double overlap = 0;            ///< exponent of the norm that combines the bounds: larger is more overlap
  /// Warp instructions in a cycle, of a multiprocessor: those that only the ALU executes, and products of integers.
  std::optional<double> alu, integer_multiply;
  /// Cycles between two updates of a word of shared memory by atomics that the machine code makes of compare-and-swap.
  std::optional<double> shared_swap;
  /// Compare-and-swaps of global memory: cycles until another warp can update the same word, and cycles for each pair
  /// of updates of a word whose warps run at the same time, where those of a kilobyte follow each other.
  std::optional<double> global_swap, swap_pair;
  /// Sectors in a cycle that one multiprocessor reads from the L2 cache, if all of a line are requested, and if each is
  /// of another line; stores and updates by atomics likewise. Atomics update whole lines as fast as it stores them.
  std::optional<double> port_read, port_read_scattered, port_write, port_write_scattered, port_update_scattered;
  /// By how much longer a load takes for each further line that it needs; and by how much longer several fetches from
  /// device memory at the same time take than one, for each doubling of their number.
  std::optional<double> latency_line, latency_memory_doubling;
  /// By how much longer a load from shared memory takes for each further pass over the banks.
  std::optional<double> latency_shared_pass;
  /// Cycles from the end of a block to the start of the next one in its place on a multiprocessor.
  std::optional<double> block_turnover;
  /// Cycles of a load of constants or parameters at a computed address: of a line of 64 bytes that was loaded before,
  /// and of one that is in the cache of several multiprocessors; of that one if two multiprocessors read at the same
  /// time. In addition, for 256 bytes of constants that only device memory has.
  std::optional<double> latency_constant_load, constant_line, constant_line_of_two, constant_segment;
  /// Cycles in addition that a division takes with special operands; a root or reciprocal, of 32 or 64 bits.
  std::optional<double> latency_special_division, latency_special_double_division, latency_special_root;
  /// Bytes of memory of the host that arrive in a cycle, and that go there; cycles of a load from there.
  std::optional<double> host_read, host_write, latency_host;
};

/// path_latency(parameters, "latency_l2")
constexpr double path_latency(const CriticalPathParameters& parameters, PathLatency which) {
  return parameters.latency[which.place];
}

/// Latencies in cycles from micro-benchmarks; empty if no measurement is known or if the device has no such unit.
struct Latencies {
  std::optional<double> arithmetic; ///< from a multiply-add to a dependent one
  std::optional<double> shared;     ///< load from shared memory
  std::optional<double> l1;         ///< load that hits the L1 cache
  std::optional<double> l2;         ///< load that hits the L2 cache
  std::optional<double> memory;     ///< load from device memory
};

/// Cycles until another instruction can read a result, by the unit that computes it. Memory is not included.
constexpr std::string_view kResultLatencies[] = {"arithmetic",     "double_precision", "constant",   "shared",
                                                 "warp",           "special_function", "reciprocal", "division",
                                                 "double_division"};
using ResultLatencies = std::array<double, std::size(kResultLatencies)>; ///< in this order

/// Throughput of a multiprocessor per cycle.
struct Throughputs {
  std::optional<double> issue;                 ///< warp instructions issued
  std::optional<double> load_store_units;      ///< lanes of loads and stores
  std::optional<double> load_store_use;        ///< share of the cycles in which those units are used, 0 to 1
  std::optional<double> constant_passes;       ///< different addresses of constant memory, beyond the first of a load
  std::optional<double> sustained_memory_gb_s; ///< of the whole device: bandwidth of a copy
};

/// The peak rates of a multiprocessor by type: floating-point operations in a cycle, of which a fused multiply-add is
/// two. Empty: not known, or the device has no such unit. `matrix_…`: of matrix instructions by the type of their
/// factors, without sparsity; sums in single precision, but for `matrix_half_sums` (half) and integers.
struct PeakOperations {
  std::optional<double> half, bfloat16, double_precision; ///< of instructions on lanes
  std::optional<double> matrix_half, matrix_half_sums, matrix_bfloat16, matrix_tf32, matrix_fp8, matrix_fp4;
  std::optional<double> matrix_double, matrix_int8;
};

/// What a store does to its line of a cache, which it writes through, except with `back`.
enum class StorePolicy : std::uint8_t {
  evict,  ///< evicts the line
  update, ///< updates the line if present
  keep,   ///< allocates the line
  back,   ///< allocates the line, which is written back when it is evicted
  none    ///< bypasses the cache; only of `local_stores`
};
/// The words of device files, in the order of StorePolicy.
constexpr std::string_view kStorePolicies[] = {"evict", "update", "keep", "back", "none"};

/// A cache, as `[l1]` or `[l2]`. An access that misses fetches a sector of its line.
struct CacheLevel {
  int bytes = 0;                     ///< of a multiprocessor for the L1 cache, of the device for the L2 cache
  std::optional<int> enlarged_bytes; ///< larger size that a program can request
  int line_bytes = 0;                ///< 32, 64 or 128
  int sector_bytes = 0;              ///< 32, 64 or 128, at most a line
  int ways = 0;                      ///< lines of a set
  /// Of an L2 cache: each keeps what its multiprocessors load, and the part of device memory that is connected to it.
  std::optional<int> partitions;
  StorePolicy stores = StorePolicy::update;
  StorePolicy local_stores = StorePolicy::keep; ///< of local memory
  bool unified = false;                         ///< shared memory uses a part of `bytes`
  bool global_loads = true;                     ///< whether global loads use it by default
  /// The rules of global memory with and without this cache, if they differ.
  std::optional<rules::CoalescingRule> rule_on, rule_off;
};

struct Device {
  std::string name; ///< for display: "Tesla C1060"
  std::string id;   ///< for command lines: "c1060"
  ComputeCapability capability;
  int multiprocessors = 0;
  int cores_per_multiprocessor = 0;
  double clock_ghz = 0;                       ///< of the shaders
  double bandwidth_gb_s = 0;                  ///< peak of device memory, 10^9 bytes per second
  std::optional<int> memory_bus_bits;         ///< of device memory
  std::optional<double> host_link_gb_s;       ///< peak of the connection to the host, in one direction
  std::optional<int> multiprocessors_per_tpc; ///< that share a texture unit and the profiler's counters (1.x)
  std::optional<int> partitions;              ///< of device memory, if addresses are not hashed
  std::optional<int> partition_bytes;         ///< width of a partition
  std::optional<CacheLevel> l1, l2;           ///< none before compute capability 2.0
  rules::CoalescingRule coalescing_rule;      ///< how accesses to global memory become transactions
  rules::BankRule bank_rule;                  ///< how the banks of shared memory serve accesses
  OccupancyLimits limits{};                   ///< those of the compute capability
  std::optional<IssueCycles> issue_cycles;
  std::optional<HongKimParameters> hong_kim;
  std::optional<DasguptaParameters> dasgupta;
  std::optional<SimParameters> sim;
  std::optional<ThroughputLatencyParameters> throughput_latency;
  std::optional<CriticalPathParameters> critical_path;
  Latencies latency;
  std::optional<ResultLatencies> result_latency;
  Throughputs throughput;
  PeakOperations peak_operations;
  Sources sources; ///< key ("clock_ghz", "hong_kim.memory_latency", "hong_kim") -> publication
};

/// Reads a device from TOML. Errors, each with line and column in `file`: not TOML; unknown, missing and wrongly typed
/// keys; invalid values (a clock of 0, an infinite bandwidth, an unknown compute capability); rules that `find` does
/// not find.
Expected<Device> load_device(std::string_view toml_text, std::string_view file,
                             const rules::Finder& find = rules::find_rule);

/// The text of a device file, which load_device() can read.
std::string device_text(const Device& device);

/// The built-in devices, ordered by compute capability, then id.
const std::vector<Device>& built_in_devices();

/// The TOML texts of the built-in devices with their file names, as examples.
struct DeviceText {
  std::string_view file;
  std::string_view text;
};
const std::vector<DeviceText>& built_in_device_texts();

/// A built-in device by id or name. Case, punctuation and the brand do not matter: "c1060", "C1060", "Tesla C1060",
/// "tesla-c1060", "NVIDIA Tesla C1060". Errors: no such device; the hint suggests a name.
Expected<Device> find_device(std::string_view name);

} // namespace warplens::model
