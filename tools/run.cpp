// SPDX-License-Identifier: Apache-2.0
// warplens run: emulates, analyses, predicts.
#include "api/files/input_file.hpp"
#include "api/launch/compiled.hpp"
#include "api/report/json_report.hpp"
#include "api/report/report_text.hpp"
#include "api/session/kernel_name.hpp"
#include "tools/command_line.hpp"
#include "tools/launch_options.hpp"
#include "tools/limit_options.hpp"
#include "tools/module_file.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/ranks.hpp"
#include "tools/report_options.hpp"
#include "tools/run_arguments.hpp"
#include "tools/tool_options.hpp"
#include "tools/trace_options.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace warplens::tools {

namespace {

namespace po = boost::program_options;
using Strings = std::vector<std::string>;

const std::string kRunHelp = R"(usage: warplens run LAUNCH.toml | FOLDER [OPTION…]
       warplens run FILE… --kernel K --grid X[,Y[,Z]] --block X[,Y[,Z]] --arg … [OPTION…]

Emulates the launches of a launch file, or one kernel of FILE. Then shows memory transactions, bank conflicts,
divergence, occupancy, the predicted run time, and what to improve. FOLDER stands for the launch.toml in it. FILE is
PTX, CUDA source (.cu, requires nvcc or clang++), a fat binary, or an executable that contains one. Several files are
linked.

Arguments (--arg), one for each parameter, in order:
  TYPE=VALUE                    a number: s32=5, f32=1.5, u64=0x100
  NAME:TYPE[COUNT]=INITIAL      a new buffer: x:f32[1024]=iota. INITIAL is one of zeros (the default), fill:V, iota or
                                iota:START,STEP, random or random:LOW,HIGH,SEED, file:PATH.npy
  buffer=NAME                   an existing buffer
  Types: u8 to u64, s8 to s64, b8 to b64, f16, f32, f64.

)";

constexpr std::string_view kRunExamples = R"(
Examples:
  warplens run samples/transpose
  warplens run samples/transpose --device c1060 --json report.json
  warplens run samples/transpose --device c1060 --rule my_rule.toml
  warplens run samples/transpose --trace t.h5
  warplens run samples/saxpy/launch.toml --set grid=20 --set arg.1.f32=3.0
  warplens run samples/transpose --device h200 --analyzers caches,reuse_distance
  warplens run samples/transpose --tool memcheck
  warplens run k.ptx --kernel scale --grid 4 --block 256 --arg x:f32[1024]=iota --arg f32=2 --print x
Exit status: 0 success; 1 the kernel trapped, or a result differs from the launch file's 'expect'; 2 bad usage or input;
4 a condition of --fail-on is true; 1 (--error-exitcode) --tool found errors.
)";

po::options_description run_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("kernel", po::value<std::string>()->value_name("NAME"), "the kernel to launch");
  add("grid", po::value<std::string>()->value_name("X[,Y[,Z]]"), "grid size in blocks");
  add("block", po::value<std::string>()->value_name("X[,Y[,Z]]"), "block size in threads");
  add("cluster", po::value<std::string>()->value_name("X[,Y[,Z]]"), "cluster size in blocks");
  add("shared", po::value<std::uint64_t>()->value_name("N"), "dynamic shared memory per block, in bytes");
  add("cooperative", "launch as cudaLaunchCooperativeKernel does: all blocks run at the same time");
  add("arg", po::value<Strings>()->value_name("ARG"),
      "an argument, see above; with a launch file, the --arg options replace all of its arguments");
  add("set", po::value<Strings>()->value_name("KEY=VALUE"),
      "replace a value of the launch file: grid=20, buffer.x.count=64, launch.1.kernel=k");
  add("output-dir", po::value<std::string>()->value_name("FOLDER"),
      "the folder for 'save' of a launch file; the default is the launch file's folder");
  add("allow-paths", "let 'save' write anywhere: absolute paths, '..', links");
  add_device_option(options, "the GPU to emulate", "C1060 for targets before sm_20, else the H200");
  add_analysis_options(options);
  add_sample_option(options);
  add("print", po::value<Strings>()->value_name("BUFFER[:COUNT]"),
      "show the first COUNT elements of a buffer after the last launch; the default is 16");
  add_report_options(options);
  add_emulation_options(options);
  add_limit_options(options);
  add_trace_options(options);
  add_tool_options(options);
  add_selection_options(options, "check");
  add("time", "show how long the emulation took");
  add("help,h", "show this help");
  return options;
}

