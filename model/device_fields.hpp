// SPDX-License-Identifier: Apache-2.0
// The keys of a device file, in order: load_device() reads by them, and device_text() writes by them.
//
//   visit_fields(sim, [](std::string_view key, double value) { … });   // "simd_width", then "sfu_width", …
//
// A member that is a table is visited as a whole. Calls with `kDefaulted` name keys that a file may leave out.
#pragma once

#include "model/device.hpp"

#include <concepts>

namespace warplens::model {

struct Defaulted {};
constexpr Defaulted kDefaulted;

template <class T, class Struct>
concept Maybe = std::same_as<std::remove_const_t<T>, Struct>; ///< also const

template <Maybe<IssueCycles> T, class Visit> void visit_fields(T& cycles, Visit&& visit) {
  visit("basic", cycles.basic);
  for (std::size_t i = 0; i < kIssueClasses; ++i) visit(to_string(static_cast<IssueClass>(i)), cycles.by_class[i]);
  visit("bank_pass", cycles.bank_pass);
}

template <Maybe<HongKimParameters> T, class Visit> void visit_fields(T& parameters, Visit&& visit) {
  visit("memory_latency", parameters.memory_latency);
  visit("uncoalesced_delay", parameters.uncoalesced_delay);
  visit("coalesced_delay", parameters.coalesced_delay);
  visit("uncoalesced_transactions", parameters.uncoalesced_transactions);
}

template <Maybe<DasguptaParameters> T, class Visit> void visit_fields(T& parameters, Visit&& visit) {
  visit("clock_ghz", parameters.clock_ghz);
  visit("memory_latency", parameters.memory_latency);
  visit("delay_32", parameters.delay_32);
  visit("delay_64", parameters.delay_64);
  visit("delay_128", parameters.delay_128);
  visit("delay_vector", parameters.delay_vector);
  visit("merge_queue", parameters.merge_queue);
}

template <Maybe<SimParameters> T, class Visit> void visit_fields(T& parameters, Visit&& visit) {
  visit("simd_width", parameters.simd_width);
  visit("sfu_width", parameters.sfu_width);
  visit("departure_delay", parameters.departure_delay);
  visit("transaction_bytes", parameters.transaction_bytes);
}

template <Maybe<ThroughputLatencyParameters> T, class Visit> void visit_fields(T& parameters, Visit&& visit) {
  visit("clock_ghz", parameters.clock_ghz);
  visit("overhead", parameters.overhead);
  visit("block_cycles", parameters.block_cycles);
  visit("warp_cycles", parameters.warp_cycles);
  visit("issue", parameters.issue);
  visit("special_functions", parameters.special_functions);
  visit("double_precision", parameters.double_precision);
  visit("wavefronts", parameters.wavefronts);
  visit("l2_read", parameters.l2_read);
  visit("l2_write", parameters.l2_write);
  visit("memory_bytes", parameters.memory_bytes);
  visit("kept_bytes", parameters.kept_bytes);
  visit("issue_chain", parameters.issue_chain);
  visit("l1_latency", parameters.l1_latency);
  visit("l2_latency", parameters.l2_latency);
  visit("memory_latency", parameters.memory_latency);
  visit("barrier_latency", parameters.barrier_latency);
  visit("division_instructions", parameters.division_instructions);
  visit("integer_division_instructions", parameters.integer_division_instructions);
  visit("special_instructions", parameters.special_instructions);
  visit("overlap", parameters.overlap);
  visit("atomic_half_line", parameters.atomic_half_line);
  visit("float_atomic_word", parameters.float_atomic_word);
  visit("atomic_kilobyte", parameters.atomic_kilobyte);
  visit("shared_swap", parameters.shared_swap);
}

template <Maybe<CriticalPathParameters> T, class Visit> void visit_fields(T& parameters, Visit&& visit) {
  visit("clock_ghz", parameters.clock_ghz);
  visit("overhead", parameters.overhead);
  visit("first_access", parameters.first_access);
  visit("first_execution", parameters.first_execution);
  visit("block_cycles", parameters.block_cycles);
  visit("warp_cycles", parameters.warp_cycles);
  for (std::size_t i = 0; i < parameters.latency.size(); ++i) visit(kPathLatencies[i], parameters.latency[i]);
  visit("issue", parameters.issue);
  visit("special_functions", parameters.special_functions);
  visit("double_precision", parameters.double_precision);
  visit("wavefronts", parameters.wavefronts);
  visit("l2_read", parameters.l2_read);
  visit("l2_read_scattered", parameters.l2_read_scattered);
  visit("l2_write", parameters.l2_write);
  visit("l2_write_scattered", parameters.l2_write_scattered);
  visit("memory_read", parameters.memory_read);
  visit("memory_write", parameters.memory_write);
  visit("memory_scattered", parameters.memory_scattered);
  visit("kept_bytes", parameters.kept_bytes);
  visit("atomic_half_line", parameters.atomic_half_line);
  visit("float_atomic_word", parameters.float_atomic_word);
  visit("atomic_kilobyte", parameters.atomic_kilobyte);
  visit("overlap", parameters.overlap);
  visit("alu", parameters.alu);
  visit("integer_multiply", parameters.integer_multiply);
  visit("shared_swap", parameters.shared_swap);
  visit("global_swap", parameters.global_swap);
  visit("swap_pair", parameters.swap_pair);
  visit("port_read", parameters.port_read);
  visit("port_read_scattered", parameters.port_read_scattered);
  visit("port_write", parameters.port_write);
  visit("port_write_scattered", parameters.port_write_scattered);
  visit("port_update_scattered", parameters.port_update_scattered);
  visit("latency_line", parameters.latency_line);
  visit("latency_memory_doubling", parameters.latency_memory_doubling);
  visit("latency_shared_pass", parameters.latency_shared_pass);
  visit("block_turnover", parameters.block_turnover);
  visit("latency_constant_load", parameters.latency_constant_load);
  visit("constant_line", parameters.constant_line);
  visit("constant_line_of_two", parameters.constant_line_of_two);
  visit("constant_segment", parameters.constant_segment);
  visit("latency_special_division", parameters.latency_special_division);
  visit("latency_special_double_division", parameters.latency_special_double_division);
  visit("latency_special_root", parameters.latency_special_root);
  visit("host_read", parameters.host_read);
  visit("host_write", parameters.host_write);
  visit("latency_host", parameters.latency_host);
}

template <Maybe<Latencies> T, class Visit> void visit_fields(T& latency, Visit&& visit) {
  visit("arithmetic", latency.arithmetic);
  visit("shared", latency.shared);
  visit("l1", latency.l1);
  visit("l2", latency.l2);
  visit("memory", latency.memory);
}

template <Maybe<ResultLatencies> T, class Visit> void visit_fields(T& latencies, Visit&& visit) {
  for (std::size_t i = 0; i < latencies.size(); ++i) visit(kResultLatencies[i], latencies[i]);
}

template <Maybe<Throughputs> T, class Visit> void visit_fields(T& throughput, Visit&& visit) {
  visit("issue", throughput.issue);
  visit("load_store_units", throughput.load_store_units);
  visit("load_store_use", throughput.load_store_use);
  visit("constant_passes", throughput.constant_passes);
  visit("sustained_memory_gb_s", throughput.sustained_memory_gb_s);
}

template <Maybe<PeakOperations> T, class Visit> void visit_fields(T& peak, Visit&& visit) {
  visit("half", peak.half);
  visit("bfloat16", peak.bfloat16);
  visit("double_precision", peak.double_precision);
  visit("matrix_half", peak.matrix_half);
  visit("matrix_half_sums", peak.matrix_half_sums);
  visit("matrix_bfloat16", peak.matrix_bfloat16);
  visit("matrix_tf32", peak.matrix_tf32);
  visit("matrix_fp8", peak.matrix_fp8);
  visit("matrix_fp4", peak.matrix_fp4);
  visit("matrix_double", peak.matrix_double);
  visit("matrix_int8", peak.matrix_int8);
}

template <Maybe<CacheLevel> T, class Visit> void visit_fields(T& cache, Visit&& visit) {
  visit("bytes", cache.bytes);
  visit("enlarged_bytes", cache.enlarged_bytes);
  visit("line_bytes", cache.line_bytes);
  visit("sector_bytes", cache.sector_bytes);
  visit("ways", cache.ways);
  visit("partitions", cache.partitions);
  visit("stores", cache.stores);
  visit("local_stores", cache.local_stores, kDefaulted);
  visit("unified", cache.unified, kDefaulted);
  visit("global_loads", cache.global_loads, kDefaulted);
  visit("rule_on", cache.rule_on);
  visit("rule_off", cache.rule_off);
}

/// Without `sources`, whose keys are those of the file.
template <Maybe<Device> T, class Visit> void visit_fields(T& device, Visit&& visit) {
  visit("name", device.name);
  visit("id", device.id);
  visit("compute_capability", device.capability);
  visit("multiprocessors", device.multiprocessors);
  visit("cores_per_multiprocessor", device.cores_per_multiprocessor);
  visit("clock_ghz", device.clock_ghz);
  visit("bandwidth_gb_s", device.bandwidth_gb_s);
  visit("memory_bus_bits", device.memory_bus_bits);
  visit("host_link_gb_s", device.host_link_gb_s);
  visit("multiprocessors_per_tpc", device.multiprocessors_per_tpc);
  visit("partitions", device.partitions);
  visit("partition_bytes", device.partition_bytes);
  visit("coalescing_rule", device.coalescing_rule);
  visit("bank_rule", device.bank_rule);
  visit("l1", device.l1);
  visit("l2", device.l2);
  visit("issue_cycles", device.issue_cycles);
  visit("hong_kim", device.hong_kim);
  visit("dasgupta", device.dasgupta);
  visit("sim", device.sim);
  visit("throughput_latency", device.throughput_latency);
  visit("critical_path", device.critical_path);
  visit("latency", device.latency, kDefaulted);
  visit("result_latency", device.result_latency);
  visit("throughput", device.throughput, kDefaulted);
  visit("peak_operations", device.peak_operations, kDefaulted);
}

template <class T>
concept Table = requires(T& table) {
  visit_fields(table, 0);
};

} // namespace warplens::model
