// docs/reproduction.md: what the papers print beside what this program computes, with the difference and a verdict.
//
//   page.section("Hong & Kim 2009", "section 3.5, the worked example");
//   page.number("Mem_L", "cycles", 730, *p.term("Mem_L"), 0);        | Mem_L, cycles | 730 | 730 | 0 | reproduced |
//
// A verdict is computed, never written down. A row that should be reproduced and is not fails the test, and so does a
// contradiction of a paper that has gone away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warplens::reproduction {

class Page {
public:
  /// A heading, and what the numbers below are.
  void section(std::string_view title, std::string_view text);
  /// A paragraph after the rows so far.
  void text(std::string_view paragraph);

  /// Reproduced where |ours - paper| is at most `tolerance` of the paper's number (0: equal to ten digits).
  void number(std::string_view what, std::string_view unit, double paper, double ours, double tolerance);
  /// The paper prints `digits` after the point; reproduced where ours rounds or is cut to that.
  void printed(std::string_view what, std::string_view unit, double paper, double ours, int digits);
  /// The paper does not agree with itself: what follows from its own numbers differs by more than `at_least` of what it
  /// prints.
  void contradiction(std::string_view what, std::string_view unit, double paper, double ours, double at_least,
                     std::string_view why);
  /// A model that misses a measurement, as the paper's own simple models do: no reproduction is claimed.
  void missed(std::string_view what, std::string_view unit, double measured, double ours, double at_least,
              std::string_view why);
  /// Ours was fitted to the very number: it tests nothing.
  void fitted(std::string_view what, std::string_view unit, double paper, double ours, std::string_view to);
  /// A statement: holds or not.
  void claim(std::string_view what, std::string_view paper, std::string_view ours, bool holds);
  /// A statement that we find not to hold. `holds` must be false.
  void refuted(std::string_view what, std::string_view paper, std::string_view ours, bool holds, std::string_view why);

  /// The whole page.
  [[nodiscard]] std::string markdown() const;
  /// Rows whose verdict is not the one that their kind asks for.
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  [[nodiscard]] int rows() const { return static_cast<int>(reproduced_ + contradictions_ + missed_ + fitted_); }

private:
  void row(std::string_view what, std::string_view paper, std::string_view ours, std::string_view difference,
           std::string_view verdict);

  std::string body_;
  bool in_table_ = false;
  std::vector<std::string> failures_;
  std::size_t reproduced_ = 0, contradictions_ = 0, missed_ = 0, fitted_ = 0;
};

/// The page of this tree.
Page reproduction();

// Its parts.
void hong_kim(Page& page);
void dasgupta(Page& page);
void dasgupta_kernels(Page& page);
void karan_kumar(Page& page);
void cornelis(Page& page);
void cme213(Page& page);
void occupancy(Page& page);
void h200(Page& page);

} // namespace warplens::reproduction
