// SPDX-License-Identifier: Apache-2.0
// warplens exec: runs a CUDA program with our libraries in place of NVIDIA's.
#include "api/launch/launch.hpp"
#include "api/session/environment.hpp"
#include "api/session/kernel_name.hpp"
#include "tools/command_line.hpp"
#include "tools/compiler.hpp"
#include "tools/library_folder.hpp"
#include "tools/limit_options.hpp"
#include "tools/output.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;
namespace environment = api::environment;
using Strings = std::vector<std::string>;

constexpr std::string_view kExecHelp = R"(usage: warplens exec [OPTION…] [--] PROGRAM [ARGUMENT…]
       warplens exec [OPTION…] [--] FILE.cu [-- ARGUMENT…]

Runs a CUDA program without a GPU: Warplens replaces libcudart and libcuda, and emulates the kernels. The program must
contain PTX (nvcc -gencode arch=compute_90,code=compute_90). A .cu file is compiled first, which requires nvcc.
With --analyze or --json, Warplens analyses the launches as 'warplens run' does; otherwise, it only runs them.

)";

constexpr std::string_view kExecExamples = R"(
Examples:
  warplens exec -- ./vectorAdd
  warplens exec --analyze --kernel-name '^reduce' --launch-count 2 -- ./reduction 1000000
  warplens exec --device a100 --json report.json -- python3 train.py
  warplens exec saxpy.cu -- 4096
Exit status: the program's; 2 if it could not be started.
)";

po::options_description exec_options() {
  po::options_description options("Options");
  auto add = options.add_options();
  add("device", po::value<std::string>()->value_name("NAME|FILE"),
      "the GPU to emulate: a name from 'warplens list devices' or a device file; the default is the H200");
  add("analyze", "analyse the launches; the reports go to stderr when the program ends");
  add("json", po::value<std::string>()->value_name("FILE"),
      "analyse the launches and write the report as JSON; processes that the program starts write FILE.PROCESS");
  add("kernel-name", po::value<std::string>()->value_name("REGEX"),
      "analyse only kernels whose mangled or demangled name contains a match");
  add("launch-skip", po::value<std::string>()->value_name("N"), "skip the first N of these launches");
  add("launch-count", po::value<std::string>()->value_name("N"), "analyse only N of these launches");
  add("max-steps", po::value<std::string>()->value_name("N"), "stop a launch after N warp instructions");
  add_limit_options(options);
  add("strict", "treat accesses past the end of an allocation as faults; by default, those that a GPU lets pass only "
                "cause a warning");
  add("help,h", "show this help");
  return options;
}

