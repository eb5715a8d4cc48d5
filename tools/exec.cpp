// SPDX-License-Identifier: Apache-2.0
// warplens exec: runs a CUDA program with our libraries in place of NVIDIA's.
#include "api/launch/launch.hpp"
#include "api/report/catalogue.hpp"
#include "api/session/environment.hpp"
#include "api/session/kernel_name.hpp"
#include "tools/child.hpp"
#include "tools/command_line.hpp"
#include "tools/compiler.hpp"
#include "tools/launch_options.hpp"
#include "tools/library_folder.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"
#include "tools/report_options.hpp"
#include "tools/tool_options.hpp"
#include "tools/trace_options.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <elf.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;
namespace environment = api::environment;
using Strings = std::vector<std::string>;

const std::string kExecHelp = R"(usage: warplens exec [OPTION…] [--] PROGRAM [ARGUMENT…]
       warplens exec [OPTION…] [--] FILE.cu [-- ARGUMENT…]

Runs a CUDA program without a GPU: Warplens replaces libcudart and libcuda, and emulates the kernels. The program must
contain PTX (nvcc -gencode arch=compute_90,code=compute_90). A .cu file is compiled first, which requires nvcc.
With --analyze, Warplens analyses the launches as 'warplens run' does, and shows the report on stderr when the program
ends. The options of reports and output files enable the analysis, too. Without any of these, Warplens only runs
the launches.

)";

constexpr std::string_view kExecExamples = R"(
Examples:
  warplens exec -- ./vectorAdd
  warplens exec --analyze --kernel-name '^reduce' --launch-count 2 -- ./reduction 1000000
  warplens exec --device a100 --json report.json -- ./vectorAdd
  warplens exec --fail-on 'sectors_per_request>8' --sarif findings.sarif -- ./transpose
  warplens exec --trace trace.h5 --kernel-name '^reduce' -- ./reduction 1000000
  warplens exec saxpy.cu -- 4096
  warplens exec --tool memcheck --leak-check full -- ./solver
Exit status: the program's; 2 if it could not be started; if the program succeeded: 1 (--error-exitcode) if --tool found
errors, 3 if --analyze-processes lost the analysis of a launch, 4 if a condition of --fail-on is true.
)";

po::options_description exec_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add_device_option(options, "the GPU to emulate", "H200");
  add("analyze", "analyse the launches; the report goes to stderr when the program ends");
  add_selection_options(options, "analyse and check");
  add("analyze-processes", po::value<std::string>()->value_name("N"),
      "analyse launches in up to N copies of the program's process, while the program runs on");
  add("max-steps", po::value<std::string>()->value_name("N"), "stop a launch after N warp instructions");
  add_limit_options(options);
  add_analysis_options(options);
  add_sample_option(options);
  add_report_options(options);
  add_trace_options(options);
  add_tool_options(options);
  add("strict", "treat accesses past the end of an allocation as faults; by default, those that a GPU lets pass only "
                "cause a warning");
  add_strict_async_option(options);
  add_compile_option(options);
  add("help,h", "show this help");
  return options;
}

