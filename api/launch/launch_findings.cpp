// SPDX-License-Identifier: Apache-2.0
#include "api/launch/launch_findings.hpp"

#include "analyzers/finding_kinds.hpp"
#include "emulator/ir/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace warplens::api {

namespace {

using analyzers::Finding;
using analyzers::kWorthwhile;
using analyzers::MetricId;

// Sizes that programs use; larger ones than 512 leave large parts of a multiprocessor empty on many devices.
constexpr std::array<std::uint64_t, 6> kBlockSizes = {64, 96, 128, 192, 256, 512};

Finding of_launch(std::string_view rule, Severity severity) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.page = analyzers::page_of(rule);
  return finding;
}

void keep_metrics(Finding& finding, const LaunchReport& report, std::initializer_list<MetricId> ids) {
  for (const MetricId id : ids)
    if (const analyzers::Metric* metric = report.profile.metrics.find(id)) finding.values.push_back(*metric);
}

std::uint64_t threads_of(const LaunchReport& report) { return report.block[0] * report.block[1] * report.block[2]; }

model::OccupancyQuery query_of(const LaunchReport& report, std::int64_t shared_bytes, std::uint64_t threads) {
  model::OccupancyQuery query;
  query.capability = report.device.limits.capability;
  query.threads = static_cast<std::int64_t>(threads);
  query.registers = std::min<std::int64_t>(report.resources.registers, report.device.limits.registers_per_thread);
  query.shared_bytes = shared_bytes;
  return query;
}

class LaunchFindings {
public:
  LaunchFindings(LaunchReport& report, const ir::LaunchBounds& bounds, std::int64_t shared_bytes,
                 const Predict& predict, double now)
      : report_(report), bounds_(&bounds), shared_bytes_(shared_bytes), predict_(predict), now_(now) {}

  void find() {
    spills();
    block_size();
    too_few_blocks();
    tail();
    occupancy();
  }

private:
  /// 0: not predicted.
  [[nodiscard]] double speedup(const model::KernelStatistics& s) const {
    const Expected<model::Prediction> then = predict_(s);
    return then && then->milliseconds > 0 ? now_ / then->milliseconds : 0;
  }

  /// How much time it takes depends on where the compiler stores and loads the registers again, which PTX does not say.
  void spills() {
    const auto bound = bound_of_registers(*bounds_, report_.device.limits);
    const double needed = report_.resources.registers_needed;
    if (!bound || needed <= (1 + analyzers::kLeastExcess) * *bound) return;
    const double spilled = needed - *bound;
    Finding finding = of_launch(analyzers::names::kRegisterSpills,
                                spilled >= analyzers::kMostlyWaste * *bound ? Severity::warning : Severity::note);
    finding.message = fmt::format("a thread needs {} registers at once, but the bound of the kernel leaves it {}: the "
                                  "compiler spills the others to local memory",
                                  needed, *bound);
    const std::uint32_t enough = report_.resources.registers_needed + ir::kRoom;
    finding.remedy = bounds_->max_registers == *bound
                         ? fmt::format("allow {} registers: lift the bound of -maxrregcount or __maxnreg__", enough)
                         : fmt::format("allow {} registers: ask for fewer blocks than {} on a multiprocessor in "
                                       "__launch_bounds__",
                                       enough, bounds_->min_ctas_per_sm);
    finding.advice = "lift the bound, or let a thread keep fewer values: process fewer elements at once, or compute "
                     "values again instead of keeping them";
    finding.excess = spilled;
    finding.unit = "registers";
    keep_metrics(finding, report_, {MetricId::registers, MetricId::registers_live});
    report_.findings.push_back(std::move(finding));
  }

