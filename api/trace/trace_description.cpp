// SPDX-License-Identifier: Apache-2.0
#include "api/trace/trace_description.hpp"

#include "emulator/base/limits.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>

namespace warplens::api {

namespace {

using Json = nlohmann::ordered_json;

/// Thrown, like the library's exceptions, if a description is not valid for a launch.
struct Wrong {
  std::string what;
};

// PTX and printed text may contain bytes that are not UTF-8: such text is stored as a list of its bytes.
Json text_of(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return text;
  } catch (const Json::exception&) {
    Json bytes = Json::array();
    for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
    return bytes;
  }
}

/// The library would silently convert numbers that are negative or too large.
template <class T> T natural(const Json& json, std::string_view what) {
  const bool fits = json.is_number_unsigned() && json.get<std::uint64_t>() <= std::numeric_limits<T>::max();
  if (!fits) throw Wrong{fmt::format("'{}' is not a number from 0 to {}", what, std::numeric_limits<T>::max())};
  return static_cast<T>(json.get<std::uint64_t>());
}

std::string text_from(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) throw Wrong{"a text is neither a string nor a list of bytes"};
  std::string text;
  for (const Json& byte : json) text += static_cast<char>(natural<unsigned char>(byte, "a byte of a text"));
  return text;
}

Extent extent(const Json& json, std::string_view what) {
  if (!json.is_array() || json.size() != 3) throw Wrong{fmt::format("'{}' is not three numbers", what)};
  return {natural<std::uint64_t>(json[0], what), natural<std::uint64_t>(json[1], what),
          natural<std::uint64_t>(json[2], what)};
}

/// Of each instruction that ran more or less often than the one before it: its index and how often the longest warps
/// executed it.
Json times_of(const exec::LongestWarps& longest) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < longest.launch_times.size(); ++i)
    if (i == 0 || longest.launch_times[i] != longest.launch_times[i - 1] ||
        longest.cta_times[i] != longest.cta_times[i - 1])
      rows.push_back({i, longest.launch_times[i], longest.cta_times[i]});
  return rows;
}

void read_times(const Json& rows, std::size_t instructions, exec::LongestWarps& longest) {
  for (const Json& row : rows) {
    const Extent times = extent(row, "longest_times");
    if (times[0] < longest.launch_times.size() || times[0] >= instructions)
      throw Wrong{"'longest_times' are not of ascending instructions"};
    // Those before it are as the row before.
    longest.launch_times.resize(times[0], longest.launch_times.empty() ? 0 : longest.launch_times.back());
    longest.cta_times.resize(times[0], longest.cta_times.empty() ? 0 : longest.cta_times.back());
    longest.launch_times.push_back(times[1]);
    longest.cta_times.push_back(times[2]);
  }
  if (longest.launch_times.empty()) return;
  longest.launch_times.resize(instructions, longest.launch_times.back());
  longest.cta_times.resize(instructions, longest.cta_times.back());
}

/// Of each instruction and type of A: their multiply-adds.
Json products_of(const std::vector<exec::SizedProduct>& products) {
  Json rows = Json::array();
  for (const exec::SizedProduct& p : products) {
    Json row = {p.instruction, exec::name(p.element), p.multiply_adds};
    if (p.half_sums) row.push_back("f16");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<exec::SizedProduct> products_from(const Json& rows, std::size_t instructions) {
  constexpr std::string_view kWhat = "sized_products";
  std::vector<exec::SizedProduct> products;
  for (const Json& row : rows) {
    if (!row.is_array() || (row.size() != 3 && (row.size() != 4 || row[3] != "f16")))
      throw Wrong{"a row of 'sized_products' has no three values"};
    exec::SizedProduct p{
        natural<std::uint32_t>(row[0], kWhat), {}, natural<std::uint64_t>(row[2], kWhat), row.size() == 4};
    const std::string type = text_from(row[1]);
    int element = 0;
    while (element < exec::kMatrixElements && exec::name(static_cast<exec::MatrixElement>(element)) != type) ++element;
    if (p.instruction >= instructions || element == exec::kMatrixElements)
      throw Wrong{"'sized_products' are not of the kernel's instructions and of types of matrices"};
    p.element = static_cast<exec::MatrixElement>(element);
    products.push_back(p);
  }
  return products;
}

constexpr std::string_view kAccessNames[] = {"load", "store", "atomic", "reduction"};

/// Of each instruction and kind of copy: what it moves, and how many there are.
Json copies_of(const std::vector<exec::BulkCopy>& copies) {
  Json rows = Json::array();
  for (const exec::BulkCopy& c : copies)
    rows.push_back({c.instruction, kAccessNames[static_cast<std::size_t>(c.kind)], c.bytes, c.sectors, c.received,
                    c.shared_read, c.shared_written, c.blocks, c.count});
  return rows;
}

std::vector<exec::BulkCopy> copies_from(const Json& rows, std::size_t instructions) {
  constexpr std::string_view kWhat = "bulk_copies";
  std::vector<exec::BulkCopy> copies;
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != 9) throw Wrong{"a row of 'bulk_copies' has no nine values"};
    const auto value = [&](std::size_t i) { return natural<std::uint64_t>(row[i], kWhat); };
    const std::string kind = text_from(row[1]);
    const auto* const name = std::find(std::begin(kAccessNames), std::end(kAccessNames), kind);
    exec::BulkCopy c;
    c.instruction = natural<std::uint32_t>(row[0], kWhat);
    if (c.instruction >= instructions || name == std::end(kAccessNames))
      throw Wrong{"'bulk_copies' are not of the kernel's instructions and of kinds of accesses"};
    c.kind = static_cast<exec::AccessKind>(name - std::begin(kAccessNames));
    c.bytes = value(2), c.sectors = value(3), c.received = value(4), c.shared_read = value(5);
    c.shared_written = value(6), c.blocks = natural<std::uint32_t>(row[7], kWhat), c.count = value(8);
    copies.push_back(c);
  }
  return copies;
}

