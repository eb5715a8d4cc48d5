// SPDX-License-Identifier: Apache-2.0
#include "api/launch/launch.hpp"

#include "analyzers/analyzers.hpp"
#include "api/check/async_hazard.hpp"
#include "api/files/input_file.hpp"
#include "api/launch/advice.hpp"
#include "api/launch/board.hpp"
#include "api/launch/control_flow.hpp"
#include "api/launch/copied.hpp"
#include "api/launch/device_launches.hpp"
#include "api/launch/launch_findings.hpp"
#include "api/launch/pointed_to.hpp"
#include "api/launch/sample_text.hpp"
#include "api/launch/statistics.hpp"
#include "api/launch/two_watchers.hpp"
#include "api/launch/validate.hpp"
#include "emulator/exec/checks/copy_check.hpp"
#include "emulator/ir/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>

namespace warplens::api {

namespace {

/// Without registers, because their estimate takes longer than decoding the kernel.
Resources memory_of(const exec::Program& program) {
  Resources r;
  r.static_shared_bytes = program.shared_bytes;
  r.local_bytes = program.local_bytes;
  return r;
}

} // namespace

Resources resources(Module& module, const exec::Program& program, std::optional<std::uint32_t> given,
                    int address_bits) {
  Resources r = memory_of(program);
  const ir::LaunchBounds& bounds = program.function->bounds;
  const std::uint32_t directive = bounds.max_registers;
  r.registers_from = given            ? Resources::RegisterSource::given
                     : directive != 0 ? Resources::RegisterSource::directive
                                      : Resources::RegisterSource::estimated;
  r.registers = given            ? *given
                : directive != 0 ? directive
                                 : module.estimated_registers(*program.function, address_bits);
  if (directive != 0 || bounds.min_ctas_per_sm != 0)
    r.registers_needed = module.estimated_registers(*program.function, address_bits) - ir::kRoom;
  return r;
}

namespace {

// Before 2.0 a device has 4 GB of memory at most, and its registers hold addresses of 32 bits.
int address_bits(const model::Device& device) { return device.capability.major < 2 ? 32 : 64; }

exec::LaunchShape shape_of(const LaunchRequest& request, const exec::Program& program) {
  exec::LaunchShape shape;
  const std::optional<Extent> cluster = cluster_of(request);
  const Extent blocks = blocks_of(request);
  for (std::size_t i = 0; i < 3; ++i) {
    shape.grid[i] = static_cast<std::uint32_t>(blocks[i]);
    shape.block[i] = static_cast<std::uint32_t>(request.block[i]);
    if (cluster) shape.cluster[i] = static_cast<std::uint32_t>((*cluster)[i]);
  }
  shape.explicit_cluster = cluster.has_value();
  shape.shared_static = program.shared_bytes;
  shape.shared_dynamic = request.dynamic_shared_bytes;
  return shape;
}

std::vector<std::byte> parameters(const LaunchRequest& request, const exec::Program& program) {
  std::vector<std::byte> buffer(program.param_bytes);
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const std::vector<std::byte>& bytes = request.arguments[i].bytes;
    // An address that fits a 32-bit parameter keeps its low half.
    const std::size_t size = std::min<std::size_t>(bytes.size(), program.function->params[i].size);
    std::copy_n(bytes.begin(), size, buffer.begin() + program.param_offsets[i]);
  }
  return buffer;
}

/// Occupancy, predictions and findings, from the profile.
class Conclusions {
public:
  Conclusions(LaunchReport& report, const ir::Module& module, const ir::Function& kernel, std::uint32_t param_bytes,
              bool keep_accesses)
      : report_(report), module_(module), kernel_(kernel), param_bytes_(param_bytes), keep_accesses_(keep_accesses) {}

