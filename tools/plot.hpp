// Plots as SVG or PNG, drawn by gnuplot.
//
//   Plot plot{"naive on GeForce GTX 480", "block, threads", "predicted time, ms", {"64", "128"}, {{"sim", {0.5,
//   0.4}}}}; draw(plot, "times.svg");
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warplens::tools {

/// Lines over places on the x axis that have names, at equal distances.
struct Plot {
  struct Line {
    std::string name;
    std::vector<std::optional<double>> values; ///< for each place; empty: a gap
  };
  std::string title, x_title, y_title; ///< titles of axes with their units
  std::vector<std::string> places;
  std::vector<Line> lines;
  bool logarithmic = false; ///< y axis; no value may be 0 or less then
};

/// A matrix of squares with a colour and a text each.
struct Matrix {
  std::string title;
  std::vector<std::string> rows, columns; ///< rows from the top
  std::vector<std::vector<int>> colours;  ///< -1, 0 or 1; by row
  std::vector<std::vector<std::string>> texts;
  std::string legend; ///< what the colours mean
};

/// The name ends with .svg or .png. UsageError: it does not.
void check_plot_name(const std::string& file);

/// UsageError: another ending; gnuplot is not installed; the file cannot be written.
void draw(const Plot& plot, const std::string& file);
void draw(const Matrix& matrix, const std::string& file);

/// What gnuplot is given: the names in it can do nothing but be shown.
std::string script_of(const Plot& plot, bool svg);
std::string script_of(const Matrix& matrix, bool svg);

} // namespace warplens::tools
