// SPDX-License-Identifier: Apache-2.0
#include "tests/hardware/scatter_plot.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::tests {
namespace {

constexpr double kSize = 560, kLeft = 70, kTop = 20; // of the square between the axes, pixels

class Plane {
public:
  explicit Plane(const Axes& axes) : least_(axes.least), most_(axes.most) {}
  [[nodiscard]] double x(double microseconds) const { return kLeft + along(microseconds); }
  [[nodiscard]] double y(double microseconds) const { return kTop + kSize - along(microseconds); }

private:
  [[nodiscard]] double along(double microseconds) const {
    return kSize * std::log(microseconds / least_) / std::log(most_ / least_);
  }
  double least_, most_;
};

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' {}/>\n", x1, y1, x2, y2, style);
}

std::string frame(const Axes& axes) {
  const Plane plane(axes);
  std::string out = fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#444'/>\n", kLeft, kTop,
                                kSize, kSize);
  for (double tick = 10; tick <= axes.most; tick *= 10) {
    constexpr const char* faint = "stroke='#ddd'";
    out += line(plane.x(tick), kTop, plane.x(tick), kTop + kSize, faint);
    out += line(kLeft, plane.y(tick), kLeft + kSize, plane.y(tick), faint);
    out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{:.0f}</text>\n", plane.x(tick),
                       kTop + kSize + 18, tick);
    out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{:.0f}</text>\n", kLeft - 6, plane.y(tick) + 4,
                       tick);
  }
  out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>measured, µs</text>\n", kLeft + kSize / 2,
                     kTop + kSize + 40);
  out += fmt::format("<text transform='translate(18 {:.1f}) rotate(-90)' text-anchor='middle'>predicted, µs</text>\n",
                     kTop + kSize / 2);
  constexpr double off = 1.2;
  out += line(plane.x(axes.least), plane.y(axes.least), plane.x(axes.most), plane.y(axes.most), "stroke='#444'");
  constexpr const char* dashed = "stroke='#444' stroke-dasharray='4 4'";
  out += line(plane.x(axes.least), plane.y(axes.least * off), plane.x(axes.most / off), plane.y(axes.most), dashed);
  out += line(plane.x(axes.least * off), plane.y(axes.least), plane.x(axes.most), plane.y(axes.most / off), dashed);
  return out;
}

std::string legend(const Axes& axes) {
  return fmt::format("<circle cx='{0}' cy='40' r='4' fill='#c33' fill-opacity='0.7'/><text x='{1}' y='44'>{2}</text>\n"
                     "<circle cx='{0}' cy='60' r='3.5' fill='none' stroke='#26a'/><text x='{1}' y='64'>{3}</text>\n"
                     "<text x='{1}' y='84'>dashed: 20 % off</text>\n",
                     kLeft + 20, kLeft + 32, axes.filled, axes.open);
}

} // namespace

std::string scatter_plot(const std::vector<Point>& points, const Axes& axes) {
  const Plane plane(axes);
  std::string out =
      fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
                  "font-family='sans-serif' font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n",
                  kLeft + kSize + 30, kTop + kSize + 55);
  out += frame(axes);
  for (const bool filled : {false, true})
    for (const Point& p : points)
      if (p.filled == filled)
        out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}' {}><title>{}</title></circle>\n",
                           plane.x(p.measured), plane.y(p.predicted), filled ? 4 : 3.5,
                           filled ? "fill='#c33' fill-opacity='0.7'" : "fill='none' stroke='#26a'", p.title);
  return out + legend(axes) + "</svg>\n";
}

} // namespace warplens::tests