  /// Needs no profile; the analyzers need the number of resident blocks.
  void find_occupancy() {
    const model::OccupancyLimits& limits = report_.device.limits;
    Resources& r = report_.resources;
    if (const auto bound = bound_of_registers(kernel_.bounds, limits);
        bound && r.registers_from == Resources::RegisterSource::estimated)
      r.registers = std::min(r.registers, *bound);
    std::int64_t registers = r.registers;
    if (r.registers_from == Resources::RegisterSource::estimated && registers > limits.registers_per_thread) {
      registers = limits.registers_per_thread;
      report_.remarks.push_back(
          fmt::format("more registers are live than a thread of compute capability {} can have: a "
                      "compiler would spill some to local memory",
                      to_string(limits.capability)));
    }
    model::OccupancyQuery query;
    query.capability = limits.capability;
    query.threads = static_cast<std::int64_t>(threads());
    query.registers = registers;
    query.shared_bytes = shared_bytes();
    Expected<model::Occupancy> result = model::occupancy(query);
    if (result)
      report_.occupancy = std::move(*result);
    else
      report_.remarks.push_back("no occupancy: " + result.error().list().front().message);
  }

  void complete() {
    report_.control_flow = flow_of(kernel_, report_.profile);
    add_metrics();
    const Statistics statistics(report_.profile, module_, kernel_, report_.device);
    predict(statistics);
    advise(report_, module_, kernel_, statistics, shared_bytes());
    for (analyzers::InstructionRow& row : report_.profile.instructions)
      keep_accesses_ ? keep_few(row.recorded) : row.recorded.clear();
  }

private:
  [[nodiscard]] std::uint64_t threads() const { return report_.block[0] * report_.block[1] * report_.block[2]; }

  // On 1.x the arguments and a header of 16 bytes lie in shared memory.
  [[nodiscard]] std::uint64_t extra_shared_bytes() const {
    return report_.device.capability.major < 2 ? param_bytes_ + 16 : 0;
  }

  [[nodiscard]] std::int64_t shared_bytes() const {
    const Resources& r = report_.resources;
    return static_cast<std::int64_t>(r.static_shared_bytes + r.dynamic_shared_bytes + extra_shared_bytes());
  }

  void add_metrics() {
    using analyzers::MetricId;
    analyzers::Metrics& metrics = report_.profile.metrics;
    const Resources& r = report_.resources;
    metrics.add(MetricId::registers, r.registers);
    metrics.add(MetricId::registers_1x, r.registers);
    metrics.add(MetricId::registers_live, ir::register_pressure(module_, kernel_));
    metrics.add(MetricId::static_shared, r.static_shared_bytes);
    metrics.add(MetricId::dynamic_shared, r.dynamic_shared_bytes);
    if (!report_.occupancy) return;
    const model::Occupancy& o = *report_.occupancy;
    const auto count = [](int n) { return static_cast<std::uint64_t>(n); };
    metrics.add(MetricId::limit_registers, count(o.limit_registers));
    metrics.add(MetricId::limit_shared, count(o.limit_shared));
    metrics.add(MetricId::limit_warps, count(o.limit_warps));
    metrics.add(MetricId::limit_blocks, count(o.limit_blocks));
    metrics.add_ratio(MetricId::maximum_warps, 100 * o.ratio, 1);
    metrics.add_ratio(MetricId::occupancy, o.ratio, 1);
  }

