// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/asked_launches.hpp"

#include "api/launch/launch.hpp"
#include "tests/hardware/rank_correlation.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

namespace warplens::tests {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const std::string& file) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/" + file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

double element(const json& holds, std::uint64_t i, std::uint64_t count) {
  if (holds.contains("iota")) return static_cast<double>(i);
  if (holds.contains("mod")) return static_cast<double>(i % holds["mod"].get<std::uint64_t>());
  if (holds.contains("spread")) return static_cast<double>(i * 2654435761u % count);
  return holds.value("fill", 0.0);
}

/// As NumPy casts: integers wrap.
template <class T> void store(std::byte* at, double value) {
  const T one = static_cast<T>(static_cast<std::conditional_t<std::is_integral_v<T>, std::int64_t, T>>(value));
  std::memcpy(at, &one, sizeof one);
}

struct Element {
  std::size_t bytes;
  void (*store)(std::byte*, double);
};
const std::map<std::string, Element> kElements = {
    {"u8", {1, store<std::uint8_t>}},  {"u16", {2, store<std::uint16_t>}}, {"u32", {4, store<std::uint32_t>}},
    {"s32", {4, store<std::int32_t>}}, {"u64", {8, store<std::uint64_t>}}, {"f32", {4, store<float>}},
    {"f64", {8, store<double>}},
};

std::shared_ptr<api::Buffer> buffer_of(const std::shared_ptr<api::Context>& context, const std::string& name,
                                       const json& holds) {
  const Element& type = kElements.at(holds["type"]);
  const std::uint64_t count = holds["count"];
  auto buffer = api::Buffer::allocate(context, count * type.bytes, name);
  if (!buffer) throw std::runtime_error("no room for " + name);
  if (!holds.contains("zeros"))
    for (std::uint64_t i = 0; i < count; ++i)
      type.store((*buffer)->bytes().data() + i * type.bytes, element(holds, i, count));
  return std::move(*buffer);
}

// SHA-1 (FIPS 180-4) modulo 5: the names of kernels are all that is ever hashed here.
unsigned sha1_modulo_5(std::string_view text) {
  std::string m(text);
  m += '\x80';
  while (m.size() % 64 != 56) m += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) m += static_cast<char>(std::uint64_t{8 * text.size()} >> shift);
  std::uint32_t h[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const auto rotate = [](std::uint32_t x, int n) { return x << n | x >> (32 - n); };
  for (std::size_t block = 0; block < m.size(); block += 64) {
    std::uint32_t w[80];
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = 0;
      for (std::size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | static_cast<unsigned char>(m[block + 4 * i + j]);
    }
    for (std::size_t i = 16; i < 80; ++i) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    std::uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (std::size_t i = 0; i < 80; ++i) {
      const std::uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 || i >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
      const std::uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
      const std::uint32_t next = rotate(a, 5) + f + e + k + w[i];
      e = d;
      d = c;
      c = rotate(b, 30);
      b = a;
      a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  unsigned remainder = 0; // 2^32 modulo 5 is 1
  for (const std::uint32_t part : h) remainder = (remainder + part % 5) % 5;
  return remainder;
}

/// The buffers of a launch, and its module.
class Emulation {
public:
  explicit Emulation(const json& asked)
      : context_(*api::Context::create()),
        module_(*api::Module::load(context_, text_of(asked["module"]), std::string(asked["module"]))) {
    for (const auto& [name, holds] : asked["buffers"].items()) buffers_[name] = buffer_of(context_, name, holds);
  }

  Expected<api::LaunchReport> launch(const json& what, bool analyze) {
    Expected<api::Kernel> kernel = module_->kernel(std::string(what["kernel"]));
    if (!kernel) return failure(kernel.error());
    api::LaunchRequest request;
    request.kernel = *kernel;
    for (std::size_t i = 0; i < 3; ++i) {
      request.grid[i] = what["grid"][i];
      request.block[i] = what["block"][i];
    }
    request.dynamic_shared_bytes = what["shared"];
    for (const json& a : what["args"]) request.arguments.push_back(argument(a));
    request.device = *model::find_device("h200");
    request.options.analyze = request.options.footprint = analyze;
    Expected<api::LaunchReport> report = api::launch(request);
    if (report && report->trap) return failure(report->trap->message);
    return report;
  }

private:
  [[nodiscard]] api::Argument argument(const json& a) const {
    if (a.contains("buffer")) return api::Argument::buffer(*buffers_.at(a["buffer"]));
    std::byte bytes[4];
    if (a.contains("s32"))
      store<std::int32_t>(bytes, a["s32"]);
    else
      store<float>(bytes, a["f32"]);
    return api::Argument::raw(bytes);
  }

  std::shared_ptr<api::Context> context_;
  std::shared_ptr<api::Module> module_;
  std::map<std::string, std::shared_ptr<api::Buffer>> buffers_;
};

} // namespace

bool held_out(std::string_view kernel) { return sha1_modulo_5(kernel) < 2; }

std::vector<AskedLaunch> asked_launches() {
  const std::vector<std::string> asked = lines_of("times_asked.jsonl"), times = lines_of("times.jsonl"),
                                 counted = lines_of("times_counted.jsonl");
  if (asked.empty() || asked.size() != times.size())
    throw std::runtime_error("times.jsonl is not of times_asked.jsonl");
  std::vector<AskedLaunch> list;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const json one = json::parse(asked[i]), time = json::parse(times[i]);
    AskedLaunch launch;
    launch.number = i;
    launch.line = asked[i];
    launch.module = one["module"];
    launch.kernel = one["kernel"];
    launch.label = one["label"];
    if (time["kernel"] != one["kernel"] || time["label"] != one["label"])
      throw std::runtime_error("times.jsonl is not of times_asked.jsonl");
    launch.milliseconds = time["counters"]["gpu__time_duration.sum"].get<double>() * 1e-6;
    launch.machine_instructions = time["counters"]["smsp__inst_executed.sum"];
    launch.held_out = held_out(launch.kernel);
    list.push_back(std::move(launch));
  }
  for (const std::string& line : counted) {
    const json one = json::parse(line);
    AskedLaunch& launch = list.at(one["launch"]);
    if (one["kernel"] != launch.kernel || one["label"] != launch.label)
      throw std::runtime_error("times_counted.jsonl is not of times_asked.jsonl");
    launch.counted.emplace();
    for (const model::StatisticField& field : model::statistic_fields())
      if (const auto value = one["statistics"].find(field.name); value != one["statistics"].end())
        field.get(*launch.counted) = value->get<double>();
  }
  return list;
}

