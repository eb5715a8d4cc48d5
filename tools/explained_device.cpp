// SPDX-License-Identifier: Apache-2.0
#include "tools/explained_device.hpp"

#include "api/report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace warplens::tools {

namespace {

/// A number of a device file.
struct Number {
  std::string name, value; ///< "hong_kim.memory_latency"
};

/// The numbers of the device file, which has a line for each; its sources are not among them.
std::vector<Number> numbers_of(const model::Device& device) {
  std::vector<Number> numbers;
  const std::string text = model::device_text(device);
  std::string table;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t equals = line.find(" = ");
    if (line.starts_with('['))
      table = line.substr(1, line.find(']') - 1) + ".";
    else if (equals != line.npos && !table.starts_with("sources"))
      numbers.push_back({table + line.substr(0, equals), line.substr(equals + 3)});
  }
  return numbers;
}

/// Of the number, or of all numbers of its table.
std::string source_of(const std::string& name, const model::Device& device) {
  const std::string table = name.substr(0, name.find('.'));
  for (const std::string& key : {name, table})
    if (device.sources.contains(key)) return device.sources.at(key);
  return "";
}

std::string models_of(const model::Device& device) {
  std::vector<std::string_view> ids;
  for (const model::Model& m : model::models())
    if (m.knows(device)) ids.push_back(m.id);
  return fmt::format("{}", fmt::join(ids, ", "));
}

} // namespace

std::string device_facts(const model::Device& device, const api::Style& style) {
  const model::OccupancyLimits& limits = device.limits;
  std::string text = api::wrapped(
      fmt::format("compute capability {}: at most {} warps, {} blocks, {} registers and {} bytes of shared memory on a "
                  "multiprocessor",
                  to_string(device.capability), limits.warps, limits.blocks, limits.registers, limits.shared_bytes),
      "  ");
  text += api::wrapped("models with its parameters: " + models_of(device), "  ");
  api::Table t({{"number"}, {"value"}, {"source"}});
  for (Number& number : numbers_of(device)) {
    std::string source = source_of(number.name, device);
    t.row({std::move(number.name), std::move(number.value), std::move(source)});
  }
  return text + "\n" + t.text(style.dim, style.reset);
}

} // namespace warplens::tools
