// SPDX-License-Identifier: Apache-2.0
// The sign plot of Dasgupta (CUDA Performance Analyzer, 2011, section 5.2.3): compares every version of a kernel with
// every other: 1 if it is over 10 % faster, -1 if it is over 10 % slower, else 0; both predicted and measured.
//
//   SignPlot plot = sign_plot(versions, 10);
//   plot.predicted[row][column] != plot.measured[row][column]   // the prediction is wrong for this pair
#pragma once

#include "api/sweep/compare.hpp"
#include "tools/plot.hpp"

namespace warplens::tools {

struct Version {
  std::string name;
  double predicted = 0;           ///< milliseconds
  std::optional<double> measured; ///< likewise
};

/// Names the launches by the traits that differ, and gives each the time of the first matching row of the CSV. A row
/// matches if all cells except 'milliseconds' equal the launch's kernel, device, file or setting of the column's name.
/// Skips launches without a prediction. UsageError: the CSV cannot be read, has no such column, an invalid time, or a
/// row that matches no launch. `measured`: a CSV file; empty: none.
std::vector<Version> versions_of(std::span<const api::ReportFile> reports, const std::string& measured);

struct SignPlot {
  std::vector<Version> versions;
  std::vector<std::vector<int>> predicted, measured; ///< [row][column]: row compared with column; measured may be empty
  std::size_t pairs = 0, agree = 0;                  ///< of measured versions
};
/// `parity`: differences up to this percentage count as equal.
SignPlot sign_plot(std::vector<Version> versions, double parity);

std::string sign_plot_text(const SignPlot& plot);
/// Colours show the predictions, numbers the measurements, as in the thesis.
Matrix sign_plot_matrix(const SignPlot& plot);

} // namespace warplens::tools