template <class T> std::optional<T> get(const po::variables_map& values, const char* name) {
  return values.count(name) != 0 ? std::optional<T>(values[name].as<T>()) : std::nullopt;
}

api::Extent extent(const std::string& text, std::string_view option) {
  api::Extent e{1, 1, 1};
  const std::vector<std::uint64_t> list = parse_extents(text, option);
  std::copy(list.begin(), list.end(), e.begin());
  return e;
}

/// Applies the launch options of the command line.
void override_launch(const po::variables_map& values, api::LaunchPlan& launch) {
  if (const auto v = get<std::string>(values, "kernel")) launch.kernel = *v;
  if (const auto v = get<std::string>(values, "block")) launch.block = extent(*v, "--block");
  if (launch.total) launch.grid = api::blocks_for(*launch.total, launch.block);
  if (const auto v = get<std::string>(values, "grid")) launch.grid = extent(*v, "--grid");
  if (const auto v = get<std::string>(values, "cluster")) launch.cluster = extent(*v, "--cluster");
  if (const auto v = get<std::uint64_t>(values, "shared")) launch.shared = *v;
  if (values.count("cooperative") != 0) launch.cooperative = true;
}

/// Where `save` may write. Creates the folder of --output-dir.
api::SavePolicy save_policy(const po::variables_map& values) {
  api::SavePolicy policy{get<std::string>(values, "output-dir").value_or(""), values.count("allow-paths") != 0};
  if (policy.folder.empty()) return policy;
  std::error_code error;
  std::filesystem::create_directories(policy.folder, error);
  if (error)
    throw UsageError{fmt::format("--output-dir: cannot create '{}': {}", policy.folder.string(), error.message()), ""};
  return policy;
}

api::Plan plan_from_file(const std::string& file, const po::variables_map& values) {
  std::vector<api::Override> overrides;
  for (const std::string& text : get<Strings>(values, "set").value_or(Strings{}))
    overrides.push_back(parse_override(text));
  api::Plan plan = value_or_throw(api::read_launch_file(file, overrides, save_policy(values)));
  for (const char* option : {"kernel", "grid", "block", "cluster", "shared", "cooperative", "arg"})
    if (values.count(option) != 0 && plan.launches.size() != 1)
      throw UsageError{
          fmt::format("--{} needs a launch file with one launch, this one has {}", option, plan.launches.size()),
          "use --set, such as --set launch.0.grid=…"};
  if (plan.launches.size() == 1) override_launch(values, plan.launches.front());
  if (values.count("arg") != 0) {
    CommandLineArguments arguments = parse_arguments(values["arg"].as<Strings>());
    plan.launches.front().arguments = std::move(arguments.arguments);
    for (api::BufferPlan& b : arguments.buffers) plan.buffers.push_back(std::move(b));
  }
  return plan;
}

api::Plan plan_from_options(const Strings& files, const po::variables_map& values) {
  for (const char* option : {"kernel", "grid", "block"})
    if (values.count(option) == 0)
      throw UsageError{fmt::format("--{} is missing", option),
                       "warplens run FILE.ptx --kernel K --grid X --block X --arg …"};
  if (values.count("set") != 0) throw UsageError{"--set changes launch files, but the input is not a launch file", ""};
  api::Plan plan;
  api::LaunchPlan launch;
  launch.module = files.front();
  launch.libraries.assign(files.begin() + 1, files.end());
  override_launch(values, launch);
  CommandLineArguments arguments = parse_arguments(get<Strings>(values, "arg").value_or(Strings{}));
  launch.arguments = std::move(arguments.arguments);
  plan.buffers = std::move(arguments.buffers);
  plan.launches.push_back(std::move(launch));
  return plan;
}

/// A folder stands for the launch file in it.
std::string file_of(const std::string& input) {
  std::error_code ignored;
  if (!std::filesystem::exists(input, ignored))
    throw UsageError{fmt::format("cannot read '{}': {}", input, why_unreadable(input)), ""};
  if (!std::filesystem::is_directory(input, ignored)) return input;
  const std::filesystem::path file = std::filesystem::path(input) / "launch.toml";
  if (!std::filesystem::is_regular_file(file, ignored))
    throw UsageError{fmt::format("there is no launch.toml in the folder '{}'", input), ""};
  return file.string();
}

