#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::reproduction {
namespace {

std::string shown(double value) { return fmt::format("{:.10g}", value); }

std::string relative(double paper, double ours) {
  if (paper == ours) return "0";
  if (paper == 0) return fmt::format("{:.3g}", ours);
  const double percent = 100 * (ours / paper - 1);
  return std::abs(percent) < 1e-7 ? "0" : fmt::format("{:+.2g} %", percent);
}

std::string with_unit(std::string_view what, std::string_view unit) {
  return unit.empty() ? std::string(what) : fmt::format("{}, {}", what, unit);
}

constexpr std::string_view kReproduced = "reproduced";

} // namespace

void Page::section(std::string_view title, std::string_view text) {
  body_ += fmt::format("\n## {}\n{}\n", title, text);
  in_table_ = false;
}

void Page::text(std::string_view paragraph) {
  body_ += fmt::format("\n{}\n", paragraph);
  in_table_ = false;
}

void Page::row(std::string_view what, std::string_view paper, std::string_view ours, std::string_view difference,
               std::string_view verdict) {
  if (!in_table_) body_ += "\n| what | paper | ours | difference | verdict |\n| --- | --: | --: | --: | --- |\n";
  in_table_ = true;
  body_ += fmt::format("| {} | {} | {} | {} | {} |\n", what, paper, ours, difference, verdict);
}

void Page::number(std::string_view what, std::string_view unit, double paper, double ours, double tolerance) {
  const bool same = std::abs(ours - paper) <= std::max(tolerance, 1e-10) * std::abs(paper);
  if (!same) failures_.push_back(fmt::format("{}: {} is not {}", what, ours, paper));
  ++reproduced_;
  const std::string within =
      tolerance > 0 ? fmt::format("{} to {:g} %", kReproduced, 100 * tolerance) : std::string(kReproduced);
  row(with_unit(what, unit), shown(paper), fmt::format("{:.9g}", ours), relative(paper, ours),
      same ? within : "NOT REPRODUCED");
}

void Page::printed(std::string_view what, std::string_view unit, double paper, double ours, int digits) {
  const double last = std::pow(10, -digits);
  const bool same = std::abs(ours - paper) <= last / 2 * (1 + 1e-9) ||
                    std::abs(std::trunc(ours / last + 1e-9) * last - paper) < last * 1e-6;
  if (!same) failures_.push_back(fmt::format("{}: {} is not {}", what, ours, paper));
  ++reproduced_;
  row(with_unit(what, unit), fmt::format("{:.{}f}", paper, digits), fmt::format("{:.9g}", ours), relative(paper, ours),
      same ? fmt::format("{} as printed", kReproduced) : "NOT REPRODUCED");
}

void Page::contradiction(std::string_view what, std::string_view unit, double paper, double ours, double at_least,
                         std::string_view why) {
  if (std::abs(ours / paper - 1) < at_least) failures_.push_back(fmt::format("{}: no contradiction", what));
  ++contradictions_;
  row(with_unit(what, unit), shown(paper), fmt::format("{:.9g}", ours), relative(paper, ours),
      fmt::format("the paper contradicts itself: {}", why));
}

void Page::missed(std::string_view what, std::string_view unit, double measured, double ours, double at_least,
                  std::string_view why) {
  if (std::abs(ours / measured - 1) < at_least) failures_.push_back(fmt::format("{}: not missed", what));
  ++missed_;
  row(with_unit(what, unit), shown(measured), fmt::format("{:.9g}", ours), relative(measured, ours),
      fmt::format("missed: {}", why));
}

void Page::fitted(std::string_view what, std::string_view unit, double paper, double ours, std::string_view to) {
  ++fitted_;
  row(with_unit(what, unit), shown(paper), fmt::format("{:.9g}", ours), relative(paper, ours),
      fmt::format("fitted to {}: tests nothing", to));
}

void Page::claim(std::string_view what, std::string_view paper, std::string_view ours, bool holds) {
  if (!holds) failures_.push_back(fmt::format("{}: does not hold", what));
  ++reproduced_;
  row(what, paper, ours, "", holds ? kReproduced : "NOT REPRODUCED");
}

void Page::refuted(std::string_view what, std::string_view paper, std::string_view ours, bool holds,
                   std::string_view why) {
  if (holds) failures_.push_back(fmt::format("{}: holds after all", what));
  ++contradictions_;
  row(what, paper, ours, "", fmt::format("does not hold: {}", why));
}

std::string Page::markdown() const {
  return fmt::format(
      "# Reproduction of the papers\n"
      "Every number and claim of the papers that can be computed, beside what the models, rules and calculators of "
      "this "
      "program give. The page is written by `ninja -C build docs-reproduction`; a test computes it anew and "
      "compares.\n\n"
      "{} rows: {} reproduced, {} where a paper contradicts itself or the hardware, {} where a simple model misses a "
      "measurement, {} "
      "that "
      "were fitted to the number and test nothing. Nothing is tuned to hide a difference. The sources are listed in "
      "[models](models.md).\n{}",
      rows(), reproduced_, contradictions_, missed_, fitted_, body_);
}

Page reproduction() {
  Page page;
  hong_kim(page);
  dasgupta(page);
  dasgupta_kernels(page);
  karan_kumar(page);
  cornelis(page);
  cme213(page);
  occupancy(page);
  h200(page);
  page.section(
      "Not computed",
      "* Hong & Kim's errors over benchmarks (5.4 % and 13.3 %): the measured times are not printed.\n"
      "* Dasgupta's Figures 16 to 32: the predicted values are colours and curves; the predictions of the 38 other "
      "kernel variants are not printed.\n"
      "* Sim et al.: no table of the paper was at hand. The equations are tested by hand-worked examples "
      "(`tests/model/models_test.cpp`).\n"
      "* Amaris et al.: the published weights have no printed times beside them.\n"
      "* Cornelis's run times as curves (Figures 3.1 to 6.3), and his speed-up by mapping, whose three times are "
      "not printed.\n"
      "* uBench's curves: its conclusions about block size are below occupancy; the times of the GTX 480 are not "
      "printed.\n"
      "* Zhang & Owens, Baghsorkhi, GPUMech, MDM, GCoM, AMALI, PPT-GPU: not implemented.");
  return page;
}

} // namespace warplens::reproduction
