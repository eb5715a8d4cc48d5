// SPDX-License-Identifier: Apache-2.0
// Fits unknown parameters to measured run times: the parameters of Dasgupta's model to micro-benchmarks, and the
// weight of the models of Amaris and Karan Kumar to runs of the kernel itself.
//
//   a run without memory requests that took 0.846 ms  ->  clock_ghz 1.309
//   a run of 32-byte transactions that took 0.7243 ms ->  delay_32 37.1
#pragma once

#include "model/models.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::model {

/// A measured launch.
struct MeasuredRun {
  std::string name;
  KernelStatistics statistics;
  double milliseconds = 0;
};

/// One step of the tuning.
struct TunedParameter {
  std::string_view name;         ///< "delay_32"
  double before = 0;             ///< value of the device, or start value of the search
  double after = 0;              ///< unrounded
  std::size_t runs = 0;          ///< that it was fitted to; 0: unchanged, because no run depends on it
  double largest_difference = 0; ///< of prediction and measured time of those runs, relative to the time
};

struct Calibration {
  Device device; ///< with the tuned parameters and their sources
  std::vector<TunedParameter> steps;
  std::vector<std::string> remarks;
};

/// Tunes a device as Dasgupta does (section 3.2.6), in his order: clock, base latency, delays of 32, 64 and 128 bytes,
/// delay of vector requests. Each run tunes the one parameter that it depends on: the clock, if it has no requests; the
/// delay of a size, if all its transactions have that size; the latency, if it has so few warps that nothing departs
/// late. For several runs of a kind, the logarithms of predicted / measured add up to 0. A device without [dasgupta]
/// starts from its clock and 450 cycles. Errors: no runs; a time that is not positive; a device without issue_cycles;
/// statistics that the model rejects; runs that no value of their parameter explains.
Expected<Calibration> calibrate_dasgupta(const Device& device, std::span<const MeasuredRun> runs);

/// How the weight is fitted to the runs.
enum class WeightFit {
  first,         ///< the prediction of the first run is exact, as Karan Kumar describes
  mean_ratio,    ///< predicted / measured is 1 on average, as in his tables for the dot product and vector addition
  least_squares, ///< minimizes the sum of the squared differences
};

/// Errors of predictions, as Karan Kumar reports them.
struct ErrorMetrics {
  double mean_absolute = 0;    ///< ms
  double root_mean_square = 0; ///< ms
  double mean_relative = 0;    ///< of the measured time
  double mean_ratio = 0;       ///< predicted / measured
};
/// Both spans have the same number of elements, at least one, in milliseconds.
ErrorMetrics error_metrics(std::span<const double> predicted, std::span<const double> measured);

struct FittedWeight {
  double weight = 0;
  std::vector<double> predicted; ///< ms, with the weight, for each run
  ErrorMetrics errors;
};

/// `model_id`: a model with `says` == kSaysTimeOnceCalibrated. Errors: another model; no runs; a time that is not
/// positive; statistics that the model rejects.
Expected<FittedWeight> fit_weight(std::string_view model_id, const Device& device, std::span<const MeasuredRun> runs,
                                  WeightFit fit);

} // namespace warplens::model
