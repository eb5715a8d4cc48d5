// SPDX-License-Identifier: Apache-2.0
// Plots as SVG or PNG, drawn by gnuplot.
//
//   Plot plot{"naive on GeForce GTX 480", "block, threads", "predicted time, ms", {"64", "128"}, {{"sim", {0.5,
//   0.4}}}}; draw(plot, "times.svg");
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warplens::tools {

/// Lines over named, equally spaced positions on the x axis.
struct Plot {
  struct Line {
    std::string name;
    std::vector<std::optional<double>> values; ///< for each place; empty: a gap
  };
  std::string title, x_title, y_title; ///< axis titles include the units
  std::vector<std::string> places;
  std::vector<Line> lines;
  bool logarithmic = false; ///< y axis; no value may be 0 or less then
};

/// A matrix of squares, each with a colour and a text.
struct Matrix {
  std::string title;
  std::vector<std::string> rows, columns; ///< rows from the top
  std::vector<std::vector<int>> colours;  ///< -1, 0 or 1; by row
  std::vector<std::vector<std::string>> texts;
  std::string legend; ///< what the colours mean
};

/// UsageError: the name does not end with .svg or .png.
void check_plot_name(const std::string& file);

/// UsageError: the name ends otherwise; gnuplot is not installed; the file cannot be written.
void draw(const Plot& plot, const std::string& file);
void draw(const Matrix& matrix, const std::string& file);

/// The script for gnuplot. Names in it are only displayed: they cannot act as commands.
std::string script_of(const Plot& plot, bool svg);
std::string script_of(const Matrix& matrix, bool svg);

} // namespace warplens::tools
