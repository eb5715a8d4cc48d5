// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/launch.hpp"

#include "api/launch/overruns.hpp"
#include "api/session/environment.hpp"
#include "runtime/driver/machine/analysis_processes.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/operation_log.hpp"
#include "runtime/driver/machine/progress.hpp"
#include "runtime/driver/machine/recorder.hpp"
#include "runtime/driver/machine/serve.hpp"
#include "runtime/driver/machine/stream.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

namespace warplens::runtime {

namespace {

std::shared_ptr<Observer>& observer() {
  static std::shared_ptr<Observer>& instance = *new std::shared_ptr<Observer>;
  return instance;
}

std::uint64_t product(const api::Extent& e) { return e[0] * e[1] * e[2]; }

/// CUDA Driver API reference, CUresult: the fault that a stopped kernel leaves in its context.
CUresult fault_of(exec::Trap::Kind kind) {
  using Kind = exec::Trap::Kind;
  switch (kind) {
  case Kind::out_of_bounds: return CUDA_ERROR_ILLEGAL_ADDRESS;
  case Kind::misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
  case Kind::assertion: return CUDA_ERROR_ASSERT;
  case Kind::step_limit:
  case Kind::deadlock: return CUDA_ERROR_LAUNCH_TIMEOUT; // a GPU would hang
  case Kind::invalid_call: return CUDA_ERROR_INVALID_PC;
  case Kind::invalid_branch:
  case Kind::invalid_barrier:
  case Kind::incomplete_warp:
  case Kind::invalid_group:
  case Kind::invalid_tensor_copy:
  case Kind::invalid_tensor_memory:
  case Kind::invalid_membermask: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case Kind::tensor_memory_leak: return CUDA_ERROR_TENSOR_MEMORY_LEAK;
  case Kind::stack_overflow: return CUDA_ERROR_HARDWARE_STACK_ERROR;
  default: return CUDA_ERROR_LAUNCH_FAILED;
  }
}

void tell_trap(const Diagnostic& trap) {
  Diagnostics why;
  why.error(trap.where, trap.message, trap.hint);
  why.in_file(trap.file);
  tell(render(why, {}));
}

bool strict() {
  static const bool asked = api::environment::is_on(api::environment::kStrict);
  return asked;
}

bool strict_async() {
  static const bool asked = api::environment::is_on(api::environment::kStrictAsync);
  return asked;
}

api::LaunchRequest request_of(const KernelLaunch& launch) {
  api::LaunchRequest request = launch.function->borrow_request();
  request.grid = launch.grid;
  request.block = launch.block;
  request.cluster = launch.cluster;
  request.dynamic_shared_bytes = launch.shared_bytes;
  request.cooperative = launch.cooperative;
  request.arguments.resize(launch.function->parameters().size());
  for (std::size_t i = 0; i < request.arguments.size(); ++i) {
    const Function::Parameter& p = launch.function->parameters()[i];
    const std::byte* const first = &launch.parameters[p.offset];
    request.arguments[i].kind = api::Argument::Kind::raw;
    request.arguments[i].bytes.assign(first, first + p.size);
  }
  return request;
}

/// Other options, such as limits, are those of the function.
void count(api::LaunchOptions& options, const api::LaunchOptions& wanted) {
  options.rules = wanted.rules;
  options.analyzers = wanted.analyzers;
  options.first_level = wanted.first_level;
  options.per_block = wanted.per_block;
  options.sampling = wanted.sampling;
  options.registers = wanted.registers;
}

} // namespace

void set_observer(std::shared_ptr<Observer> instance) { observer() = std::move(instance); }

void set_arguments(KernelLaunch& launch, void** parameters, void** extra) {
  const Function& function = *launch.function;
  launch.parameters.assign(function.parameter_bytes(), std::byte{});
  if (function.parameters().empty()) return;
  require((parameters != nullptr) != (extra != nullptr));
  if (parameters != nullptr) {
    for (std::size_t i = 0; i < function.parameters().size(); ++i) {
      const Function::Parameter& p = function.parameters()[i];
      require(parameters[i] != nullptr);
      std::memcpy(&launch.parameters[p.offset], parameters[i], p.size);
    }
    return;
  }
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[1];
    else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<const std::size_t*>(extra[1]);
    else
      require(false);
  }
  const Function::Parameter& last = function.parameters().back();
  require(buffer != nullptr && size >= last.offset + last.size && size <= (last.offset + last.size + 15) / 16 * 16,
          CUDA_ERROR_INVALID_VALUE, [&] {
            return fmt::format("kernel '{}' takes {} bytes of parameters, but got {}", function.name(),
                               last.offset + last.size, size);
          });
  std::memcpy(launch.parameters.data(), buffer, std::min(size, launch.parameters.size()));
}

