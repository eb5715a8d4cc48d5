// SPDX-License-Identifier: Apache-2.0
#include "api/report/histogram.hpp"

#include "api/report/table.hpp"
#include "api/report/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace warplens::api {

namespace {

using analyzers::InstructionRow;
using analyzers::MetricId;

/// 1, 2, 3 to 4, 5 to 8, … up to `most`.
std::vector<Bin> doubling_bins(std::uint32_t most) {
  std::vector<Bin> bins = {{"1", 0}, {"2", 0}};
  for (std::uint32_t last = 4; last / 2 < most; last *= 2)
    bins.push_back({fmt::format("{} to {}", last / 2 + 1, last), 0});
  return bins;
}

/// Of doubling_bins(); averages are rounded.
void add(std::vector<Bin>& bins, double value, double count) {
  const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::round(value)));
  const auto place = static_cast<std::size_t>(std::bit_width(whole - 1));
  bins[std::min(place, bins.size() - 1)].count += count;
}

/// Of a warp: 32 lanes, then ranges of 8.
std::vector<Bin> lane_bins() { return {{"1 to 8", 0}, {"9 to 16", 0}, {"17 to 24", 0}, {"25 to 31", 0}, {"32", 0}}; }

void add_lanes(std::vector<Bin>& bins, double lanes, double count) {
  if (lanes <= 0 || count <= 0) return;
  const std::size_t place =
      lanes >= exec::kWarpSize ? 4 : std::min<std::size_t>(static_cast<std::size_t>((lanes - 1) / 8), 3);
  bins[place].count += count;
}

double number(const InstructionRow& row, const analyzers::MetricKey& key) {
  return static_cast<double>(row.metrics.integer(key));
}

} // namespace

std::string histogram(std::string_view title, std::span<const Bin> bins, const Style& style) {
  double all = 0, most = 0;
  std::size_t filled = 0;
  for (const Bin& bin : bins) {
    all += bin.count;
    most = std::max(most, bin.count);
    filled += bin.count > 0 ? 1 : 0;
  }
  if (filled < 2) return "";
  while (bins.front().count == 0) bins = bins.subspan(1);
  while (bins.back().count == 0) bins = bins.first(bins.size() - 1);
  constexpr std::size_t kColumns = 24;
  std::size_t labels = 0;
  for (const Bin& bin : bins) labels = std::max(labels, width(bin.label));
  std::string text = fmt::format("  {}{}{}\n", style.dim, title, style.reset);
  for (const Bin& bin : bins) {
    std::string row = fmt::format("  {:>{}}  {:>5}  {}", bin.label, labels, readable_share(bin.count / all),
                                  bar(bin.count / most, kColumns));
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string memory_histograms(const LaunchReport& report, const Style& style) {
  std::vector<Bin> sectors = doubling_bins(exec::kWarpSize), passes = doubling_bins(exec::kWarpSize);
  for (const InstructionRow& row : report.profile.instructions)
    for (const auto kind :
         {exec::AccessKind::load, exec::AccessKind::store, exec::AccessKind::atomic, exec::AccessKind::reduction}) {
      if (const double n = number(row, by_operation(MetricId::global_requests_ld, kind)); n > 0)
        add(sectors, number(row, by_operation(MetricId::global_sectors_ld, kind)) / n, n);
      if (kind == exec::AccessKind::reduction) continue; // counts as an atomic in shared memory
      if (const double n = number(row, by_operation(MetricId::shared_requests_ld, kind)); n > 0)
        add(passes, number(row, by_operation(MetricId::shared_passes_ld, kind)) / n, n);
    }
  std::string text;
  if (report.device.coalescing_rule.unit == rules::Coalescing::Unit::sectors)
    text += histogram("requests to global memory by the sectors of a request, on average over each instruction",
                      sectors, style);
  if (analyzers::are_usual_banks(report.device.bank_rule))
    text += histogram("requests to shared memory by the passes of a request, on average over each instruction", passes,
                      style);
  return text;
}

std::string lane_histogram(const LaunchReport& report, const Style& style) {
  std::vector<Bin> bins = lane_bins();
  for (const InstructionRow& row : report.profile.instructions) {
    const double executed = number(row, MetricId::warp_instructions);
    if (executed > 0) add_lanes(bins, number(row, MetricId::thread_instructions_on) / executed, executed);
  }
  return histogram("warp instructions by active lanes, on average over each instruction", bins, style);
}

std::string branch_histogram(const LaunchReport& report, const Style& style) {
  std::vector<Bin> bins = lane_bins();
  for (std::uint32_t lanes = 1; lanes <= exec::kWarpSize; ++lanes)
    add_lanes(bins, lanes, static_cast<double>(report.profile.integer({MetricId::branches_with_active_lanes, lanes})));
  return histogram("branches by active lanes", bins, style);
}

std::string block_histogram(const analyzers::BlockTable& blocks, std::span<const MetricId> counters,
                            const Style& style) {
  constexpr std::uint64_t kBins = 6;
  for (const MetricId id : counters) {
    const auto at = std::find(blocks.columns.begin(), blocks.columns.end(), id);
    if (at == blocks.columns.end()) continue;
    const auto column = static_cast<std::size_t>(at - blocks.columns.begin());
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    for (const auto& row : blocks.rows) {
      least = std::min(least, row.at(column));
      most = std::max(most, row.at(column));
    }
    if (blocks.rows.empty() || least == most) continue;
    const std::uint64_t step = (most - least) / kBins + 1;
    std::vector<Bin> bins;
    for (std::uint64_t from = least; from <= most; from += step)
      bins.push_back({step == 1 ? fmt::format("{}", from) : fmt::format("{} to {}", from, from + step - 1), 0});
    for (const auto& row : blocks.rows) bins[static_cast<std::size_t>((row.at(column) - least) / step)].count += 1;
    return histogram(fmt::format("blocks by {}", blocks.columns[column].name()), bins, style);
  }
  return "";
}

} // namespace warplens::api
