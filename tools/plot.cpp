// SPDX-License-Identifier: Apache-2.0
#include "tools/plot.hpp"

#include "tools/output.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

namespace warplens::tools {

namespace {

bool is_svg(const std::string& file) { return file.ends_with(".svg"); }

/// In single quotes, gnuplot expands neither escapes nor `commands`.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, static_cast<unsigned char>(c) < ' ' ? ' ' : c);
  return result + "'";
}

std::string head(const std::string& title, bool svg, int width, int height) {
  // noenhanced: _ and ^ in names are ordinary characters.
  return fmt::format("set terminal {} size {},{} {} noenhanced font '{}'\n"
                     "set encoding utf8\n"
                     "set title {}\n",
                     svg ? "svg" : "pngcairo", svg ? width : 2 * width, svg ? height : 2 * height,
                     svg ? "dynamic background 'white'" : "background 'white' fontscale 2 linewidth 2 pointscale 2",
                     svg ? "Helvetica,14" : "Sans,11", quoted(title));
}

std::string tics(char axis, const std::vector<std::string>& names, bool turned) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted(names[i]), i);
  return fmt::format("set {}tics {}({})\n", axis, turned ? "rotate by -45 left " : "", list);
}

std::size_t longest(const std::vector<std::string>& names) {
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, name.size());
  return most;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File temporary() {
  File file(std::tmpfile(), std::fclose);
  if (!file) throw UsageError{"cannot write a temporary file", ""};
  return file;
}

std::string content(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, got);
  return text;
}

/// gnuplot's output for the script. Input and output are plain files, so no name becomes a command.
std::string run_gnuplot(const std::string& script) {
  const File in = temporary(), out = temporary(), complaints = temporary();
  std::fwrite(script.data(), 1, script.size(), in.get());
  std::rewind(in.get());
  const pid_t process = fork();
  if (process < 0) throw UsageError{"cannot start gnuplot", ""};
  if (process == 0) {
    dup2(fileno(in.get()), STDIN_FILENO);
    dup2(fileno(out.get()), STDOUT_FILENO);
    dup2(fileno(complaints.get()), STDERR_FILENO);
    execlp("gnuplot", "gnuplot", "-", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw UsageError{"plots require gnuplot, which is not installed", "on Debian: apt-get install gnuplot-nox"};
  std::string picture = content(out.get());
  if (status != 0 || picture.empty())
    throw UsageError{fmt::format("gnuplot could not draw the plot: {}", content(complaints.get())), ""};
  return picture;
}

template <class Picture> void draw_any(const Picture& picture, const std::string& file) {
  check_plot_name(file);
  write_file(file, run_gnuplot(script_of(picture, is_svg(file))));
}

} // namespace

void check_plot_name(const std::string& file) {
  if (!is_svg(file) && !file.ends_with(".png"))
    throw UsageError{fmt::format("--plot {}: expected a name that ends with .svg or .png", file), ""};
}

void draw(const Plot& plot, const std::string& file) { draw_any(plot, file); }
void draw(const Matrix& matrix, const std::string& file) { draw_any(matrix, file); }

std::string script_of(const Plot& plot, bool svg) {
  // Okabe and Ito's colours, which people with any colour vision can distinguish; dashes and points for printing
  // without colours.
  constexpr std::string_view kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
  const bool beside = plot.lines.size() > 1;
  std::string script = head(plot.title, svg, 800 + (beside ? 150 : 0), 500);
  script += fmt::format("set xlabel {}\nset ylabel {}\n", quoted(plot.x_title), quoted(plot.y_title));
  script += "set grid ytics linecolor '#cccccc'\nset border 3\nset tics nomirror out\nset datafile missing '?'\n";
  script += beside ? "set key outside right top Left reverse\n" : "unset key\n";
  script += plot.logarithmic ? "set logscale y\n" : "set yrange [0:*]\n";
  script += fmt::format("set xrange [-0.5:{}]\n", static_cast<double>(plot.places.size()) - 0.5);
  script += tics('x', plot.places, plot.places.size() * longest(plot.places) > 60);
  std::string lines;
  for (std::size_t l = 0; l < plot.lines.size(); ++l) {
    script += fmt::format("$line{} << END\n", l);
    for (std::size_t i = 0; i < plot.places.size(); ++i) {
      const auto& value = plot.lines[l].values.at(i);
      script += fmt::format("{} {}\n", i, value ? fmt::format("{}", *value) : "?");
    }
    script += "END\n";
    lines += fmt::format(
        "{}$line{} using 1:2 with linespoints linewidth 2 linecolor '{}' dashtype {} pointtype {} title {}",
        l == 0 ? "" : ", ", l, kColours[l % std::size(kColours)], l % 5 + 1, l % 7 + 4, quoted(plot.lines[l].name));
  }
  return script + "plot " + lines + "\n";
}

std::string script_of(const Matrix& matrix, bool svg) {
  const int columns = static_cast<int>(matrix.columns.size()), rows = static_cast<int>(matrix.rows.size());
  std::string script =
      head(matrix.title, svg, std::clamp(300 + 60 * columns, 800, 2000), std::min(250 + 45 * rows, 2000));
  script +=
      fmt::format("set xlabel {}\nset border\nset tics scale 0\nunset key\nunset colorbox\n", quoted(matrix.legend));
  script += fmt::format("set xrange [-0.5:{}]\nset yrange [{}:-0.5]\n", columns - 0.5, rows - 0.5);
  script += tics('x', matrix.columns, true) + tics('y', matrix.rows, false);
  script +=
      "set cbrange [-1:1]\nset palette maxcolors 3 defined (-1 '#e69f00', 0 '#ffffff', 1 '#56b4e9')\n$cells << END\n";
  std::string labels;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      const auto row = static_cast<std::size_t>(r), column = static_cast<std::size_t>(c);
      script += fmt::format("{} {} {}\n", c, r, matrix.colours.at(row).at(column));
      labels += fmt::format("set label {} at {},{} center front\n", quoted(matrix.texts.at(row).at(column)), c, r);
    }
  return script + "END\n" + labels + "plot $cells using 1:2:3 with image\n";
}

} // namespace warplens::tools
