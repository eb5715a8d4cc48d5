// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/report.hpp"

#include "api/files/output_file.hpp"
#include "api/report/json_report.hpp"
#include "api/report/report_text.hpp"
#include "api/session/environment.hpp"
#include "api/session/kernel_name.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

namespace warplens::runtime {

namespace {

namespace environment = api::environment;

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const std::optional<std::string> value = variable(name);
  return value ? std::strtoull(value->c_str(), nullptr, 10) : otherwise;
}

/// Selects the launches to analyze. `warplens exec` has validated the variables.
class Selection {
public:
  Selection() {
    if (const auto name = variable(environment::kKernelName))
      if (Expected<api::NamePattern> pattern = api::NamePattern::create(*name)) name_ = std::move(*pattern);
  }
  /// Counts the launches with a matching name, and returns whether to analyze this one.
  bool takes(const std::string& name) {
    if (name_ && !name_->matches(name)) return false;
    const std::uint64_t i = seen_++;
    return i >= skip_ && i - skip_ < count_;
  }

private:
  std::optional<api::NamePattern> name_;
  std::uint64_t skip_ = number(environment::kLaunchSkip, 0);
  std::uint64_t count_ = number(environment::kLaunchCount, std::numeric_limits<std::uint64_t>::max());
  std::uint64_t seen_ = 0;
};

class Reporter : public Observer {
public:
  explicit Reporter(const model::Device& device) : device_(device) {}

  bool selects(std::string_view kernel) override {
    const std::lock_guard lock(mutex_);
    return selection_.takes(std::string(kernel));
  }

  void finished(const api::LaunchReport& report) override {
    const std::lock_guard lock(mutex_);
    reports_.push_back(report);
    if (report.trap) write();
  }

  /// A child of fork() does not report its parent's launches.
  void at_exit() {
    if (getpid() != process_) return;
    // Programs can exit without waiting for their kernels.
    try {
      if (const std::shared_ptr<Context> context = Machine::instance().primary()) context->synchronize();
    } catch (const Failure&) { // a stream is still being captured
    }
    const std::lock_guard lock(mutex_);
    write();
  }

  void write_now() {
    const std::lock_guard lock(mutex_);
    write();
  }

private:
  void write() {
    if (variable(environment::kAnalyze)) write_text();
    if (const auto file = variable(environment::kJson)) write_json(*file);
  }

  /// The reports that are not written yet.
  void write_text() {
    const api::Style style = isatty(STDERR_FILENO) == 1 && !variable("NO_COLOR") ? api::kColours : api::Style{};
    for (; written_ < reports_.size(); ++written_)
      if (!reports_[written_].trap) // reported when it happened
        std::fprintf(stderr, "%s\n", api::printable(api::text_report(reports_[written_], style), style).c_str());
  }

  /// Writes all reports again. A reader finds the old file or the new one, never a partial one. Only a regular file is
  /// replaced: pipes and standard streams are written directly.
  void write_json(std::string file) const {
    const bool is_first = variable(environment::kProcess) == std::to_string(process_);
    if (!is_first && reports_.empty()) return;
    if (!is_first) file += fmt::format(".{}", process_);
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status there = fs::status(file, error);
    const bool replaces = !fs::exists(there) || fs::is_regular_file(there);
    if (!replaces && !fs::is_fifo(there) && file != "/dev/stdout" && file != "/dev/stderr")
      return tell(fmt::format("'{}' is not a regular file: the report is not written to it", file));
    const std::string text = api::json_report(device_, reports_);
    if (replaces) {
      if (const Expected<void> written = api::write_whole(file, text); !written)
        tell(written.error().list().front().message);
      return;
    }
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out << text << std::flush;
    if (!out) tell(fmt::format("cannot write '{}'", file));
  }

  const pid_t process_ = getpid();
  const model::Device& device_;
  std::mutex mutex_;
  Selection selection_;
  std::vector<api::LaunchReport> reports_;
  std::size_t written_ = 0; ///< number of reports written as text
};

} // namespace

namespace {

/// Never destroyed: it is used until the process ends.
std::shared_ptr<Reporter>& reporter() {
  static std::shared_ptr<Reporter>& instance = *new std::shared_ptr<Reporter>;
  return instance;
}

} // namespace

std::shared_ptr<Observer> observer_from_environment(const model::Device& device) {
  if (!variable(environment::kAnalyze) && !variable(environment::kJson)) return nullptr;
  reporter() = std::make_shared<Reporter>(device);
  std::atexit([] { reporter()->at_exit(); });
  return reporter();
}

void write_reports() {
  if (reporter() != nullptr) reporter()->write_now();
}

} // namespace warplens::runtime
