// SPDX-License-Identifier: Apache-2.0
#include "model/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warplens::model {
namespace {

using Runs = std::vector<const MeasuredRun*>;

Diagnostics check_times(std::span<const MeasuredRun> runs) {
  Diagnostics errors;
  if (runs.empty()) errors.error({}, "no runs to calibrate with");
  for (const MeasuredRun& run : runs)
    if (!(run.milliseconds > 0 && std::isfinite(run.milliseconds)))
      errors.error({}, fmt::format("run '{}' took {} ms: expected a positive time", run.name, run.milliseconds));
  return errors;
}

// ---- Dasgupta's section 3.2.6

struct Parameter {
  std::string_view name;
  double DasguptaParameters::*member;
  double least, most;
};
constexpr Parameter kClock{"clock_ghz", &DasguptaParameters::clock_ghz, 0.001, 100};
constexpr Parameter kLatency{"memory_latency", &DasguptaParameters::memory_latency, 1, 1e6};
constexpr Parameter kDelay32{"delay_32", &DasguptaParameters::delay_32, 1e-3, 1e5};
constexpr Parameter kDelay64{"delay_64", &DasguptaParameters::delay_64, 1e-3, 1e5};
constexpr Parameter kDelay128{"delay_128", &DasguptaParameters::delay_128, 1e-3, 1e5};
constexpr Parameter kDelayVector{"delay_vector", &DasguptaParameters::delay_vector, 1e-3, 1e5};
constexpr const Parameter* kOrder[] = {&kClock, &kLatency, &kDelay32, &kDelay64, &kDelay128, &kDelayVector};

// The parameter that a run depends on; null where it mixes several.
const Parameter* parameter_of(const MeasuredRun& run) {
  const KernelStatistics& s = run.statistics;
  if (value_of(s.global_requests) == 0) return &kClock;
  const double vector =
      value_of(s.vector_transactions_32) + value_of(s.vector_transactions_64) + value_of(s.vector_transactions_128);
  const double sizes[] = {value_of(s.transactions_32), value_of(s.transactions_64), value_of(s.transactions_128)};
  const double all = sizes[0] + sizes[1] + sizes[2];
  // One warp that waits for one transaction at a time sees the latency alone.
  const bool alone = s.resident_blocks && s.threads_per_block && *s.resident_blocks * warps_per_block(s) == 1;
  if (alone && all == value_of(s.global_requests)) return &kLatency;
  if (vector == all) return &kDelayVector;
  if (vector > 0) return nullptr;
  const Parameter* const delays[] = {&kDelay32, &kDelay64, &kDelay128};
  for (std::size_t i = 0; i < 3; ++i)
    if (sizes[i] == all) return delays[i];
  return nullptr;
}

/// The mean logarithm of predicted / measured: 0 where they agree.
Expected<double> deviation(const Device& device, const Runs& runs) {
  double sum = 0;
  for (const MeasuredRun* run : runs) {
    const Expected<Prediction> p = find_model(kDasgupta)->predict(run->statistics, device, {});
    if (!p) {
      const Diagnostic& why = p.error().list().front();
      return failure(fmt::format("run '{}': {}", run->name, why.message), why.hint);
    }
    sum += std::log(p->milliseconds / run->milliseconds);
  }
  return sum / static_cast<double>(runs.size());
}

double largest_difference(const Device& device, const Runs& runs) {
  double largest = 0;
  for (const MeasuredRun* run : runs)
    if (const Expected<Prediction> p = find_model(kDasgupta)->predict(run->statistics, device, {}))
      largest = std::max(largest, std::abs(p->milliseconds / run->milliseconds - 1));
  return largest;
}

// The value between two others at which the deviation changes its sign: bisection in the logarithm. Empty if it only
// jumps there, because the model distinguishes cases.
std::optional<double> root_between(Device& device, double DasguptaParameters::*member, const Runs& runs, double low,
                                   double high) {
  double& value = (*device.dasgupta).*member;
  const auto at = [&](double logarithm) {
    value = std::exp(logarithm);
    return deviation(device, runs).value_or(HUGE_VAL);
  };
  const bool rises = at(low) < 0;
  for (int i = 0; i < 100 && high - low > 1e-15 * std::abs(high); ++i) {
    const double middle = (low + high) / 2;
    ((at(middle) < 0) == rises ? low : high) = middle;
  }
  constexpr double kClose = 1e-9;
  for (const double end : {low, high})
    if (std::abs(at(end)) < kClose) return end;
  return std::nullopt;
}

// Because the model distinguishes cases, the time is neither continuous nor monotone in a parameter: a grid search
// finds all values that explain the runs, and the one nearest to the start is used.
Expected<TunedParameter> tune(Device& device, const Parameter& parameter, const Runs& runs) {
  double& value = (*device.dasgupta).*parameter.member;
  TunedParameter step{parameter.name, value, value, runs.size(), 0};
  constexpr int kSteps = 500;
  const double start = std::log(value), least = std::log(parameter.least);
  const double width = (std::log(parameter.most) - least) / kSteps;
  std::optional<double> best;
  double before = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double high = least + i * width;
    value = std::exp(high);
    const Expected<double> here = deviation(device, runs);
    if (!here) return failure(here.error());
    if (i > 0 && (before < 0) != (*here < 0))
      if (const auto root = root_between(device, parameter.member, runs, high - width, high))
        if (!best || std::abs(*root - start) < std::abs(*best - start)) best = root;
    before = *here;
  }
  if (!best)
    return failure(fmt::format("no value of {} explains the times of {} run{}, such as '{}'", parameter.name,
                               runs.size(), runs.size() == 1 ? "" : "s", runs.front()->name),
                   "a launch that is bound by something else does not depend on this parameter: see warplens predict");
  step.after = value = std::exp(*best);
  step.largest_difference = largest_difference(device, runs);
  return step;
}