Expected<model::KernelStatistics> emulate(const AskedLaunch& asked) {
  const json one = json::parse(asked.line);
  Emulation emulation(one);
  for (const json& before : one["before"])
    if (const auto done = emulation.launch(before, false); !done) return failure(done.error());
  const Expected<api::LaunchReport> report = emulation.launch(one, true);
  if (!report) return failure(report.error());
  return report->statistics;
}

double predicted_milliseconds(const AskedLaunch& asked) {
  static const model::Device device = *model::find_device("h200");
  const auto p = model::predict(model::kThroughputLatency, asked.counted.value(), device);
  if (!p) throw std::runtime_error(asked.kernel + ": " + p.error().list().front().message);
  return p->milliseconds;
}

Accuracy accuracy(const std::vector<AskedLaunch>& launches) {
  std::set<std::string> kernels;
  std::vector<double> predicted, measured;
  Accuracy result{.launches = launches.size()};
  for (const AskedLaunch& one : launches) {
    kernels.insert(one.kernel);
    predicted.push_back(predicted_milliseconds(one));
    measured.push_back(one.milliseconds);
    result.mean_error += std::abs(predicted.back() / one.milliseconds - 1) / static_cast<double>(launches.size());
  }
  result.kernels = kernels.size();
  result.spearman = rank_correlation(predicted, measured);
  return result;
}

std::vector<AskedLaunch> part(const std::vector<AskedLaunch>& launches, bool held_out) {
  std::vector<AskedLaunch> result;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(result),
               [&](const AskedLaunch& one) { return one.counted && one.held_out == held_out; });
  return result;
}

namespace {

// What other models take, and the one that is tested with these does not, may change without that all is counted anew.
bool is_of_other_models(std::string_view field) {
  static const std::set<std::string_view> others = {"independent_loads",
                                                    "integer_multiply",
                                                    "only_loaded_sectors",
                                                    "written_sectors",
                                                    "path_l2",
                                                    "path_memory",
                                                    "longest_warp",
                                                    "longest_of_blocks",
                                                    "executed_instructions",
                                                    "machine_instructions",
                                                    "double_operations",
                                                    "alu_operations",
                                                    "special_operations",
                                                    "executed_machine_instructions",
                                                    "shared_word_swaps",
                                                    "swaps_of_other_warps",
                                                    "swap_pairs",
                                                    "global_swaps",
                                                    "longest_of_blocks_path_l2",
                                                    "longest_of_blocks_path_memory",
                                                    "longest_warp_path_l2",
                                                    "longest_warp_path_memory",
                                                    "constant_lines",
                                                    "constant_segments",
                                                    "parameter_lines",
                                                    "lone_sectors",
                                                    "first_wave_from_memory"};
  return others.contains(field);
}

} // namespace

std::string line_of(const AskedLaunch& asked, const model::KernelStatistics& statistics) {
  std::string fields;
  model::KernelStatistics copy = statistics; // the table gives access to mutable statistics only
  for (const model::StatisticField& field : model::statistic_fields())
    if (const std::optional<double>& value = field.get(copy); value && !is_of_other_models(field.name))
      fields += fmt::format("{}\"{}\": {:.6g}", fields.empty() ? "" : ", ", field.name, *value);
  return fmt::format(R"({{"launch": {}, "kernel": "{}", "label": "{}", "statistics": {{{}}}}})", asked.number,
                     asked.kernel, asked.label, fields);
}

} // namespace warplens::tests
