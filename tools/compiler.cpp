// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler.hpp"

#include "api/files/input_file.hpp"
#include "api/files/output_file.hpp"
#include "tools/child.hpp"
#include "tools/compile_cache.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <optional>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

/// A folder that is removed with the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "warplens-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw UsageError{fmt::format("cannot create {}", name), ""};
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

private:
  fs::path path_;
};

/// The architecture to use for a device. `list`: the architectures that the compiler supports, "sm_75" or "compute_75"
/// on each line.
unsigned choose_architecture(const std::string& list, model::ComputeCapability device) {
  const auto wanted = static_cast<unsigned>(device.major * 10 + device.minor);
  unsigned best = 0, oldest = 0;
  const char* const end = list.data() + list.size();
  for (std::size_t at = list.find('_'); at != std::string::npos; at = list.find('_', at + 1)) {
    unsigned known = 0;
    const auto [next, error] = std::from_chars(list.data() + at + 1, end, known);
    const bool has_suffix = next != end && std::isalpha(static_cast<unsigned char>(*next)) != 0; // "sm_90a"
    if (error != std::errc() || has_suffix) continue;
    if (known <= wanted) best = std::max(best, known);
    oldest = oldest == 0 ? known : std::min(oldest, known);
  }
  return best != 0 ? best : oldest;
}

/// How a compiler makes something of a source file.
struct Job {
  fs::path compiler;
  Strings listing; ///< options that list the architectures
  fs::path source;
  model::ComputeCapability device;
  std::function<Strings(unsigned architecture)> options;
};

/// What a compilation reads, other than files. With options from a file, what it reads is not known: empty.
std::optional<std::string> settings() {
  std::string text;
  for (const char* variable : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "C_INCLUDE_PATH",
                               "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"}) {
    const char* const value = std::getenv(variable);
    const std::string_view flags = value == nullptr ? "" : value;
    if (flags.find("options-file") != flags.npos || flags.find("-optf") != flags.npos) return std::nullopt;
    text += fmt::format("{}={}\n", variable, flags);
  }
  return text;
}

/// Size and time of change of a file, with its name behind all links.
std::string identity(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  const std::uintmax_t size = error ? 0 : fs::file_size(real, error);
  const auto changed = error ? fs::file_time_type{} : fs::last_write_time(real, error);
  return fmt::format("{} {} {}\n", real.string(), size, changed.time_since_epoch().count());
}

/// The name of the result in the cache. The architecture follows from the compiler and the device.
std::optional<std::string> key_of(const Job& job) {
  const std::optional<std::string> set = settings();
  const Expected<std::string> source = api::read_file(job.source);
  std::error_code error;
  const fs::path here = fs::current_path(error); // names in the result can be relative to it
  if (!set || !source || error) return std::nullopt;
  return content_hash(fmt::format("{}{}{}\n{}\n{}.{}\n{}\n{}\n{}", identity(job.compiler),
                                  identity(job.compiler.parent_path() / "nvcc.profile"),
                                  fmt::join(job.options(0), "\n"), *set, job.device.major, job.device.minor,
                                  here.string(), job.source.string(), *source));
}

/// Runs a compiler; `files` receives what it read. Error: its output.
Expected<std::string> compile(const Job& job, std::vector<fs::path>& files) {
  const TemporaryFolder folder;
  const fs::path result = folder.path() / "result", read = folder.path() / "files";
  Strings ask{job.compiler.string()};
  ask.insert(ask.end(), job.listing.begin(), job.listing.end());
  const std::string known = run_child(ask).output;
  Strings command{job.compiler.string()};
  for (const std::string& option : job.options(choose_architecture(known, job.device))) command.push_back(option);
  command.push_back(job.source.string());
  Strings with_outputs = command;
  for (const std::string& word :
       {std::string("-o"), result.string(), std::string("-MD"), std::string("-MF"), read.string()})
    with_outputs.insert(with_outputs.end() - 1, word);
  if (const ChildResult ran = run_child(with_outputs); ran.status != 0)
    return failure(fmt::format("cannot compile '{}': {}", job.source.string(), ran.output),
                   fmt::format("command: {}", fmt::join(command, " ")));
  files = dependencies_in(api::read_file(read).value_or(""));
  return api::read_file(result);
}

