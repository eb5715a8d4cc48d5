// SPDX-License-Identifier: Apache-2.0
#include "tools/checks.hpp"

#include "api/files/entry_folder.hpp"
#include "api/launch/compiled.hpp"
#include "api/launch/launch.hpp"
#include "api/session/environment.hpp"
#include "api/session/session.hpp"
#include "tools/child.hpp"
#include "tools/compiler.hpp"
#include "tools/demo.hpp"
#include "tools/library_folder.hpp"
#include "tools/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;
namespace environment = api::environment;
using State = Check::State;

Check processor() {
  std::vector<std::string_view> names;
  for (const exec::Level& level : exec::levels()) names.push_back(level.name);
  return {"processor level", State::ok,
          fmt::format("{} in use; compiled in and supported here: {}", names.front(), fmt::join(names, ", "))};
}

Check processors() {
  const std::optional<double> quota = processor_quota();
  return {"processors", State::ok,
          fmt::format("{} usable{}", usable_processors(),
                      quota ? fmt::format(", with the time of {:.3g} (control group)", *quota) : "")};
}

Check memory() {
  const MemoryLimit limit = memory_limits().front();
  return {"memory limit", State::ok, fmt::format("{}, of the {}", size_text(limit.bytes), limit.of),
          "to stop runs before: --max-memory SIZE"};
}

Check emulation() {
  const Expected<api::PlanReport> report = run_sample("");
  if (!report)
    return {"emulation", State::broken, report.error().list().front().message, "give the process more memory"};
  if (!sample_is_right(*report))
    return {"emulation", State::broken, "the sample kernel computes wrong results", "report it: warplens demo"};
  return {"emulation", State::ok, "the sample kernel computes what it should"};
}

