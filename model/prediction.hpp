// What a model says of a kernel on a device, with every term that led to it, so that a report can explain itself.
//
//   model hong-kim on GTX 280: 38428 cycles, 29.56 ms, MWP 2.28, CWP 20, bound by memory (warps depart too slowly)
#pragma once

#include "emulator/base/expected.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::model {

/// An intermediate result, under the name that the paper gives it.
struct Term {
  std::string name; ///< "MWP_peak_BW"
  double value = 0;
  std::string unit; ///< "cycles", "warps", "GB/s", …; empty for a pure number
};

/// What the run would gain if one thing were ideal: the difference to the prediction with that thing changed.
struct Benefit {
  std::string_view of;     ///< "transactions"
  double milliseconds = 0; ///< less; negative where the model says that it would cost
};

struct Prediction {
  std::string model;       ///< id: "hong-kim"
  std::string device;      ///< name: "GeForce GTX 280"
  double cycles = 0;       ///< of the model's clock, for the whole launch
  double milliseconds = 0; ///< the same as time
  double mwp = 0;          ///< memory warp parallelism: warps that can wait for memory at a time, per multiprocessor
  double cwp = 0;          ///< computation warp parallelism: warps that can compute during one warp's wait, plus one;
                           ///< both are 0 in models that know neither, and cwp without memory requests
  std::string bound;       ///< "memory", "compute", or "latency" (too few warps to keep either busy)
  std::string mwp_bound;   ///< what keeps MWP from growing: "departure", "bandwidth", "warps"; empty without MWP
  std::vector<Term> terms; ///< in the order in which they were computed
  std::vector<Benefit> benefits;    ///< largest first; see model/benefits.hpp
  std::vector<std::string> remarks; ///< what was taken for granted, and where the model leaves its range

  /// The value of a term by name; empty when the model has no such term.
  [[nodiscard]] std::optional<double> term(std::string_view name) const {
    for (const Term& t : terms)
      if (t.name == name) return t.value;
    return std::nullopt;
  }
};

/// Readings of the papers where they leave a choice. The defaults are what reproduces their printed numbers.
struct ModelOptions {
  enum class Repetitions { fractional, whole };    ///< #Rep as it comes, or rounded up to whole rounds of blocks
  enum class Synchronization { all_warps, block }; ///< MWP, or MIN(MWP, warps per block), warps wait at a barrier
  enum class Rounding { none, two_digits };        ///< of MWP; the worked example of Hong & Kim goes on with 2.28
  enum class SpecialFunctions { in_line, beside }; ///< dasgupta: the SFUs work instead of the SPs, or beside them

  Repetitions repetitions = Repetitions::fractional;
  std::optional<Synchronization> synchronization; ///< empty: all_warps for hong-kim, block for dasgupta
  Rounding mwp_rounding = Rounding::none;
  SpecialFunctions special_functions = SpecialFunctions::in_line;
};

/// For the models: appends to the terms and returns the value, so that each equation reads as one line.
double note(Prediction& prediction, std::string name, double value, std::string unit);

/// For the models: sets the time. Errors: a term that is negative or not finite, which only a device that was not made
/// by load_device() can cause.
Expected<Prediction> finish(Prediction prediction, double cycles, double clock_ghz);

} // namespace warplens::model
