// SPDX-License-Identifier: Apache-2.0
#include "api/report/report_text.hpp"

#include "api/report/expectations.hpp"
#include "api/report/launch_groups.hpp"
#include "api/report/line_costs.hpp"
#include "api/report/prediction_text.hpp"
#include "api/report/ranking.hpp"
#include "api/report/report_details.hpp"
#include "api/report/source_text.hpp"
#include "api/report/table.hpp"
#include "api/report/units.hpp"
#include "api/session/kernel_name.hpp"
#include "model/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace warplens::api {

namespace {

/// " (20 x 4)"; empty for a single dimension.
std::string shape(const Extent& e) {
  if (e[2] > 1) return fmt::format(" ({} x {} x {})", e[0], e[1], e[2]);
  return e[1] > 1 ? fmt::format(" ({} x {})", e[0], e[1]) : "";
}

/// The first screen: what limits the launch, how long it takes, where, and what to do.
class Screen {
public:
  Screen(const LaunchReport& report, const Style& style, const TextOptions& options)
      : r_(report), s_(style), o_(options), prediction_(ranking_prediction(report.predictions, {})) {
    for (const auto& [file, text] : options.sources) sources_.add(file, text);
  }

  std::string write() {
    head();
    if (!r_.analyzed) return std::move(out_);
    out_ += "\n";
    limit();
    predicted();
    occupancy();
    for (const std::string& reason : r_.partial) fact("Note", reason);
    if (!r_.order_of_results.empty()) fact("Note", "results may differ between runs: " + r_.order_of_results);
    lines();
    findings();
    return std::move(out_);
  }

private:
  static constexpr std::size_t kLabel = 14; ///< columns before the facts
  static constexpr double kLeastSaving = 0.01;

  void head() {
    const std::uint64_t blocks = r_.grid[0] * r_.grid[1] * r_.grid[2],
                        threads = r_.block[0] * r_.block[1] * r_.block[2], warps = blocks * ((threads + 31) / 32);
    const std::string name = source_name(r_.kernel);
    std::string text =
        wrapped(fmt::format("{} on {} (compute capability {}){}", name, r_.device.name, to_string(r_.device.capability),
                            r_.launched_by.empty() ? "" : ", launched by " + source_name(r_.launched_by)),
                "  ", std::max(o_.columns, width(name) + 2))
            .substr(2);
    out_ += fmt::format("{}{}{}{}", s_.bold, name, s_.reset, text.substr(name.size()));
    const std::uint64_t cluster = r_.cluster[0] * r_.cluster[1] * r_.cluster[2];
    const std::string clusters = cluster > 1 ? fmt::format(" in clusters of {}{}", cluster, shape(r_.cluster)) : "";
    out_ += wrapped(fmt::format("{}: {}{}{} of {}{}, {}", base_name(r_.file), plural(blocks, "block"), shape(r_.grid),
                                clusters, plural(threads, "thread"), shape(r_.block), plural(warps, "warp")),
                    "  ", o_.columns);
  }

  void fact(std::string_view label, std::string_view text) {
    const std::string value = wrapped(text, std::string(kLabel, ' '), o_.columns).substr(kLabel);
    out_ += fmt::format("  {}{:<{}}{}{}", s_.dim, label, kLabel - 2, s_.reset, value);
  }

  void limit() {
    if (prediction_ == nullptr) return;
    std::string text = prediction_->bound;
    if (text == "latency") text += ": too few warps to keep memory or arithmetic busy";
    // Of the model that also says what the findings save.
    const model::Prediction* const changes = model::trusted_for_changes(r_.predictions);
    if (changes != nullptr && !changes->benefits.empty() && model::knows_what_takes_time(r_.predictions)) {
      const model::Benefit& largest = changes->benefits.front();
      const double share = largest.milliseconds / changes->milliseconds;
      if (share >= kLeastSaving)
        text += fmt::format("; {} less time {}{}", readable_share(share), ideal_of(largest),
                            changes == prediction_ ? "" : fmt::format(" ({})", changes->model));
    }
    fact("Limited by", text);
  }

