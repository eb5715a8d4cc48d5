// SPDX-License-Identifier: Apache-2.0
// Launches a kernel: emulates it, and reports how a GPU would execute it.
//
//   LaunchRequest request{.kernel = kernel, .grid = {40, 1, 1}, .block = {128, 1, 1},
//                         .arguments = {*Argument::scalar(Type::s32, 20011), Argument::buffer(*x)}};
//   Expected<LaunchReport> report = launch(request);
//   report->profile.integer("gld_request"), report->predictions[0].milliseconds, report->findings[0].message, …
#pragma once

#include "analyzers/findings.hpp"
#include "analyzers/profile.hpp"
#include "api/check/sanitizer.hpp"
#include "api/files/values.hpp"
#include "api/session/session.hpp"
#include "api/session/texture.hpp"
#include "model/models.hpp"
#include "model/trust.hpp"
#include "rules/rule_set.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <optional>

namespace warplens::api {

using Extent = std::array<std::uint64_t, 3>; ///< x, y, z

/// A kernel argument, as bytes.
struct Argument {
  enum class Kind : std::uint8_t { scalar, buffer, texture, raw } kind{};
  Type type = Type::none; ///< of a scalar
  std::vector<std::byte> bytes;
  std::string name; ///< of a buffer or texture

  /// A number of the given type. Errors: see encode().
  static Expected<Argument> scalar(Type type, const Number& value);
  /// The address of a buffer.
  static Argument buffer(const Buffer& buffer);
  /// The handle of a texture, surface or sampler.
  static Argument texture(const Texture& texture);
  /// The bytes of the parameter.
  static Argument raw(std::span<const std::byte> bytes);
};

/// Stops kernels that never end: more warp instructions than any real launch executes.
constexpr std::uint64_t kDefaultMaxSteps = std::uint64_t{1} << 40;

/// Whether global loads use the first-level cache: as the device specifies, never, always, or always and enlarged.
enum class FirstLevel : std::uint8_t { device, off, on, enlarged };
/// "off", "on" or "enlarged". Errors: another word.
Expected<FirstLevel> parse_first_level(std::string_view word);

/// "exact", "auto" or a fraction such as "0.01". Errors: another word, a number that is not in (0, 1].
Expected<exec::BlockSampling> parse_sampling(std::string_view word);

struct LaunchRequest;
struct LaunchReport;

/// Records the events of launches, as TraceWriter in api/trace/trace.hpp does.
class LaunchRecorder {
public:
  virtual ~LaunchRecorder() = default;
  /// Called before a launch. Returns the watcher to use until end(), or null to record nothing. Error: cannot record.
  virtual Expected<exec::Watcher*> begin(const LaunchRequest& request, const exec::Launch& launch) = 0;
  /// Called after the launch, if begin() returned a watcher. Error: not everything could be recorded.
  virtual Expected<void> end(const LaunchReport& report) = 0;
  /// Called after the last launch. Error: not everything was recorded.
  virtual Expected<void> close() = 0;
};

/// Supplies the events of a launch in place of the emulator, as Trace in api/trace/trace.hpp does.
class EventSource {
public:
  virtual ~EventSource() = default;
  /// Passes all events to `launch.watcher`. Error: the events cannot be read.
  virtual Expected<exec::LaunchResult> run(const exec::Launch& launch) = 0;
};

/// Has launches analysed in copies of this process, which goes on.
class ProcessCopier {
public:
  virtual ~ProcessCopier() = default;
  /// What this process does with the launch: the program only runs it, and goes on; the copy analyses it, and then
  /// ends. Without a copy, the program analyses it.
  enum class Here : std::uint8_t { program, program_without_copy, copy };
  [[nodiscard]] virtual unsigned most() const = 0; ///< copies at a time
  /// Called immediately before a launch runs that depends on nothing but its own memory.
  virtual Here copy() = 0;
};

/// How launches run, and what is counted: the same for runs, plans, sweeps and replays.
struct LaunchOptions {
  bool analyze = true;                ///< count accesses, predict, find problems
  rules::RuleSet rules;               ///< counted in addition to the device's rules
  std::vector<std::string> analyzers; ///< by name, in addition to those that always run: `warplens list analyzers`
  /// Count the distinct sectors that the launch loads and writes, for the lower bounds. Takes up to 25 % longer.
  bool footprint = false;
  exec::BlockSampling sampling; ///< the blocks whose accesses are counted; the others are extrapolated
  bool per_block = false;       ///< also count per block; takes several times as long
  /// Keep a few recorded accesses of each instruction in LaunchReport::profile, for JSON and HTML reports.
  bool keep_accesses = false;
  FirstLevel first_level = FirstLevel::device;
  std::optional<std::uint32_t> registers; ///< per thread; estimated unless given here or by .maxnreg
  unsigned workers = 0;                   ///< 0: one per processor that the process may use
  /// Limit of the warp instructions of a launch and of the launches that its kernel makes, including the costs of
  /// those (see device_launches.cpp); 0: no limit.
  std::uint64_t max_steps = kDefaultMaxSteps;
  /// Accesses before the wait that makes them legal, and missing fences of asynchronous copies and products, trap.
  bool strict_async = false;
  std::string level;                    ///< "x86-64-v3", …; empty: the best
  LaunchRecorder* recorder = nullptr;   ///< records the events
  Sanitizer* sanitizer = nullptr;       ///< the tools that check the launches
  exec::BlocksDone* progress = nullptr; ///< of the launch that runs; not of those that kernels make
  exec::Ranks* ranks = nullptr;         ///< processes that run each launch together; only rank 0 gets results
  ProcessCopier* copier = nullptr;      ///< the analysis of launches of the host may be left to copies of this process
};

struct LaunchRequest {
  Kernel kernel;
  Extent grid{1, 1, 1};          ///< blocks
  Extent block{1, 1, 1};         ///< threads
  std::optional<Extent> cluster; ///< blocks per cluster; without it from .reqnctapercluster, or no clusters
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative =
      false; ///< all blocks run at the same time and may wait for each other: cudaLaunchCooperativeKernel
  std::vector<Argument> arguments;
  model::Device device;
  LaunchOptions options;
  std::uint64_t steps_before = 0; ///< steps of the launches before this one
  bool host_pointers = false;     ///< addresses outside the context's memory do not trap
  bool past_ends = false;         ///< accesses past allocations pass as on a GPU: exec::Launch::past_ends
  std::uint64_t stack_bytes = 0;  ///< for memcheck: that the program requested; 0: none
  Sanitizer::Checked checked;     ///< where the program makes this launch
  EventSource* events = nullptr;  ///< nullptr: the emulator runs the kernel
  /// The host or another launch may write a value that this launch waits for: no deadlock is reported.
  bool others_write = false;
  std::string launched_by = {}; ///< the kernel that makes this launch; empty: the host does
  /// Selects which of the direct and indirect child launches are analysed; empty: all of them if this one is.
  std::function<bool(const ir::Function&)> analyze_child = {};
};

/// The resources of a multiprocessor that the kernel needs.
struct Resources {
  enum class RegisterSource : std::uint8_t { given, directive, estimated };
  std::uint32_t registers = 0; ///< per thread; 0 if the launch is not analysed
  RegisterSource registers_from{};
  /// Values of a thread that are live at once, constants left out; 0: not counted, because the PTX has no bound for
  /// the registers.
  std::uint32_t registers_needed = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t local_bytes = 0; ///< per thread
};

/// A basic block of the kernel with the functions that it calls, and how often it ran.
struct FlowBlock {
  std::uint32_t first_line = 0, last_line = 0; ///< in the PTX text
  std::vector<std::uint32_t> successors;       ///< blocks
  std::optional<std::uint32_t> reconverges_at; ///< block where the paths from its end meet; none: only at the exit
  bool exits = false;                          ///< leaves the function at its end
  std::uint64_t warps = 0, threads = 0;        ///< that executed its first counted instruction
};

struct LaunchReport {
  std::string kernel;
  std::string file;                                   ///< of the module
  std::shared_ptr<const std::vector<Source>> sources; ///< of the module
  Extent grid{}, block{}, cluster{};
  model::Device device;
  rules::RuleSet rules;           ///< as in the request
  std::string printed;            ///< by printf() in the kernel, in the order of the blocks
  std::optional<Diagnostic> trap; ///< the kernel stopped: of the members below only `trap_kind` and `resources` are set
  std::optional<exec::Trap::Kind> trap_kind;
  struct Overrun {
    Diagnostic warning;      ///< of an instruction's first access past the end of an allocation
    std::uint64_t count = 0; ///< accesses, counted per thread
  };
  std::vector<Overrun> overruns; ///< by instruction; none unless the request has `past_ends`
  bool analyzed = false;
  Resources resources;
  analyzers::Profile profile; ///< with the metrics of the launch itself added (registers, occupancy, …)
  std::optional<model::Occupancy> occupancy;
  std::vector<FlowBlock> control_flow;       ///< in the order of the text
  model::KernelStatistics statistics;        ///< the input of the models
  std::optional<exec::LongestWarps> longest; ///< where the launch was analysed
  std::vector<model::Prediction> predictions;
  std::vector<analyzers::Finding> findings;
  std::vector<std::string> partial; ///< why the counts do not cover the whole launch
  std::vector<std::string> remarks; ///< what is missing in the report, and why
  /// Why what an analysed launch leaves in memory may differ between runs with several threads of the emulator; empty:
  /// no reason is known.
  std::string order_of_results;
  std::uint64_t steps = 0;   ///< warp instructions emulated
  std::string alone_because; ///< why only one of LaunchOptions::ranks ran it; empty: all did, or none are set
  double seconds = 0;        ///< duration of the emulation; not part of compared reports
  std::string launched_by;   ///< as in the request
  std::uint64_t stream = 0;  ///< of a CUDA program; 0: of a graph, or no program
  std::optional<std::size_t> operation; ///< of a CUDA program: see api/report/timeline.hpp
  /// Direct and indirect child launches, in the order in which they ran: those that were analysed, printed something,
  /// accessed memory past the end of an allocation, or trapped. At most one trapped, and it is the last.
  std::vector<LaunchReport> children;
};

/// Emulates one launch and all its child launches. Errors (the request is refused, nothing has run): an empty grid or
/// block, or one that the device does not allow; too much shared memory; arguments that do not match the parameters;
/// .reqntid or .maxntid not met; unsupported instructions; an unknown analyzer; a first-level cache for a device
/// without one. A kernel that traps is not an error: see LaunchReport::trap.
Expected<LaunchReport> launch(const LaunchRequest& request);

/// A report and those of its children, as a list. If a launch trapped, its report is the last.
std::vector<LaunchReport> with_children(LaunchReport report);
/// The GPU for which a launch is evaluated. It does not affect the results of a kernel, unless the kernel reads %smid,
/// %nsmid or %nwarpid: such a kernel sees the values of the first target.
struct TargetDevice {
  model::Device device;
  FirstLevel first_level = FirstLevel::device;
  std::optional<std::uint32_t> registers; ///< per thread; if not given, as in the request
};
/// Emulates one launch once and evaluates it for each of the targets, in their order. The device and first-level cache
/// of the request are ignored. Errors as above; if a target refuses the launch, the others still evaluate it. Child
/// launches are evaluated for all targets, with their own register counts.
std::vector<Expected<LaunchReport>> launch(const LaunchRequest& request, std::span<const TargetDevice> targets);

/// A built-in device by name, or a device file by path. Errors: neither.
Expected<model::Device> load_device(std::string_view name_or_file);
/// The same; an empty name is that of the default device for programs and modules, the H200.
Expected<model::Device> device_or_default(std::string_view name_or_file);
/// Additional rules: each a built-in rule by name, or a rule file by path. Errors: neither, an invalid rule file (with
/// line and column), two rules with the same name.
Expected<rules::RuleSet> load_rules(std::span<const std::string> names_or_files);
/// The default device for a module: the Tesla C1060 for targets before sm_20, otherwise that of device_or_default().
Expected<model::Device> default_device(const ir::Module& module);

/// Registers of a kernel per thread: `given`, else .maxnreg, else an estimate (see ir/liveness.hpp, also for
/// `address_bits`).
Resources resources(Module& module, const exec::Program& program, std::optional<std::uint32_t> given,
                    int address_bits = 64);

} // namespace warplens::api