  void block_size() {
    const std::uint64_t threads = threads_of(report_), rest = threads % model::kWarpSize;
    if (rest == 0) return;
    const std::uint64_t full = (threads / model::kWarpSize + 1) * model::kWarpSize;
    const double idle = static_cast<double>(full - threads) / static_cast<double>(full);
    if (idle < analyzers::kLeastExcess || full > static_cast<std::uint64_t>(report_.device.limits.threads_per_block))
      return;
    double faster = speedup(with_block_size(report_, shared_bytes_, full));
    std::uint64_t best = full;
    for (const std::uint64_t size : kBlockSizes) { // as few as one warp hold up the launch of blocks
      if (threads > model::kWarpSize) break;
      const double tried = speedup(with_block_size(report_, shared_bytes_, size));
      if (tried <= kWorthwhile * faster) continue;
      faster = tried;
      best = size;
    }
    Finding finding =
        of_launch(analyzers::names::kBlockSize, idle >= analyzers::kMostlyWaste ? Severity::warning : Severity::note);
    finding.message = fmt::format("blocks of {} threads: the {}warp of each has {} threads, so that {:.3g} % of the "
                                  "lanes are idle",
                                  threads, threads < model::kWarpSize ? "" : "last ", rest, 100 * idle);
    finding.remedy = fmt::format("launch blocks of {} threads instead of {}", best, threads);
    finding.advice = analyzers::kUseWholeWarps;
    finding.excess =
        idle * static_cast<double>(report_.profile.integer(MetricId::warp_instructions)) * model::kWarpSize;
    finding.unit = "lane slots";
    if (faster > 0) finding.speedup = std::max(1.0, faster);
    keep_metrics(finding, report_, {MetricId::blocks_launched, MetricId::warps_launched});
    report_.findings.push_back(std::move(finding));
  }

  void too_few_blocks() {
    const std::uint64_t blocks = report_.grid[0] * report_.grid[1] * report_.grid[2], threads = threads_of(report_);
    const auto multiprocessors = static_cast<std::uint64_t>(report_.device.multiprocessors);
    if (blocks >= multiprocessors) return;
    std::uint64_t size = threads;
    while (size > model::kWarpSize && blocks * threads / size < multiprocessors) size /= 2;
    size = std::max<std::uint64_t>(size / model::kWarpSize, 1) * model::kWarpSize;
    if (size >= threads) return;
    const double faster = speedup(with_block_size(report_, shared_bytes_, size));
    if (faster < kWorthwhile) return;
    Finding finding = of_launch(analyzers::names::kTooFewBlocks, Severity::warning);
    const std::string occupy = blocks == 1 ? "1 block occupies 1" : fmt::format("{} blocks occupy {}", blocks, blocks);
    finding.message = fmt::format("{} of the {} multiprocessors", occupy, multiprocessors);
    finding.remedy = fmt::format("launch {} blocks of {} threads instead of {} of {}", blocks * threads / size, size,
                                 blocks, threads);
    finding.advice = "use smaller blocks, or distribute the work of a thread over several";
    finding.excess = static_cast<double>(multiprocessors - blocks);
    finding.unit = "multiprocessors";
    finding.speedup = faster;
    keep_metrics(finding, report_, {MetricId::blocks_launched});
    report_.findings.push_back(std::move(finding));
  }

  void tail() {
    const std::uint64_t blocks = report_.grid[0] * report_.grid[1] * report_.grid[2];
    const auto multiprocessors = static_cast<std::uint64_t>(report_.device.multiprocessors);
    if (blocks <= multiprocessors) return;
    const std::uint64_t busiest = (blocks + multiprocessors - 1) / multiprocessors;
    const double average = static_cast<double>(blocks) / static_cast<double>(multiprocessors);
    const double idle = 1 - average / static_cast<double>(busiest);
    if (idle < analyzers::kLeastTail) return;
    double most = 0;
    std::uint64_t best = threads_of(report_);
    for (const std::uint64_t size : {512, 256, 128, 64}) { // the largest that saves nearly as much as any
      if (size >= threads_of(report_)) continue;
      const double faster = speedup(with_block_size(report_, shared_bytes_, size));
      if (faster <= kWorthwhile * most) continue;
      most = faster;
      best = size;
    }
    if (most < kWorthwhile) return;
    tail_ = most;
    Finding finding = of_launch(analyzers::names::kTailEffect, Severity::note);
    finding.message = fmt::format("the busiest multiprocessor runs {} blocks, the average one {:.3g}: {:.3g} % of the "
                                  "multiprocessors' time is idle at the end",
                                  busiest, average, 100 * idle);
    finding.remedy = fmt::format("launch blocks of {} threads instead of {}", best, threads_of(report_));
    finding.advice = "use smaller blocks, or distribute the work of a thread over several";
    finding.excess = static_cast<double>(busiest * multiprocessors - blocks);
    finding.unit = "blocks";
    finding.speedup = most;
    keep_metrics(finding, report_, {MetricId::blocks_launched});
    report_.findings.push_back(std::move(finding));
  }