  void predict(const Statistics& statistics) {
    std::optional<int> resident;
    if (report_.occupancy) resident = report_.occupancy->blocks;
    model::KernelStatistics& s = report_.statistics;
    const model::KernelStatistics before = s; // what is known without the profile
    s = statistics.of(threads(), resident);
    s.registers_per_thread = report_.resources.registers;
    s.shared_bytes_per_block = static_cast<double>(shared_bytes());
    s.argument_bytes = before.argument_bytes;
    s.host_bytes = before.host_bytes;
    s.only_loaded_sectors = before.only_loaded_sectors;
    s.written_sectors = before.written_sectors;
    s.global_swaps = before.global_swaps;
    s.swaps_of_other_warps = before.swaps_of_other_warps;
    s.swap_pairs = before.swap_pairs;
    if (report_.longest) add_longest_warps(s, *report_.longest, module_, kernel_);
    bool known = false;
    for (const model::Model& m : model::models()) {
      // Skip models that need a measured run of the kernel: this one was only emulated.
      if (!m.knows(report_.device) || m.says == model::kSaysTimeOnceCalibrated) continue;
      known |= m.says == model::kSaysTime;
      Expected<model::Prediction> p = model::predict(m.id, s, report_.device, {});
      if (p)
        report_.predictions.push_back(std::move(*p));
      else
        report_.remarks.push_back(fmt::format("no prediction by {}: {}", m.id, p.error().list().front().message));
    }
    model::mark_trusted(report_.predictions);
    if (!known)
      report_.remarks.push_back(fmt::format(
          "the models give only lower bounds of the run time: none has parameters for {}", report_.device.name));
  }

  LaunchReport& report_;
  const ir::Module& module_;
  const ir::Function& kernel_;
  std::uint32_t param_bytes_;
  bool keep_accesses_;
};

exec::LaunchResult run_alone_if_it_allocates(const exec::Launch& launch, Context& context) {
  std::unique_lock<std::mutex> heap;
  if (launch.heap == nullptr) return exec::run(launch);
  heap = context.lock_heap();
  exec::LaunchResult result = exec::run(launch);
  launch.device_runtime->clear(*launch.heap);
  return result;
}

analyzers::DeviceRules rules_of(const model::Device& device) { return {device.coalescing_rule, device.bank_rule}; }

/// Counters are named after rules. Error: a requested rule has the name of one of the device's rules, but differs
/// from it.
Expected<void> check_names(const rules::RuleSet& asked, const analyzers::DeviceRules& device) {
  const auto differs = [](const auto& one, const auto& own) { return one.name == own.name && !one.says_the_same(own); };
  for (const rules::CoalescingRule& one : asked.coalescing)
    if (differs(one, device.coalescing)) return failure(fmt::format("two rules are named '{}'", one.name));
  for (const rules::BankRule& one : asked.banks)
    if (differs(one, device.banks)) return failure(fmt::format("two rules are named '{}'", one.name));
  return {};
}

/// A launch on one of the targets: the request with that device, and its report.
struct TargetLaunch {
  LaunchRequest request;
  LaunchReport report;
  std::unique_ptr<Conclusions> conclusions;
  analyzers::Analysis* analysis = nullptr; ///< counts for this target; null: nothing is counted