/// What `TOOL --version` prints.
std::string version_text(const fs::path& tool) { return run_child({tool.string(), "--version"}).output; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The first number with a point, such as "13.0", or the first line.
std::string version_number(const std::string& text) {
  constexpr const char* kDigits = "0123456789";
  std::size_t end = 0;
  for (std::size_t at = 0; (at = text.find_first_of(kDigits, end)) != std::string::npos;) {
    end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    const std::size_t length = text.find_last_of(kDigits, end - 1) + 1 - at;
    if (std::string number = text.substr(at, length); number.find('.') != std::string::npos) return number;
  }
  return first_line(text);
}

Check cuda_tool(const std::string& name, const std::string& hint) {
  const std::optional<fs::path> tool = find_cuda_tool(name);
  if (!tool) return {name, State::missing, "not found in PATH, CUDA_HOME, CUDA_PATH and /usr/local/cuda", hint};
  return {name, State::ok, fmt::format("{}, version {}", tool->string(), version_number(version_text(*tool)))};
}

Check gnuplot() {
  const std::optional<fs::path> tool = find_cuda_tool("gnuplot");
  if (!tool)
    return {"gnuplot", State::missing, "not found in PATH", "for --plot; on Debian: apt-get install gnuplot-nox"};
  return {"gnuplot", State::ok, fmt::format("{}, {}", tool->string(), first_line(version_text(*tool)))};
}

/// Loads a library in another process, as `warplens exec` makes a program do. Empty: it loads; otherwise the error.
std::string why_not_loaded(const fs::path& folder, const fs::path& library) {
  const ChildResult child = run_in_child([&] {
    // The libraries need libcuda.so.1; `warplens exec` sets LD_LIBRARY_PATH so that they find it.
    const bool loads = dlopen((folder / "libcuda.so.1").c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr &&
                       dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
    if (loads) return 0;
    const std::string error = dlerror();
    (void)!::write(STDOUT_FILENO, error.data(), error.size());
    return 1;
  });
  if (child.status == 0) return "";
  return child.output.empty() ? "the process that loads it crashes" : child.output;
}

std::vector<Check> libraries() {
  const std::string build = "build everything: ./dev build";
  const std::optional<fs::path> folder = library_folder();
#ifdef WARPLENS_HAS_RUNTIME
  constexpr State kAbsent = State::broken;
#else
  constexpr State kAbsent = State::missing;
#endif
  if (!folder)
    return {{"libraries of exec", kAbsent,
             fmt::format("neither in {} nor in {}", library_folders()[0].string(), library_folders()[1].string()),
             build}};
  std::vector<Check> list{{"libraries of exec", State::ok, folder->string()}};
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(*folder, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().find(".so") != std::string::npos && !at->path().string().ends_with("libcuda.so"))
      files.push_back(at->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string error_text = why_not_loaded(*folder, file);
    list.push_back({"  " + file.filename().string(), error_text.empty() ? State::ok : State::broken,
                    error_text.empty() ? "loads" : error_text, error_text.empty() ? "" : build});
  }
  return list;
}

Check kernel_compiler() {
  const std::string file = api::compiler_library();
  if (!file.empty()) return {"compiler of kernels", State::ok, file, ""};
  return {"compiler of kernels", State::missing, "not installed: all kernels are interpreted",
          "install the package warplens-compiler, or build with -DWARPLENS_COMPILER=ON"};
}

Check cache() {
  const EntryFolder folder = EntryFolder::of_environment();
  const std::string hint = fmt::format("set {} to a folder that you can write", EntryFolder::kVariable);
  if (folder.path().empty())
    return {"compile cache", State::missing, "off: each run of a .cu file calls the compiler",
            std::getenv(EntryFolder::kVariable) != nullptr ? fmt::format("unset {}", EntryFolder::kVariable) : hint};
  if (const std::string problem = folder.problem(); !problem.empty())
    return {"compile cache", State::missing, problem, hint};
  const EntryFolder::Use use = folder.use();
  return {"compile cache", State::ok,
          fmt::format("{}, writable, {} entries, {} of at most {}", folder.path().string(), use.entries,
                      size_text(use.bytes), size_text(EntryFolder::kMaxBytes))};
}

/// Wrong values that a program under `warplens exec` would only report as an error code.
Check checked(Check variable, std::string_view value) {
  if (!variable.name.ends_with(environment::kDevice) || api::load_device(std::string(value))) return variable;
  variable.state = State::broken;
  variable.hint = "there is no such device: warplens list devices";
  return variable;
}

std::vector<Check> variables() {
  std::vector<Check> list;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view text = *at;
    if (!text.starts_with("WARPLENS_")) continue;
    const std::string_view name = text.substr(0, text.find('='));
    const std::string_view value = text.substr(std::min(text.size(), name.size() + 1));
    const auto* const known = std::find_if(std::begin(environment::kVariables), std::end(environment::kVariables),
                                           [&](const environment::Variable& v) { return v.name == name; });
    if (known == std::end(environment::kVariables))
      list.push_back({std::string(name), State::missing, std::string(value), "Warplens does not know this variable"});
    else
      list.push_back(checked({std::string(name), State::ok, fmt::format("{} ({})", value, known->meaning)}, value));
  }
  std::sort(list.begin(), list.end(), [](const Check& a, const Check& b) { return a.name < b.name; });
  return list;
}

} // namespace

std::string_view to_string(State state) {
  switch (state) {
  case State::ok: return "ok";
  case State::missing: return "missing";
  case State::broken: return "broken";
  }
  return {};
}

std::vector<Check> checks() {
  std::vector<Check> list{{"version", State::ok, std::string(api::version())}, processor(), processors(), memory()};
  // Other processes first: the emulation starts threads, and a copy of a process has only one.
  std::vector<Check> libs = libraries();
  Check nvcc = cuda_tool("nvcc", "compile .cu files elsewhere: nvcc -ptx -lineinfo; clang++ can compile kernels, too");
  Check ptxas = cuda_tool("ptxas", "reports then estimate registers; give the real number with --registers");
  Check plots = gnuplot();
  list.push_back(emulation());
  list.push_back(std::move(nvcc));
  list.push_back(std::move(ptxas));
  list.push_back(std::move(plots));
  list.push_back(kernel_compiler());
  list.push_back(cache());
  list.insert(list.end(), libs.begin(), libs.end());
  for (Check& variable : variables()) list.push_back(std::move(variable));
  return list;
}

} // namespace warplens::tools
