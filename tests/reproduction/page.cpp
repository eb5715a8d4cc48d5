// SPDX-License-Identifier: Apache-2.0
#include "tests/reproduction/page.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::reproduction {
namespace {

/// A printed value: "12.3", or "4.15 ± 0.05".
struct Printed {
  double value = 0;
  double unit = 1; ///< of the last digit
  double spread = 0;

  explicit Printed(std::string_view text) {
    const std::size_t sign = text.find("±");
    const std::string number(text.substr(0, sign));
    const std::size_t end = number.find_last_not_of(' ') + 1, point = number.find('.');
    value = std::stod(number);
    if (point != number.npos) unit = std::pow(10, -static_cast<double>(end - point - 1));
    spread = sign == text.npos ? unit / 2 : std::stod(std::string(text.substr(sign + std::string_view("±").size())));
  }
  [[nodiscard]] bool has(double ours) const {
    constexpr double kOfBinary = 1e-9; // decimals that double cannot hold
    return std::abs(ours - value) <= spread + kOfBinary * unit;
  }
  [[nodiscard]] bool is_cut_from(double ours) const {
    return std::abs(std::trunc(ours / unit + 1e-9) * unit - value) < unit * 1e-6;
  }
};

std::string relative(double paper, double ours) {
  if (paper == ours) return "0";
  if (paper == 0) return fmt::format("{:.3g}", ours);
  const double percent = 100 * (ours / paper - 1);
  return std::abs(percent) < 1e-9 ? "0" : fmt::format("{:+.2g} %", percent);
}

std::string with_unit(std::string_view what, std::string_view unit) {
  return unit.empty() ? std::string(what) : fmt::format("{}, {}", what, unit);
}

std::string digits(double ours) { return fmt::format("{:.10g}", ours); }

constexpr std::string_view kVerdicts[kKinds] = {"reproduced", "agrees", "met", ""};

} // namespace

bool as_printed(std::string_view printed, double ours) { return Printed(printed).has(ours); }

void Page::section(std::string_view title, std::string_view text) {
  body_ += fmt::format("\n## {}\n{}\n", title, text);
  in_table_ = false;
}

void Page::text(std::string_view paragraph) {
  body_ += fmt::format("\n{}\n", paragraph);
  in_table_ = false;
}

void Page::row(Kind kind, bool within, std::string_view what, std::string_view paper, std::string_view ours,
               std::string_view difference, std::string_view why) {
  constexpr std::string_view kinds[kKinds] = {"computed", "arithmetic", "threshold", "fitted"};
  if (within && !why.empty() && kind != Kind::fitted) failures_.push_back(fmt::format("{}: is within", what));
  if (!within && why.empty()) failures_.push_back(fmt::format("{}: {} is not {}", what, ours, paper));
  Count& count = counts_[static_cast<std::size_t>(kind)];
  ++(within ? count.within : count.outside);
  if (!in_table_)
    body_ += "\n| quantity | kind | paper | Warplens | difference | verdict |\n"
             "| --- | --- | --: | --: | --: | --- |\n";
  in_table_ = true;
  const std::string verdict = kind == Kind::fitted ? fmt::format("{}; not a test", why)
                              : within             ? std::string(kVerdicts[static_cast<std::size_t>(kind)])
                                                   : fmt::format("outside: {}", why.empty() ? "NOT EXPLAINED" : why);
  body_ += fmt::format("| {} | {} | {} | {} | {} | {} |\n", what, kinds[static_cast<std::size_t>(kind)], paper, ours,
                       difference, verdict);
}

void Page::number(Kind kind, std::string_view what, std::string_view unit, std::string_view printed, double ours,
                  std::string_view why) {
  const Printed paper(printed);
  if (why.empty() && !paper.has(ours) && paper.is_cut_from(ours)) why = "truncated to these digits, not rounded";
  row(kind, paper.has(ours), with_unit(what, unit), printed, digits(ours), relative(paper.value, ours), why);
}

void Page::computed(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                    std::string_view why) {
  number(Kind::computed, what, unit, printed, ours, why);
}

void Page::arithmetic(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                      std::string_view why) {
  number(Kind::arithmetic, what, unit, printed, ours, why);
}

void Page::claim(Kind kind, std::string_view what, std::string_view paper, std::string_view ours, bool holds,
                 std::string_view why) {
  row(kind, holds, what, paper, ours, "", why);
}

void Page::threshold(std::string_view what, std::string_view wanted, std::string_view ours, bool met) {
  claim(Kind::threshold, what, wanted, ours, met);
}

void Page::fitted(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                  std::string_view how) {
  row(Kind::fitted, true, with_unit(what, unit), printed, digits(ours), relative(Printed(printed).value, ours), how);
}

std::string Page::markdown() const {
  const Count &computed = count(Kind::computed), &arithmetic = count(Kind::arithmetic),
              &threshold = count(Kind::threshold), &fitted = count(Kind::fitted);
  return fmt::format(
      "# Reproduction of the papers\n"
      "This page compares every number and claim of the papers that can be checked with the results of Warplens. "
      "`ninja -C build docs-reproduction` generates the page; a test computes it again and compares.\n\n"
      "Only rows of the first kind test Warplens:\n\n"
      "| kind | description | rows | as printed | outside |\n"
      "| --- | --- | --: | --: | --: |\n"
      "| computed | computed by the models, rules and calculators of Warplens, from inputs that do not contain the "
      "result "
      "| {} | {} | {} |\n"
      "| arithmetic | arithmetic on the paper's own numbers, without code of Warplens | {} | {} | {} |\n"
      "| threshold | a requirement for Warplens's own model | {} | {} | {} |\n"
      "| fitted | fitted to the number itself, or estimated; not a test | {} | | |\n\n"
      "The printed digits decide whether a number is reproduced. A printed 12.3 is reproduced by a value that rounds "
      "to it, 12.25 to 12.35. If a paper prints a spread, as in 4.15 ± 0.05, the value must lie within it. Rows "
      "outside show both values, the difference and the reason. The sources are listed in [models](models.md).\n{}",
      computed.within + computed.outside, computed.within, computed.outside, arithmetic.within + arithmetic.outside,
      arithmetic.within, arithmetic.outside, threshold.within + threshold.outside, threshold.within, threshold.outside,
      fitted.within, body_);
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
      "* Sim et al.: no table of the paper was available. The equations are tested by hand-worked examples "
      "(`tests/model/models_test.cpp`).\n"
      "* Amaris et al.: the published weights are printed without times.\n"
      "* Cornelis's run times as curves (Figures 3.1 to 6.3), and his speedup by mapping, whose three times are not "
      "printed.\n"
      "* uBench's curves: its conclusions about block size are under \"Occupancy\"; the times of the GTX 480 are not "
      "printed.\n"
      "* Zhang & Owens, Baghsorkhi, GPUMech, MDM, GCoM, AMALI, PPT-GPU: not implemented.");
  return page;
}

} // namespace warplens::reproduction
