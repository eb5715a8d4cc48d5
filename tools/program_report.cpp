// SPDX-License-Identifier: Apache-2.0
#include "tools/program_report.hpp"

#include "api/files/input_file.hpp"
#include "api/report/report_files.hpp"
#include "api/sweep/json_compare.hpp"
#include "tools/child.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace warplens::tools {

namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

/// A folder for the report, removed at the end.
class ReportFolder {
public:
  ReportFolder() : path_((fs::temp_directory_path() / "warplens-report-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) error_ = std::strerror(errno);
  }
  ~ReportFolder() {
    std::error_code ignored;
    if (error_.empty()) fs::remove_all(path_, ignored);
  }
  ReportFolder(const ReportFolder&) = delete;
  ReportFolder& operator=(const ReportFolder&) = delete;
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file() const { return (fs::path(path_) / "report.json").string(); }

private:
  std::string path_, error_;
};

/// Why a program failed: its last line that names an error, or else its last line.
std::string reason(const std::string& output) {
  std::istringstream lines(output);
  std::string last, error;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
    if (line.starts_with("error: ")) error = line.substr(line.find(' ') + 1);
  }
  return error.empty() ? last : error;
}

} // namespace

Expected<api::ReportFile> report_of_program(const Strings& options, const Strings& program) {
  const ReportFolder folder;
  if (!folder.error().empty()) return failure(fmt::format("cannot create '{}': {}", folder.path(), folder.error()));
  Strings command = {fs::read_symlink("/proc/self/exe").string(), "exec", "--json", folder.file(),
                     fmt::format("--{}", api::kFoldOption)};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());
  const ChildResult result = run_child(command);
  if (result.status != 0) {
    const std::string why = reason(result.output);
    return failure(fmt::format("exit status {}{}{}", result.status, why.empty() ? "" : ": ", why));
  }
  const Expected<std::string> text = api::read_file(folder.file());
  if (!text) return failure("the program launched no kernel");
  return api::read_report(*text, fmt::format("{}", fmt::join(program, " ")));
}

} // namespace warplens::tools
