// SPDX-License-Identifier: Apache-2.0
#include "runtime/driver/machine/report.hpp"

#include "api/files/output_file.hpp"
#include "api/html/page.hpp"
#include "api/launch/compiled.hpp"
#include "api/launch/report_archive.hpp"
#include "api/report/json_report.hpp"
#include "api/report/report_files.hpp"
#include "api/report/terminal.hpp"
#include "api/session/environment.hpp"
#include "api/session/kernel_name.hpp"
#include "runtime/driver/machine/analysis_processes.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/operation_log.hpp"
#include "runtime/driver/machine/recorder.hpp"
#include "runtime/driver/machine/serve.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

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
    matched_ = true;
    const std::uint64_t i = seen_++;
    return i >= skip_ && i - skip_ < count_;
  }

  [[nodiscard]] bool matched() const { return matched_; } ///< some name

private:
  std::optional<api::NamePattern> name_;
  std::uint64_t skip_ = number(environment::kLaunchSkip, 0);
  std::uint64_t count_ = number(environment::kLaunchCount, std::numeric_limits<std::uint64_t>::max());
  std::uint64_t seen_ = 0;
  bool matched_ = false;
};

/// The options of `warplens exec`, which has validated them.
struct ReporterSettings {
  bool text = variable(environment::kAnalyze).has_value();
  api::TextOptions of_text = text_settings();
  api::ReportFiles files;
  std::vector<api::Condition> conditions;
  api::LaunchOptions counts;

  ReporterSettings() {
    for (const api::ReportFileOption& o : api::report_file_options()) files.*o.file = variable(o.variable).value_or("");
    files.fold = variable(environment::kJsonFold).has_value();
    for (const std::string& line : lines_of(environment::kFailOn))
      if (Expected<api::Condition> condition = api::Condition::parse(line)) conditions.push_back(std::move(*condition));
    if (Expected<rules::RuleSet> rules = api::load_rules(lines_of(environment::kRules)))
      counts.rules = std::move(*rules);
    std::istringstream names(variable(environment::kAnalyzers).value_or(""));
    for (std::string name; std::getline(names, name, ',');) counts.analyzers.push_back(name);
    if (const auto level = api::parse_first_level(variable(environment::kFirstLevel).value_or("")))
      counts.first_level = *level;
    if (const auto sampling = api::parse_sampling(variable(environment::kSample).value_or("exact")))
      counts.sampling = *sampling;
    counts.per_block = variable(environment::kPerBlock).has_value();
    if (variable(environment::kRegisters))
      counts.registers = static_cast<std::uint32_t>(number(environment::kRegisters, 0));
  }
  [[nodiscard]] bool any() const {
    const auto all = api::report_file_options();
    return text || !conditions.empty() || variable(environment::kHtml) || traces() ||
           std::any_of(all.begin(), all.end(), [&](const auto& o) { return !(files.*o.file).empty(); });
  }

private:
  static std::vector<std::string> lines_of(const char* name) {
    std::vector<std::string> list;
    std::istringstream lines(variable(name).value_or(""));
    for (std::string line; std::getline(lines, line);) list.push_back(line);
    return list;
  }
  static api::TextOptions text_settings() {
    api::TextOptions options = api::text_options_for(STDERR_FILENO);
    const std::string asked = variable(environment::kDetails).value_or("");
    if (!asked.empty())
      if (const Expected<api::Sections> sections = api::parse_sections({&asked, 1})) options.details = *sections;
    options.shown = variable(environment::kShow).value_or("");
    options.counters = variable(environment::kCounters).has_value();
    return options;
  }
};

class Reporter : public Observer {
public:
  Reporter(const model::Device& device, ReporterSettings settings) : device_(device), settings_(std::move(settings)) {}

  bool selects(std::string_view kernel) override {
    const std::lock_guard lock(mutex_);
    names_.insert(std::string(kernel));
    return selection_.takes(std::string(kernel));
  }
  [[nodiscard]] const api::LaunchOptions& counts() const override { return settings_.counts; }

