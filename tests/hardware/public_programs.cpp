// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/public_programs.hpp"

#include "model/device.hpp"
#include "model/models.hpp"
#include "tests/hardware/rank_correlation.hpp"

#include <cxxabi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace warplens::tests {

namespace {

std::vector<TimedLaunch> read_launches(const std::string& file) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/" + file);
  std::vector<TimedLaunch> launches;
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json one = nlohmann::json::parse(line);
    TimedLaunch& launch = launches.emplace_back();
    launch.program = one["program"];
    launch.kernel = one["kernel"];
    launch.versions = one.value("versions", "");
    launch.launch = one["launch"];
    launch.judges = one["judges"];
    launch.waits = one.value("waits", false);
    launch.not_modelled = one.value("not_modelled", "");
    launch.milliseconds = one.value("nanoseconds", 0.0) * 1e-6;
    launch.milliseconds_h100 = one.value("nanoseconds_h100", 0.0) * 1e-6;
    for (const model::StatisticField& field : model::statistic_fields())
      if (const auto value = one["statistics"].find(field.name); value != one["statistics"].end())
        field.get(launch.counted) = value->get<double>();
  }
  return launches;
}

} // namespace

const std::vector<TimedLaunch>& public_programs() {
  static const std::vector<TimedLaunch> list = read_launches("public_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& later_programs() {
  static const std::vector<TimedLaunch> list = read_launches("later_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& newest_programs() {
  static const std::vector<TimedLaunch> list = read_launches("newest_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& more_programs() {
  static const std::vector<TimedLaunch> list = read_launches("more_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& sample_programs() {
  static const std::vector<TimedLaunch> list = read_launches("sample_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& stranger_programs() {
  static const std::vector<TimedLaunch> list = read_launches("stranger_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& tutorial_programs() {
  static const std::vector<TimedLaunch> list = read_launches("tutorial_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& suite_programs() {
  static const std::vector<TimedLaunch> list = read_launches("suite_programs.jsonl");
  return list;
}

const std::vector<TimedLaunch>& versions_of_samples() {
  static const std::vector<TimedLaunch> list = read_launches("versions_of_samples.jsonl");
  return list;
}

std::vector<TimedLaunch> without_waits(const std::vector<TimedLaunch>& launches) {
  std::vector<TimedLaunch> list;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(list),
               [](const TimedLaunch& launch) { return !launch.waits; });
  return list;
}

std::vector<TimedLaunch> modelled(const std::vector<TimedLaunch>& launches) {
  std::vector<TimedLaunch> list;
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(list),
               [](const TimedLaunch& launch) { return launch.not_modelled.empty(); });
  return list;
}

std::vector<TimedLaunch> evaluated_on_h200() {
  std::vector<TimedLaunch> list = public_programs();
  const std::vector<TimedLaunch> newest = without_waits(newest_programs());
  list.insert(list.end(), newest.begin(), newest.end());
  return list;
}

std::vector<TimedLaunch> half(bool judges) {
  std::vector<TimedLaunch> list;
  std::copy_if(public_programs().begin(), public_programs().end(), std::back_inserter(list),
               [&](const TimedLaunch& launch) { return launch.judges == judges; });
  return list;
}

std::string name_in_source(const std::string& kernel) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (status != 0) return kernel;
  std::string source = text.get();
  constexpr std::string_view kUnnamed = "(anonymous namespace)";
  for (std::size_t at = 0; (at = source.find(kUnnamed)) != std::string::npos;) source.erase(at, kUnnamed.size());
  std::string name; // without the arguments of templates
  int depth = 0;
  for (const char c : source) {
    depth += c == '<' ? 1 : 0;
    if (depth == 0) name += c;
    depth -= c == '>' ? 1 : 0;
  }
  name.erase(std::min(name.find('('), name.size()));
  return name.substr(name.find_last_of(": ") + 1);
}

namespace {

model::Prediction predicted_on(std::string_view model, const TimedLaunch& launch, const model::Device& device) {
  auto p = model::predict(model, launch.counted, device);
  if (!p) throw std::runtime_error(launch.program + ", " + launch.kernel + ": " + p.error().list().front().message);
  return std::move(*p);
}

} // namespace

model::Prediction predicted(std::string_view model, const TimedLaunch& launch, const Gpu& gpu) {
  return predicted_on(model, launch, *model::find_device(gpu.device));
}

Errors errors(std::string_view model, const std::vector<TimedLaunch>& launches, const Gpu& gpu) {
  return errors(model, launches, gpu, *model::find_device(gpu.device));
}

Errors errors(std::string_view model, const std::vector<TimedLaunch>& launches, const Gpu& gpu,
              const model::Device& device) {
  std::vector<double> off, times, predictions;
  for (const TimedLaunch& launch : launches) {
    times.push_back(launch.*gpu.milliseconds);
    predictions.push_back(predicted_on(model, launch, device).milliseconds);
    off.push_back(100 * std::abs(predictions.back() / times.back() - 1));
  }
  Errors result{off.size(), 0, 0, rank_correlation(predictions, times)};
  for (const double e : off) result.mean += e / static_cast<double>(off.size());
  std::sort(off.begin(), off.end());
  result.median = off[off.size() / 2];
  return result;
}

} // namespace warplens::tests