/// Our options, and the program with its arguments: what follows "--", or the first word that is not an option.
struct ProgramLine {
  Strings options, program;
};
ProgramLine split(const Strings& arguments, const po::options_description& visible) {
  ProgramLine line;
  auto at = arguments.begin();
  for (; at != arguments.end() && at->starts_with("-"); ++at) {
    if (*at == "--") {
      ++at;
      break;
    }
    line.options.push_back(*at);
    const po::option_description* const known =
        at->starts_with("--") ? visible.find_nothrow(at->substr(2), false) : nullptr;
    const bool has_value = known != nullptr && known->semantic()->max_tokens() != 0;
    if (has_value && at + 1 != arguments.end()) line.options.push_back(*++at);
  }
  line.program.assign(at, arguments.end());
  return line;
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

/// Sets a number for the libraries. Checks it here, where an error can be shown to the user.
void set_number(const po::variables_map& values, const char* option, const char* variable) {
  if (values.count(option) == 0) return;
  const std::string text = values[option].as<std::string>();
  const bool is_number = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
  if (!is_number) throw UsageError{fmt::format("--{}: expected a number, got '{}'", option, text), ""};
  set(variable, text);
}

void check_expression(const std::string& text) {
  if (const Expected<api::NamePattern> pattern = api::NamePattern::create(text); !pattern)
    throw UsageError{fmt::format("--kernel-name: {}", pattern.error().list().front().message), ""};
}

/// The libraries enforce the limits in each process that uses CUDA; the time starts now for all of them.
void pass_limits(const po::variables_map& values) {
  const api::RunLimits limits = limits_of(values);
  set_number(values, "max-steps", environment::kMaxSteps);
  set(environment::kTimeBegin, std::to_string(limits.begin));
  if (limits.milliseconds) set(environment::kTimeLimit, std::to_string(*limits.milliseconds));
  if (limits.bytes) set(environment::kMaxMemory, std::to_string(*limits.bytes));
}

/// A file of a report as the libraries find it. Checks it here, where an error can be shown to the user.
std::string whole_path(const std::string& name, const char* option) {
  if (name == "-") throw UsageError{fmt::format("--{}: expected a file, got '-'", option), "use /dev/stdout"};
  const fs::path file = fs::absolute(name);
  const bool is_stream = file == "/dev/stdout" || file == "/dev/stderr" || fs::is_fifo(fs::status(file));
  if (!is_stream) check_writable(file.string());
  return file.string();
}

/// The options of reports. Returns whether there are conditions.
bool pass_report_options(po::variables_map values, bool with_tool) {
  if (with_tool)
    for (const char* of_tool : {"sarif", "junit"}) values.erase(of_tool);
  const ReportOptions report = report_options(values, STDERR_FILENO);
  for (const api::ReportFileOption& o : api::report_file_options())
    if (const std::string& file = report.files.*o.file; !file.empty()) set(o.variable, whole_path(file, o.option));
  if (report.files.fold) set(environment::kJsonFold, "1");
  if (!report.html.empty()) set(environment::kHtml, fs::absolute(report.html).string());
  std::string conditions;
  for (const api::Condition& condition : report.conditions) conditions += condition.text() + "\n";
  if (!conditions.empty()) set(environment::kFailOn, conditions);
  const bool of_text = !report.text.details.empty() || report.text.counters || !report.text.shown.empty();
  if (values.count("analyze") != 0 || of_text) set(environment::kAnalyze, "1");
  if (!report.text.details.empty()) set(environment::kDetails, report.text.details.text());
  if (!report.text.shown.empty()) set(environment::kShow, report.text.shown);
  if (report.text.counters) set(environment::kCounters, "1");
  return !report.conditions.empty();
}

/// What to count.
void pass_analysis_options(const po::variables_map& values) {
  po::variables_map counting = values;
  counting.erase("max-steps"); // a text here: see set_number()
  const api::LaunchOptions counts = value_or_throw(launch_options(counting));
  if (const Diagnostics errors = analyzers::check_names(counts.analyzers); errors.has_errors()) throw errors;
  std::string rules;
  if (values.count("rule") != 0)
    for (const std::string& name : values["rule"].as<Strings>())
      rules += (fs::exists(name) ? fs::absolute(name).string() : name) + "\n";
  if (!rules.empty()) set(environment::kRules, rules);
  if (values.count("analyzers") != 0) set(environment::kAnalyzers, values["analyzers"].as<std::string>());
  if (values.count("l1") != 0) set(environment::kFirstLevel, values["l1"].as<std::string>());
  if (values.count("sample") != 0) set(environment::kSample, values["sample"].as<std::string>());
  if (counts.per_block) set(environment::kPerBlock, "1");
  if (counts.registers) set(environment::kRegisters, std::to_string(*counts.registers));
}

void pass_device(const po::variables_map& values) {
  if (values.count("device") == 0) return;
  const std::string device = values["device"].as<std::string>();
  value_or_throw(api::load_device(device));
  set(environment::kDevice, fs::exists(device) ? fs::absolute(device).string() : device);
}

void pass_tool(const api::CheckOptions& options) {
  set(environment::kTool, api::names_of(options.tools));
  if (options.leak_check) set(environment::kLeakCheck, "full");
  set(environment::kPrintLimit, std::to_string(options.print_limit));
  if (!options.save.empty()) set(environment::kSave, fs::absolute(options.save).string());
  if (options.xml) set(environment::kXml, "1");
  if (!options.same_values) set(environment::kIgnoreSameValues, "1");
  if (options.track_unused) set(environment::kTrackUnused, "1");
  set(environment::kScheduleSeed, std::to_string(options.schedule_seed));
  if (!options.sarif.empty()) set(environment::kToolSarif, whole_path(options.sarif, "sarif"));
  if (!options.junit.empty()) set(environment::kToolJunit, whole_path(options.junit, "junit"));
  if (!options.suppressions.empty()) set(environment::kSuppressions, fs::absolute(options.suppressions).string());
  value_or_throw(api::Sanitizer::create(options)); // the libraries cannot tell the user what is wrong
}

/// Copies of the program's process that analyse its launches.
void pass_processes(const po::variables_map& values) {
  if (values.count("analyze-processes") == 0) return;
  const std::string number = values["analyze-processes"].as<std::string>();
  set_number(values, "analyze-processes", environment::kAnalyzeProcesses);
  if (number.find_first_not_of('0') == number.npos || number.size() > 4)
    throw UsageError{fmt::format("--analyze-processes: expected 1 to 9999, got '{}'", number), ""};
  for (const char* const other : {"trace", "tool"})
    if (values.count(other) != 0)
      throw UsageError{fmt::format("--analyze-processes cannot be combined with --{}, which one process writes", other),
                       ""};
  bool reports = std::getenv(environment::kAnalyze) != nullptr || std::getenv(environment::kFailOn) != nullptr ||
                 std::getenv(environment::kHtml) != nullptr;
  for (const api::ReportFileOption& o : api::report_file_options()) reports |= std::getenv(o.variable) != nullptr;
  if (!reports) throw UsageError{"--analyze-processes needs a report", "add --analyze, or --json FILE"};
}

/// Passes the options to the libraries. Checks them here: later, the program would only see an error code. Returns
/// whether there are conditions of --fail-on.
bool set_environment(const po::variables_map& values) {
  for (const environment::Variable& variable : environment::kVariables)
    if (variable.of_exec) unsetenv(variable.name);
  pass_device(values);
  if (values.count("strict") != 0) set(environment::kStrict, "1");
  if (values.count("strict-async") != 0) set(environment::kStrictAsync, "1");
  if (values.count("compile") != 0) {
    const std::string word = values["compile"].as<std::string>();
    set_compile_mode(word);
    set(environment::kCompile, word);
  }
  if (values.count("explain-compiled") != 0) set(environment::kExplainCompiled, "1");
  pass_analysis_options(values);
  const bool conditions = pass_report_options(values, values.count("tool") != 0);
  pass_processes(values);
  pass_trace_options(values);
  if (values.count("kernel-name") != 0) {
    check_expression(values["kernel-name"].as<std::string>());
    set(environment::kKernelName, values["kernel-name"].as<std::string>());
  }
  set_number(values, "launch-skip", environment::kLaunchSkip);
  set_number(values, "launch-count", environment::kLaunchCount);
  pass_limits(values);
  set(environment::kProgress, "1");
  return conditions;
}

void prepend(const char* variable, const std::string& value) {
  const char* const old = std::getenv(variable);
  set(variable, old == nullptr || *old == '\0' ? value : value + ":" + old);
}

/// Makes the dynamic linker load our libraries before all others. A separate library replaces the static runtime, which
/// nvcc links by default, and makes NVRTC return PTX: see runtime/static_runtime. An nvcc that programs start does,
/// too.
void put_libraries_first(const fs::path& folder) {
  prepend("LD_LIBRARY_PATH", folder.string());
  const fs::path replaces_static = folder / "libwarplens_static.so", replaces_late = folder / "libwarplens_audit.so";
  if (fs::exists(replaces_static)) prepend("LD_PRELOAD", replaces_static.string());
  if (fs::exists(replaces_late)) prepend("LD_AUDIT", replaces_late.string());
  const fs::path replaces_nvcc = folder / "bin"; // see runtime/nvcc; programs may look whether there is an nvcc at all
  if (std::getenv("PATH") != nullptr && fs::exists(replaces_nvcc) && find_executable("nvcc", path_folders()))
    prepend("PATH", replaces_nvcc.string());
}

/// Finds a program as the shell does. UsageError: there is no such file, or it is not executable.
fs::path find_program(const std::string& name) {
  const bool has_folder = name.find('/') != name.npos;
  fs::path found = has_folder ? fs::path(name) : find_executable(name, path_folders()).value_or("");
  if (found.empty() || !fs::exists(found))
    throw UsageError{fmt::format("no such program: '{}'", name),
                     !has_folder && fs::exists(name) ? fmt::format("did you mean './{}'?", name) : ""};
  if (fs::is_directory(found) || access(found.c_str(), X_OK) != 0)
    throw UsageError{fmt::format("'{}' is not an executable", found.string()), ""};
  return found;
}

/// A fully static program loads no libraries, so CUDA's libraries cannot be replaced.
void refuse_static(const fs::path& program) {
  std::ifstream in(program, std::ios::binary);
  Elf64_Ehdr header{};
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return; // a script
  bool is_dynamic = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    in.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) return; // execv will report the error
    is_dynamic = is_dynamic || segment.p_type == PT_INTERP;
  }
  if (!is_dynamic)
    throw UsageError{fmt::format("'{}' is linked statically: its libraries cannot be replaced", program.string()),
                     "link it without -static"};
}