api::Plan make_plan(const po::variables_map& values) {
  Strings inputs = get<Strings>(values, "input").value_or(Strings{});
  std::transform(inputs.begin(), inputs.end(), inputs.begin(), file_of);
  const bool has_launch_file =
      std::any_of(inputs.begin(), inputs.end(), [](const std::string& file) { return file.ends_with(".toml"); });
  if (inputs.empty() || (has_launch_file && inputs.size() != 1))
    throw UsageError{inputs.empty() ? "no input file"
                                    : fmt::format("a launch file must be the only input, got {} files", inputs.size()),
                     "warplens run LAUNCH.toml, or warplens run FILE.ptx --kernel …"};
  api::Plan plan = has_launch_file ? plan_from_file(inputs.front(), values) : plan_from_options(inputs, values);
  if (const auto device = get<std::string>(values, "device")) plan.device = *device;
  return plan;
}

/// The capability of the plan's device: it selects the PTX of a fat binary, and the target for compiling CUDA source.
/// If the module determines the device, the newest one is selected.
model::ComputeCapability capability_for(const api::Plan& plan) {
  return value_or_throw(api::device_or_default(plan.device)).capability;
}

/// --print BUFFER[:COUNT]
struct PrintRequest {
  std::string buffer;
  std::uint64_t shown = 16;
};
PrintRequest parse_print(const std::string& text) {
  const std::size_t colon = text.find(':');
  PrintRequest request{text.substr(0, colon)};
  if (colon != text.npos) request.shown = parse_extents(text.substr(colon + 1), "--print").front();
  return request;
}

/// Rejects requests that would fail after the run.
void check_print(const po::variables_map& values, const api::Plan& plan) {
  std::vector<std::string_view> names;
  for (const api::BufferPlan& b : plan.buffers) names.push_back(b.name);
  for (const std::string& text : get<Strings>(values, "print").value_or(Strings{})) {
    const PrintRequest request = parse_print(text);
    if (std::find(names.begin(), names.end(), request.buffer) == names.end())
      throw UsageError{
          fmt::format("--print {}: there is no buffer '{}'", text, request.buffer),
          did_you_mean(request.buffer, names, names.empty() ? "" : fmt::format("buffers: {}", fmt::join(names, ", ")))};
  }
}

std::string buffer_text(const api::PlanReport& report, const std::string& text) {
  const auto [name, shown] = parse_print(text);
  std::string out;
  for (std::size_t i = 0; i < report.buffers.size(); ++i) {
    if (report.buffers[i].name != name) continue;
    const api::Type type = report.buffers[i].type;
    const std::span<const std::byte> bytes = report.contents[i]->bytes();
    const auto width = static_cast<std::size_t>(isa::bytes(type));
    const std::uint64_t count = bytes.size() / width;
    out = fmt::format("\n{}: {}[{}]\n ", name, isa::name(type), count);
    for (std::uint64_t e = 0; e < std::min(count, shown); ++e) out += " " + api::format(type, &bytes[e * width]);
    out += count > shown ? " …\n" : "\n";
  }
  return out;
}

void show_time(const api::LaunchReport& r) {
  const std::uint64_t counted = r.profile.integer(analyzers::MetricId::thread_instructions);
  // Without analysis, only warp instructions are counted.
  const double lanes = counted != 0 ? static_cast<double>(counted) : 32.0 * static_cast<double>(r.steps);
  std::fputs(fmt::format("{}: emulated in {:.3f} s, {:.3f} G thread-instructions/s{}\n", r.kernel, r.seconds,
                         r.seconds > 0 ? lanes / r.seconds * 1e-9 : 0,
                         counted != 0 ? "" : " (approximate: counted at branches, 32 lanes per warp)")
                 .c_str(),
             stderr);
}

/// What the kernels printed, the report, and the buffers.
void show(const api::PlanReport& report, const po::variables_map& values, const ReportOptions& output) {
  if (output.writes_stdout()) return;
  const Style style = style_for(STDOUT_FILENO);
  for (const api::LaunchReport& r : report.launches) write_data(r.printed);
  show_text(output, report.launches);
  if (report.trapped()) return;
  for (const std::string& request : get<Strings>(values, "print").value_or(Strings{}))
    write(buffer_text(report, request));
  for (std::size_t i = 0; i < report.buffers.size(); ++i) {
    const api::BufferPlan& b = report.buffers[i];
    const bool same = std::none_of(report.mismatches.begin(), report.mismatches.end(),
                                   [&](const auto& m) { return m.buffer == b.name; });
    if (b.expect && same)
      write(fmt::format("\n{}{}{}: as expected in {}\n", style.green, b.name, style.reset, b.expect->string()));
  }
}

