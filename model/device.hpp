// GPUs as data: what the analytical models and the occupancy calculation need to know of a device.
//
// A device is a TOML text. Those of the papers are built into the library (model/devices/*.toml); a user's own is one
// more file of the same form:
//
//   name = "Tesla C1060"
//   id = "c1060"
//   compute_capability = "1.3"
//   multiprocessors = 30
//   …
//   [hong_kim]
//   memory_latency = 450
//   …
//   [sources]                       # where each number was read; optional, but every built-in number has one
//   multiprocessors = "CUDA C Programming Guide 2.0, appendix A"
#pragma once

#include "emulator/base/expected.hpp"
#include "model/occupancy.hpp"
#include "model/sources.hpp"
#include "model/statistics.hpp"
#include "rules/rule_set.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::model {

/// How long one warp keeps the issue port of its multiprocessor busy, in shader cycles.
struct IssueCycles {
  double basic = 0; ///< every instruction without a class of its own
  /// By IssueClass; empty where the device has no such instruction.
  std::array<std::optional<double>, kIssueClasses> by_class{};
  /// One pass of a half-warp over the shared-memory banks beyond the first.
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
  double delay_vector = 0;   ///< of a transaction of a vector request (ld.v2, ld.v4), whatever its size
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

/// Parameters of the throughput-latency model. Rates are of the whole device where they say so, and reached rather than
/// promised; cycles are of `clock_ghz`.
struct ThroughputLatencyParameters {
  double clock_ghz = 0;             ///< at which the launches were measured
  double overhead = 0;              ///< of a launch, cycles
  double block_cycles = 0;          ///< to start a block, of the device
  double warp_cycles = 0;           ///< to start one of its warps
  double issue = 0;                 ///< machine instructions of a multiprocessor in a cycle
  double special_functions = 0;     ///< warps of them in a cycle, of a multiprocessor
  double double_precision = 0;      ///< likewise
  double wavefronts = 0;            ///< passes over the first cache and shared memory in a cycle, of a multiprocessor
  double l2_read = 0;               ///< sectors in a cycle, of the device
  double l2_write = 0;              ///< likewise
  double memory_bytes = 0;          ///< bytes of device memory in a cycle, of the device
  double kept_bytes = 0;            ///< stored bytes that stay in the second cache until after the launch
  double issue_chain = 0;           ///< what really passes of the cycles that a warp alone takes to issue, a factor
  double l1_latency = 0;            ///< of a wait for a load that hits the first cache
  double l2_latency = 0;            ///< … the second
  double memory_latency = 0;        ///< … none
  double barrier_latency = 0;       ///< of a barrier
  double division_instructions = 0; ///< machine instructions of a rounded division or root, beyond the first
  double integer_division_instructions = 0; ///< of an integer division or remainder
  double special_instructions = 0;          ///< of an approximate special function
  double overlap = 0;                       ///< exponent of the norm that joins the bounds: larger is more overlap
};

/// Latencies in cycles, as micro-benchmarks measured them; empty where nobody did or the device has no such thing.
struct Latencies {
  std::optional<double> arithmetic; ///< from one dependent multiply-add to the next
  std::optional<double> shared;     ///< load from shared memory
  std::optional<double> l1;         ///< load that hits the first cache
  std::optional<double> l2;         ///< load that hits the second cache
  std::optional<double> memory;     ///< load from device memory
};

/// Cycles until another instruction can read a result, by what computes it; memory aside, which the models wait for.
constexpr std::string_view kResultLatencies[] = {"arithmetic",     "double_precision", "constant",   "shared",
                                                 "warp",           "special_function", "reciprocal", "division",
                                                 "double_division"};
using ResultLatencies = std::array<double, std::size(kResultLatencies)>; ///< in this order

/// What a multiprocessor does in a cycle.
struct Throughputs {
  std::optional<double> issue;                 ///< warp instructions issued
  std::optional<double> load_store_units;      ///< lanes of loads and stores
  std::optional<double> load_store_use;        ///< share of the cycles in which those units really work, 0 to 1
  std::optional<double> sustained_memory_gb_s; ///< of the whole device: bandwidth that a copy reaches
};

/// A cache, as `[l1]` or `[l2]`. An access that misses fetches a sector of its line.
struct CacheLevel {
  int bytes = 0;                     ///< of a multiprocessor for the first level, of the device for the second
  std::optional<int> enlarged_bytes; ///< what a program may ask for instead, where that is more
  int line_bytes = 0;                ///< 32, 64 or 128
  int sector_bytes = 0;              ///< 32, 64 or 128, at most a line
  int ways = 0;                      ///< lines of a set
  std::string stores; ///< "evict" or "update" the line, or "keep" it too, and go on; stay "back" until it is thrown out
  std::string local_stores = "keep"; ///< the same, of local memory; "none": local memory passes by this cache
  bool unified = false;              ///< shared memory is taken from `bytes`
  bool global_loads = true;          ///< whether loads of global memory look into it, unless the program asks for it
  /// Where the rule of global memory depends on whether its loads look into this cache: the rules.
  std::optional<rules::CoalescingRule> rule_on, rule_off;
};

struct Device {
  std::string name; ///< for people: "Tesla C1060"
  std::string id;   ///< for command lines: "c1060"
  ComputeCapability capability;
  int multiprocessors = 0;
  int cores_per_multiprocessor = 0;
  double clock_ghz = 0;                       ///< of the shaders
  double bandwidth_gb_s = 0;                  ///< peak of device memory, 10^9 bytes per second
  std::optional<int> multiprocessors_per_tpc; ///< that share a texture unit, and with it the profiler's counters (1.x)
  std::optional<int> partitions;              ///< of device memory, where addresses are not hashed
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
  Latencies latency;
  std::optional<ResultLatencies> result_latency;
  Throughputs throughput;
  Sources sources; ///< key ("clock_ghz", "hong_kim.memory_latency", "hong_kim") -> where it was read
};

/// Reads a device from TOML. Errors, each with line and column in `file`: not TOML; unknown, missing and wrongly typed
/// keys; values that cannot be (a clock of 0, an infinite bandwidth, an unknown compute capability); rules that `find`
/// does not find.
Expected<Device> load_device(std::string_view toml_text, std::string_view file,
                             const rules::Finder& find = rules::find_rule);

/// The device as a file that load_device() reads back.
std::string device_text(const Device& device);

/// The devices that come with the library, ordered by compute capability, then id.
const std::vector<Device>& built_in_devices();

/// The TOML texts of the built-in devices, each with its file name: examples to copy from.
struct DeviceText {
  std::string_view file;
  std::string_view text;
};
const std::vector<DeviceText>& built_in_device_texts();

/// A built-in device by id or name. Case, punctuation and the brand do not matter: "c1060", "C1060", "Tesla C1060",
/// "tesla-c1060", "NVIDIA Tesla C1060". Errors: no such device; the hint says what may have been meant.
Expected<Device> find_device(std::string_view name);

} // namespace warplens::model