  void finished(const api::LaunchReport& report, std::uint64_t copy) override {
    const std::lock_guard lock(mutex_);
    if (copy != 0) elsewhere_.emplace_back(reports_.size(), copy);
    reports_.push_back(report);
    if (report.trap && !is_over_) write();
  }

  /// A child of fork() does not report its parent's launches.
  void at_exit() {
    if (getpid() != process_) return;
    Machine::instance().finish_work(); // programs can exit without waiting for their kernels
    write_now();
  }

  void write_now() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_over_, true)) return; // a signal may come while the program exits
    tell_unmatched();
    write();
    close_trace();
  }

private:
  /// In the order in which the program submitted the launches; those that were not logged come last.
  static std::size_t place_of(const api::LaunchReport& report) {
    return report.operation.value_or(std::numeric_limits<std::size_t>::max());
  }

  void write() {
    collect();
    if (incomplete_) return;
    // Streams run at the same time: reports come in the order in which the launches ended.
    std::stable_sort(reports_.begin() + static_cast<std::ptrdiff_t>(written_), reports_.end(),
                     [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
    if (settings_.text) write_text();
    for (const api::ReportFileOption& o : api::report_file_options())
      if (const std::string& file = settings_.files.*o.file; !file.empty())
        write_file(file, [&](const model::Device& device, std::span<const api::LaunchReport> launches) {
          return api::report_text_of(o, settings_.files, device, launches, settings_.conditions, operations());
        });
    if (const auto file = variable(environment::kHtml)) write_file(*file, page_of);
    sent_ = reports_.size();
    tell_conditions();
  }

  /// Waits for the reports of launches that copies of this process analyse.
  void collect() {
    std::vector<std::size_t> missing;
    for (const auto& [index, copy] : std::exchange(elsewhere_, {})) {
      const AnalysisProcesses::Result result = analysis_processes()->result_of(copy);
      api::LaunchReport& report = reports_[index];
      const api::LaunchReport own = report;
      const bool fine = result.failure.empty() && api::unpack(result.report, report);
      report.stream = own.stream;
      report.operation = own.operation;
      if (fine) continue;
      missing.push_back(index);
      if (result.out_of_time) continue;
      tell(fmt::format("--analyze-processes: launch {} ('{}') was not analysed, and there is no report: {}", index + 1,
                       api::source_name(own.kernel),
                       result.failure.empty() ? "its result is damaged" : result.failure));
      incomplete_ = true;
    }
    if (incomplete_) return judge(environment::kAnalysisVerdict, "incomplete");
    if (missing.empty()) return;
    tell(fmt::format("--analyze-processes: {} launches of the program were not analysed before the time limit",
                     missing.size()));
    judge(environment::kAnalysisVerdict, "late");
    for (auto index = missing.rbegin(); index != missing.rend(); ++index)
      reports_.erase(reports_.begin() + static_cast<std::ptrdiff_t>(*index));
  }

  /// `warplens exec` reads the file that the variable names when the program has ended.
  void judge(const char* name, const std::string& text) const {
    const auto verdict = variable(name);
    if (!verdict) return;
    std::ofstream out(*verdict, std::ios::binary | std::ios::app);
    out << text << "\n" << std::flush;
    if (!out) tell(fmt::format("cannot write '{}'", *verdict));
  }

  /// The reports that are not written yet.
  void write_text() {
    const api::Style style = api::style_for(STDERR_FILENO);
    const std::span<const api::LaunchReport> fresh = std::span(reports_).subspan(written_);
    written_ = reports_.size();
    Expected<std::string> text = api::text_report(fresh, style, settings_.of_text);
    if (!text) {
      tell("--show: " + text.error().list().front().message);
      api::TextOptions others = settings_.of_text;
      others.shown.clear();
      text = api::text_report(fresh, style, others);
    }
    if (!text->empty()) std::fprintf(stderr, "%s\n", api::printable(*text, style).c_str());
  }

  static std::vector<api::ProgramOperation> operations() {
    return operation_log() != nullptr ? operation_log()->operations() : std::vector<api::ProgramOperation>();
  }

  static std::string page_of(const model::Device& device, std::span<const api::LaunchReport> launches) {
    const Expected<std::string> page = api::html_page(api::json_for_page(device, launches, operations()));
    if (!page) tell(page.error().list().front().message); // warplens exec has checked for the page
    return page.value_or("");
  }

  /// Writes all reports again. A reader finds the old file or the new one, never a partial one. Only a regular file is
  /// replaced: pipes and standard streams are written directly.
  template <class Format> void write_file(std::string file, Format&& format) const {
    const bool is_first = variable(environment::kProcess) == std::to_string(process_);
    if (!is_first && reports_.empty()) return;
    if (!is_first) file += fmt::format(".{}", process_);
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status there = fs::status(file, error);
    const bool replaces = !fs::exists(there) || fs::is_regular_file(there);
    if (!replaces && !fs::is_fifo(there) && file != "/dev/stdout" && file != "/dev/stderr")
      return tell(fmt::format("'{}' is not a regular file: the report is not written to it", file));
    const std::string text = format(device_, reports_);
    if (replaces) {
      if (const Expected<void> written = api::write_whole(file, text); !written)
        tell(written.error().list().front().message);
      return;
    }
    if (sent_ != 0 && sent_ == reports_.size()) return; // when a kernel failed
    std::ofstream out(file, std::ios::binary | std::ios::app);
    out << text << std::flush;
    if (!out) tell(fmt::format("cannot write '{}'", file));
  }

  void tell_conditions() {
    if (settings_.conditions.empty() || reports_.empty()) return;
    const std::vector<std::string> met = api::messages(api::met_conditions(settings_.conditions, reports_));
    for (const std::string& text : met) tell("--fail-on: " + text);
    for (const std::string& text : api::uncounted(settings_.conditions, reports_)) tell("--fail-on: " + text);
    for (const std::string& text : met) judge(environment::kVerdict, text);
  }

  /// --kernel-name that matches no kernel of the program.
  void tell_unmatched() const {
    const auto name = variable(environment::kKernelName);
    if (!name || names_.empty() || selection_.matched()) return;
    std::string list;
    constexpr std::size_t kMost = 10;
    std::size_t count = 0;
    for (const std::string& kernel : names_) {
      if (count++ == kMost) {
        list += ", …";
        break;
      }
      list += fmt::format("{}'{}'", list.empty() ? "" : ", ", api::source_name(kernel));
    }
    tell(fmt::format("--kernel-name: no kernel matches '{}'; the program launched {}", *name, list));
  }

  const pid_t process_ = getpid();
  const model::Device& device_;
  const ReporterSettings settings_;
  std::mutex mutex_;
  Selection selection_;
  std::set<std::string> names_; ///< of launched kernels
  std::vector<api::LaunchReport> reports_;
  std::vector<std::pair<std::size_t, AnalysisProcesses::Number>> elsewhere_; ///< reports that copies will give
  bool is_over_ = false;                                                     ///< the process is ending
  bool incomplete_ = false;                                                  ///< the report of a launch is lost
  std::size_t written_ = 0;                                                  ///< number of reports written as text
  std::size_t sent_ = 0;                                                     ///< number of reports in pipes
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
  ReporterSettings settings;
  if (!settings.any()) return nullptr;
  reporter() = std::make_shared<Reporter>(device, std::move(settings));
  start_operation_log();
  std::atexit([] { reporter()->at_exit(); });
  return reporter();
}

void explain_compiled() {
  static std::atomic_flag told;
  if (std::getenv(environment::kExplainCompiled) == nullptr || told.test_and_set()) return;
  std::fputs(api::explain_compiled().c_str(), stderr);
}

void write_reports() {
  if (reporter() != nullptr) reporter()->write_now();
}

} // namespace warplens::runtime
