// SPDX-License-Identifier: Apache-2.0
#include "model/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace warplens::model {
namespace {

using enum RegisterAllocation;

// Columns as in OccupancyLimits. Where NVIDIA's sources disagree, the programming guide wins: 5.2 has 65536 registers
// per block and a warp granularity of 4 (sheet 11.1: 32768 and 2), 6.2 has 64 warps (an older sheet: 128).
// From 8.0 on: CUDA C++ Programming Guide 13.0, technical specifications per compute capability; units of allocation
// and sub-partitions as in cuda_occupancy.h.
// clang-format off
constexpr auto kLimits = std::to_array<OccupancyLimits>({
    // capability, warps, threads, blocks, registers: sm, block, unit, to, thread; shared: sm, block, unit, reserved; granularity, parts, threads
    {{1, 0}, 24, 768, 8, 8192, 8192, 256, per_block, 124, 16384, 16384, 512, 0, 2, 1, 512},
    {{1, 1}, 24, 768, 8, 8192, 8192, 256, per_block, 124, 16384, 16384, 512, 0, 2, 1, 512},
    {{1, 2}, 32, 1024, 8, 16384, 16384, 512, per_block, 124, 16384, 16384, 512, 0, 2, 1, 512},
    {{1, 3}, 32, 1024, 8, 16384, 16384, 512, per_block, 124, 16384, 16384, 512, 0, 2, 1, 512},
    {{2, 0}, 48, 1536, 8, 32768, 32768, 64, per_warp, 63, 49152, 49152, 128, 0, 2, 2, 1024},
    {{2, 1}, 48, 1536, 8, 32768, 32768, 64, per_warp, 63, 49152, 49152, 128, 0, 2, 2, 1024},
    {{3, 0}, 64, 2048, 16, 65536, 65536, 256, per_warp, 63, 49152, 49152, 256, 0, 4, 4, 1024},
    {{3, 2}, 64, 2048, 16, 65536, 65536, 256, per_warp, 255, 49152, 49152, 256, 0, 4, 4, 1024},
    {{3, 5}, 64, 2048, 16, 65536, 65536, 256, per_warp, 255, 49152, 49152, 256, 0, 4, 4, 1024},
    {{3, 7}, 64, 2048, 16, 131072, 65536, 256, per_warp, 255, 114688, 49152, 256, 0, 4, 4, 1024},
    {{5, 0}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 65536, 49152, 256, 0, 4, 4, 1024},
    {{5, 2}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 98304, 49152, 256, 0, 4, 4, 1024},
    {{5, 3}, 64, 2048, 32, 65536, 32768, 256, per_warp, 255, 65536, 49152, 256, 0, 4, 4, 1024},
    {{6, 0}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 65536, 49152, 256, 0, 2, 2, 1024},
    {{6, 1}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 98304, 49152, 256, 0, 4, 4, 1024},
    {{6, 2}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 65536, 49152, 256, 0, 4, 4, 1024},
    {{7, 0}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 98304, 98304, 256, 0, 4, 4, 1024},
    {{7, 2}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 98304, 98304, 256, 0, 4, 4, 1024},
    {{7, 5}, 32, 1024, 16, 65536, 65536, 256, per_warp, 255, 65536, 65536, 256, 0, 4, 4, 1024},
    {{8, 0}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 167936, 166912, 128, 1024, 4, 4, 1024},
    {{8, 6}, 48, 1536, 16, 65536, 65536, 256, per_warp, 255, 102400, 101376, 128, 1024, 4, 4, 1024},
    {{8, 7}, 48, 1536, 16, 65536, 65536, 256, per_warp, 255, 167936, 166912, 128, 1024, 4, 4, 1024},
    {{8, 9}, 48, 1536, 24, 65536, 65536, 256, per_warp, 255, 102400, 101376, 128, 1024, 4, 4, 1024},
    {{9, 0}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 233472, 232448, 128, 1024, 4, 4, 1024},
    {{10, 0}, 64, 2048, 32, 65536, 65536, 256, per_warp, 255, 233472, 232448, 128, 1024, 4, 4, 1024},
    {{12, 0}, 48, 1536, 24, 65536, 65536, 256, per_warp, 255, 102400, 101376, 128, 1024, 4, 4, 1024},
});
// clang-format on

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }
constexpr std::int64_t round_down(std::int64_t value, std::int64_t unit) { return value / unit * unit; }

OccupancyRule effective_rule(const OccupancyQuery& query) {
  if (query.rule != OccupancyRule::automatic) return query.rule;
  return query.capability.major >= 3 ? OccupancyRule::header : OccupancyRule::sheet;
}

// The spreadsheets take a larger unit for these register counts on 2.x; the guides do not mention it.
std::int64_t register_unit(const OccupancyLimits& limits, std::int64_t registers, OccupancyRule rule) {
  constexpr std::array<std::int64_t, 8> kWide{21, 22, 29, 30, 37, 38, 45, 46};
  const bool wide = rule == OccupancyRule::sheet && limits.capability.major == 2 &&
                    std::find(kWide.begin(), kWide.end(), registers) != kWide.end();
  return wide ? 2 * limits.register_unit : limits.register_unit;
}

