// SPDX-License-Identifier: Apache-2.0
#include "tools/compiler.hpp"

#include "api/files/input_file.hpp"
#include "tools/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>

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

std::string text_of(const fs::path& file) { return api::read_file(file).value_or(""); }

/// Runs a program; `log` receives its output. True: its exit status is 0.
bool succeeds(const Strings& command, const fs::path& log) {
  const pid_t child = fork();
  if (child == 0) {
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Searches PATH and the folders where CUDA is usually installed.
std::optional<fs::path> find_compiler(const std::string& name) {
  Strings folders;
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable)) folders.push_back(std::string(home) + "/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const std::string& folder : folders)
    if (const fs::path file = fs::path(folder) / name; access(file.c_str(), X_OK) == 0) return file;
  return std::nullopt;
}

/// The architecture to use for a device. `list`: the architectures that the compiler supports, "sm_75" or "compute_75"
/// on each line.
unsigned choose_architecture(const std::string& list, model::ComputeCapability device) {
  const auto wanted = static_cast<unsigned>(device.major * 10 + device.minor);
  unsigned best = 0, oldest = 0;
  const std::regex pattern(R"((?:sm|compute)_(\d+)\b)");
  for (std::sregex_iterator at(list.begin(), list.end(), pattern), end; at != end; ++at) {
    const auto known = static_cast<unsigned>(std::stoul((*at)[1]));
    if (known <= wanted) best = std::max(best, known);
    oldest = oldest == 0 ? known : std::min(oldest, known);
  }
  return best != 0 ? best : oldest;
}

/// Runs a compiler. Error: its output.
Expected<std::string> compile(const fs::path& compiler, const Strings& listing, const fs::path& source,
                              model::ComputeCapability device, const fs::path& folder,
                              const std::function<Strings(unsigned)>& options) {
  const fs::path log = folder / "log";
  Strings ask{compiler.string()};
  ask.insert(ask.end(), listing.begin(), listing.end());
  succeeds(ask, log);
  Strings command{compiler.string()};
  for (const std::string& option : options(choose_architecture(text_of(log), device))) command.push_back(option);
  command.push_back(source.string());
  if (succeeds(command, log)) return text_of(log);
  return failure(fmt::format("cannot compile '{}': {}", source.string(), text_of(log)),
                 fmt::format("command: {}", fmt::join(command, " ")));
}

const Strings kNvccListing{"--list-gpu-arch"};

} // namespace

Expected<std::string> compile_to_ptx(const fs::path& source, model::ComputeCapability device) {
  if (!fs::is_regular_file(source)) return failure(fmt::format("cannot read '{}'", source.string()));
  const TemporaryFolder folder;
  const std::string ptx = (folder.path() / "out.ptx").string();
  Expected<std::string> done;
  if (const std::optional<fs::path> nvcc = find_compiler("nvcc"))
    done = compile(*nvcc, kNvccListing, source, device, folder.path(), [&](unsigned architecture) {
      return Strings{"-ptx", "-lineinfo", fmt::format("-arch=compute_{}", architecture), "-o", ptx};
    });
  else if (const std::optional<fs::path> clang = find_compiler("clang++"))
    done = compile(*clang, {"--target=nvptx64-nvidia-cuda", "--print-supported-cpus"}, source, device, folder.path(),
                   [&](unsigned architecture) {
                     return Strings{"-x",
                                    "cuda",
                                    "-O3",
                                    "-gline-tables-only",
                                    "-S",
                                    "--cuda-device-only",
                                    fmt::format("--cuda-gpu-arch=sm_{}", architecture),
                                    "-o",
                                    ptx};
                   });
  else
    return failure(fmt::format("'{}' is CUDA source, but neither nvcc nor clang++ is installed", source.string()),
                   "compile it on a machine with nvcc: nvcc -ptx -lineinfo");
  if (!done) return done;
  return text_of(ptx);
}

Expected<int> compile_program(const fs::path& source, model::ComputeCapability device) {
  if (!fs::is_regular_file(source)) return failure(fmt::format("cannot read '{}'", source.string()));
  const std::optional<fs::path> nvcc = find_compiler("nvcc");
  if (!nvcc)
    return failure(fmt::format("'{}' is CUDA source, but nvcc is not installed", source.string()),
                   "compile it on a machine with nvcc: nvcc -cudart shared -gencode arch=compute_90,code=compute_90");
  const TemporaryFolder folder;
  const std::string program = (folder.path() / "program").string();
  const Expected<std::string> done =
      compile(*nvcc, kNvccListing, source, device, folder.path(), [&](unsigned architecture) {
        return Strings{"-cudart",
                       "shared",
                       "-lineinfo",
                       "-gencode",
                       fmt::format("arch=compute_{0},code=compute_{0}", architecture),
                       "-o",
                       program};
      });
  if (!done) return failure(done.error());
  return open(program.c_str(), O_RDONLY | O_CLOEXEC);
}

} // namespace warplens::tools
