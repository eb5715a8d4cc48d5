// SPDX-License-Identifier: Apache-2.0
// Reads device files.
#include "emulator/base/toml.hpp"
#include "model/device_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
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

/// Reads the keys of one table into variables. The key of a plain variable is required, unless it has a default; that
/// of an optional one is not. Keys that were not read are errors.
class TableReader {
public:
  TableReader(const toml::table& table, std::string name, const rules::Finder& find, Diagnostics& errors)
      : table_(table), name_(std::move(name)), find_rule_(find), errors_(errors) {}

  template <class T> void operator()(std::string_view key, T& value) {
    if (const toml::node* node = find(key)) {
      convert(key, *node, value);
    } else {
      errors_.error(location(table_.source()), fmt::format("missing key '{}'", full(key)));
    }
  }
  template <class T> void operator()(std::string_view key, std::optional<T>& value) {
    if (const toml::node* node = find(key)) convert(key, *node, value.emplace());
  }
  template <class T> void operator()(std::string_view key, T& value, Defaulted) {
    if (const toml::node* node = find(key)) convert(key, *node, value);
  }

  /// A table inside this one, or null.
  const toml::table* table(std::string_view key) {
    const toml::node* node = find(key);
    return node ? as_table(key, *node) : nullptr;
  }

  void finish() {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      errors_.error(location(key.source()), fmt::format("unknown key '{}'", full(key.str())),
                    did_you_mean(key.str(), known_));
    }
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
  [[nodiscard]] SourceLocation where(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return location(node ? node->source() : table_.source());
  }
  void wrong_type(std::string_view key, const toml::node& node, std::string_view expected) {
    errors_.error(location(node.source()),
                  fmt::format("'{}' is {}: expected {}", full(key), type_name(node), expected));
  }
  const toml::table* as_table(std::string_view key, const toml::node& node) {
    if (!node.is_table()) wrong_type(key, node, "a table");
    return node.as_table();
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
  void convert(std::string_view key, const toml::node& node, StorePolicy& value) {
    std::string word;
    convert(key, node, word);
    if (word.empty()) return;
    const auto* const known = std::find(std::begin(kStorePolicies), std::end(kStorePolicies), word);
    if (known == std::end(kStorePolicies))
      errors_.error(location(node.source()),
                    fmt::format("'{}' is '{}': expected one of {}", full(key), word, fmt::join(kStorePolicies, ", ")));
    else
      value = static_cast<StorePolicy>(known - std::begin(kStorePolicies));
  }
  void convert(std::string_view key, const toml::node& node, ComputeCapability& value) {
    std::string text;
    convert(key, node, text);
    if (text.empty()) return;
    const Expected<ComputeCapability> capability = parse_compute_capability(text);
    if (!capability) return refuse(node, capability.error());
    if (const auto limits = find_occupancy_limits(*capability); !limits) return refuse(node, limits.error());
    value = *capability;
  }
  /// Errors inside a rule file have locations in that file.
  template <class Rule>
  requires std::derived_from<Rule, rules::Label>
  void convert(std::string_view key, const toml::node& node, Rule& value) {
    std::string name;
    convert(key, node, name);
    if (name.empty()) return;
    Expected<rules::Rule> rule = find_rule_(name);
    if (!rule && !rule.error().list().front().file.empty()) return errors_.append(rule.error());
    if (!rule) return refuse(node, rule.error());
    if (Rule* own = std::get_if<Rule>(&*rule))
      value = std::move(*own);
    else
      errors_.error(location(node.source()),
                    fmt::format("'{}' is not a rule for {}", name,
                                std::is_same_v<Rule, rules::BankRule> ? "banks" : "transactions"));
  }
  template <Table T> void convert(std::string_view key, const toml::node& node, T& value) {
    const toml::table* const table = as_table(key, node);
    if (!table) return;
    TableReader reader(*table, std::string(key), find_rule_, errors_);
    visit_fields(value, reader);
    reader.finish();
    if constexpr (std::is_same_v<T, CacheLevel>) reader.check(value);
    if constexpr (std::is_same_v<T, Throughputs>) reader.check(value);
  }

  void refuse(const toml::node& node, const Diagnostics& why) {
    errors_.error(location(node.source()), why.list().front().message, why.list().front().hint);
  }
  bool check_range(std::string_view key, const toml::node& node, double value) {
    if (value > 0 && value <= kLargest) return true;
    errors_.error(location(node.source()),
                  fmt::format("'{}' is {}: expected more than 0 and at most {}", full(key), value, kLargest));
    return false;
  }
  void check(const Throughputs& throughput);
  void check(const CacheLevel& cache);

  const toml::table& table_;
  std::string name_;
  const rules::Finder& find_rule_;
  Diagnostics& errors_;
  std::vector<std::string_view> known_;
};

void TableReader::check(const Throughputs& throughput) {
  if (throughput.load_store_use && *throughput.load_store_use > 1)
    errors_.error(where("load_store_use"), "'throughput.load_store_use' is more than 1: expected at most 1");
}

void TableReader::check(const CacheLevel& cache) {
  if (errors_.has_errors()) return;
  const auto require = [&](std::string_view key, bool good, int value, std::string_view expected) {
    if (!good) errors_.error(where(key), fmt::format("'{}' is {}: expected {}", full(key), value, expected));
  };
  const auto is_length = [](int n) { return n == 32 || n == 64 || n == 128; };
  require("line_bytes", is_length(cache.line_bytes), cache.line_bytes, "32, 64 or 128");
  require("sector_bytes", is_length(cache.sector_bytes) && cache.sector_bytes <= cache.line_bytes, cache.sector_bytes,
          "32, 64 or 128, up to line_bytes");
  require("ways", cache.ways <= 1024, cache.ways, "at most 1024");
  if (errors_.has_errors()) return;
  if (cache.partitions && name_ != "l2")
    errors_.error(where("partitions"), fmt::format("'{}' is for the L2 cache only", full("partitions")));
  if (cache.partitions) require("partitions", *cache.partitions <= 16, *cache.partitions, "1 to 16");
  if (errors_.has_errors()) return;
  const int set = cache.line_bytes * cache.ways * cache.partitions.value_or(1);
  const std::string multiple =
      fmt::format("a multiple of {}, {} bytes", cache.partitions ? "a set of each partition" : "the set size", set);
  require("bytes", cache.bytes % set == 0, cache.bytes, multiple);
  if (cache.enlarged_bytes)
    require("enlarged_bytes", *cache.enlarged_bytes % set == 0, *cache.enlarged_bytes, multiple);
  if (cache.stores == StorePolicy::none)
    errors_.error(where("stores"), fmt::format("'{}' is 'none', which is for 'local_stores' only", full("stores")));
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

Device read_device(const toml::table& root, const rules::Finder& find, Diagnostics& errors) {
  Device device;
  TableReader reader(root, "", find, errors);
  visit_fields(device, reader);
  if (const auto limits = find_occupancy_limits(device.capability)) device.limits = *limits;
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