/// Prints the trap and the mismatches on stderr.
int conclude(const api::PlanReport& report) {
  if (report.trapped()) print(*report.launches.back().trap);
  for (const api::Mismatch& m : report.mismatches) {
    Diagnostics errors;
    errors.error({},
                 fmt::format("buffer '{}' does not match {}: {} of {} elements differ; first [{}]: expected {}, got {}",
                             m.buffer, m.expected_file, m.differing, m.count, m.first, m.expected, m.got));
    print(errors);
  }
  return report.trapped() || !report.mismatches.empty() ? kFound : kFine;
}

/// Without a match, the tools check nothing, and finding no error means nothing.
void tell_unmatched(const std::string& name, const std::vector<api::LaunchReport>& launches) {
  if (name.empty()) return;
  const api::NamePattern pattern = value_or_throw(api::NamePattern::create(name));
  std::set<std::string> kernels;
  for (const api::LaunchReport& r : launches) {
    if (pattern.matches(r.kernel)) return;
    kernels.insert(fmt::format("'{}'", api::source_name(r.kernel)));
  }
  std::fputs(fmt::format("warplens: --kernel-name: no kernel matches '{}'; the launches are of {}\n", name,
                         fmt::join(kernels, ", "))
                 .c_str(),
             stderr);
}

} // namespace

int run(const Strings& arguments) {
  exec::Ranks* ranks = join_ranks();
  const po::options_description visible = run_options();
  const po::variables_map values =
      parse_command_line(arguments, visible, {"max-steps", "threads", "shared", "registers", "trace-every"}).values;
  if (values.count("help") != 0) return show_help(kRunHelp + report_help(), visible, kRunExamples);
  const bool alone = values.count("tool") != 0;
  // The watchdog of a limit is a thread, which a forked process would not have.
  const bool watched = values.count("time-limit") != 0 || values.count("max-memory") != 0;
  if (ranks != nullptr && !alone) watched ? ranks->start() : share_process();
  const LimitGuard guard(values);
  po::variables_map of_report = values;
  if (values.count("tool") != 0) // these files are of the tools' messages
    for (const char* of_tool : {"sarif", "junit"}) of_report.erase(of_tool);
  const ReportOptions output = report_options(of_report, STDOUT_FILENO);
  const api::Plan plan = make_plan(values);
  check_print(values, plan);
  if (ranks != nullptr && alone) {
    if (!ranks->is_first()) return kFine;
    tell_alone("the launches", "--tool follows all blocks");
    ranks = nullptr;
  }
  api::PlanOptions options;
  options.launch = value_or_throw(launch_options(values));
  const model::ComputeCapability capability = capability_for(plan);
  const std::unique_ptr<api::LaunchRecorder> trace = trace_writer(values, plan.device, ranks);
  options.launch.recorder = trace.get();
  options.launch.ranks = ranks;
  const std::optional<api::CheckOptions> checks = tool_options(values);
  if (!checks) {
    po::options_description selection;
    add_selection_options(selection, "");
    refuse_without(values, selection, "--tool", "--tool memcheck");
  }
  const std::unique_ptr<api::Sanitizer> tools =
      checks ? value_or_throw(api::Sanitizer::create(*checks)) : std::unique_ptr<api::Sanitizer>();
  options.launch.sanitizer = tools.get();
  options.read_module = [&](const std::filesystem::path& file) { return read_module(file, capability); };
  const api::PlanReport report = [&] {
    Progress progress;
    progress.now("loading");
    options.launch.progress = progress.blocks();
    options.before_launch = [&](std::size_t i, const api::LaunchPlan& next) {
      progress.now(fmt::format("launch {} of {}: {}", i + 1, plan.launches.size(), api::source_name(next.kernel)), i,
                   plan.launches.size());
    };
    api::PlanReport ran = value_or_throw(api::run_plan(plan, options));
    if (trace != nullptr) value_or_throw(trace->close());
    end_rank();
    return ran;
  }();
  if (ranks != nullptr && !ranks->is_first()) return kFine;
  for (const api::LaunchReport& r : report.launches)
    if (!r.alone_because.empty()) tell_alone(r.kernel, r.alone_because);
  print(report.warnings);
  if (values.count("time") != 0)
    for (const api::LaunchReport& r : report.launches) show_time(r);
  if (values.count("explain-compiled") != 0) std::fputs(api::explain_compiled().c_str(), stderr);
  const int failed = write_report(output, report.device, report.launches, [&] { show(report, values, output); });
  int found = conclude(report);
  if (tools != nullptr) {
    tell_unmatched(checks->kernel_name, report.launches);
    const int errors = conclude_tools(*tools, nullptr);
    found = found != kFine ? found : errors;
  }
  return found != kFine ? found : failed;
}

} // namespace warplens::tools