/// Of each instruction and kind of copy by lanes: sectors of the sources, fetched, looked up, and how many there are.
Json lane_copies_of(const std::vector<exec::LaneCopy>& copies) {
  Json rows = Json::array();
  for (const exec::LaneCopy& c : copies) rows.push_back({c.instruction, c.sectors, c.fetched, c.looked_up, c.count});
  return rows;
}

std::vector<exec::LaneCopy> lane_copies_from(const Json& rows, std::size_t instructions) {
  constexpr std::string_view kWhat = "lane_copies";
  std::vector<exec::LaneCopy> copies;
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != 5) throw Wrong{"a row of 'lane_copies' has no five values"};
    const auto value = [&](std::size_t i) { return natural<std::uint32_t>(row[i], kWhat); };
    const exec::LaneCopy c{value(0), value(1), value(2), value(3), natural<std::uint64_t>(row[4], kWhat)};
    const std::uint32_t most = exec::kWarpSize;
    if (c.instruction >= instructions || c.sectors > c.fetched || c.fetched > most || c.looked_up > most)
      throw Wrong{"'lane_copies' are not of the kernel's instructions and of the sectors of a warp"};
    copies.push_back(c);
  }
  return copies;
}

/// Of each instruction and kind of work: how many waits found some in flight, how much together, and the most.
Json waits_of(const std::vector<exec::AsyncWaits>& waits) {
  Json rows = Json::array();
  for (const exec::AsyncWaits& w : waits) rows.push_back({w.instruction, w.work, w.count, w.in_flight, w.most});
  return rows;
}

std::vector<exec::AsyncWaits> waits_from(const Json& rows, std::size_t instructions) {
  constexpr std::string_view kWhat = "async_waits";
  std::vector<exec::AsyncWaits> waits;
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != 5) throw Wrong{"a row of 'async_waits' has no five values"};
    const auto value = [&](std::size_t i) { return natural<std::uint64_t>(row[i], kWhat); };
    exec::AsyncWaits w{natural<std::uint32_t>(row[0], kWhat), natural<std::uint8_t>(row[1], kWhat), value(2), value(3),
                       value(4)};
    if (w.instruction >= instructions || w.work > exec::AsyncWaits::kPhases)
      throw Wrong{"'async_waits' are not of the kernel's instructions and of kinds of work"};
    waits.push_back(w);
  }
  return waits;
}

/// Of each instruction: how many warps executed it with special operands.
Json special_of(const std::vector<exec::SpecialOperands>& special) {
  Json rows = Json::array();
  for (const exec::SpecialOperands& s : special) rows.push_back({s.instruction, s.count});
  return rows;
}

std::vector<exec::SpecialOperands> special_from(const Json& rows, std::size_t instructions) {
  constexpr std::string_view kWhat = "special_operands";
  std::vector<exec::SpecialOperands> special;
  for (const Json& row : rows) {
    if (!row.is_array() || row.size() != 2) throw Wrong{"a row of 'special_operands' has no two values"};
    exec::SpecialOperands s{natural<std::uint32_t>(row[0], kWhat), 0, natural<std::uint64_t>(row[1], kWhat)};
    if (s.instruction >= instructions) throw Wrong{"'special_operands' are not of the kernel's instructions"};
    special.push_back(s);
  }
  return special;
}

