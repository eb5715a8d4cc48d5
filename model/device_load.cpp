// SPDX-License-Identifier: Apache-2.0
// Reads device files.
#include "emulator/base/toml.hpp"
#include "model/device.hpp"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

namespace warplens::model {
namespace {

SourceLocation location(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

std::string type_name(const toml::node& node) {
  switch (node.type()) {
  case toml::node_type::string: return "a string";
  case toml::node_type::integer: return "an integer";
  case toml::node_type::floating_point: return "a number";
  case toml::node_type::boolean: return "a boolean";
  case toml::node_type::array: return "an array";
  case toml::node_type::table: return "a table";
  default: return "a date or time";
  }
}

/// Reads the keys of one table into variables. The key of a plain variable is required, that of an optional one is not.
/// Keys that were not read are errors.
class TableReader {
public:
  TableReader(const toml::table& table, std::string name, Diagnostics& errors)
      : table_(table), name_(std::move(name)), errors_(errors) {}

  template <class T> void read(std::string_view key, T& value) {
    if (const toml::node* node = find(key)) {
      convert(key, *node, value);
    } else {
      errors_.error(location(table_.source()), fmt::format("missing key '{}'", full(key)));
    }
  }
  template <class T> void read(std::string_view key, std::optional<T>& value) {
    if (const toml::node* node = find(key)) convert(key, *node, value.emplace());
  }

  /// A table inside this one, or null.
  const toml::table* table(std::string_view key) {
    const toml::node* node = find(key);
    if (node && !node->is_table()) wrong_type(key, *node, "a table");
    return node ? node->as_table() : nullptr;
  }

  void finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      const std::string near = closest(key.str(), known_);
      errors_.error(location(key.source()), fmt::format("unknown key '{}'", full(key.str())),
                    near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
  }

  [[nodiscard]] SourceLocation where(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return location(node ? node->source() : table_.source());
  }

private:
  static constexpr double kLargest = 1e9; ///< no quantity of a device is larger, in its unit

  [[nodiscard]] std::string full(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }
  const toml::node* find(std::string_view key) {
    known_.push_back(key);
    return table_.get(key);
  }
  void wrong_type(std::string_view key, const toml::node& node, std::string_view expected) {
    errors_.error(location(node.source()),
                  fmt::format("'{}' is {}: expected {}", full(key), type_name(node), expected));
  }

  void convert(std::string_view key, const toml::node& node, std::string& value) {
    const auto* const text = node.as_string();
    if (!text) return wrong_type(key, node, "a string");
    value = text->get();
    if (value.empty()) errors_.error(location(node.source()), fmt::format("'{}' is empty", full(key)));
  }
  void convert(std::string_view key, const toml::node& node, bool& value) {
    if (!node.is_boolean()) return wrong_type(key, node, "a boolean");
    value = *node.value<bool>();
  }
  void convert(std::string_view key, const toml::node& node, double& value) {
    if (!node.is_number()) return wrong_type(key, node, "a number");
    value = *node.value<double>();
    check_range(key, node, value);
  }
  void convert(std::string_view key, const toml::node& node, int& value) {
    const auto* const number = node.as_integer();
    if (!number) return wrong_type(key, node, "an integer");
    if (check_range(key, node, static_cast<double>(number->get()))) value = static_cast<int>(number->get());
  }
  bool check_range(std::string_view key, const toml::node& node, double value) {
    if (value > 0 && value <= kLargest) return true;
    errors_.error(location(node.source()),
                  fmt::format("'{}' is {}: expected more than 0 and at most {}", full(key), value, kLargest));
    return false;
  }

  const toml::table& table_;
  std::string name_;
  Diagnostics& errors_;
  std::vector<std::string_view> known_;
};

IssueCycles read_issue_cycles(const toml::table& table, Diagnostics& errors) {
  IssueCycles cycles;
  TableReader reader(table, "issue_cycles", errors);
  reader.read("basic", cycles.basic);
  for (std::size_t i = 0; i < kIssueClasses; ++i)
    reader.read(to_string(static_cast<IssueClass>(i)), cycles.by_class[i]);
  reader.read("bank_pass", cycles.bank_pass);
  reader.finish();
  return cycles;
}

HongKimParameters read_hong_kim(const toml::table& table, Diagnostics& errors) {
  HongKimParameters parameters;
  TableReader reader(table, "hong_kim", errors);
  reader.read("memory_latency", parameters.memory_latency);
  reader.read("uncoalesced_delay", parameters.uncoalesced_delay);
  reader.read("coalesced_delay", parameters.coalesced_delay);
  reader.read("uncoalesced_transactions", parameters.uncoalesced_transactions);
  reader.finish();
  return parameters;
}

DasguptaParameters read_dasgupta(const toml::table& table, Diagnostics& errors) {
  DasguptaParameters parameters;
  TableReader reader(table, "dasgupta", errors);
  reader.read("clock_ghz", parameters.clock_ghz);
  reader.read("memory_latency", parameters.memory_latency);
  reader.read("delay_32", parameters.delay_32);
  reader.read("delay_64", parameters.delay_64);
  reader.read("delay_128", parameters.delay_128);
  reader.read("delay_vector", parameters.delay_vector);
  reader.read("merge_queue", parameters.merge_queue);
  reader.finish();
  return parameters;
}

/// The rule that a key names; none if there is no such key, or after an error. Errors inside a rule file have locations
/// in that file.
template <class R>
std::optional<R> read_rule(TableReader& reader, std::string_view key, bool needed, const rules::Finder& find,
                           Diagnostics& errors) {
  std::optional<std::string> given;
  std::string name;
  if (needed)
    reader.read(key, name);
  else if (reader.read(key, given); given)
    name = *given;
  if (name.empty()) return std::nullopt;
  Expected<rules::Rule> rule = find(name);
  if (!rule) {
    const Diagnostic& first = rule.error().list().front();
    if (first.file.empty())
      errors.error(reader.where(key), first.message, first.hint);
    else
      errors.append(rule.error());
    return std::nullopt;
  }
  if (R* own = std::get_if<R>(&*rule)) return std::move(*own);
  errors.error(reader.where(key), fmt::format("'{}' is not a rule for {}", name,
                                              std::is_same_v<R, rules::BankRule> ? "banks" : "transactions"));
  return std::nullopt;
}

CacheLevel read_cache(const toml::table& table, const std::string& name, const rules::Finder& find,
                      Diagnostics& errors) {
  CacheLevel cache;
  TableReader reader(table, name, errors);
  std::optional<bool> unified, global_loads;
  std::optional<std::string> local_stores;
  reader.read("bytes", cache.bytes);
  reader.read("enlarged_bytes", cache.enlarged_bytes);
  reader.read("line_bytes", cache.line_bytes);
  reader.read("sector_bytes", cache.sector_bytes);
  reader.read("ways", cache.ways);
  reader.read("stores", cache.stores);
  reader.read("local_stores", local_stores);
  reader.read("unified", unified);
  reader.read("global_loads", global_loads);
  cache.rule_on = read_rule<rules::CoalescingRule>(reader, "rule_on", false, find, errors);
  cache.rule_off = read_rule<rules::CoalescingRule>(reader, "rule_off", false, find, errors);
  reader.finish();
  cache.unified = unified.value_or(false);
  cache.local_stores = local_stores.value_or(cache.local_stores);
  cache.global_loads = global_loads.value_or(true);
  if (errors.has_errors()) return cache;

  const auto check = [&](std::string_view key, bool good, int value, std::string_view expected) {
    if (!good) errors.error(reader.where(key), fmt::format("'{}.{}' is {}: expected {}", name, key, value, expected));
  };
  const auto is_length = [](int n) { return n == 32 || n == 64 || n == 128; };
  check("line_bytes", is_length(cache.line_bytes), cache.line_bytes, "32, 64 or 128");
  check("sector_bytes", is_length(cache.sector_bytes) && cache.sector_bytes <= cache.line_bytes, cache.sector_bytes,
        "32, 64 or 128, up to line_bytes");
  check("ways", cache.ways <= 1024, cache.ways, "at most 1024");
  if (errors.has_errors()) return cache;
  const int set = cache.line_bytes * cache.ways;
  check("bytes", cache.bytes % set == 0, cache.bytes, fmt::format("a multiple of the set size, {} bytes", set));
  if (cache.enlarged_bytes)
    check("enlarged_bytes", *cache.enlarged_bytes % set == 0, *cache.enlarged_bytes,
          fmt::format("a multiple of the set size, {} bytes", set));
  constexpr std::string_view kStores[] = {"evict", "update", "keep", "back"};
  const auto known = [&](const std::string& how) {
    return std::find(kStores, std::end(kStores), how) != std::end(kStores);
  };
  if (!known(cache.stores))
    errors.error(reader.where("stores"),
                 fmt::format("'{}.stores' is '{}': expected evict, update, keep or back", name, cache.stores));
  if (!known(cache.local_stores) && cache.local_stores != "none")
    errors.error(reader.where("local_stores"), fmt::format("'{}.local_stores' is '{}': expected evict, update, keep, "
                                                           "back or none",
                                                           name, cache.local_stores));
  return cache;
}

SimParameters read_sim(const toml::table& table, Diagnostics& errors) {
  SimParameters parameters;
  TableReader reader(table, "sim", errors);
  reader.read("simd_width", parameters.simd_width);
  reader.read("sfu_width", parameters.sfu_width);
  reader.read("departure_delay", parameters.departure_delay);
  reader.read("transaction_bytes", parameters.transaction_bytes);
  reader.finish();
  return parameters;
}

ThroughputLatencyParameters read_throughput_latency(const toml::table& table, Diagnostics& errors) {
  ThroughputLatencyParameters parameters;
  TableReader reader(table, "throughput_latency", errors);
  reader.read("clock_ghz", parameters.clock_ghz);
  reader.read("overhead", parameters.overhead);
  reader.read("block_cycles", parameters.block_cycles);
  reader.read("warp_cycles", parameters.warp_cycles);
  reader.read("issue", parameters.issue);
  reader.read("special_functions", parameters.special_functions);
  reader.read("double_precision", parameters.double_precision);
  reader.read("wavefronts", parameters.wavefronts);
  reader.read("l2_read", parameters.l2_read);
  reader.read("l2_write", parameters.l2_write);
  reader.read("memory_bytes", parameters.memory_bytes);
  reader.read("kept_bytes", parameters.kept_bytes);
  reader.read("issue_chain", parameters.issue_chain);
  reader.read("l1_latency", parameters.l1_latency);
  reader.read("l2_latency", parameters.l2_latency);
  reader.read("memory_latency", parameters.memory_latency);
  reader.read("barrier_latency", parameters.barrier_latency);
  reader.read("division_instructions", parameters.division_instructions);
  reader.read("integer_division_instructions", parameters.integer_division_instructions);
  reader.read("special_instructions", parameters.special_instructions);
  reader.read("overlap", parameters.overlap);
  reader.finish();
  return parameters;
}

Latencies read_latency(const toml::table& table, Diagnostics& errors) {
  Latencies latency;
  TableReader reader(table, "latency", errors);
  reader.read("arithmetic", latency.arithmetic);
  reader.read("shared", latency.shared);
  reader.read("l1", latency.l1);
  reader.read("l2", latency.l2);
  reader.read("memory", latency.memory);
  reader.finish();
  return latency;
}

ResultLatencies read_result_latency(const toml::table& table, Diagnostics& errors) {
  ResultLatencies latencies{};
  TableReader reader(table, "result_latency", errors);
  for (std::size_t i = 0; i < latencies.size(); ++i) reader.read(kResultLatencies[i], latencies[i]);
  reader.finish();
  return latencies;
}

Throughputs read_throughput(const toml::table& table, Diagnostics& errors) {
  Throughputs throughput;
  TableReader reader(table, "throughput", errors);
  reader.read("issue", throughput.issue);
  reader.read("load_store_units", throughput.load_store_units);
  reader.read("load_store_use", throughput.load_store_use);
  reader.read("sustained_memory_gb_s", throughput.sustained_memory_gb_s);
  reader.finish();
  if (throughput.load_store_use && *throughput.load_store_use > 1)
    errors.error(reader.where("load_store_use"), "'throughput.load_store_use' is more than 1: expected at most 1");
  return throughput;
}

// [sources] mirrors the file: each of its keys is a key or a table of the file; its string names the publication of the
// value.
void read_sources(const toml::table& sources, const toml::table& described, const std::string& prefix, Device& device,
                  Diagnostics& errors) {
  for (const auto& [key, node] : sources) {
    const std::string name = prefix + std::string(key.str());
    const toml::node* const target = described.get(key.str());
    if (!target) {
      errors.error(location(key.source()), fmt::format("source given for '{}', which is not in the file", name));
    } else if (const auto* const text = node.as_string()) {
      device.sources[name] = text->get();
    } else if (node.is_table() && target->is_table()) {
      read_sources(*node.as_table(), *target->as_table(), name + ".", device, errors);
    } else {
      errors.error(location(node.source()),
                   fmt::format("the source of '{}' is {}: expected a string", name, type_name(node)));
    }
  }
}

void read_capability(TableReader& reader, Device& device, Diagnostics& errors) {
  std::string text;
  reader.read("compute_capability", text);
  if (text.empty()) return;
  const auto fail = [&](const Diagnostics& why) {
    errors.error(reader.where("compute_capability"), why.list().front().message, why.list().front().hint);
  };
  const Expected<ComputeCapability> capability = parse_compute_capability(text);
  if (!capability) return fail(capability.error());
  const Expected<OccupancyLimits> limits = find_occupancy_limits(*capability);
  if (!limits) return fail(limits.error());
  device.capability = *capability;
  device.limits = *limits;
}

Device read_device(const toml::table& root, const rules::Finder& find, Diagnostics& errors) {
  Device device;
  TableReader reader(root, "", errors);
  reader.read("name", device.name);
  reader.read("id", device.id);
  read_capability(reader, device, errors);
  reader.read("multiprocessors", device.multiprocessors);
  reader.read("cores_per_multiprocessor", device.cores_per_multiprocessor);
  reader.read("clock_ghz", device.clock_ghz);
  reader.read("bandwidth_gb_s", device.bandwidth_gb_s);
  reader.read("multiprocessors_per_tpc", device.multiprocessors_per_tpc);
  reader.read("partitions", device.partitions);
  reader.read("partition_bytes", device.partition_bytes);
  if (auto rule = read_rule<rules::CoalescingRule>(reader, "coalescing_rule", true, find, errors))
    device.coalescing_rule = std::move(*rule);
  if (auto rule = read_rule<rules::BankRule>(reader, "bank_rule", true, find, errors))
    device.bank_rule = std::move(*rule);
  if (const toml::table* table = reader.table("l1")) device.l1 = read_cache(*table, "l1", find, errors);
  if (const toml::table* table = reader.table("l2")) device.l2 = read_cache(*table, "l2", find, errors);
  if (const toml::table* table = reader.table("issue_cycles")) device.issue_cycles = read_issue_cycles(*table, errors);
  if (const toml::table* table = reader.table("hong_kim")) device.hong_kim = read_hong_kim(*table, errors);
  if (const toml::table* table = reader.table("dasgupta")) device.dasgupta = read_dasgupta(*table, errors);
  if (const toml::table* table = reader.table("sim")) device.sim = read_sim(*table, errors);
  if (const toml::table* table = reader.table("throughput_latency"))
    device.throughput_latency = read_throughput_latency(*table, errors);
  if (const toml::table* table = reader.table("latency")) device.latency = read_latency(*table, errors);
  if (const toml::table* table = reader.table("result_latency"))
    device.result_latency = read_result_latency(*table, errors);
  if (const toml::table* table = reader.table("throughput")) device.throughput = read_throughput(*table, errors);
  if ((device.hong_kim || device.dasgupta) && !device.issue_cycles)
    errors.error({1, 1}, "missing table 'issue_cycles', which [hong_kim] and [dasgupta] need");
  if (const toml::table* table = reader.table("sources")) read_sources(*table, root, "", device, errors);
  reader.finish();
  return device;
}

} // namespace

Expected<Device> load_device(std::string_view toml_text, std::string_view file, const rules::Finder& find) {
  Diagnostics errors;
  if (const std::optional<toml::table> root = parse_toml(toml_text, file, errors)) {
    Device device = read_device(*root, find, errors);
    if (!errors.has_errors()) return device;
  }
  errors.in_file(file);
  return failure(std::move(errors));
}

} // namespace warplens::model
