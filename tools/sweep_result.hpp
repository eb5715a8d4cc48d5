// SPDX-License-Identifier: Apache-2.0
// The output of a sweep: a table as text or CSV, and the recommended configuration.
#pragma once

#include "api/report/style.hpp"
#include "api/sweep/sweep.hpp"
#include "tools/plot.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::tools {

/// How rows are ranked.
struct Ranking {
  std::string metric = "milliseconds";
  bool largest = false; ///< the largest value is the best, not the smallest
  double ties = 5;      ///< percent: rows this close to the best are as good

  [[nodiscard]] bool by_time() const { return metric == "milliseconds"; }
};

/// Names of the settings that differ between the rows, in their order.
std::vector<std::string> varying_settings(std::span<const api::SweepRow> rows);

/// For the terminal: the varying settings, time, bound, occupancy, transactions, the ranking metric, `more`.
std::string sweep_text(std::span<const api::SweepRow> rows, const Ranking& ranking,
                       const std::vector<std::string>& more, const api::Style& style);

/// As CSV: all settings, the launch, the result; then the named metrics, or all metrics of any row ("all").
std::string sweep_csv(std::span<const api::SweepRow> rows, const std::vector<std::string>& metrics);

/// The ranking metric over the setting `x`, with a line for each combination of the others. Without `x`: over the block
/// if it varies, else over the last varying setting. UsageError: there is no such setting.
Plot sweep_plot(std::span<const api::SweepRow> rows, const Ranking& ranking, const std::string& x);

/// The best of the rows that do the same work: rows that differ only in block, grid, shared memory, registers and
/// first-level cache. The best of all rows if none of these varies.
struct Recommendation {
  api::Settings work; ///< settings that vary among all rows, but not among these
  const api::SweepRow* best = nullptr;
  std::vector<const api::SweepRow*> as_good; ///< within the ties
  const api::SweepRow* worst = nullptr;
  std::size_t count = 0;          ///< number of rows with the metric
  std::set<std::string> models{}; ///< that predict these rows
};
std::vector<Recommendation> recommend(std::span<const api::SweepRow> rows, const Ranking& ranking);
/// Of the only recommendation; empty if there are several, or none.
api::Settings recommended_settings(const std::vector<Recommendation>& recommended);
/// The page for a browser: the rows with plots, and what to know about the times.
std::string sweep_page(std::span<const api::SweepRow> rows, const std::vector<Recommendation>& recommended,
                       const Ranking& ranking);
/// A caution if times are by several models: these disagree by more than most configurations. Else empty.
std::string caution(const std::set<std::string>& models, std::string_view indent);
std::string recommendation_text(const std::vector<Recommendation>& all, const Ranking& ranking,
                                const api::Style& style);

} // namespace warplens::tools
