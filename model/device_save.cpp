// SPDX-License-Identifier: Apache-2.0
// Writes device files, the counterpart of device_load.cpp.
#include "model/device.hpp"

#include <fmt/format.h>

namespace warplens::model {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

/// A table that is written only if it has a key.
class TableText {
public:
  explicit TableText(std::string name) : name_(std::move(name)) {}
  void add(std::string_view key, std::string_view value) { lines_ += fmt::format("{} = {}\n", key, value); }
  void add(std::string_view key, double value) { add(key, std::string_view(fmt::format("{}", value))); }
  void add(std::string_view key, int value) { add(key, std::string_view(fmt::format("{}", value))); }
  template <class T> void add(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, *value);
  }
  [[nodiscard]] std::string text() const {
    return lines_.empty() ? "" : name_.empty() ? lines_ : fmt::format("\n[{}]\n{}", name_, lines_);
  }

private:
  std::string name_, lines_;
};

std::string issue_cycles(const IssueCycles& cycles) {
  TableText table("issue_cycles");
  table.add("basic", cycles.basic);
  for (std::size_t i = 0; i < kIssueClasses; ++i) table.add(to_string(static_cast<IssueClass>(i)), cycles.by_class[i]);
  table.add("bank_pass", cycles.bank_pass);
  return table.text();
}

std::string hong_kim(const HongKimParameters& parameters) {
  TableText table("hong_kim");
  table.add("memory_latency", parameters.memory_latency);
  table.add("uncoalesced_delay", parameters.uncoalesced_delay);
  table.add("coalesced_delay", parameters.coalesced_delay);
  table.add("uncoalesced_transactions", parameters.uncoalesced_transactions);
  return table.text();
}

std::string dasgupta(const DasguptaParameters& parameters) {
  TableText table("dasgupta");
  table.add("clock_ghz", parameters.clock_ghz);
  table.add("memory_latency", parameters.memory_latency);
  table.add("delay_32", parameters.delay_32);
  table.add("delay_64", parameters.delay_64);
  table.add("delay_128", parameters.delay_128);
  table.add("delay_vector", parameters.delay_vector);
  table.add("merge_queue", parameters.merge_queue);
  return table.text();
}

std::string sim(const SimParameters& parameters) {
  TableText table("sim");
  table.add("simd_width", parameters.simd_width);
  table.add("sfu_width", parameters.sfu_width);
  table.add("departure_delay", parameters.departure_delay);
  table.add("transaction_bytes", parameters.transaction_bytes);
  return table.text();
}

std::string throughput_latency(const ThroughputLatencyParameters& parameters) {
  TableText table("throughput_latency");
  table.add("clock_ghz", parameters.clock_ghz);
  table.add("overhead", parameters.overhead);
  table.add("block_cycles", parameters.block_cycles);
  table.add("warp_cycles", parameters.warp_cycles);
  table.add("issue", parameters.issue);
  table.add("special_functions", parameters.special_functions);
  table.add("double_precision", parameters.double_precision);
  table.add("wavefronts", parameters.wavefronts);
  table.add("l2_read", parameters.l2_read);
  table.add("l2_write", parameters.l2_write);
  table.add("memory_bytes", parameters.memory_bytes);
  table.add("kept_bytes", parameters.kept_bytes);
  table.add("issue_chain", parameters.issue_chain);
  table.add("l1_latency", parameters.l1_latency);
  table.add("l2_latency", parameters.l2_latency);
  table.add("memory_latency", parameters.memory_latency);
  table.add("barrier_latency", parameters.barrier_latency);
  table.add("division_instructions", parameters.division_instructions);
  table.add("integer_division_instructions", parameters.integer_division_instructions);
  table.add("special_instructions", parameters.special_instructions);
  table.add("overlap", parameters.overlap);
  return table.text();
}

/// The name of a rule in a device file.
const std::string& reference(const rules::Label& rule) { return rule.file.empty() ? rule.name : rule.file; }

std::string cache(std::string name, const CacheLevel& level) {
  TableText table(std::move(name));
  table.add("bytes", level.bytes);
  table.add("enlarged_bytes", level.enlarged_bytes);
  table.add("line_bytes", level.line_bytes);
  table.add("sector_bytes", level.sector_bytes);
  table.add("ways", level.ways);
  table.add("stores", quoted(level.stores));
  table.add("local_stores", quoted(level.local_stores));
  table.add("unified", std::string_view(level.unified ? "true" : "false"));
  table.add("global_loads", std::string_view(level.global_loads ? "true" : "false"));
  if (level.rule_on) table.add("rule_on", quoted(reference(*level.rule_on)));
  if (level.rule_off) table.add("rule_off", quoted(reference(*level.rule_off)));
  return table.text();
}

std::string latency_and_throughput(const Device& device) {
  TableText latency("latency");
  latency.add("arithmetic", device.latency.arithmetic);
  latency.add("shared", device.latency.shared);
  latency.add("l1", device.latency.l1);
  latency.add("l2", device.latency.l2);
  latency.add("memory", device.latency.memory);
  TableText results("result_latency");
  for (std::size_t i = 0; device.result_latency && i < device.result_latency->size(); ++i)
    results.add(kResultLatencies[i], (*device.result_latency)[i]);
  TableText throughput("throughput");
  throughput.add("issue", device.throughput.issue);
  throughput.add("load_store_units", device.throughput.load_store_units);
  throughput.add("load_store_use", device.throughput.load_store_use);
  throughput.add("sustained_memory_gb_s", device.throughput.sustained_memory_gb_s);
  return latency.text() + results.text() + throughput.text();
}

/// Either "hong_kim" or each of its keys has a source; dotted keys can express both.
std::string sources(const Device& device) {
  TableText table("sources");
  for (const auto& [key, source] : device.sources) table.add(key, quoted(source));
  return table.text();
}

} // namespace

std::string device_text(const Device& device) {
  TableText top("");
  top.add("name", quoted(device.name));
  top.add("id", quoted(device.id));
  top.add("compute_capability", quoted(to_string(device.capability)));
  top.add("multiprocessors", device.multiprocessors);
  top.add("cores_per_multiprocessor", device.cores_per_multiprocessor);
  top.add("clock_ghz", device.clock_ghz);
  top.add("bandwidth_gb_s", device.bandwidth_gb_s);
  top.add("multiprocessors_per_tpc", device.multiprocessors_per_tpc);
  top.add("partitions", device.partitions);
  top.add("partition_bytes", device.partition_bytes);
  top.add("coalescing_rule", quoted(reference(device.coalescing_rule)));
  top.add("bank_rule", quoted(reference(device.bank_rule)));
  std::string text = top.text();
  if (device.l1) text += cache("l1", *device.l1);
  if (device.l2) text += cache("l2", *device.l2);
  if (device.issue_cycles) text += issue_cycles(*device.issue_cycles);
  if (device.hong_kim) text += hong_kim(*device.hong_kim);
  if (device.dasgupta) text += dasgupta(*device.dasgupta);
  if (device.sim) text += sim(*device.sim);
  if (device.throughput_latency) text += throughput_latency(*device.throughput_latency);
  return text + latency_and_throughput(device) + sources(device);
}

} // namespace warplens::model