namespace {

void check_cluster(const KernelLaunch& launch) {
  const Function& function = *launch.function;
  if (!launch.cluster) return;
  const api::Extent& c = *launch.cluster;
  const auto refuse = [&](const std::string& text) {
    throw Failure{CUDA_ERROR_INVALID_CLUSTER_SIZE, fmt::format("kernel '{}': {}", function.name(), text)};
  };
  const std::uint64_t most = function.attribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) != 0 ? 16 : 8;
  if (Machine::instance().device().capability.major < 9) refuse("the device does not support clusters");
  if (product(c) == 0 || product(c) > most)
    refuse(fmt::format("the cluster has {} blocks: 1 to {} are allowed", product(c), most));
  for (std::size_t i = 0; i < 3; ++i)
    if (launch.grid[i] % c[i] != 0)
      refuse(fmt::format("cluster size {} does not divide grid size {} in {}", c[i], launch.grid[i], "xyz"[i]));
}

/// All blocks must be resident together (CUDA C++ Programming Guide, "Grid Synchronization").
void check_cooperative(const KernelLaunch& launch) {
  if (!launch.cooperative) return;
  const model::Device& device = Machine::instance().device();
  const auto most = static_cast<std::uint64_t>(launch.function->resident_blocks(
                        static_cast<std::int64_t>(product(launch.block)), launch.shared_bytes)) *
                    static_cast<std::uint64_t>(device.multiprocessors);
  if (product(launch.grid) > most)
    throw Failure{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                  fmt::format("kernel '{}': {} blocks cannot be resident together: the device holds at most {}",
                              launch.function->name(), product(launch.grid), most)};
}

} // namespace

void check(const KernelLaunch& launch) {
  const Function& function = *launch.function;
  const auto refuse = [&](CUresult code, const std::string& text) {
    throw Failure{code, fmt::format("kernel '{}': {}", function.name(), text)};
  };
  constexpr api::Extent kMostBlocks{0x7fffffff, 65535, 65535}, kMostThreads{1024, 1024, 64};
  for (std::size_t i = 0; i < 3; ++i) {
    if (launch.grid[i] == 0 || launch.grid[i] > kMostBlocks[i])
      refuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the grid has {} blocks in {}: 1 to {} are allowed", launch.grid[i],
                                                   "xyz"[i], kMostBlocks[i]));
    if (launch.block[i] == 0 || launch.block[i] > kMostThreads[i])
      refuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the block has {} threads in {}: 1 to {} are allowed",
                                                   launch.block[i], "xyz"[i], kMostThreads[i]));
  }
  const model::OccupancyLimits& limits = Machine::instance().device().limits;
  if (product(launch.block) > static_cast<std::uint64_t>(limits.threads_per_block))
    refuse(CUDA_ERROR_INVALID_VALUE, fmt::format("the block has {} threads: at most {} are allowed",
                                                 product(launch.block), limits.threads_per_block));
  if (product(launch.block) > static_cast<std::uint64_t>(function.most_threads()))
    refuse(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
           fmt::format("the block has {} threads: the kernel was compiled for at most {}", product(launch.block),
                       function.most_threads()));
  if (launch.shared_bytes > function.most_dynamic_shared())
    refuse(CUDA_ERROR_INVALID_VALUE,
           fmt::format("the launch requests {} bytes of dynamic shared memory: at most {} are allowed (to raise "
                       "this limit, set CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
                       launch.shared_bytes, function.most_dynamic_shared()));
  check_cluster(launch);
  check_cooperative(launch);
}