Json filter_of(const TraceFilter& f) {
  return {{"first_block", f.first_block}, {"last_block", f.last_block}, {"every", f.every}, {"lines", f.lines}};
}

TraceFilter filter_from(const Json& json) {
  TraceFilter f;
  f.first_block = natural<std::uint64_t>(json.at("first_block"), "first_block");
  f.last_block = natural<std::uint64_t>(json.at("last_block"), "last_block");
  f.every = natural<std::uint64_t>(json.at("every"), "every");
  if (f.every == 0) throw Wrong{"'every' is 0"};
  f.lines = json.at("lines").get<std::vector<std::uint32_t>>();
  return f;
}

std::vector<Source> sources_from(const Json& json) {
  std::vector<Source> sources;
  for (const Json& s : json) sources.push_back({text_from(s.at("text")), text_from(s.at("file"))});
  return sources;
}

/// The rule files that the device file refers to, as they were at the time of the run.
Json rule_files_of(const model::Device& device) {
  Json files = Json::array();
  const auto add = [&](const rules::Label& rule) {
    if (!rule.file.empty()) files.push_back({{"file", text_of(rule.file)}, {"text", text_of(rule.text)}});
  };
  add(device.coalescing_rule);
  add(device.bank_rule);
  for (const auto* cache : {&device.l1, &device.l2})
    if (*cache)
      for (const auto* rule : {&(*cache)->rule_on, &(*cache)->rule_off})
        if (*rule) add(**rule);
  return files;
}

/// A built-in rule, or the stored file whose path ends with `name`, which is relative to the device file.
Expected<rules::Rule> rule_from(const Json& files, const std::string& name) {
  Expected<rules::Rule> built_in = rules::find_rule(name);
  std::string end = std::filesystem::path(name).lexically_normal().string();
  while (end.starts_with("../")) end.erase(0, 3);
  for (const Json& one : built_in ? Json::array() : files) {
    const std::string file = text_from(one.at("file"));
    if (file != name && !file.ends_with("/" + end)) continue;
    Expected<rules::Rule> rule = rules::parse_rule(text_from(one.at("text")), file);
    if (rule) std::visit([&](rules::Label& own) { own.file = file; }, *rule);
    return rule;
  }
  return built_in;
}

Expected<model::Device> device_from(const Json& json) {
  const Json files = json.value("rule_files", Json::array());
  if (json.contains("device_file"))
    return model::load_device(text_from(json["device_file"]), "the trace's device",
                              [&](const std::string& name) { return rule_from(files, name); });
  return model::find_device(json.at("device").get<std::string>());
}

/// Reads the descriptions in order, as later ones may refer to the module of an earlier one.
class DescriptionReader {
public:
  explicit DescriptionReader(const analyzers::trace::Reader& reader) : reader_(reader) {}

  Expected<std::vector<TracedLaunch>> run() {
    Expected<std::shared_ptr<Context>> context = Context::create();
    if (!context) return failure(context.error());
    context_ = std::move(*context);
    for (const analyzers::trace::Launch& launch : reader_.launches()) {
      try {
        Expected<TracedLaunch> one = read(launch);
        if (!one) {
          one.error().in_file(reader_.name());
          return failure(one.error());
        }
        launches_.push_back(std::move(*one));
      } catch (const Json::exception& e) {
        return damaged(e.what());
      } catch (const Wrong& e) {
        return damaged(e.what);
      }
    }
    return std::move(launches_);
  }

private:
  tl::unexpected<Diagnostics> damaged(std::string_view why) const {
    return failure(fmt::format("the trace '{}' is damaged: launch {}: {}", reader_.name(), launches_.size(), why));
  }

