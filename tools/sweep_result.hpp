// What is shown of a sweep: a table as text or CSV, and which configuration it recommends.
#pragma once

#include "api/report/style.hpp"
#include "api/sweep/sweep.hpp"
#include "tools/plot.hpp"

#include <string>
#include <vector>

namespace warplens::tools {

/// How rows are ranked.
struct Ranking {
  std::string metric = "milliseconds";
  bool largest = false; ///< is the best, instead of the smallest
  double ties = 5;      ///< percent: rows that are so near to the best are as good
};

/// Names of the settings that differ between the rows, in their order.
std::vector<std::string> varying_settings(std::span<const api::SweepRow> rows);

/// For the terminal: settings that vary, time, bound, occupancy, transactions, the ranking metric, `more`.
std::string sweep_text(std::span<const api::SweepRow> rows, const Ranking& ranking,
                       const std::vector<std::string>& more, const api::Style& style);

/// As CSV: all settings, what was run, the result; then the metrics named, or every one that a row has ("all").
std::string sweep_csv(std::span<const api::SweepRow> rows, const std::vector<std::string>& metrics);

/// The ranking metric over the setting `x`, a line for each combination of the others; without `x`, over the block
/// where that varies, else over the setting given last. UsageError: there is no such setting.
Plot sweep_plot(std::span<const api::SweepRow> rows, const Ranking& ranking, const std::string& x);

/// The best of the rows that do the same work: that differ in block, grid, shared memory, registers and first level
/// only; of all rows where none of these varies.
struct Recommendation {
  api::Settings work; ///< what the rows have in common, as far as it varies among all
  const api::SweepRow* best = nullptr;
  std::vector<const api::SweepRow*> as_good; ///< within the ties
  const api::SweepRow* worst = nullptr;
  std::size_t count = 0; ///< of rows with the metric
};
std::vector<Recommendation> recommend(std::span<const api::SweepRow> rows, const Ranking& ranking);
std::string recommendation_text(const std::vector<Recommendation>& all, const Ranking& ranking,
                                const api::Style& style);

} // namespace warplens::tools
