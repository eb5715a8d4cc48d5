// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/predictions_page.hpp"

#include "model/device.hpp"
#include "model/models.hpp"
#include "tests/hardware/scatter_plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace {

constexpr double kFar = 0.2; ///< of the measured time

struct Predicted {
  const TimedLaunch* launch = nullptr;
  double milliseconds = 0, measured = 0;
  std::string bound;
  double atomics = 0; ///< the share of contended atomics in the prediction
  [[nodiscard]] double error() const { return milliseconds / measured - 1; }
};

const std::vector<Predicted>& predictions(const Gpu& gpu) {
  static std::map<std::string, std::vector<Predicted>> known;
  std::vector<Predicted>& list = known[gpu.device];
  if (list.empty())
    for (const TimedLaunch& launch : public_programs()) {
      const model::Prediction p = predicted(model::kCriticalPath, launch, gpu);
      list.push_back(
          {&launch, p.milliseconds, launch.*gpu.milliseconds, p.bound, p.term("atomics").value_or(0) / p.cycles});
    }
  return list;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// " 98 | 12 % | 7 % | 5 | 14 |": launches, mean and median error, and how many are far too long and too short.
std::string errors_of(const std::vector<Predicted>& group) {
  std::vector<double> off;
  double sum = 0;
  int too_long = 0, too_short = 0;
  for (const Predicted& p : group) {
    off.push_back(100 * std::abs(p.error()));
    sum += off.back();
    too_long += p.error() > kFar ? 1 : 0;
    too_short += p.error() < -kFar ? 1 : 0;
  }
  if (group.empty()) return " 0 | | | | |";
  return fmt::format(" {} | {:.0f} % | {:.0f} % | {} | {} |", group.size(), sum / static_cast<double>(group.size()),
                     median(off), too_long, too_short);
}

std::string summary() {
  std::string out =
      "| GPU | programs | model | launches | mean absolute error | median | Spearman's rank correlation |\n"
      "| --- | --- | --- | --: | --: | --: | --: |\n";
  const std::pair<const char*, std::vector<TimedLaunch>> parts[] = {
      {"examined", half(false)}, {"judging", half(true)}, {"all", public_programs()}};
  const auto row = [&](const Gpu& gpu, const char* part, std::string_view model, const std::vector<TimedLaunch>& list) {
    const Errors e = errors(model, list, gpu);
    out += fmt::format("| {} | {} | {} | {} | {:.1f} % | {:.1f} % | {:.3f} |\n", gpu.name, part, model, e.launches,
                       e.mean, e.median, e.spearman);
  };
  for (const Gpu& gpu : {kH200, kH100})
    for (const auto& [part, list] : parts) row(gpu, part, model::kCriticalPath, list);
  row(kH200, "all", model::kThroughputLatency, public_programs());
  row(kH200, "all", model::kVolkov, public_programs());
  row(kH100, "all", model::kVolkov, public_programs());
  return out;
}

constexpr const char* kGroupColumns =
    " | launches | mean absolute error | median | more than 20 % too long | more than 20 % too short |\n"
    "| --- | --- | --: | --: | --: | --: | --: |\n";

std::string by_largest_term() {
  std::string out = std::string("| largest term | GPU") + kGroupColumns;
  std::map<std::string, std::vector<Predicted>> of_h200; // the order of the rows
  for (const Predicted& p : predictions(kH200)) of_h200[p.bound].push_back(p);
  std::vector<std::string> bounds;
  for (const auto& [bound, group] : of_h200) bounds.push_back(bound);
  std::stable_sort(bounds.begin(), bounds.end(),
                   [&](const std::string& a, const std::string& b) { return of_h200[a].size() > of_h200[b].size(); });
  for (const std::string& bound : bounds)
    for (const Gpu& gpu : {kH200, kH100}) {
      std::vector<Predicted> group;
      for (const Predicted& p : predictions(gpu))
        if (p.bound == bound) group.push_back(p);
      out += fmt::format("| {} | {} |{}\n", bound, gpu.name, errors_of(group));
    }
  return out;
}

struct Property {
  const char* name;
  std::function<bool(const Predicted&)> has;
};

double of(const std::optional<double>& count) { return count.value_or(0); }

double share(const Predicted& p, double count) { return count / std::max(1.0, of(p.launch->counted.instructions)); }

double warps(const Predicted& p) {
  return of(p.launch->counted.blocks) * std::ceil(of(p.launch->counted.threads_per_block) / 32);
}

/// What makes a launch hard to predict, as far as counts show it.
const std::vector<Property>& properties() {
  static const std::vector<Property> list = {
      {"takes less than 5 µs", [](const Predicted& p) { return p.measured < 0.005; }},
      {"has fewer warps than the GPU has schedulers",
       [](const Predicted& p) { return warps(p) < 4 * model::find_device("h200")->multiprocessors; }},
      {"has blocks whose longest warp executes at least 1.5 times the instructions of an average warp",
       [](const Predicted& p) { return share(p, of(p.launch->counted.longest_of_blocks)) >= 1.5; }},
      {"has a warp that executes at least 3 times the instructions of an average warp",
       [](const Predicted& p) { return share(p, of(p.launch->counted.longest_warp)) >= 3; }},
      {"contended atomics are at least a tenth of the prediction", [](const Predicted& p) { return p.atomics >= 0.1; }},
      {"at least 1 % of the instructions are divisions, roots or other special functions",
       [](const Predicted& p) {
         double special = of(p.launch->counted.integer_divisions);
         for (const model::IssueClass one :
              {model::IssueClass::reciprocal, model::IssueClass::reciprocal_square_root, model::IssueClass::square_root,
               model::IssueClass::divide, model::IssueClass::fast_divide, model::IssueClass::logarithm,
               model::IssueClass::exponential, model::IssueClass::sine_cosine})
           special += of(p.launch->counted.by_class[static_cast<std::size_t>(one)]);
         return share(p, special) >= 0.01;
       }},
      {"at least 1 % of the machine instructions are of double precision",
       [](const Predicted& p) { return share(p, of(p.launch->counted.double_operations)) >= 0.01; }},
      {"at least half of the requests are not coalesced",
       [](const Predicted& p) {
         return of(p.launch->counted.global_requests) > 0 &&
                of(p.launch->counted.uncoalesced_requests) >= 0.5 * of(p.launch->counted.global_requests);
       }},
      {"has at least 5 barriers", [](const Predicted& p) { return of(p.launch->counted.synchronizations) >= 5; }},
  };
  return list;
}

std::string by_property() {
  std::string out = std::string("| the launch | GPU") + kGroupColumns;
  const auto row = [&](const char* name, const std::function<bool(const Predicted&)>& has) {
    for (const Gpu& gpu : {kH200, kH100}) {
      std::vector<Predicted> group;
      std::copy_if(predictions(gpu).begin(), predictions(gpu).end(), std::back_inserter(group), has);
      out += fmt::format("| {} | {} |{}\n", name, gpu.name, errors_of(group));
    }
  };
  for (const Property& property : properties()) row(property.name, property.has);
  row("none of these", [](const Predicted& p) {
    return std::none_of(properties().begin(), properties().end(), [&](const Property& one) { return one.has(p); });
  });
  return out;
}

constexpr const char* kNotKnown = "not known";

std::string cause_of(const Predicted& p) {
  for (const KnownCause& one : known_causes())
    if (one.program == p.launch->program && one.kernel == name_in_source(p.launch->kernel)) return one.cause;
  return kNotKnown;
}

std::string by_cause() {
  std::map<std::string, std::vector<const Predicted*>> causes;
  double all = 0;
  for (const Predicted& p : predictions(kH200)) {
    if (p.launch->judges) continue;
    all += std::abs(p.error());
    if (std::abs(p.error()) > kFar) causes[cause_of(p)].push_back(&p);
  }
  std::vector<std::pair<double, std::string>> rows;
  for (const auto& [cause, group] : causes) {
    double sum = 0, least = 1e9, most = 0;
    std::set<std::string> names;
    for (const Predicted* p : group) {
      sum += std::abs(p->error());
      least = std::min(least, p->milliseconds / p->measured);
      most = std::max(most, p->milliseconds / p->measured);
      names.insert(fmt::format("`{}`", p->launch->program));
    }
    rows.emplace_back(cause == kNotKnown ? -1 : sum,
                      fmt::format("| {} | {} | {} | {:.2f} to {:.2f} | {:.0f} % |\n", cause, group.size(),
                                  fmt::join(names, ", "), least, most, 100 * sum / all));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out = "| cause | launches | programs | predicted / measured | share of all errors of this half |\n"
                    "| --- | --: | --- | --: | --: |\n";
  for (const auto& [sum, text] : rows) out += text;
  return out;
}

std::string by_kernel() {
  std::string out = "| program | kernel | launch | half | largest term | H200, µs | predicted | error | H100, µs | "
                    "predicted | error |\n"
                    "| --- | --- | --: | --- | --- | --: | --: | --: | --: | --: | --: |\n";
  const std::vector<Predicted>&first = predictions(kH200), &second = predictions(kH100);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const TimedLaunch& launch = *first[i].launch;
    const auto times = [](const Predicted& p) {
      return fmt::format("{:.4g} | {:.4g} | {:+.0f} %", 1e3 * p.measured, 1e3 * p.milliseconds, 100 * p.error());
    };
    out += fmt::format("| `{}` | `{}` | {} | {} | {} | {} | {} |\n", launch.program, name_in_source(launch.kernel),
                       launch.launch, launch.judges ? "judging" : "examined", first[i].bound, times(first[i]),
                       times(second[i]));
  }
  return out;
}

} // namespace