/// `words` in the form for exec; the pointers are valid as long as `words`.
std::vector<char*> pointers(Strings& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

[[noreturn]] void cannot_start(const std::string& name) {
  throw UsageError{fmt::format("cannot start '{}': {}", name, std::strerror(errno)), ""};
}

/// The program, ready to be started: a file that is found as the shell does, or an open one that was compiled.
struct Program {
  fs::path file;
  int open = -1; ///< a file descriptor, instead of `file`
  std::string name;
  Strings words; ///< its name and arguments
};

Program program_of(Strings words) {
  const fs::path file = find_program(words.front());
  refuse_static(file);
  return {file, -1, file.string(), std::move(words)};
}

/// `words`: the source that was compiled, an optional "--", the arguments.
Program compiled_program(int file, Strings words) {
  Program program{{}, file, words.front(), std::move(words)};
  program.words.front() = fs::path(program.name).stem().string();
  if (program.words.size() > 1 && program.words[1] == "--") program.words.erase(program.words.begin() + 1);
  return program;
}

/// Replaces this process by the program.
[[noreturn]] void start(Program program) {
  set(environment::kProcess, std::to_string(getpid()));
  if (program.open >= 0)
    fexecve(program.open, pointers(program.words).data(), environ);
  else
    execv(program.file.c_str(), pointers(program.words).data());
  cannot_start(program.name);
}

/// Ends this process as the program ended, also by a signal.
int end_as(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  rlimit no_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_dump); // the program has left its own
  std::signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

/// A file that the libraries append to, also those of processes that the program starts.
class Verdict {
public:
  explicit Verdict(const char* variable) {
    const int file = mkstemp(name_.data());
    if (file < 0) throw UsageError{fmt::format("cannot create '{}': {}", name_, std::strerror(errno)), ""};
    close(file);
    set(variable, name_);
  }
  Verdict(const Verdict&) = delete;
  Verdict& operator=(const Verdict&) = delete;
  ~Verdict() {
    std::error_code ignored;
    fs::remove(name_, ignored);
  }
  [[nodiscard]] bool given() const {
    std::error_code ignored;
    return fs::file_size(name_, ignored) != 0 && !ignored;
  }
  [[nodiscard]] bool has(std::string_view line) const {
    std::ifstream in(name_);
    for (std::string text; std::getline(in, text);)
      if (text == line) return true;
    return false;
  }

private:
  std::string name_ = (fs::temp_directory_path() / "warplens-verdict-XXXXXX").string();
};

/// Runs the program beside this process, which fails after it if a condition of --fail-on was met, or if a tool found
/// errors.
int run_and_judge(Program program, int error_exitcode) {
  const Verdict conditions(environment::kVerdict), tools(environment::kToolVerdict),
      analysis(environment::kAnalysisVerdict);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM); // the program ends with this process
    try {
      start(std::move(program));
    } catch (const UsageError& e) {
      std::fputs(fmt::format("error: warplens: {}\n", e.message).c_str(), stderr);
    }
    _exit(kBadInput);
  }
  if (child < 0) throw UsageError{fmt::format("cannot start '{}': {}", program.name, std::strerror(errno)), ""};
  for (const int signal : {SIGINT, SIGQUIT})
    std::signal(signal, SIG_IGN); // the terminal sends them to the program, too
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return end_as(status);
  if (analysis.given()) return analysis.has("incomplete") ? kInternal : kFound; // or the time was over
  return tools.given() && error_exitcode != 0 ? error_exitcode : conditions.given() ? kFailed : end_as(status);
}