  Expected<TracedLaunch> read(const analyzers::trace::Launch& launch) {
    const Json json = Json::parse(launch.description);
    const Expected<std::shared_ptr<Module>> module = module_of(json);
    if (!module) return failure(module.error());
    Expected<Kernel> kernel = (*module)->kernel(json.at("kernel").get<std::string>());
    if (!kernel) return failure(kernel.error());
    Expected<model::Device> device = device_from(json);
    if (!device) return failure(device.error());
    TracedLaunch result;
    LaunchRequest& r = result.request;
    r.kernel = std::move(*kernel);
    r.grid = extent(json.at("grid"), "grid");
    r.block = extent(json.at("block"), "block");
    if (!json.at("cluster").is_null()) r.cluster = extent(json["cluster"], "cluster");
    r.dynamic_shared_bytes = natural<std::uint64_t>(json.at("dynamic_shared_bytes"), "dynamic_shared_bytes");
    r.cooperative = json.at("cooperative").get<bool>();
    if (!json.at("registers").is_null()) r.options.registers = natural<std::uint32_t>(json["registers"], "registers");
    r.launched_by = json.value("launched_by", std::string()); // missing in older traces
    r.device = std::move(*device);
    // The values of the arguments are not used: only their size and the size of the memory they point to matter.
    Checked bytes;
    for (const auto& p : r.kernel.function->params) bytes += p.size;
    if (const Limit& limit = limits::kParameterBytes; !limit.admits(bytes))
      return failure(limit.exceeded(fmt::format("kernel '{}'", r.kernel.function->name), bytes), limit.hint());
    for (const auto& p : r.kernel.function->params)
      r.arguments.push_back(Argument::raw(std::vector<std::byte>(p.size)));
    result.filter = filter_from(json.at("filter"));
    if (!launch.conclusion) return result;
    const Json conclusion = Json::parse(*launch.conclusion);
    conclude(conclusion, launch.counts.size(), result);
    const auto pointed_to = conclusion.find("argument_bytes"); // missing in older traces
    const auto size = pointed_to == conclusion.end() ? 0 : natural<std::uint64_t>(*pointed_to, "argument_bytes");
    if (size > 0)
      if (const Expected<void> done = point_to(size, result); !done) return failure(done.error());
    return result;
  }

  Expected<void> point_to(std::uint64_t bytes, TracedLaunch& result) {
    auto buffer = Buffer::allocate(context_, bytes, "arguments");
    if (!buffer) return failure(buffer.error());
    const std::uint64_t address = (*buffer)->address();
    for (Argument& a : result.request.arguments) {
      if (a.bytes.size() < sizeof address) continue;
      std::memcpy(a.bytes.data(), &address, sizeof address);
      break;
    }
    result.pointed_to = std::move(*buffer);
    return {};
  }

  /// `instructions`: those that are counted, which include the functions that the kernel calls.
  static void conclude(const Json& json, std::size_t instructions, TracedLaunch& result) {
    result.complete = true;
    result.printed = text_from(json.at("printed"));
    if (json.contains("written_sectors")) { // missing in older traces
      exec::Footprint footprint;
      footprint.only_loaded = natural<std::uint64_t>(json.at("only_loaded_sectors"), "only_loaded_sectors");
      footprint.written = natural<std::uint64_t>(json.at("written_sectors"), "written_sectors");
      result.footprint = footprint;
    }
    if (json.contains("swap_pairs")) // missing in older traces, and without compare-and-swaps
      result.swaps = exec::Swaps{natural<std::uint64_t>(json.at("swaps_of_other_warps"), "swaps_of_other_warps"),
                                 natural<std::uint64_t>(json.at("global_swaps"), "global_swaps"),
                                 natural<std::uint64_t>(json.at("swap_pairs"), "swap_pairs")};
    if (json.contains("longest_warp")) { // missing in older traces
      exec::LongestWarps longest;
      longest.of_launch = natural<std::uint64_t>(json.at("longest_warp"), "longest_warp");
      longest.of_ctas = natural<std::uint64_t>(json.at("longest_of_blocks"), "longest_of_blocks");
      if (json.contains("longest_times")) // missing in older traces
        read_times(json.at("longest_times"), instructions, longest);
      result.longest = longest;
    }
    if (json.contains("sized_products")) // missing in older traces
      result.totals.products = products_from(json.at("sized_products"), instructions);
    if (json.contains("bulk_copies")) // missing in older traces, as the next ones
      result.totals.copies = copies_from(json.at("bulk_copies"), instructions);
    if (json.contains("lane_copies"))
      result.totals.lane_copies = lane_copies_from(json.at("lane_copies"), instructions);
    if (json.contains("async_waits")) result.totals.waits = waits_from(json.at("async_waits"), instructions);
    if (json.contains("special_operands"))
      result.totals.special_operands = special_from(json.at("special_operands"), instructions);
    if (json.at("trap").is_null()) return;
    Diagnostic trap;
    trap.message = text_from(json["trap"].at("message"));
    trap.hint = text_from(json["trap"].at("hint"));
    trap.file = text_from(json["trap"].at("file"));
    trap.where = {natural<std::uint32_t>(json["trap"].at("line"), "line"),
                  natural<std::uint32_t>(json["trap"].at("column"), "column")};
    result.trap = std::move(trap);
  }