// Blocks that the registers allow; 0 if there are not enough registers for one block.
std::int64_t blocks_by_registers(const OccupancyLimits& limits, const OccupancyQuery& query, std::int64_t warps) {
  if (query.registers == 0) return limits.blocks;
  const OccupancyRule rule = effective_rule(query);
  const std::int64_t unit = register_unit(limits, query.registers, rule);
  if (limits.allocation == per_block) {
    const std::int64_t padded_warps = round_up(warps, limits.warp_granularity);
    return limits.registers / round_up(padded_warps * kWarpSize * query.registers, unit);
  }
  const std::int64_t per_warp_registers = round_up(query.registers * kWarpSize, unit);
  if (rule == OccupancyRule::sheet) {
    const std::int64_t warps_that_fit =
        round_down(limits.registers_per_block / per_warp_registers, limits.warp_granularity);
    return warps_that_fit / warps * (limits.registers / limits.registers_per_block);
  }
  if (per_warp_registers * round_up(warps, limits.subpartitions) > limits.registers_per_block) return 0;
  const std::int64_t warps_per_part = limits.registers / limits.subpartitions / per_warp_registers;
  return warps_per_part * limits.subpartitions / warps;
}

// The spreadsheets add the shared memory that the system reserves for 8.0 only, the header also for later ones.
std::int64_t reserved_bytes(const OccupancyLimits& limits, OccupancyRule rule) {
  const bool counted = rule == OccupancyRule::header || limits.capability == ComputeCapability{8, 0};
  return counted ? limits.shared_reserved_per_block : 0;
}

std::int64_t blocks_by_shared(const OccupancyLimits& limits, const OccupancyQuery& query) {
  const std::int64_t available = query.shared_configuration.value_or(limits.shared_bytes);
  const std::int64_t needed =
      round_up(query.shared_bytes + reserved_bytes(limits, effective_rule(query)), limits.shared_unit);
  return needed == 0 ? limits.blocks : available / needed;
}

Diagnostics illegal(const OccupancyLimits& limits, const OccupancyQuery& query) {
  Diagnostics errors;
  const auto check = [&](std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value >= least && value <= most) return;
    errors.error({}, fmt::format("{} is {}: compute capability {} allows {} to {}", what, value,
                                 to_string(limits.capability), least, most));
  };
  check("threads per block", query.threads, 1, limits.threads_per_block);
  check("registers per thread", query.registers, 0, limits.registers_per_thread);
  check("shared bytes per block", query.shared_bytes, 0, limits.shared_bytes_per_block);
  if (query.shared_configuration)
    check("shared bytes per multiprocessor", *query.shared_configuration, 0, limits.shared_bytes);
  return errors;
}

} // namespace

Expected<ComputeCapability> parse_compute_capability(std::string_view text) {
  ComputeCapability capability;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, capability.major);
  if (major.ec == std::errc{} && major.ptr != end && *major.ptr == '.' && capability.major > 0) {
    const auto minor = std::from_chars(major.ptr + 1, end, capability.minor);
    if (minor.ec == std::errc{} && minor.ptr == end && capability.minor >= 0) return capability;
  }
  return failure(fmt::format("expected a compute capability such as \"1.3\", got \"{}\"", text));
}

std::string to_string(ComputeCapability capability) { return fmt::format("{}.{}", capability.major, capability.minor); }

std::string_view to_string(OccupancyLimiter limiter) {
  static constexpr std::string_view kNames[] = {"warps", "blocks", "registers", "shared memory"};
  return kNames[static_cast<std::size_t>(limiter)];
}

Expected<OccupancyLimits> find_occupancy_limits(ComputeCapability capability) {
  for (const OccupancyLimits& limits : kLimits)
    if (limits.capability == capability) return limits;
  std::string known;
  for (const OccupancyLimits& limits : kLimits) known += (known.empty() ? "" : ", ") + to_string(limits.capability);
  return failure(fmt::format("unknown compute capability {}", to_string(capability)), "known: " + known);
}

Expected<Occupancy> occupancy(const OccupancyQuery& query) {
  const Expected<OccupancyLimits> limits = find_occupancy_limits(query.capability);
  if (!limits) return failure(limits.error());
  if (Diagnostics errors = illegal(*limits, query); errors.has_errors()) return failure(std::move(errors));

  const std::int64_t warps = round_up(query.threads, kWarpSize) / kWarpSize;
  Occupancy result;
  result.limit_warps = static_cast<int>(limits->warps / warps);
  result.limit_blocks = limits->blocks;
  result.limit_registers = static_cast<int>(blocks_by_registers(*limits, query, warps));
  result.limit_shared = static_cast<int>(blocks_by_shared(*limits, query));
  const std::array<std::pair<int, OccupancyLimiter>, 4> all{{{result.limit_warps, OccupancyLimiter::warps},
                                                             {result.limit_blocks, OccupancyLimiter::blocks},
                                                             {result.limit_registers, OccupancyLimiter::registers},
                                                             {result.limit_shared, OccupancyLimiter::shared}}};
  result.blocks = std::min_element(all.begin(), all.end())->first;
  for (const auto& [limit, limiter] : all)
    if (limit == result.blocks) result.bound_by.push_back(limiter);
  if (result.blocks == 0)
    return failure(fmt::format("no block fits on a multiprocessor of compute capability {}: not enough {}",
                               to_string(query.capability),
                               result.bound_by.front() == OccupancyLimiter::shared ? "shared memory" : "registers"),
                   "use fewer threads per block, fewer registers per thread or less shared memory");
  result.warps = result.blocks * static_cast<int>(warps);
  result.ratio = static_cast<double>(result.warps) / limits->warps;
  return result;
}

} // namespace warplens::model
