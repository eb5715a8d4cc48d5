// Launching a kernel: emulate it, and say what a GPU would have made of it.
//
//   LaunchRequest request{.kernel = kernel, .grid = {40, 1, 1}, .block = {128, 1, 1},
//                         .arguments = {*Argument::scalar(Type::s32, 20011), Argument::buffer(*x)}};
//   Expected<LaunchReport> report = launch(request);
//   report->profile.integer("gld_request"), report->predictions[0].milliseconds, report->findings[0].message, …
#pragma once

#include "analyzers/findings.hpp"
#include "analyzers/profile.hpp"
#include "api/files/values.hpp"
#include "api/session/session.hpp"
#include "api/session/texture.hpp"
#include "model/models.hpp"
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
  /// Bytes that are exactly the parameter's.
  static Argument raw(std::span<const std::byte> bytes);
};

/// Stops kernels that never end: more warp instructions than any launch needs.
constexpr std::uint64_t kDefaultMaxSteps = std::uint64_t{1} << 40;

/// Whether loads of global memory use the first-level cache: as the device says, never, always, or always and enlarged.
enum class FirstLevel : std::uint8_t { device, off, on, enlarged };
struct LaunchRequest;
struct LaunchReport;

/// Keeps the events of launches. TraceWriter in api/trace/trace.hpp is one.
class LaunchRecorder {
public:
  virtual ~LaunchRecorder() = default;
  /// Before a launch: what is to watch it, until end(). Null: nothing is kept of this one. Error: it cannot be kept.
  virtual Expected<exec::Watcher*> begin(const LaunchRequest& request, const exec::Launch& launch) = 0;
  /// After it, if begin() gave a watcher. Error: not everything could be kept.
  virtual Expected<void> end(const LaunchReport& report) = 0;
  /// After the last launch. Error: not everything was kept.
  virtual Expected<void> close() = 0;
};

/// Supplies the events of a launch in the emulator's place. Trace in api/trace/trace.hpp is one.
class EventSource {
public:
  virtual ~EventSource() = default;
  /// Tells `launch.watcher` of everything. Error: the events cannot be read.
  virtual Expected<exec::LaunchResult> run(const exec::Launch& launch) = 0;
};

struct LaunchRequest {
  Kernel kernel;
  Extent grid{1, 1, 1};          ///< blocks
  Extent block{1, 1, 1};         ///< threads
  std::optional<Extent> cluster; ///< blocks of a cluster; without it .reqnctapercluster says, or there are none
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative =
      false; ///< all blocks run at the same time, and may wait for each other: cudaLaunchCooperativeKernel
  std::vector<Argument> arguments;
  model::Device device;
  bool analyze = true;                ///< watch the accesses, predict, find problems
  rules::RuleSet rules;               ///< counted in addition to what every report has
  bool per_block = false;             ///< counters of each block, too; takes several times as long
  std::vector<std::string> analyzers; ///< by name, besides those that always run: `warplens list analyzers`
  FirstLevel first_level = FirstLevel::device;
  unsigned workers = 0; ///< 0: as many as the machine has
  /// Warp instructions of the launch and of those that its kernel makes, and what that costs besides (see
  /// device_launches.cpp); 0: no limit.
  std::uint64_t max_steps = kDefaultMaxSteps;
  std::uint64_t steps_before = 0;         ///< of the launches that this one comes from
  std::optional<std::uint32_t> registers; ///< per thread; estimated unless given here or by .maxnreg
  std::string level;                      ///< "x86-64-v3", …; empty: the best
  bool host_pointers = false;             ///< addresses outside the context's memory are the caller's business
  bool past_ends = false;                 ///< accesses past allocations pass as on a GPU: exec::Launch::past_ends
  LaunchRecorder* recorder = nullptr;     ///< keeps the events
  EventSource* events = nullptr;          ///< nullptr: the emulator runs the kernel
  /// The host, or another launch, may write what this one waits for: a kernel that seems to get nowhere goes on.
  bool others_write = false;
  std::string launched_by = {}; ///< the kernel that makes this launch; empty: the host does
  /// Which of the launches that the kernel makes, and those make, are analysed; empty: all of them where this one is.
  std::function<bool(const ir::Function&)> analyze_child = {};
};