// Replaces a source for the whole table by one for each key, so that each can change.
void split_source(Device& device) {
  const auto whole = device.sources.find("dasgupta");
  if (whole == device.sources.end()) return;
  const std::string source = whole->second;
  device.sources.erase("dasgupta");
  for (const Parameter* parameter : kOrder) device.sources["dasgupta." + std::string(parameter->name)] = source;
  if (device.dasgupta && device.dasgupta->merge_queue) device.sources["dasgupta.merge_queue"] = source;
}

void start_somewhere(Device& device, std::vector<std::string>& remarks) {
  constexpr double kAssumedLatency = 450, kAssumedDelay = 37;
  if (device.dasgupta) return;
  device.dasgupta = DasguptaParameters{device.clock_ghz, kAssumedLatency, kAssumedDelay, kAssumedDelay,
                                       kAssumedDelay,    kAssumedDelay,   std::nullopt};
  remarks.push_back(
      "the device had no [dasgupta]: untuned parameters are its clock, a latency of 450 and delays of 37 cycles");
}

} // namespace

Expected<Calibration> calibrate_dasgupta(const Device& device, std::span<const MeasuredRun> runs) {
  if (Diagnostics errors = check_times(runs); errors.has_errors()) return failure(std::move(errors));
  if (!device.issue_cycles)
    return failure(fmt::format("device '{}' has no [issue_cycles], which the model needs", device.name));
  Calibration result;
  result.device = device;
  split_source(result.device);
  start_somewhere(result.device, result.remarks);
  for (const MeasuredRun& run : runs)
    if (parameter_of(run) == nullptr)
      result.remarks.push_back(
          fmt::format("run '{}' is not used: its transactions are of several sizes or kinds", run.name));
  for (const Parameter* parameter : kOrder) {
    Runs of_parameter;
    for (const MeasuredRun& run : runs)
      if (parameter_of(run) == parameter) of_parameter.push_back(&run);
    const double value = (*result.device.dasgupta).*parameter->member;
    if (of_parameter.empty()) {
      result.steps.push_back({parameter->name, value, value, 0, 0});
      continue;
    }
    Expected<TunedParameter> step = tune(result.device, *parameter, of_parameter);
    if (!step) return failure(step.error());
    result.steps.push_back(*step);
    result.device.sources["dasgupta." + std::string(parameter->name)] =
        fmt::format("calibrated with {} run{}", step->runs, step->runs == 1 ? "" : "s");
  }
  return result;
}

ErrorMetrics error_metrics(std::span<const double> predicted, std::span<const double> measured) {
  ErrorMetrics m;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double difference = predicted[i] - measured[i];
    m.mean_absolute += std::abs(difference);
    m.root_mean_square += difference * difference;
    m.mean_relative += std::abs(difference) / measured[i];
    m.mean_ratio += predicted[i] / measured[i];
  }
  const auto count = static_cast<double>(predicted.size());
  return {m.mean_absolute / count, std::sqrt(m.root_mean_square / count), m.mean_relative / count,
          m.mean_ratio / count};
}

Expected<FittedWeight> fit_weight(std::string_view model_id, const Device& device, std::span<const MeasuredRun> runs,
                                  WeightFit fit) {
  const Model* const model = find_model(model_id);
  if (model == nullptr || model->says != kSaysTimeOnceCalibrated)
    return failure(fmt::format("model '{}' has no weight to fit", model_id));
  if (Diagnostics errors = check_times(runs); errors.has_errors()) return failure(std::move(errors));
  std::vector<double> unweighted, measured;
  for (const MeasuredRun& run : runs) {
    KernelStatistics s = run.statistics;
    s.adjusting_weight = 1;
    const Expected<Prediction> p = model->predict(s, device, {});
    if (!p) {
      const Diagnostic& why = p.error().list().front();
      return failure(fmt::format("run '{}': {}", run.name, why.message), why.hint);
    }
    unweighted.push_back(p->milliseconds);
    measured.push_back(run.milliseconds);
  }
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    products += unweighted[i] * measured[i];
    squares += unweighted[i] * unweighted[i];
  }
  FittedWeight result;
  switch (fit) {
  case WeightFit::first: result.weight = unweighted[0] / measured[0]; break;
  case WeightFit::mean_ratio: result.weight = error_metrics(unweighted, measured).mean_ratio; break;
  case WeightFit::least_squares: result.weight = squares / products; break;
  }
  for (const double time : unweighted) result.predicted.push_back(time / result.weight);
  result.errors = error_metrics(result.predicted, measured);
  return result;
}

} // namespace warplens::model