  struct Lift {
    model::OccupancyQuery query;
    std::string remedy;
  };

  /// With fewer registers, the compiler would spill some; 1 if their number is not known.
  [[nodiscard]] std::int64_t registers_in_use() const {
    const Resources& r = report_.resources;
    if (r.registers_needed != 0) return r.registers_needed;
    return r.registers_from == Resources::RegisterSource::estimated && r.registers > ir::kRoom ? r.registers - ir::kRoom
                                                                                               : 1;
  }

  /// The smallest change of a resource with which more blocks fit.
  std::optional<Lift> lift(model::OccupancyLimiter limiter) const {
    const model::OccupancyQuery now = query_of(report_, shared_bytes_, threads_of(report_));
    const auto better = [&](const model::OccupancyQuery& query) {
      const auto o = model::occupancy(query);
      return o && o->blocks > report_.occupancy->blocks;
    };
    Lift result{now, {}};
    model::OccupancyQuery& query = result.query;
    switch (limiter) {
    case model::OccupancyLimiter::registers:
      while (query.registers > registers_in_use() && !better(query)) --query.registers;
      result.remedy = fmt::format("limit the registers of a thread to {} instead of {}: __launch_bounds__({}, {}) or "
                                  "-maxrregcount",
                                  query.registers, now.registers, now.threads, report_.occupancy->blocks + 1);
      break;
    case model::OccupancyLimiter::shared: {
      const int unit = report_.device.limits.shared_unit;
      while (query.shared_bytes > unit && !better(query)) query.shared_bytes -= unit;
      result.remedy = fmt::format("use at most {} bytes of shared memory per block instead of {}", query.shared_bytes,
                                  now.shared_bytes);
      break;
    }
    default: return std::nullopt; // of the block size: tried by itself
    }
    return better(query) ? std::optional(result) : std::nullopt;
  }

  void occupancy() {
    const model::Occupancy& o = *report_.occupancy;
    const double blocks = static_cast<double>(report_.profile.integer(MetricId::blocks_launched));
    if (o.ratio >= 1 || blocks <= static_cast<double>(o.blocks) * report_.device.multiprocessors) return;
    double most = 0;
    std::string remedy;
    for (const model::OccupancyLimiter limiter : o.bound_by) {
      if (o.bound_by.size() > 1) break; // one change alone does not help
      if (const auto lifted = lift(limiter)) {
        model::KernelStatistics s = report_.statistics;
        s.resident_blocks = model::occupancy(lifted->query)->blocks;
        most = speedup(s);
        remedy = lifted->remedy;
      }
    }
    if (threads_of(report_) % model::kWarpSize == 0)
      for (const std::uint64_t size : kBlockSizes) {
        const double tried = speedup(with_block_size(report_, shared_bytes_, size));
        if (size == threads_of(report_) || tried <= kWorthwhile * std::max(most, 1.0)) continue;
        most = tried;
        remedy = fmt::format("launch blocks of {} threads instead of {}", size, threads_of(report_));
      }
    if (most < kWorthwhile || most < kWorthwhile * tail_) return; // of the tail, another block size also saves
    std::string limiters;
    for (const model::OccupancyLimiter limiter : o.bound_by)
      limiters += fmt::format("{}{}", limiters.empty() ? "" : " and ", to_string(limiter));
    Finding finding = of_launch(analyzers::names::kOccupancy, Severity::note);
    finding.message = fmt::format("{} of {} warps are resident on a multiprocessor, limited by {}", o.warps,
                                  report_.device.limits.warps, limiters);
    finding.remedy = remedy;
    finding.advice = "use fewer registers or less shared memory, or another block size, so that more warps are "
                     "resident and hide each other's latency";
    finding.excess = report_.device.limits.warps - o.warps;
    finding.unit = "warps";
    finding.speedup = most;
    keep_metrics(finding, report_,
                 {MetricId::registers, MetricId::limit_registers, MetricId::limit_shared, MetricId::limit_warps,
                  MetricId::limit_blocks});
    report_.findings.push_back(std::move(finding));
  }