  void predicted() {
    if (prediction_ == nullptr) return fact("Predicted", "no time: no model has parameters for this device");
    const model::Model* const m = model::find_model(prediction_->model);
    const bool bound = m != nullptr && m->says == model::kSaysBound;
    std::string text = fmt::format("{}{}", bound ? "at least " : "", readable_time(prediction_->milliseconds));
    if (const auto range = range_of(*prediction_); range && !bound)
      text += fmt::format(", typically {} to {}", readable_time(range->first), readable_time(range->second));
    const bool elsewhere = prediction_->trust != nullptr && model::evaluated_elsewhere_only(*prediction_);
    fact("Predicted", fmt::format("{} ({}{})", text, prediction_->model,
                                  elsewhere ? ", whose error on this device is not known" : ""));
  }

  void occupancy() {
    if (!r_.occupancy) return;
    const model::Occupancy& o = *r_.occupancy;
    std::string bound;
    for (const model::OccupancyLimiter l : o.bound_by)
      bound += fmt::format("{}{}", bound.empty() ? "" : ", ", to_string(l));
    fact("Occupancy",
         fmt::format("{}{:.0f} %: {}, {} per multiprocessor; limited by {}", o_.graphics ? bar(o.ratio, 10) + " " : "",
                     100 * o.ratio, plural(static_cast<std::uint64_t>(o.blocks), "block"),
                     plural(static_cast<std::uint64_t>(o.warps), "warp"), bound));
  }

  void lines() {
    constexpr std::size_t kShown = 3;
    const LineCosts costs = line_costs(r_, prediction_ == nullptr ? "" : prediction_->bound);
    const std::size_t shown = std::min(costs.lines.size(), kShown);
    if (shown == 0) return;
    out_ += section_title("Most expensive lines", fmt::format("share of {}", costs.of), s_, o_.columns);
    std::size_t places = 0;
    for (const LineCost& line : std::span(costs.lines).first(shown)) places = std::max(places, width(place(line)));
    for (const LineCost& line : std::span(costs.lines).first(shown)) one_line(line, std::min<std::size_t>(places, 32));
  }

  static std::string place(const LineCost& line) {
    return line.file.empty() ? fmt::format("PTX line {}", line.line)
                             : fmt::format("{}:{}", base_name(line.file), line.line);
  }

  void one_line(const LineCost& line, std::size_t places) {
    std::string code = o_.quotes ? sources_.line(line.file, line.line, r_.file) : "";
    if (code.empty()) code = line.worst->ptx;
    const std::string start =
        fmt::format("  {:>5}  {}", readable_share(line.share), o_.graphics ? bar(line.share, 8) + "  " : "");
    const std::string where = cut(place(line), std::max<std::size_t>(places, 8));
    std::string indent(width(start) + places + 2, ' ');
    if (indent.size() + 20 > o_.columns) { // narrow: the code on a line of its own
      out_ += fmt::format("{}{}\n", start, where);
      indent = "         ";
      out_ += indent + cut(code, o_.columns - std::min(o_.columns - 1, indent.size())) + "\n";
    } else {
      out_ += fmt::format("{}{}{}  {}\n", start, where, std::string(places - std::min(places, width(where)), ' '),
                          cut(code, o_.columns - indent.size()));
    }
    std::string note;
    if (access_cost(*line.worst, r_.device) > 0) note = access_cost_text(*line.worst, r_.device);
    if (!note.empty() && !line.worst->pattern.empty()) note += ", " + line.worst->pattern;
    if (!note.empty())
      out_ += s_.dim.empty() ? wrapped(note, indent, o_.columns) : dimmed(wrapped(note, indent, o_.columns));
    if (const std::string chain = inlined(*line.worst); !chain.empty()) out_ += wrapped(chain, indent, o_.columns);
  }