  void take(const exec::LaunchResult& result, double seconds, const exec::Launch& launch) {
    report.seconds = seconds;
    report.steps = result.steps;
    report.printed = result.printed;
    report.alone_because = result.alone_because;
    for (const exec::Overrun& o : result.overruns) report.overruns.push_back({exec::describe(o, launch), o.count});
    if (result.footprint) {
      report.statistics.only_loaded_sectors = static_cast<double>(result.footprint->only_loaded);
      report.statistics.written_sectors = static_cast<double>(result.footprint->written);
    }
    if (result.swaps) {
      report.statistics.global_swaps = static_cast<double>(result.swaps->all);
      report.statistics.swaps_of_other_warps = static_cast<double>(result.swaps->of_other_warps);
      report.statistics.swap_pairs = static_cast<double>(result.swaps->pairs);
    }
    report.longest = result.longest;
    if (!result.watched_because.empty()) report.partial.push_back("not sampled: " + result.watched_because);
    if (!result.trap) return;
    report.trap = exec::describe(*result.trap, launch);
    report.trap_kind = result.trap->kind;
    if (report.trap->hint.empty() && report.trap_kind == exec::Trap::Kind::out_of_bounds)
      report.trap->hint = hint_at_numbers(request);
    report.occupancy.reset();
    report.statistics = {};
    report.remarks.clear();
  }
  void conclude() {
    if (report.trap || analysis == nullptr) return;
    report.analyzed = true;
    report.profile = analysis->profile(rules_of(report.device));
    if (report.profile.sample) report.partial.push_back(text_of(*report.profile.sample));
    conclusions->complete();
  }
};

/// Prepares the launch on a target. Errors: the device does not allow it.
Expected<std::unique_ptr<TargetLaunch>> launch_on(const LaunchRequest& request, const TargetDevice& target,
                                                  const exec::Program& program) {
  auto result = std::make_unique<TargetLaunch>();
  LaunchRequest& r = result->request = request;
  r.device = with_first_level(target.device, target.first_level);
  r.options.first_level = target.first_level;
  if (target.registers) r.options.registers = target.registers;
  if (Diagnostics errors = validate(r, program); errors.has_errors()) return failure(std::move(errors));
  if (r.options.first_level != FirstLevel::device && !r.device.l1)
    return failure(fmt::format("{} has no known first-level cache", r.device.name));
  if (Expected<void> apart = check_names(r.options.rules, rules_of(r.device)); !apart) return failure(apart.error());
  Module& module = *r.kernel.module;
  LaunchReport& report = result->report;
  report.kernel = r.kernel.function->name;
  report.file = module.ir().file;
  report.sources = module.shared_sources();
  report.launched_by = r.launched_by;
  report.grid = blocks_of(r);
  report.block = r.block;
  report.cluster = cluster_of(r).value_or(Extent{1, 1, 1});
  report.device = r.device;
  report.rules = r.options.rules;
  report.resources =
      r.options.analyze ? resources(module, program, r.options.registers, address_bits(r.device)) : memory_of(program);
  report.resources.dynamic_shared_bytes = r.dynamic_shared_bytes;
  // Includes the functions that the kernel calls.
  result->conclusions = std::make_unique<Conclusions>(report, module.ir(), *program.function, program.param_bytes,
                                                      r.options.keep_accesses);
  if (!r.options.analyze) return result;
  result->conclusions->find_occupancy();
  // Otherwise, the blocks run in order.
  if (program.block_dependence == ir::BlockDependence::none && report.grid != Extent{1, 1, 1})
    report.order_of_results = ir::order_of_results(module.ir(), *program.function);
  return result;
}

using Analyses = std::vector<std::unique_ptr<analyzers::Analysis>>;

/// The watchers of the launch: one for all targets with equal boards, because analyzers use nothing else of a device.
Analyses analyses_of(const LaunchRequest& request, std::span<TargetLaunch* const> all, const exec::Program& program,
                     const exec::LaunchShape& shape) {
  if (!request.options.analyze) return {};
  Analyses result;
  std::vector<analyzers::DeviceRules> devices;
  for (const TargetLaunch* one : all) devices.push_back(rules_of(one->report.device));
  std::vector<analyzers::Board> boards; // of `result`
  for (TargetLaunch* one : all) {
    const Resources& r = one->report.resources;
    const int resident = one->report.occupancy ? one->report.occupancy->blocks : 1;
    const analyzers::Board board = board_of(one->report.device, one->request.options.first_level, resident,
                                            r.static_shared_bytes + r.dynamic_shared_bytes);
    const auto known = std::find(boards.begin(), boards.end(), board);
    const auto at = static_cast<std::size_t>(known - boards.begin());
    if (known == boards.end()) {
      boards.push_back(board);
      result.push_back(
          std::make_unique<analyzers::Analysis>(request.kernel.module->ir(), *program.function, shape,
                                                analyzers::AnalysisOptions{.rules = request.options.rules,
                                                                           .devices = devices,
                                                                           .named = request.options.analyzers,
                                                                           .board = board,
                                                                           .per_block = request.options.per_block}));
    }
    one->analysis = result[at].get();
  }
  return result;
}

/// The emulator's launch without the memory that it may use. `workspace`: of a cooperative launch, or null.
exec::Launch launch_of(const LaunchRequest& request, std::shared_ptr<const exec::Program> program,
                       const Buffer* workspace) {
  Context& context = *request.kernel.module->context();
  exec::Launch launch;
  launch.cooperative = request.cooperative;
  if (workspace != nullptr) launch.grid_workspace = workspace->address();
  launch.shape = shape_of(request, *program);
  launch.params = parameters(request, *program);
  if (program->uses_heap) launch.heap = context.heap();
  launch.program = std::move(program);
  // The emulator considers other writers only with host pointers; the arena below leaves no such addresses.
  launch.host_pointers = request.host_pointers || request.others_write;
  launch.past_ends = request.past_ends;
  launch.arena = {exec::AddressRange{0, ~std::uint64_t{0}}, exec::AddressRange{}};
  if (request.host_pointers) launch.arena = context.arena().ranges();
  launch.machine = {static_cast<std::uint32_t>(request.device.multiprocessors),
                    static_cast<std::uint32_t>(request.device.limits.warps)};
  launch.max_steps = request.options.max_steps;
  launch.steps_before = request.steps_before;
  launch.workers = request.options.workers;
  launch.footprint = request.options.footprint;
  launch.sampling = request.options.sampling;
  const bool by_host = request.launched_by.empty();
  if (by_host) launch.progress = request.options.progress;
  if (by_host) launch.ranks = request.options.ranks;
  if (!by_host && request.options.ranks != nullptr) launch.workers = 1; // each rank runs it, in the same order
  return launch;
}

/// Whether the tools need the steps and accesses of a program one by one.
bool follows_steps(const exec::Tools& tools) { return tools.racecheck || tools.initcheck || tools.synccheck; }

void check_launch(exec::Launch& launch, const LaunchRequest& request, const exec::Tools& tools, Context& context) {
  request.options.sanitizer->prepare(launch, tools);
  if (!tools.memcheck) return;
  launch.past_ends = false;
  launch.blocks = context.made_heap();
  launch.stack_bytes = request.stack_bytes;
}

} // namespace