  Expected<std::shared_ptr<Module>> module_of(const Json& json) {
    if (json.contains("sources")) return Module::load(context_, sources_from(json["sources"]));
    const auto launch = natural<std::size_t>(json.at("same_module_as"), "same_module_as");
    if (launch >= launches_.size())
      return failure(fmt::format("the trace '{}' is damaged: the module of a launch is missing", reader_.name()));
    return launches_[launch].request.kernel.module;
  }

  const analyzers::trace::Reader& reader_;
  std::shared_ptr<Context> context_;
  std::vector<TracedLaunch> launches_;
};

} // namespace

std::string filter_text(const TraceFilter& filter) {
  Json json = filter_of(filter);
  json["kernel"] = text_of(filter.kernel);
  return json.dump();
}

Expected<TraceFilter> parse_filter(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return failure("the description of a trace's filter is not JSON");
  try {
    TraceFilter filter = filter_from(json);
    filter.kernel = text_from(json.at("kernel"));
    return filter;
  } catch (const Wrong& wrong) {
    return failure(wrong.what);
  } catch (const Json::exception& e) {
    return failure(e.what());
  }
}

std::string describe_launch(const LaunchRequest& request, const TraceFilter& filter, const std::string& device_text,
                            std::optional<std::size_t> same_module) {
  Json json = {{"kernel", request.kernel.function->name},
               {"grid", request.grid},
               {"block", request.block},
               {"cluster", request.cluster ? Json(*request.cluster) : Json()},
               {"dynamic_shared_bytes", request.dynamic_shared_bytes},
               {"cooperative", request.cooperative},
               {"registers", request.options.registers ? Json(*request.options.registers) : Json()},
               {"launched_by", request.launched_by},
               {"device", request.device.id},
               {"filter", filter_of(filter)}};
  if (!device_text.empty()) {
    json["device_file"] = text_of(device_text);
    json["rule_files"] = rule_files_of(request.device);
  }
  if (same_module) {
    json["same_module_as"] = *same_module;
  } else {
    json["sources"] = Json::array();
    for (const Source& s : request.kernel.module->sources())
      json["sources"].push_back({{"file", text_of(s.file)}, {"text", text_of(s.text)}});
  }
  return json.dump(1);
}

std::string describe_end(const LaunchReport& report, const analyzers::trace::Totals& totals) {
  Json json = {{"printed", text_of(report.printed)},
               {"trap", nullptr},
               {"only_loaded_sectors", static_cast<std::uint64_t>(report.statistics.only_loaded_sectors.value_or(0))},
               {"written_sectors", static_cast<std::uint64_t>(report.statistics.written_sectors.value_or(0))},
               {"argument_bytes", static_cast<std::uint64_t>(report.statistics.argument_bytes.value_or(0))}};
  if (!totals.products.empty()) json["sized_products"] = products_of(totals.products);
  if (!totals.copies.empty()) json["bulk_copies"] = copies_of(totals.copies);
  if (!totals.waits.empty()) json["async_waits"] = waits_of(totals.waits);
  if (!totals.lane_copies.empty()) json["lane_copies"] = lane_copies_of(totals.lane_copies);
  if (!totals.special_operands.empty()) json["special_operands"] = special_of(totals.special_operands);
  if (report.statistics.swap_pairs) {
    json["global_swaps"] = static_cast<std::uint64_t>(report.statistics.global_swaps.value_or(0));
    json["swaps_of_other_warps"] = static_cast<std::uint64_t>(report.statistics.swaps_of_other_warps.value_or(0));
    json["swap_pairs"] = static_cast<std::uint64_t>(*report.statistics.swap_pairs);
  }
  if (report.longest) {
    json["longest_warp"] = report.longest->of_launch;
    json["longest_of_blocks"] = report.longest->of_ctas;
    json["longest_times"] = times_of(*report.longest);
  }
  if (report.trap)
    json["trap"] = {{"message", text_of(report.trap->message)},
                    {"hint", text_of(report.trap->hint)},
                    {"file", text_of(report.trap->file)},
                    {"line", report.trap->where.line},
                    {"column", report.trap->where.column}};
  return json.dump(1);
}

Expected<std::vector<TracedLaunch>> read_launches(const analyzers::trace::Reader& reader) {
  return DescriptionReader(reader).run();
}

} // namespace warplens::api
