// docs/reproduction.md: what the papers print beside what comes out here, with the difference and a verdict.
//
//   page.section("Hong & Kim 2009", "section 3.5, the worked example");
//   page.computed("Mem_L", "cycles", "730", *p.term("Mem_L"));      | Mem_L, cycles | 730 | 730 | 0 | reproduced |
//
// Rows are of four kinds, which are counted apart. A verdict is computed, never written down, by one rule: the digits
// that the paper prints. A row outside of them says why; one that does not, and a reason where there is nothing to
// explain, fail the test.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::reproduction {

enum class Kind : unsigned char {
  computed,   ///< by the models, rules and calculators of the program, from inputs that do not contain the answer
  arithmetic, ///< on the paper's own numbers: calls nothing of the program
  threshold,  ///< what we ask of ourselves
  fitted,     ///< to the number, or estimated: tests nothing
};
constexpr std::size_t kKinds = 4;

/// Whether ours has the digits that the paper prints: what rounds to "12.3", or lies in "4.15 ± 0.05".
bool as_printed(std::string_view printed, double ours);

class Page {
public:
  /// A heading, and what the numbers below are.
  void section(std::string_view title, std::string_view text);
  /// A paragraph after the rows so far.
  void text(std::string_view paragraph);

  /// `printed` as in the paper: "12.3" is met from 12.25 to 12.35, "4.15 ± 0.05" from 4.1 to 4.2. `why`: what explains
  /// a number outside, empty where ours is within. A number that the paper cut instead of rounding explains itself.
  void computed(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                std::string_view why = {});
  void arithmetic(std::string_view what, std::string_view unit, std::string_view printed, double ours,
                  std::string_view why = {});
  /// A statement of the paper, which holds or not.
  void claim(Kind kind, std::string_view what, std::string_view paper, std::string_view ours, bool holds,
             std::string_view why = {});
  void threshold(std::string_view what, std::string_view wanted, std::string_view ours, bool met);
  /// `how`: "fitted to …" or "estimated: …".
  void fitted(std::string_view what, std::string_view unit, std::string_view printed, double ours,
              std::string_view how);

  /// The whole page.
  [[nodiscard]] std::string markdown() const;
  /// Rows outside without a reason, and reasons without a row outside.
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
