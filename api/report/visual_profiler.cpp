// SPDX-License-Identifier: Apache-2.0
// The tables of the CUDA Visual Profiler for compute capability 1.x, with the conversions of Table 1 of A. Dasgupta,
// CUDA Performance Analyzer, 2011. For the counters per multiprocessor and per cluster (TPC), see the CUPTI User's
// Guide, events of compute capability 1.x.
#include "api/files/csv.hpp"
#include "api/predict/collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace warplens::api {
namespace {

/// "gld 32b" and "GLD_32B" are both "gld_32b".
std::string normalized(std::string_view title) {
  std::string name;
  for (const char c : title) name += c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

/// A row whose cells are found by column title.
class Row {
public:
  Row(const CsvTable& table, const CsvRow& row, Diagnostics& errors) : line_(row.line), errors_(errors) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) cells_[normalized(table.titles.cells[i])] = row.cells[i];
  }

  [[nodiscard]] std::string text(const std::string& title) const {
    const auto found = cells_.find(title);
    return found == cells_.end() ? "" : found->second;
  }
  std::optional<double> number(const std::string& title) {
    const std::string cell = text(title);
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc{} && stop == cell.data() + cell.size() && value >= 0 && std::isfinite(value)) return value;
    errors_.error({line_, 1}, fmt::format("'{}' is '{}': expected a number >= 0", title, cell));
    return std::nullopt;
  }
  double needed(const std::string& title, std::string_view why) {
    const bool there = !text(title).empty();
    const std::optional<double> value = number(title);
    if (!there)
      errors_.error({line_, 1}, fmt::format("no '{}' for '{}': {}", title, text("method"), why),
                    "add it to the profiler's options");
    return value.value_or(1);
  }
  std::optional<double> sum(const std::string& a, const std::string& b) {
    const std::optional<double> first = number(a), second = number(b);
    if (!first && !second) return std::nullopt;
    return first.value_or(0) + second.value_or(0);
  }
  void error(std::string message) { errors_.error({line_, 1}, std::move(message)); }

private:
  std::map<std::string, std::string> cells_;
  std::uint32_t line_;
  Diagnostics& errors_;
};

/// Warps on the multiprocessor and cluster that the counters cover: Table 1's "total warps per SM" and "total warps per
/// TPC".
struct Warps {
  double per_block = 1, multiprocessor = 1, cluster = 1;
};

Warps warps_of(Row& row, CollectedLaunch& launch, const model::Device& device) {
  model::KernelStatistics& s = launch.statistics;
  constexpr std::string_view kShape = "the launch shape is needed to compute the number of warps";
  s.threads_per_block = row.needed("threadblocksizex", kShape) * row.number("threadblocksizey").value_or(1) *
                        row.number("threadblocksizez").value_or(1);
  s.blocks = row.needed("gridsizex", kShape) * row.number("gridsizey").value_or(1);
  if (*s.threads_per_block == 0 || *s.blocks == 0) {
    row.error(fmt::format("the launch of '{}' is empty", launch.kernel));
    return {};
  }
  Warps warps;
  warps.per_block = model::warps_per_block(s);
  const double share = *s.blocks / device.multiprocessors;
  const double clusters = *device.multiprocessors_per_tpc;
  // The profiler may report the number of blocks on the observed parts; otherwise an even distribution is assumed.
  const std::optional<double> on_sm = row.number("sm_cta_launched"), on_tpc = row.number("cta_launched");
  warps.multiprocessor = warps.per_block * (on_sm ? *on_sm : on_tpc ? *on_tpc / clusters : share);
  warps.cluster = warps.per_block * (on_tpc ? *on_tpc : on_sm ? *on_sm * clusters : share * clusters);
  if (!on_sm && !on_tpc)
    launch.remarks.push_back("assuming an even distribution of blocks: the table has no 'sm_cta_launched'");
  if (warps.multiprocessor == 0 || warps.cluster == 0)
    row.error(fmt::format("no block of '{}' ran on the observed multiprocessor", launch.kernel));
  return warps;
}