  /// "inlined from sm_60_atomic_functions.h:82, called at histogram.cu:12"
  static std::string inlined(const analyzers::InstructionRow& row) {
    std::string text;
    const bool own = !row.inlined.empty() && row.inlined[0].file == row.source_file;
    for (std::size_t i = own ? 1 : 0; i < row.inlined.size(); ++i)
      text += fmt::format("{}{}{}:{}", text.empty() ? "" : ", ", i == 0 ? "inlined from " : "called at ",
                          base_name(row.inlined[i].file), row.inlined[i].line);
    return text;
  }

  [[nodiscard]] std::string dimmed(const std::string& text) const {
    return fmt::format("{}{}{}\n", s_.dim, text.substr(0, text.size() - 1), s_.reset);
  }

  /// Where the speedups are not by the model of the predicted time.
  [[nodiscard]] std::string speedups_by(std::span<const analyzers::Finding* const> findings) const {
    const model::Prediction* const changes = model::trusted_for_changes(r_.predictions);
    const bool any = std::any_of(findings.begin(), findings.end(), [](const auto* f) { return f->speedup; });
    if (!any || changes == prediction_) return "";
    return fmt::format("speedups are estimates by {}, because {}, which predicts the time, knows only the code that "
                       "ran",
                       changes->model, prediction_->model);
  }

  /// "1 note would save less than 5 %: UncoalescedGlobalAccess, transpose.cu:9"; of several: "2 KIND, 1 KIND".
  static std::string that_save_little(std::span<const analyzers::Finding* const> findings) {
    const analyzers::Finding& first = *findings.front();
    std::string which(first.rule);
    if (findings.size() > 1) {
      std::map<std::string_view, std::size_t> kinds;
      for (const analyzers::Finding* f : findings) ++kinds[f->rule];
      which.clear();
      for (const auto& [rule, count] : kinds) which += fmt::format("{}{} {}", which.empty() ? "" : ", ", count, rule);
    } else if (first.source_line != 0) {
      which += fmt::format(", {}:{}", base_name(first.source_file), first.source_line);
    }
    return fmt::format("{} would save {}: {}", plural(findings.size(), "note"), little(), which);
  }

  void findings() {
    constexpr std::size_t kShown = 3;
    std::vector<const analyzers::Finding*> all = top_findings(r_);
    const auto from = std::stable_partition(all.begin(), all.end(), [](const auto* f) { return !saves_little(*f); });
    const std::vector<const analyzers::Finding*> minor(from, all.end());
    all.erase(from, all.end());
    out_ += section_title("Findings", all.empty() && minor.empty() ? "none" : speedups_by(all), s_, o_.columns);
    for (std::size_t i = 0; i < std::min(all.size(), kShown); ++i) {
      out_ += finding_head(*all[i], i + 1, s_, o_.columns);
      out_ += wrapped(all[i]->message, "     ", o_.columns);
      const bool repeated = i > 0 && remedy_of(*all[i - 1]) == remedy_of(*all[i]);
      if (!repeated) out_ += wrapped("advice: " + remedy_of(*all[i]), "     ", o_.columns);
    }
    if (all.size() > kShown) out_ += fmt::format("  … and {} more\n", all.size() - kShown);
    if (!minor.empty()) out_ += wrapped(that_save_little(minor), "  ", o_.columns);
  }

  const LaunchReport& r_;
  const Style& s_;
  const TextOptions& o_;
  const model::Prediction* prediction_;
  SourceText sources_;
  std::string out_;
};

} // namespace

std::string text_report(const LaunchReport& report, const Style& style, const TextOptions& options) {
  std::string text = Screen(report, style, options).write();
  if (!report.analyzed) return text;
  text += detail_sections(report, style, options);
  if (options.counters) text += counters(report, style);
  return text;
}

} // namespace warplens::api