model::Device device_of_environment() {
  const char* const name = std::getenv(environment::kDevice);
  const Expected<model::Device> device = api::device_or_default(name == nullptr ? "" : name);
  if (!device) throw UsageError{device.error().list().front().message, ""};
  return *device;
}

} // namespace

int execute(const Strings& arguments) {
  const po::options_description visible = exec_options();
  ProgramLine line = split(arguments, visible);
  po::variables_map values;
  po::store(parse_options(po::command_line_parser(line.options).options(visible), visible), values);
  if (values.count("help") != 0) return show_help(kExecHelp + report_help(), visible, kExecExamples);
  if (line.program.empty()) throw UsageError{"no program", "warplens exec [OPTION…] -- PROGRAM [ARGUMENT…]"};
  const std::optional<api::CheckOptions> checks = tool_options(values);
  const bool conditions = set_environment(values);
  if (checks) pass_tool(*checks);
  const std::optional<fs::path> found = library_folder();
  if (!found)
    throw UsageError{fmt::format("Warplens's libcuda.so.1 is neither in {} nor in {}", library_folders()[0].string(),
                                 library_folders()[1].string()),
                     "build everything: ./dev build; or install Warplens again"};
  const fs::path& libraries = *found;
  const bool is_source = line.program.front().ends_with(".cu");
  Program program;
  if (is_source) {
    const int file = value_or_throw(compile_program(line.program.front(), device_of_environment().capability));
    program = compiled_program(file, std::move(line.program));
  } else {
    program = program_of(std::move(line.program));
  }
  put_libraries_first(libraries); // only now: the compiler does not need them
  if (conditions || checks || values.count("analyze-processes") != 0)
    return run_and_judge(std::move(program), checks ? checks->error_exitcode : 0);
  start(std::move(program));
}

} // namespace warplens::tools
