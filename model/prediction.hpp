// What a model says of a kernel on a device, with every term that led to it, so that a report can explain itself.
//
//   model hong-kim on GTX 280: 38428 cycles, 29.56 ms, MWP 2.28, CWP 20, bound by memory (warps depart too slowly)
#pragma once

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

struct Prediction {
  std::string model;       ///< id: "hong-kim"
  std::string device;      ///< name: "GeForce GTX 280"
  double cycles = 0;       ///< of the model's clock, for the whole launch
  double milliseconds = 0; ///< the same as time
  double mwp = 0;          ///< memory warp parallelism: warps that can wait for memory at a time, per multiprocessor
  double cwp = 0;          ///< computation warp parallelism: warps that can compute during one warp's wait, plus one
  std::string bound;       ///< "memory", "compute", or "latency" (too few warps to keep either busy)
  std::string mwp_bound;   ///< what keeps MWP from growing: "departure", "bandwidth", "warps"
  std::vector<Term> terms; ///< in the order in which they were computed
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

  Repetitions repetitions = Repetitions::fractional;
  std::optional<Synchronization> synchronization; ///< empty: all_warps for hong-kim, block for dasgupta
  Rounding mwp_rounding = Rounding::none;
};

} // namespace warplens::model