void add_requests(Row& row, CollectedLaunch& launch, const Warps& warps, const model::Device& device) {
  model::KernelStatistics& s = launch.statistics;
  const auto per = [](std::optional<double> count, double among) {
    return count ? std::optional<double>(*count / among) : std::nullopt;
  };
  s.instructions = per(row.number("instructions"), warps.multiprocessor);
  s.global_requests = per(row.sum("gld_request", "gst_request"), warps.multiprocessor);
  s.bank_conflict_passes = per(row.number("warp_serialize"), warps.multiprocessor);
  s.transactions_32 = per(row.sum("gld_32b", "gst_32b"), warps.cluster);
  s.transactions_64 = per(row.sum("gld_64b", "gst_64b"), warps.cluster);
  s.transactions_128 = per(row.sum("gld_128b", "gst_128b"), warps.cluster);
  // 1.0 and 1.1 count two transactions per coalesced request, and one per lane of an uncoalesced request.
  if (const auto coherent = per(row.sum("gld_coherent", "gst_coherent"), warps.cluster)) {
    s.coalesced_requests = *coherent / 2;
    s.uncoalesced_requests =
        per(row.sum("gld_incoherent", "gst_incoherent"), warps.cluster).value_or(0) / model::kWarpSize;
    s.bytes_per_request = 4 * model::kWarpSize;
    launch.remarks.push_back("assuming requests of 32 lanes and 4 bytes: the profiler counts only transactions on "
                             "compute capability 1.0 and 1.1");
    if (!s.global_requests) s.global_requests = *s.coalesced_requests + *s.uncoalesced_requests;
  }
  if (device.coalescing_rule.order == rules::Coalescing::Order::any && !s.global_requests)
    launch.remarks.push_back("the table has neither 'gld_request' nor 'gst_request'");
}

void add_resources(Row& row, CollectedLaunch& launch, const Warps& warps, const model::Device& device) {
  model::KernelStatistics& s = launch.statistics;
  s.registers_per_thread = row.number("regperthread");
  s.shared_bytes_per_block = row.sum("stasmemperblock", "dynsmemperblock");
  const std::optional<double> occupancy = row.number("occupancy");
  if (!occupancy) return;
  // The measured occupancy makes registers and shared memory unnecessary.
  s.resident_blocks = std::max(1.0, std::round(*occupancy * device.limits.warps / warps.per_block));
}

} // namespace

Expected<std::vector<CollectedLaunch>> collect_visual_profiler(std::string_view csv, std::string_view name,
                                                               const model::Device& device) {
  if (!device.multiprocessors_per_tpc)
    return failure(fmt::format("device '{}' has no 'multiprocessors_per_tpc', which is needed to convert the "
                               "profiler's counters",
                               device.name),
                   "these counters are from compute capability 1.x; choose such a device, for example c1060");
  const Expected<CsvTable> table = parse_csv(csv, name);
  if (!table) return failure(table.error());
  Diagnostics errors;
  std::vector<CollectedLaunch> launches;
  for (const CsvRow& cells : table->rows) {
    Row row(*table, cells, errors);
    const std::string method = row.text("method");
    if (method.empty() || method.starts_with("memcpy") || method.starts_with("memset")) continue;
    CollectedLaunch& launch = launches.emplace_back();
    launch.kernel = method;
    const Warps warps = warps_of(row, launch, device);
    if (errors.has_errors()) continue;
    add_requests(row, launch, warps, device);
    add_resources(row, launch, warps, device);
    if (const std::optional<double> microseconds = row.number("gputime")) launch.milliseconds = *microseconds / 1000;
  }
  if (launches.empty() && !errors.has_errors()) errors.error({1, 1}, "the table has no kernels, only copies");
  errors.in_file(name);
  if (errors.has_errors()) return failure(std::move(errors));
  return launches;
}

} // namespace warplens::api
