// SPDX-License-Identifier: Apache-2.0
#include "api/launch/board.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::api {

namespace {

using Store = analyzers::CacheGeometry::Store;

/// Empty: stores bypass the cache.
std::optional<Store> store_of(model::StorePolicy policy) {
  switch (policy) {
  case model::StorePolicy::evict: return Store::evict;
  case model::StorePolicy::update: return Store::update;
  case model::StorePolicy::keep: return Store::keep;
  case model::StorePolicy::back: return Store::back;
  case model::StorePolicy::none: break;
  }
  return std::nullopt;
}

analyzers::CacheGeometry geometry_of(const model::CacheLevel& level, std::uint64_t bytes) {
  analyzers::CacheGeometry g;
  g.line_bytes = static_cast<std::uint32_t>(level.line_bytes);
  g.sector_bytes = static_cast<std::uint32_t>(level.sector_bytes);
  const std::uint64_t set = std::uint64_t{g.line_bytes} * static_cast<std::uint64_t>(level.ways);
  const std::uint64_t sets = std::max<std::uint64_t>(static_cast<std::uint64_t>(level.bytes) / set, 1);
  // Shared memory takes ways of the cache; a larger cache has more sets.
  const bool shrinks = bytes < static_cast<std::uint64_t>(level.bytes);
  const std::uint64_t ways =
      shrinks ? std::max<std::uint64_t>(bytes / (sets * g.line_bytes), 1) : static_cast<std::uint64_t>(level.ways);
  g.ways = static_cast<std::uint32_t>(ways);
  g.bytes = shrinks ? sets * ways * g.line_bytes : bytes;
  g.store = store_of(level.stores).value_or(g.store);
  g.partitions = static_cast<std::uint32_t>(level.partitions.value_or(1));
  return g;
}

analyzers::PathLatencies path_latencies(const model::CriticalPathParameters& parameters) {
  const model::PathLatencies& latency = parameters.latency;
  const auto of_unit = [&](std::string_view unit) {
    for (std::size_t i = 0; i < latency.size(); ++i)
      if (model::kPathLatencies[i].substr(model::kPathLatencies[i].find('_') + 1) == unit) return latency[i];
    return 0.0;
  };
  const auto of = [&](model::PathLatency which) { return latency[which.place]; };
  analyzers::PathLatencies result;
  for (std::size_t c = 0; c < result.results.size(); ++c)
    result.results[c] = of_unit(isa::kInstructionClasses[c].latency);
  result.integer_division = of("latency_integer_division");
  result.wide_division = of("latency_wide_division");
  result.root = of("latency_root");
  result.double_root = of("latency_double_root");
  result.double_reciprocal = of("latency_double_reciprocal");
  result.conversion = of("latency_conversion");
  result.wide_conversion = of("latency_wide_conversion");
  result.wide_multiplication = of("latency_wide_multiplication");
  result.vote = of("latency_vote");
  result.matrix = of("latency_matrix");
  result.predicate = of("latency_predicate");
  result.branch = of("latency_branch");
  result.reconvergence = of("latency_reconvergence");
  result.divergence = of("latency_divergence");
  result.l1 = of("latency_l1");
  result.l2 = of("latency_l2");
  result.memory = of("latency_memory");
  result.atomic = of("latency_atomic");
  result.line = parameters.latency_line.value_or(0);
  result.shared_pass = parameters.latency_shared_pass.value_or(0);
  result.memory_doubling = parameters.latency_memory_doubling.value_or(0);
  result.special_division = parameters.latency_special_division.value_or(0);
  result.special_double_division = parameters.latency_special_double_division.value_or(0);
  result.special_root = parameters.latency_special_root.value_or(0);
  result.constant_load = parameters.latency_constant_load.value_or(0);
  result.barrier = of("latency_barrier");
  result.barrier_of_warp = of("latency_barrier_of_warp");
  return result;
}

} // namespace

std::optional<analyzers::ResultLatencies> result_latencies(const model::Device& device) {
  if (!device.result_latency) return std::nullopt;
  analyzers::ResultLatencies result{};
  for (std::size_t c = 0; c < result.size(); ++c)
    for (std::size_t i = 0; i < device.result_latency->size(); ++i)
      if (model::kResultLatencies[i] == isa::kInstructionClasses[c].latency) result[c] = (*device.result_latency)[i];
  return result;
}

Expected<FirstLevel> parse_first_level(std::string_view word) {
  if (word == "off") return FirstLevel::off;
  if (word == "on") return FirstLevel::on;
  if (word == "enlarged") return FirstLevel::enlarged;
  return failure(fmt::format("l1 {}: expected off, on or enlarged", word));
}

analyzers::Board board_of(const model::Device& device, FirstLevel first_level, int resident,
                          std::uint64_t shared_bytes) {
  analyzers::Board board;
  board.multiprocessors = static_cast<std::uint32_t>(std::max(device.multiprocessors, 1));
  board.resident_ctas = static_cast<std::uint32_t>(std::max(resident, 1));
  if (device.partitions && device.partition_bytes)
    board.partitions = {static_cast<std::uint32_t>(*device.partitions),
                        static_cast<std::uint32_t>(*device.partition_bytes)};
  board.result_latency = result_latencies(device);
  if (device.critical_path) board.path_latency = path_latencies(*device.critical_path);
  if (device.l2) board.l2 = geometry_of(*device.l2, static_cast<std::uint64_t>(device.l2->bytes));
  if (!device.l1) return board;
  board.l1_global = first_level == FirstLevel::device ? device.l1->global_loads : first_level != FirstLevel::off;
  board.l1_local = store_of(device.l1->local_stores);
  const bool enlarged = first_level == FirstLevel::enlarged;
  auto bytes =
      static_cast<std::uint64_t>(enlarged ? device.l1->enlarged_bytes.value_or(device.l1->bytes) : device.l1->bytes);
  if (device.l1->unified) bytes -= std::min(bytes, shared_bytes * board.resident_ctas);
  board.l1 = geometry_of(*device.l1, bytes);
  return board;
}

model::Device with_first_level(model::Device device, FirstLevel first_level) {
  if (first_level == FirstLevel::device) return device;
  if (!device.l1) return device;
  const auto& rule = first_level == FirstLevel::off ? device.l1->rule_off : device.l1->rule_on;
  if (rule) device.coalescing_rule = *rule;
  return device;
}

} // namespace warplens::api
