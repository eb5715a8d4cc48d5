// The sign plot of Dasgupta (CUDA Performance Analyzer, 2011, section 5.2.3): every version of a kernel against every
// other, 1 where it is over 10 % faster, -1 where it is over 10 % slower, 0 between; as predicted and as measured.
//
//   SignPlot plot = sign_plot(versions, 10);
//   plot.predicted[row][column] != plot.measured[row][column]   // the prediction is off for this pair
#pragma once

#include "api/sweep/compare.hpp"
#include "tools/plot.hpp"

namespace warplens::tools {

struct Version {
  std::string name;
  double predicted = 0;           ///< milliseconds
  std::optional<double> measured; ///< likewise
};

/// Names the launches by what tells them apart, and gives each the time of the first row of the CSV that fits: whose
/// cells, but for 'milliseconds', are the launch's kernel, device, file or settings of the column's name. Launches
/// without a prediction are left out. UsageError: the CSV cannot be read, has no such column, a time that is none, or
/// a row that fits no launch. `measured`: a CSV file; empty: none.
std::vector<Version> versions_of(std::span<const api::ReportFile> reports, const std::string& measured);

struct SignPlot {
  std::vector<Version> versions;
  std::vector<std::vector<int>> predicted, measured; ///< [row][column]: row against column; measured may be empty
  std::size_t pairs = 0, agree = 0;                  ///< of versions that were measured
};
/// `parity`: percent that are no difference.
SignPlot sign_plot(std::vector<Version> versions, double parity);

std::string sign_plot_text(const SignPlot& plot);
/// Colours say what is predicted, numbers what was measured, as in the thesis.
Matrix sign_plot_matrix(const SignPlot& plot);

} // namespace warplens::tools