namespace {

/// Launches of a graph are ordered where they run.
api::Sanitizer::Checked checked_of(const KernelLaunch& launch) {
  if (launch.checked) return *launch.checked;
  api::Sanitizer::Checked checked;
  if (sanitizer() != nullptr) checked.order = sanitizer()->next_order();
  return checked;
}

} // namespace

namespace {

double threads_of(const KernelLaunch& launch) {
  return static_cast<double>(product(launch.grid)) * static_cast<double>(product(launch.block));
}

/// Whether a copy of the process may analyse it. The copy must not write memory that it shares with the program.
bool may_be_copied(const KernelLaunch& launch) {
  if (analysis_processes() == nullptr || Machine::instance().memory().leaves_process()) return false;
  const double last = launch.function->steps_of_thread;
  return analysis_processes()->worth(last < 0 ? std::nullopt : std::optional(last * threads_of(launch)));
}

/// Runs it; in a copy of the process, only to send the report.
Expected<api::LaunchReport> performed(api::LaunchRequest& request, bool selected, std::optional<LaunchCopy>& copy) {
  const auto in_copy = [&] { return copy && copy->here() == api::ProcessCopier::Here::copy; };
  try {
    std::optional<Recording> recording;
    if (selected) recording.emplace(request.options);
    const LaunchShown shown(request);
    Expected<api::LaunchReport> report = api::launch(request);
    if (in_copy()) copy->send(report);
    return report;
  } catch (const std::bad_alloc&) {
    if (in_copy()) copy->fail("there was not enough memory");
    throw;
  } catch (const std::exception& e) {
    if (in_copy()) copy->fail(e.what());
    throw;
  }
}

} // namespace

void perform_launch(const KernelLaunch& launch, Context& context) {
  api::LaunchRequest request = request_of(launch);
  const std::shared_ptr<Observer> told = observer();
  bool selected = told && told->selects(launch.function->name()); // for the kernel launched last
  request.options.analyze = selected;
  if (selected) count(request.options, told->counts());
  request.options.keep_accesses = selected && std::getenv(api::environment::kHtml) != nullptr;
  request.analyze_child = [&](const ir::Function& kernel) { return selected = told && told->selects(kernel.name); };
  // With one stream and no memory that the host can write, a kernel that waits for a change would wait forever.
  request.others_write = Machine::instance().memory().others_may_write() || context.has_streams();
  request.past_ends = !strict();
  request.options.strict_async = strict_async();
  request.options.sanitizer = sanitizer();
  request.checked = checked_of(launch);
  request.stack_bytes = context.limit(CU_LIMIT_STACK_SIZE).value_or(0);
  const AnalysisProcesses::Running running(analysis_processes());
  std::optional<LaunchCopy> copy;
  if (selected && may_be_copied(launch)) request.options.copier = &copy.emplace(*analysis_processes());
  Expected<api::LaunchReport> report = performed(request, selected, copy);
  request.options.recorder = nullptr; // the request is used again
  request.options.copier = nullptr;
  request.analyze_child = {};
  launch.function->return_request(std::move(request));
  if (!report) {
    tell(render(report.error(), {}));
    return context.set_fault(CUDA_ERROR_LAUNCH_FAILED);
  }
  launch.function->steps_of_thread = static_cast<double>(report->steps) / threads_of(launch);
  // The program may end as soon as it sees the fault: everything is told and written before.
  std::optional<CUresult> fault;
  for (api::LaunchReport& one : api::with_children(std::move(*report))) {
    one.stream = launch.stream;
    one.operation = Performing::current();
    context.add_printed(one.printed);
    for (const std::string& warning : api::Overruns::instance().fresh(one, {})) tell(warning);
    if (one.trap) {
      if (sanitizer() == nullptr) tell_trap(*one.trap); // the tools have a message
      if (!fault) fault = fault_of(*one.trap_kind);
    }
    const bool by_copy = copy && copy->here() == api::ProcessCopier::Here::program && !one.trap;
    if (by_copy || one.analyzed || (one.trap && selected)) told->finished(one, by_copy ? copy->release() : 0);
  }
  if (fault) context.set_fault(*fault);
}

} // namespace warplens::runtime