/// What the kernel needs of a multiprocessor.
struct Resources {
  enum class RegisterSource : std::uint8_t { given, directive, estimated };
  std::uint32_t registers = 0; ///< per thread; of a launch that is not analysed 0
  RegisterSource registers_from{};
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t local_bytes = 0; ///< per thread
};

struct LaunchReport {
  std::string kernel;
  std::string file; ///< of the module
  Extent grid{}, block{}, cluster{};
  model::Device device;
  rules::RuleSet rules;           ///< as in the request
  std::string printed;            ///< by printf() in the kernel, in the order of the blocks
  std::optional<Diagnostic> trap; ///< the kernel stopped: nothing below but `trap_kind` and `resources` is filled
  std::optional<exec::Trap::Kind> trap_kind;
  struct Overrun {
    Diagnostic warning;      ///< of the first access of an instruction past the end of an allocation that passed
    std::uint64_t count = 0; ///< of the accesses of threads
  };
  std::vector<Overrun> overruns; ///< by instruction; none unless the request has `past_ends`
  bool analyzed = false;
  Resources resources;
  analyzers::Profile profile; ///< with the metrics of the launch itself added (registers, occupancy, …)
  std::optional<model::Occupancy> occupancy;
  model::KernelStatistics statistics; ///< what the models were given
  std::vector<model::Prediction> predictions;
  std::vector<analyzers::Finding> findings;
  std::vector<std::string> remarks; ///< what could not be said, and why
  std::uint64_t steps = 0;          ///< warp instructions emulated
  double seconds = 0;               ///< that the emulation took; in no report that is compared
  std::string launched_by;          ///< as in the request
  /// Launches that this one made, and those made, in the order in which they ran: those that were analysed, printed
  /// something, went past the end of an allocation, or stopped, of which there is one at most, the last.
  std::vector<LaunchReport> children;
};

/// Emulates one launch, with all that the kernel launches itself. Errors (the request is refused, nothing has run): an
/// empty grid or block, or one that the device does not allow; too much shared memory; arguments that do not fit the
/// parameters; .reqntid or .maxntid not met; instructions that cannot be run; an analyzer that does not exist; a
/// first-level cache of a device without one. A kernel that traps is no error: see LaunchReport::trap.
Expected<LaunchReport> launch(const LaunchRequest& request);

/// A report and those of its children, as a list. Where one stopped it is the last.
std::vector<LaunchReport> with_children(LaunchReport report);
/// The GPU that a launch is judged for. Nothing in it changes what a kernel computes, unless that asks for its
/// multiprocessor (%smid, %nsmid, %nwarpid): such a kernel sees the first target.
struct TargetDevice {
  model::Device device;
  FirstLevel first_level = FirstLevel::device;
  std::optional<std::uint32_t> registers; ///< per thread; unless given, those of the request
};
/// Emulates one launch once, and says what each of the targets would make of it, in their order; the request's own
/// device and first level are not looked at. Errors as above; a target that refuses the launch does not keep it from
/// the others. What the kernel launches itself is judged for all of them, with registers of its own.
std::vector<Expected<LaunchReport>> launch(const LaunchRequest& request, std::span<const TargetDevice> targets);

/// A built-in device by name, or a device file by path. Errors: neither.
Expected<model::Device> load_device(std::string_view name_or_file);
/// Rules to count under: each a built-in rule by name, or a rule file by path. Errors: neither, a file that is no rule
/// (with line and column), two of one name.
Expected<rules::RuleSet> load_rules(std::span<const std::string> names_or_files);
/// The device for a module when the user names none: the Tesla C1060 for targets before sm_20, otherwise the H200.
Expected<model::Device> default_device(const ir::Module& module);

/// Registers of a kernel per thread: `given`, else .maxnreg, else an estimate (see ir/liveness.hpp, also for
/// `address_bits`).
Resources resources(Module& module, const exec::Program& program, std::optional<std::uint32_t> given,
                    int address_bits = 64);

} // namespace warplens::api