const std::vector<KnownCause>& known_causes() {
  static const std::vector<KnownCause> list = [] {
    std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/error_causes.csv");
    std::vector<KnownCause> rows;
    for (std::string line; std::getline(in, line);) {
      std::istringstream cells(line);
      KnownCause row;
      if (line.starts_with('#') || line.starts_with("program,")) continue;
      std::getline(cells, row.program, ',');
      std::getline(cells, row.kernel, ',');
      std::getline(cells, row.cause);
      rows.push_back(row);
    }
    return rows;
  }();
  return list;
}

std::string predictions_plot(const Gpu& gpu) {
  std::vector<Point> points;
  for (const Predicted& p : predictions(gpu))
    points.push_back(
        {1e3 * p.measured, 1e3 * p.milliseconds, p.launch->judges,
         fmt::format("{}, {}, launch {}", p.launch->program, name_in_source(p.launch->kernel), p.launch->launch)});
  return scatter_plot(points, {1, 100000, "judging programs", "examined programs"});
}

std::string predictions_page() {
  std::set<std::string> programs;
  for (const TimedLaunch& launch : public_programs()) programs.insert(launch.program);
  return fmt::format(
      R"(# Predictions and measured times of public programs
This page compares the predictions of [critical-path](models.md#critical-path) with the measured times of {} kernels of {} public programs on an H200 and an H100.
`ninja -C build docs-predictions` generates the page and its pictures from `tests/data/hardware/public_programs.jsonl`; a test computes them again and compares.
[Evaluation of the model critical-path](critical-path.md#evaluation) describes the launches and the two halves of the programs.
No parameter of the model is fitted to them.

![predicted and measured times on an H200](predictions_h200.svg)
![predicted and measured times on an H100](predictions_h100.svg)

## Errors
{}
## By the largest term
The largest term of a prediction is what limits the launch, according to the model.
The launches of a row can differ between the GPUs.

{}
## By properties of the launch
The emulator's counts show these properties, and a launch can have several.

{}
## By cause
The table has the launches of the examined half that are more than 20 % off on the H200.
[Evaluation](critical-path.md#evaluation) explains the causes.
The launches of the other half were not looked at one by one.

{}
## By kernel
An error is positive if the prediction is too long.
The launch is its number among the launches of the program.
The half that judges can judge only versions of the model that were made without knowing this table; a later version needs other programs.

{})",
      public_programs().size(), programs.size(), summary(), by_largest_term(), by_property(), by_cause(), by_kernel());
}

} // namespace warplens::tests
