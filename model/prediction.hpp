// SPDX-License-Identifier: Apache-2.0
// The prediction of a model for a kernel on a device, with all intermediate terms for the report.
//
//   model hong-kim on GTX 280: 38428 cycles, 29.56 ms, MWP 2.28, CWP 20, bound by memory (warps depart too slowly)
#pragma once

#include "emulator/base/expected.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::model {

/// An intermediate result with its name in the paper.
struct Term {
  std::string name; ///< "MWP_peak_BW"
  double value = 0;
  std::string unit; ///< "cycles", "warps", "GB/s", …; empty for a pure number
};

/// The time that a launch would save if one property were ideal: the difference to the prediction with that change.
struct Benefit {
  std::string_view of;     ///< "transactions"
  double milliseconds = 0; ///< saved; negative if the model predicts a loss
};

struct Trust;

struct Prediction {
  std::string model;       ///< id: "hong-kim"
  std::string device;      ///< name: "GeForce GTX 280"
  double cycles = 0;       ///< of the model's clock, for the whole launch
  double milliseconds = 0; ///< the same as time
  double mwp = 0;          ///< memory warp parallelism: warps that can wait for memory at a time, per multiprocessor
  double cwp = 0;          ///< computation warp parallelism: warps that can compute during one warp's wait, plus one;
                           ///< both are 0 in models without them, and cwp without memory requests
  std::string bound;       ///< "memory", "compute", or "latency" (too few warps to keep either busy)
  std::string mwp_bound;   ///< what limits MWP: "departure", "bandwidth", "warps"; empty without MWP
  std::vector<Term> terms; ///< in the order in which they were computed
  std::vector<Benefit> benefits;    ///< largest first; see model/benefits.hpp
  std::vector<std::string> remarks; ///< assumptions, and limits of the model that the launch exceeds
  const Trust* trust = nullptr;     ///< of the one prediction to rely on: see model/trust.hpp; of the others null

  /// The value of a term by name; empty if the model has no such term.
  [[nodiscard]] std::optional<double> term(std::string_view name) const {
    for (const Term& t : terms)
      if (t.name == name) return t.value;
    return std::nullopt;
  }
};

/// Interpretations of the papers where they are ambiguous. The defaults reproduce the printed numbers.
struct ModelOptions {
  enum class Repetitions { fractional, whole };    ///< #Rep as computed, or rounded up to whole rounds of blocks
  enum class Synchronization { all_warps, block }; ///< MWP, or MIN(MWP, warps per block), warps wait at a barrier
  enum class Rounding { none, two_digits };        ///< of MWP; the example of Hong & Kim continues with 2.28
  enum class SpecialFunctions { in_line, beside }; ///< dasgupta: SFUs in turn with the SPs, or in parallel

  Repetitions repetitions = Repetitions::fractional;
  std::optional<Synchronization> synchronization; ///< empty: all_warps for hong-kim, block for dasgupta
  Rounding mwp_rounding = Rounding::none;
  SpecialFunctions special_functions = SpecialFunctions::in_line;
};

/// For the models: appends a term and returns its value, so that each equation is one line.
double note(Prediction& prediction, std::string name, double value, std::string unit);

/// For the models: sets the time. Errors: a term that is negative or not finite, which is possible only for a device
/// that load_device() did not create.
Expected<Prediction> finish(Prediction prediction, double cycles, double clock_ghz);

} // namespace warplens::model