/// Our options, and the program with its arguments: what follows "--", or the first word that is not an option.
struct ProgramLine {
  Strings options, program;
};
ProgramLine split(const Strings& arguments) {
  ProgramLine line;
  auto at = arguments.begin();
  for (; at != arguments.end() && at->starts_with("-"); ++at) {
    if (*at == "--") {
      ++at;
      break;
    }
    line.options.push_back(*at);
    const bool has_value =
        at->find('=') == at->npos && *at != "--analyze" && *at != "--strict" && *at != "--help" && *at != "-h";
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

/// Passes the options to the libraries. Checks the device here: later, the program would only see an error code.
void set_environment(const po::variables_map& values) {
  for (const char* name :
       {environment::kAnalyze, environment::kJson, environment::kKernelName, environment::kLaunchSkip,
        environment::kLaunchCount, environment::kTimeLimit, environment::kMaxMemory, environment::kMaxSteps})
    unsetenv(name);
  if (values.count("device") != 0) {
    const std::string device = values["device"].as<std::string>();
    if (const Expected<model::Device> known = api::load_device(device); !known) {
      print(known.error());
      throw UsageError{fmt::format("--device {}: no such device", device), "warplens list devices"};
    }
    set(environment::kDevice, fs::exists(device) ? fs::absolute(device).string() : device);
  }
  if (values.count("analyze") != 0) set(environment::kAnalyze, "1");
  if (values.count("strict") != 0) set(environment::kStrict, "1");
  if (values.count("json") != 0) {
    const fs::path file = fs::absolute(values["json"].as<std::string>());
    const bool is_stream = file == "/dev/stdout" || file == "/dev/stderr" || fs::is_fifo(fs::status(file));
    if (!is_stream) check_writable(file.string());
    set(environment::kJson, file.string());
  }
  if (values.count("kernel-name") != 0) {
    check_expression(values["kernel-name"].as<std::string>());
    set(environment::kKernelName, values["kernel-name"].as<std::string>());
  }
  set_number(values, "launch-skip", environment::kLaunchSkip);
  set_number(values, "launch-count", environment::kLaunchCount);
  pass_limits(values);
  set(environment::kProcess, std::to_string(getpid()));
}

void prepend(const char* variable, const std::string& value) {
  const char* const old = std::getenv(variable);
  set(variable, old == nullptr || *old == '\0' ? value : value + ":" + old);
}

/// Makes the dynamic linker load our libraries before all others. A separate library replaces the static runtime, which
/// nvcc links by default, and makes NVRTC return PTX: see runtime/static_runtime.
void put_libraries_first(const fs::path& folder) {
  prepend("LD_LIBRARY_PATH", folder.string());
  const fs::path replaces_static = folder / "libwarplens_static.so";
  if (fs::exists(replaces_static)) prepend("LD_PRELOAD", replaces_static.string());
}

/// Finds a program as the shell does. UsageError: there is no such file, or it is not executable.
fs::path find_program(const std::string& name) {
  const bool has_folder = name.find('/') != name.npos;
  std::istringstream path(has_folder ? "" : std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin:/bin");
  fs::path found = has_folder ? fs::path(name) : fs::path{};
  for (std::string folder; !has_folder && std::getline(path, folder, ':');)
    if (access((fs::path(folder) / name).c_str(), X_OK) == 0 && !fs::is_directory(fs::path(folder) / name)) {
      found = fs::path(folder) / name;
      break;
    }
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

/// Replaces this process by the program.
[[noreturn]] void start(Strings program) {
  const fs::path file = find_program(program.front());
  refuse_static(file);
  execv(file.c_str(), pointers(program).data());
  cannot_start(file.string());
}

/// The same for an open file. `program`: the source that it was compiled from, an optional "--", the arguments.
[[noreturn]] void start_file(int file, Strings program) {
  const std::string source = program.front();
  program.front() = fs::path(source).stem().string();
  if (program.size() > 1 && program[1] == "--") program.erase(program.begin() + 1);
  fexecve(file, pointers(program).data(), environ);
  cannot_start(source);
}

model::Device device_of_environment() {
  const char* const name = std::getenv(environment::kDevice);
  const Expected<model::Device> device = api::load_device(name == nullptr ? "h200" : name);
  if (!device) throw UsageError{device.error().list().front().message, ""};
  return *device;
}

} // namespace

int execute(const Strings& arguments) {
  ProgramLine line = split(arguments);
  const po::options_description visible = exec_options();
  po::variables_map values;
  po::store(po::command_line_parser(line.options)
                .options(visible)
                .style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing)
                .run(),
            values);
  if (values.count("help") != 0) return show_help(kExecHelp, visible, kExecExamples);
  if (line.program.empty()) throw UsageError{"no program", "warplens exec [OPTION…] -- PROGRAM [ARGUMENT…]"};
  set_environment(values);
  const std::optional<fs::path> found = library_folder();
  if (!found)
    throw UsageError{fmt::format("Warplens's libcuda.so.1 is neither in {} nor in {}", library_folders()[0].string(),
                                 library_folders()[1].string()),
                     "build everything: ./dev build; or install Warplens again"};
  const fs::path& libraries = *found;
  if (!line.program.front().ends_with(".cu")) {
    put_libraries_first(libraries);
    start(std::move(line.program));
  }
  const int program = value_or_throw(compile_program(line.program.front(), device_of_environment().capability));
  put_libraries_first(libraries); // only now: the compiler does not need them
  start_file(program, std::move(line.program));
}

} // namespace warplens::tools