/// The same, or the result of an earlier compilation that read the same.
Expected<std::string> compile_once(const Job& job) {
  const EntryFolder folder = EntryFolder::of_environment();
  const CompileCache cache(folder);
  if (const char* const given = std::getenv(EntryFolder::kVariable);
      given != nullptr && *given != '\0' && !folder.path().empty() && !folder.problem().empty()) {
    Diagnostics warning;
    warning.warning(
        {}, fmt::format("{}: {}: the result of the compiler is not kept", EntryFolder::kVariable, folder.problem()));
    print(warning);
  }
  const std::optional<std::string> key = folder.path().empty() ? std::nullopt : key_of(job);
  if (key)
    if (std::optional<std::string> kept = cache.find(*key)) return std::move(*kept);
  const auto started = fs::file_time_type::clock::now();
  std::vector<fs::path> files;
  Expected<std::string> result = compile(job, files);
  // A compiler that lists other files than the source has not understood the options.
  const bool lists_source = std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    std::error_code error;
    return fs::equivalent(file, job.source, error);
  });
  if (result && key && lists_source) cache.store(*key, *result, files, started);
  return result;
}

const Strings kNvccListing{"--list-gpu-arch"};

} // namespace

std::optional<fs::path> find_cuda_tool(const std::string& name) {
  Strings folders = path_folders();
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable)) folders.push_back(std::string(home) + "/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  return find_executable(name, folders);
}

Expected<std::string> compile_to_ptx(const fs::path& source, model::ComputeCapability device) {
  if (!fs::is_regular_file(source))
    return failure(fmt::format("cannot read '{}': {}", source.string(), why_unreadable(source)));
  if (const std::optional<fs::path> nvcc = find_cuda_tool("nvcc"))
    return compile_once({*nvcc, kNvccListing, source, device, [](unsigned architecture) {
                           return Strings{"-ptx", "-lineinfo", fmt::format("-arch=compute_{}", architecture)};
                         }});
  if (const std::optional<fs::path> clang = find_cuda_tool("clang++"))
    return compile_once(
        {*clang, {"--target=nvptx64-nvidia-cuda", "--print-supported-cpus"}, source, device, [](unsigned architecture) {
           return Strings{"-x",
                          "cuda",
                          "-O3",
                          "-gline-tables-only",
                          "-S",
                          "--cuda-device-only",
                          fmt::format("--cuda-gpu-arch=sm_{}", architecture)};
         }});
  return failure(fmt::format("'{}' is CUDA source, but neither nvcc nor clang++ is installed", source.string()),
                 "compile it on a machine with nvcc: nvcc -ptx -lineinfo");
}

Expected<int> compile_program(const fs::path& source, model::ComputeCapability device) {
  if (!fs::is_regular_file(source))
    return failure(fmt::format("cannot read '{}': {}", source.string(), why_unreadable(source)));
  const std::optional<fs::path> nvcc = find_cuda_tool("nvcc");
  if (!nvcc)
    return failure(fmt::format("'{}' is CUDA source, but nvcc is not installed", source.string()),
                   "compile it on a machine with nvcc: nvcc -cudart shared -gencode arch=compute_90,code=compute_90");
  const Expected<std::string> made =
      compile_once({*nvcc, kNvccListing, source, device, [](unsigned architecture) {
                      return Strings{"-cudart", "shared", "-lineinfo", "-gencode",
                                     fmt::format("arch=compute_{0},code=compute_{0}", architecture)};
                    }});
  if (!made) return failure(made.error());
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "program";
  if (const Expected<void> written = api::write_whole(program, *made); !written) return failure(written.error());
  fs::permissions(program, fs::perms::owner_all);
  return open(program.c_str(), O_RDONLY | O_CLOEXEC);
}

} // namespace warplens::tools