LaunchReports launch_grid(const LaunchRequest& request, std::span<const TargetDevice> targets,
                          exec::DeviceRuntime& runtime) {
  const auto all = [&](const Diagnostics& errors) {
    return std::vector<Expected<LaunchReport>>(targets.size(), failure(errors));
  };
  Module& module = *request.kernel.module;
  Sanitizer* const sanitizer = request.options.sanitizer;
  Sanitizer::Checked checked = request.checked;
  const exec::Tools tools =
      sanitizer != nullptr ? sanitizer->begin(checked, request.kernel.function->name) : exec::Tools{};
  if (tools.memcheck || tools.initcheck) module.context()->check_memory();
  const Expected<std::shared_ptr<const exec::Program>> program =
      module.program(*request.kernel.function, request.options.analyze || request.options.recorder != nullptr,
                     request.options.level, follows_steps(tools) || request.options.strict_async);
  if (!program) return all(program.error());
  if (const Diagnostics errors = analyzers::check_names(request.options.analyzers); errors.has_errors())
    return all(errors);

  std::vector<Expected<std::unique_ptr<TargetLaunch>>> views;
  std::vector<TargetLaunch*> valid;
  for (const TargetDevice& target : targets) views.push_back(launch_on(request, target, **program));
  for (const auto& view : views)
    if (view) valid.push_back(view->get());
  const auto reports = [&] {
    std::vector<Expected<LaunchReport>> result;
    result.reserve(views.size());
    for (auto& view : views)
      result.push_back(view ? Expected<LaunchReport>(std::move((*view)->report)) : failure(view.error()));
    return result;
  };
  if (valid.empty()) return reports();
  std::shared_ptr<Buffer> workspace;
  if (request.cooperative) {
    auto made = Buffer::allocate(module.context(), exec::kGridWorkspace, "grid workspace");
    if (!made) return all(made.error());
    workspace = std::move(*made);
  }
  exec::Launch launch = launch_of(valid.front()->request, *program, workspace.get());
  Context::View memory = module.context()->borrow_view(); // it already contains the heap
  launch.allocations = std::move(memory.allocations);
  launch.freed = std::move(memory.freed);
  launch.textures = std::move(memory.textures);
  launch.device_runtime = &runtime;
  if (sanitizer != nullptr) check_launch(launch, request, tools, *module.context());
  exec::CopyCheck copies;
  const bool strict_async = request.options.strict_async && !tools.synccheck; // which reports all hazards
  if (strict_async && exec::CopyCheck::concerns(**program)) launch.checkers.push_back(&copies);
  if (request.options.analyze || request.options.recorder != nullptr)
    if (const PointedTo to = pointed_to(launch); to.bytes > 0)
      for (TargetLaunch* one : valid) {
        one->report.statistics.argument_bytes = static_cast<double>(to.bytes);
        if (to.host_bytes > 0) one->report.statistics.host_bytes = static_cast<double>(to.host_bytes);
      }
  const Analyses analyses = analyses_of(request, valid, **program, launch.shape);
  Expected<exec::Watcher*> recording = nullptr;
  if (request.options.recorder != nullptr) recording = request.options.recorder->begin(valid.front()->request, launch);
  if (!recording) return all(recording.error());
  launch.watcher = *recording;
  std::deque<TwoWatchers> pairs;
  for (const auto& analysis : analyses) launch.watcher = pairs.emplace_back(analysis.get(), launch.watcher).needed();

  if (launch.progress != nullptr) launch.progress->done = 0;
  if (launch.progress != nullptr) launch.progress->all = launch.shape.clusters();
  const Expected<ProcessCopier::Here> here = copied(request, launch);
  if (!here) return all(here.error());
  const auto start = std::chrono::steady_clock::now();
  Expected<exec::LaunchResult> result =
      request.events != nullptr ? request.events->run(launch) : run_alone_if_it_allocates(launch, *module.context());
  if (!result) return all(result.error());
  if (strict_async && !result->trap) result->trap = async_hazard(*result, **program);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (TargetLaunch* one : valid) one->take(*result, seconds, launch);
  if (*recording != nullptr)
    if (const Expected<void> kept = request.options.recorder->end(valid.front()->report); !kept)
      return all(kept.error());
  if (sanitizer != nullptr) sanitizer->finish(launch, checked, *result);
  if (*here == ProcessCopier::Here::copy) { // needs no locks, which the threads of the program may have held
    valid.front()->conclude();
    return reports();
  }
  memory.allocations = std::move(launch.allocations);
  memory.freed = std::move(launch.freed);
  memory.textures = std::move(launch.textures);
  module.context()->return_view(std::move(memory));
  if ((launch.ranks == nullptr || launch.ranks->is_first()) && *here != ProcessCopier::Here::program)
    for (TargetLaunch* one : valid) one->conclude();
  return reports();
}

std::vector<LaunchReport> with_children(LaunchReport report) {
  std::vector<LaunchReport> list(1);
  std::vector<LaunchReport> children = std::move(report.children);
  list.front() = std::move(report);
  std::move(children.begin(), children.end(), std::back_inserter(list));
  return list;
}

std::vector<Expected<LaunchReport>> launch(const LaunchRequest& request, std::span<const TargetDevice> targets) {
  exec::DeviceRuntime runtime;
  LaunchReports reports = launch_grid(request, targets, runtime);
  if (runtime.in_order.empty() && runtime.tail.empty()) return reports;
  const auto first = std::find_if(reports.begin(), reports.end(), [](const auto& r) { return r.has_value(); });
  if (first != reports.end() && !(*first)->trap) run_device_operations(request, targets, runtime, reports);
  return reports;
}

Expected<LaunchReport> launch(const LaunchRequest& request) {
  const TargetDevice target{request.device, request.options.first_level, request.options.registers};
  return std::move(launch(request, {&target, 1}).front());
}

} // namespace warplens::api
