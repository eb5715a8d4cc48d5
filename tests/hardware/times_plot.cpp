// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/times_plot.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::tests {
namespace {

constexpr double kSize = 560, kLeft = 70, kTop = 20; // of the square between the axes, pixels
constexpr double kLeast = 2, kMost = 10000;          // microseconds

double along(double microseconds) { return kSize * std::log(microseconds / kLeast) / std::log(kMost / kLeast); }
double x_of(double microseconds) { return kLeft + along(microseconds); }
double y_of(double microseconds) { return kTop + kSize - along(microseconds); }

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' {}/>\n", x1, y1, x2, y2, style);
}

std::string axes() {
  std::string out = fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#444'/>\n", kLeft, kTop,
                                kSize, kSize);
  for (const double tick : {10.0, 100.0, 1000.0, 10000.0}) {
    constexpr const char* faint = "stroke='#ddd'";
    out += line(x_of(tick), kTop, x_of(tick), kTop + kSize, faint);
    out += line(kLeft, y_of(tick), kLeft + kSize, y_of(tick), faint);
    out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{:.0f}</text>\n", x_of(tick),
                       kTop + kSize + 18, tick);
    out +=
        fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{:.0f}</text>\n", kLeft - 6, y_of(tick) + 4, tick);
  }
  out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>measured, µs</text>\n", kLeft + kSize / 2,
                     kTop + kSize + 40);
  out += fmt::format("<text transform='translate(18 {:.1f}) rotate(-90)' text-anchor='middle'>predicted, µs</text>\n",
                     kTop + kSize / 2);
  constexpr double off = 1.2;
  out += line(x_of(kLeast), y_of(kLeast), x_of(kMost), y_of(kMost), "stroke='#444'");
  constexpr const char* dashed = "stroke='#444' stroke-dasharray='4 4'";
  out += line(x_of(kLeast), y_of(kLeast * off), x_of(kMost / off), y_of(kMost), dashed);
  out += line(x_of(kLeast * off), y_of(kLeast), x_of(kMost), y_of(kMost / off), dashed);
  return out;
}

std::string legend() {
  return fmt::format(
      "<circle cx='{0}' cy='40' r='4' fill='#c33' fill-opacity='0.7'/><text x='{1}' y='44'>held out</text>\n"
      "<circle cx='{0}' cy='60' r='3.5' fill='none' stroke='#26a'/><text x='{1}' y='64'>fitted to</text>\n"
      "<text x='{1}' y='84'>dashed: 20 % off</text>\n",
      kLeft + 20, kLeft + 32);
}

} // namespace

std::string times_plot(const std::vector<AskedLaunch>& launches) {
  std::string out =
      fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
                  "font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n",
                  kLeft + kSize + 30, kTop + kSize + 55);
  out += axes();
  for (const bool held_out : {false, true})
    for (const AskedLaunch& one : part(launches, held_out))
      out +=
          fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}' {}><title>{}, {}</title></circle>\n",
                      x_of(1e3 * one.milliseconds), y_of(1e3 * predicted_milliseconds(one)), held_out ? 4 : 3.5,
                      held_out ? "fill='#c33' fill-opacity='0.7'" : "fill='none' stroke='#26a'", one.kernel, one.label);
  return out + legend() + "</svg>\n";
}

} // namespace warplens::tests
