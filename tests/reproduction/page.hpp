// SPDX-License-Identifier: Apache-2.0
// docs/reproduction.md: printed values of the papers and our values, with the difference and a verdict.
//
//   page.section("Hong & Kim 2009", "section 3.5, the worked example");
//   page.computed("Mem_L", "cycles", "730", *p.term("Mem_L"));      | Mem_L, cycles | 730 | 730 | 0 | reproduced |
//
// There are four kinds of rows, which are counted separately. Verdicts are always computed, by one rule: our value must
// agree with the digits that the paper prints. A row that does not agree needs a reason. The test fails if a reason is
// missing, or if a row that agrees has one.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::reproduction {

enum class Kind : unsigned char {
  computed,   ///< by the models, rules and calculators of the program, from inputs that do not contain the answer
  arithmetic, ///< with the paper's own numbers, without the program
  threshold,  ///< our own requirements
  fitted,     ///< to the printed value, or estimated: not a test
};
constexpr std::size_t kKinds = 4;

/// Whether our value agrees with the printed digits: it rounds to "12.3", or is within "4.15 ± 0.05".
bool as_printed(std::string_view printed, double ours);

class Page {
public:
  /// A heading, and a description of the rows that follow.
  void section(std::string_view title, std::string_view text);
  /// A paragraph after the previous rows.
  void text(std::string_view paragraph);

  /// `printed` as in the paper: "12.3" accepts 12.25 to 12.35, "4.15 ± 0.05" accepts 4.1 to 4.2. `why`: the reason for
  /// a value outside; empty if ours is within. A value that the paper truncated instead of rounding needs no reason.
  void computed(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                std::string_view why = {});
  void arithmetic(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                  std::string_view why = {});
  /// A statement of the paper, and whether it holds.
  void claim(Kind kind, std::string_view what, std::string_view paper, std::string_view ours, bool holds,
             std::string_view why = {});
  void threshold(std::string_view what, std::string_view wanted, std::string_view ours, bool met);
  /// `how`: "fitted to …" or "estimated: …".
  void fitted(std::string_view what, std::string_view unit, std::string_view printed, double ours,
              std::string_view how);

  /// The whole page.
  [[nodiscard]] std::string markdown() const;
  /// Rows outside without a reason, and rows within that have one.
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  struct Count {
    int within = 0, outside = 0;
    friend bool operator==(const Count&, const Count&) = default;
  };
  [[nodiscard]] const Count& count(Kind kind) const { return counts_[static_cast<std::size_t>(kind)]; }

private:
  void number(Kind kind, std::string_view what, std::string_view unit, std::string_view printed, double ours,
              std::string_view why);
  void row(Kind kind, bool within, std::string_view what, std::string_view paper, std::string_view ours,
           std::string_view difference, std::string_view why);

  std::string body_;
  bool in_table_ = false;
  std::vector<std::string> failures_;
  std::array<Count, kKinds> counts_{};
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
