// SPDX-License-Identifier: Apache-2.0
#include "tests/reproduction/measured_times.hpp"

#include "model/calibration.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

namespace warplens::reproduction {
namespace {

using Launches = std::vector<const PaperLaunch*>;

struct Pair {
  double predicted, measured;
};

PaperErrors errors_of(const std::vector<Pair>& times) {
  PaperErrors e{.launches = times.size(), .least = 1e300};
  std::vector<double> off;
  for (const Pair& t : times) {
    const double ratio = t.predicted / t.measured;
    off.push_back(100 * std::abs(ratio - 1));
    e.mean += off.back() / static_cast<double>(times.size());
    e.least = std::min(e.least, ratio);
    e.most = std::max(e.most, ratio);
  }
  std::sort(off.begin(), off.end());
  e.median = (off[off.size() / 2] + off[(off.size() - 1) / 2]) / 2;
  return e;
}

/// Empty if the model cannot predict all of them.
std::vector<Pair> predict_all(std::string_view model, const model::Device& device, const Launches& launches,
                              const model::ModelOptions& options) {
  std::vector<Pair> times;
  for (const PaperLaunch* launch : launches) {
    const auto p = model::predict(model, launch->counted, device, options);
    if (!p) return {};
    times.push_back({p->milliseconds, launch->milliseconds});
  }
  return times;
}

/// With one weight for the sizes of each kernel; empty if a kernel has only one size.
std::vector<Pair> fit_all(std::string_view model, const model::Device& device, const Launches& launches) {
  std::map<std::string, std::vector<model::MeasuredRun>> kernels;
  for (const PaperLaunch* launch : launches)
    kernels[launch->kernel].push_back({launch->size, launch->counted, launch->milliseconds});
  std::vector<Pair> times;
  for (const auto& [kernel, runs] : kernels) {
    if (runs.size() < 5) return {};
    const auto fitted = model::fit_weight(model, device, runs, model::WeightFit::mean_ratio);
    if (!fitted) return {};
    for (std::size_t i = 0; i < runs.size(); ++i) times.push_back({fitted->predicted[i], runs[i].milliseconds});
  }
  return times;
}

void judge(std::vector<Judgement>& list, const std::string& paper, const model::Device& device,
           const Launches& launches) {
  const auto add = [&](std::string_view model, const char* setting, const std::vector<Pair>& times) {
    if (!times.empty()) list.push_back({paper, device, std::string(model), setting, errors_of(times)});
  };
  for (const model::Model& model : model::models()) {
    if (!model.knows(device)) continue;
    if (model.says == model::kSaysTimeOnceCalibrated) {
      add(model.id, ", a weight fitted to each kernel", fit_all(model.id, device, launches));
      continue;
    }
    add(model.id, "", predict_all(model.id, device, launches, {}));
    if (model.id != model::kDasgupta) continue;
    model::ModelOptions beside;
    beside.special_functions = model::ModelOptions::SpecialFunctions::beside;
    add(model.id, " with `--special-functions beside`", predict_all(model.id, device, launches, beside));
  }
}

} // namespace

const std::vector<PaperLaunch>& paper_launches() {
  static const std::vector<PaperLaunch> list = [] {
    std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/papers/measured_times.jsonl");
    std::vector<PaperLaunch> launches;
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json one = nlohmann::json::parse(line);
      PaperLaunch& launch = launches.emplace_back();
      launch.paper = one["paper"];
      launch.device = one["device"];
      launch.kernel = one["kernel"];
      launch.size = one["size"];
      launch.milliseconds = one["milliseconds"];
      for (const model::StatisticField& field : model::statistic_fields())
        if (const auto value = one["statistics"].find(field.name); value != one["statistics"].end())
          field.get(launch.counted) = value->get<double>();
    }
    return launches;
  }();
  return list;
}

std::vector<Judgement> judgements() {
  std::vector<Judgement> list;
  std::vector<std::string> devices;
  for (const PaperLaunch& launch : paper_launches())
    if (std::find(devices.begin(), devices.end(), launch.device) == devices.end()) devices.push_back(launch.device);
  for (const std::string& id : devices) {
    const model::Device device = *model::find_device(id);
    std::vector<std::string> papers;
    Launches all;
    for (const PaperLaunch& launch : paper_launches()) {
      if (launch.device != id) continue;
      all.push_back(&launch);
      if (papers.empty() || papers.back() != launch.paper) papers.push_back(launch.paper);
    }
    for (const std::string& paper : papers) {
      Launches part;
      std::copy_if(all.begin(), all.end(), std::back_inserter(part),
                   [&](const PaperLaunch* launch) { return launch->paper == paper; });
      judge(list, paper, device, part);
    }
    judge(list, "", device, all);
  }
  return list;
}

PaperErrors errors_on_first_devices(std::string_view model) {
  std::vector<Pair> times;
  for (const PaperLaunch& launch : paper_launches()) {
    const model::Device device = *model::find_device(launch.device);
    if (device.capability.major != 1 || !model::find_model(model)->knows(device)) continue;
    const std::vector<Pair> one = predict_all(model, device, {&launch}, {});
    times.insert(times.end(), one.begin(), one.end());
  }
  return errors_of(times);
}

std::string measured_times_table() {
  std::string out = "| GPU | paper | launches | model | mean absolute error | median | predicted / measured |\n"
                    "| --- | --- | --: | --- | --: | --: | --: |\n";
  const std::vector<Judgement> list = judgements();
  for (const Judgement& j : list) {
    const auto papers = std::count_if(list.begin(), list.end(), [&](const Judgement& other) {
      return other.device.id == j.device.id && other.model == j.model && other.setting == j.setting;
    });
    if (j.paper.empty() && papers < 3) continue; // a single paper: the row would be there twice
    out += fmt::format("| {} | {} | {} | {}{} | {:.0f} % | {:.0f} % | {:.2g} to {:.2g} |\n", j.device.name,
                       j.paper.empty() ? "all" : j.paper, j.errors.launches, j.model, j.setting, j.errors.mean,
                       j.errors.median, j.errors.least, j.errors.most);
  }
  return out;
}

} // namespace warplens::reproduction