  LaunchReport& report_;
  const ir::LaunchBounds* bounds_;
  std::int64_t shared_bytes_;
  const Predict& predict_;
  double now_;      ///< milliseconds
  double tail_ = 1; ///< speedup that a finding about the tail promises
};

} // namespace

model::KernelStatistics with_block_size(const LaunchReport& report, std::int64_t shared_bytes, std::uint64_t threads) {
  model::KernelStatistics s = report.statistics;
  const auto before = static_cast<double>(threads_of(report)), after = static_cast<double>(threads);
  const double lanes_before = before / model::warps_per_block(s);
  s.blocks = std::ceil(*s.blocks * before / after);
  s.threads_per_block = after;
  // A full warp does what several partial ones did.
  const double fuller = after / model::warps_per_block(s) / lanes_before;
  for (model::KernelStatistics::Field* field :
       {&s.transactions_32, &s.transactions_64, &s.transactions_128, &s.vector_transactions_32,
        &s.vector_transactions_64, &s.vector_transactions_128, &s.load_transactions, &s.store_transactions,
        &s.atomic_transactions, &s.bytes_per_request, &s.flops, &s.lanes_per_instruction})
    if (*field) *field = **field * fuller;
  if (s.lanes_per_instruction) s.lanes_per_instruction = std::min<double>(*s.lanes_per_instruction, model::kWarpSize);
  if (const auto o = model::occupancy(query_of(report, shared_bytes, threads))) s.resident_blocks = o->blocks;
  return s;
}

std::optional<std::uint32_t> bound_of_registers(const ir::LaunchBounds& bounds, const model::OccupancyLimits& limits) {
  std::optional<std::uint32_t> bound;
  if (bounds.max_registers != 0) bound = bounds.max_registers;
  const auto& block = bounds.required_threads[0] != 0 ? bounds.required_threads : bounds.max_threads;
  std::uint64_t threads = block[0];
  for (const std::size_t dimension : {1, 2}) threads *= std::max(1U, block[dimension]);
  if (bounds.min_ctas_per_sm == 0 || threads == 0 || limits.allocation != model::RegisterAllocation::per_warp)
    return bound;
  const std::uint64_t warps = bounds.min_ctas_per_sm * ((threads + model::kWarpSize - 1) / model::kWarpSize);
  const auto unit = static_cast<std::uint64_t>(limits.register_unit);
  const std::uint64_t of_warp = static_cast<std::uint64_t>(limits.registers) / warps / unit * unit;
  const auto of_thread = static_cast<std::uint32_t>(of_warp / model::kWarpSize);
  return std::min({bound.value_or(of_thread), of_thread, static_cast<std::uint32_t>(limits.registers_per_thread)});
}

void find_in_launch(LaunchReport& report, const ir::LaunchBounds& bounds, std::int64_t shared_bytes,
                    const Predict& predict) {
  if (!report.occupancy) {
    const auto why = model::occupancy(query_of(report, shared_bytes, threads_of(report)));
    if (why) return;
    Finding finding = of_launch(analyzers::names::kImpossibleLaunch, Severity::warning);
    const Diagnostic& first = why.error().list().front();
    finding.message = fmt::format("{} cannot run this launch: {}", report.device.name, first.message);
    finding.remedy = first.hint.empty() ? "use a smaller block, or fewer registers or less shared memory" : first.hint;
    finding.advice = "use a smaller block, limit the registers with __launch_bounds__, or use less shared memory";
    report.findings.push_back(std::move(finding));
    return;
  }
  const model::Prediction* const now = model::trusted_for_changes(report.predictions);
  if (now != nullptr) LaunchFindings(report, bounds, shared_bytes, predict, now->milliseconds).find();
}

} // namespace warplens::api
