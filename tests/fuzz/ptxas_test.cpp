// SPDX-License-Identifier: Apache-2.0
// The checker accepts each line of random modules that ptxas accepts, and no other. A module has many kernels of random
// statements of the instruction table, some of which are changed; others are changed files of the golden tests and the
// corpora. Differences that are intended are recognised by rules (ptxas_rules.cpp).
//
//   ptxas_test --first 5000 --programs 10000
#include "tests/fuzz/driver_files.hpp"
#include "tests/fuzz/mutate_ptx.hpp"
#include "tests/fuzz/ptxas.hpp"
#include "tests/fuzz/ptxas_rules.hpp"

#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <span>

namespace warplens::fuzz {
namespace ptxas_test {

std::uint64_t first_program = 0, program_count = 200;

constexpr std::size_t kMostBytes = 6000;   // of a module that is changed
constexpr std::size_t kStatements = 20;    // of a kernel
constexpr std::uint64_t kTogether = 100;   // kernels of a module
constexpr std::uint64_t kChangedFile = 25; // one of so many programs is a changed file

/// What the checker accepts of the golden tests and the corpora.
const std::vector<std::string>& files() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const char* folder : {"tests/golden", "tests/data/fuzz/ptx_check", "tests/data/fuzz/ptx_run"})
      add_inputs(WARPLENS_SOURCE_DIR "/" + std::string(folder), list);
    std::erase_if(list, [](const std::string& text) {
      return text.size() > kMostBytes || text.find(".version") == text.npos || !ask_checker(text).empty();
    });
    return list;
  }();
  return all;
}

const std::vector<std::string>& words() {
  static const std::vector<std::string> all = ptx_dictionary();
  return all;
}

/// Whether a change has left kernels and comments as they were, so that it concerns its line only.
bool same_structure(std::string_view a, std::string_view b) {
  return std::ranges::all_of(std::string_view("{}\"/"),
                             [&](char c) { return std::ranges::count(a, c) == std::ranges::count(b, c); });
}

std::string changed_file(std::uint64_t number) {
  Random random(number);
  std::string text = random.any(files());
  for (std::size_t n = 1 + random.below(4); n > 0; --n) mutate_ptx(text, {random, words(), random.any(files())});
  return text;
}

/// Kernels of random statements, some of which are then changed. All are for one target.
class Kernels {
public:
  explicit Kernels(std::uint64_t number) : random_(number) {
    constexpr const char* kPlaces[][2] = {
        {"9.0", "sm_100a"}, {"9.0", "sm_90a"},  {"9.0", "sm_120a"}, {"9.0", "sm_100f"},
        {"9.0", "sm_110a"}, {"9.0", "sm_103a"}, {"9.0", "sm_80"},   {"8.8", "sm_100"},
        {"8.0", "sm_90"},   {"7.8", "sm_89"},   {"7.4", "sm_86"},   {"6.5", "sm_75"},
        {"8.6", "sm_100a"}, {"9.0", "sm_75"},   {"8.3", "sm_90a"},  {"9.0", "sm_121f"}};
    const auto& place = random_.any(kPlaces);
    head_ = std::string(".version ") + place[0] + "\n.target " + place[1] + "\n.address_size 64\n";
  }
  void add() {
    std::string text = random_module(random_, kStatements);
    for (std::size_t n = random_.below(12); n > 0; --n) {
      std::string next = text;
      mutate_ptx(next, {random_, words(), ""});
      // For ptxas, a module ends at a syntax error, so that each costs another run.
      if (same_structure(text, next) && (ir::parse(next, "") || random_.one_in(16))) text = std::move(next);
    }
    const std::size_t declarations = text.find(".global"), kernel = text.find(".visible .entry k(");
    if (declarations == text.npos || kernel == text.npos || kernel < declarations) return;
    if (count_ == 0) head_ += text.substr(declarations, kernel - declarations);
    text.insert(text.find('(', kernel), std::to_string(count_++));
    list_.push_back(text.substr(kernel));
  }
  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }

private:
  Random random_;
  std::string head_;
  std::vector<std::string> list_;
  std::uint64_t count_ = 0;
};

Complaints common(const Complaints& a, const Complaints& b) {
  Complaints both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()),
                        [](const auto& x, const auto& y) { return x.first < y.first; });
  return both;
}

/// Compares the verdicts on a module, and on what is left of it without the lines that are refused.
class Comparison {
public:
  explicit Comparison(const Ptxas& ptxas) : ptxas_(ptxas) {}

  /// Halves the kernels until ptxas does not crash, which it often does after errors.
  void compare(const std::string& head, std::span<const std::string> kernels) {
    std::string module = head;
    for (const std::string& kernel : kernels) module += kernel;
    if (kernels.size() == 1 || !crashed(ask_ptxas(ptxas_, module))) return compare(std::move(module));
    compare(head, kernels.first(kernels.size() / 2));
    compare(head, kernels.subspan(kernels.size() / 2));
  }
  void compare(std::string module) {
    constexpr int kMostTurns = 100; // a syntax error ends the module for ptxas
    lines_ += static_cast<std::uint64_t>(std::ranges::count(module, ';'));
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const Complaints ours = ask_checker(module);
      Complaints theirs = ask_ptxas(ptxas_, module);
      if (crashed(theirs)) {
        ++crashes_;
        if (ours.empty()) note(module, false, theirs);
        if (ours.empty() || ours.contains(0)) return;
        module = without(module, ours);
        continue;
      }
      if (theirs.empty() && ours.empty()) return;
      if (theirs.empty() || ours.empty()) {
        note(module, theirs.empty(), theirs.empty() ? ours : theirs);
      } else if (common(theirs, ours).empty()) {
        const std::string rest = without(module, ours);
        if (const Complaints they = ask_ptxas(ptxas_, rest); !they.empty() && ask_checker(rest).empty())
          note(rest, false, they);
      }
      if (theirs.contains(0) || ours.contains(0)) return;
      Complaints removed = common(theirs, ours);
      if (removed.empty()) removed = theirs.empty() ? ours : theirs;
      refused_ += removed.size();
      module = without(module, removed);
    }
  }
  /// The differences that rules explain, by rule.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& explained() const { return explained_; }
  [[nodiscard]] std::uint64_t statements() const { return lines_; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  [[nodiscard]] std::uint64_t crashes() const { return crashes_; }
  [[nodiscard]] std::uint64_t unexplained() const { return kept_; }

private:
  static bool crashed(const Complaints& complaints) {
    return !complaints.empty() && complaints.begin()->second == kCrash;
  }
  /// A file of the current folder.
  std::string kept(const std::string& module) {
    std::string file = "difference-" + std::to_string(++kept_) + ".ptx";
    std::ofstream(file) << module;
    return file;
  }
  void note(const std::string& module, bool only_ptxas, const Complaints& complaints) {
    for (const auto& [number, complaint] : complaints) {
      const std::string who = only_ptxas ? "only ptxas accepts: " : "only the checker accepts: ";
      const std::string line = line_of(module, number);
      if (const std::string_view why = why_different(only_ptxas, line, complaint); !why.empty())
        ++explained_[who + std::string(why)];
      else
        std::cout << "unexplained: " << who << line << "\n    " << complaint << "\n    in " << kept(module)
                  << std::endl;
    }
  }
  const Ptxas& ptxas_;
  std::map<std::string, std::uint64_t> explained_;
  std::uint64_t lines_ = 0, refused_ = 0, crashes_ = 0, kept_ = 0;
};

TEST(Ptxas, AcceptsWhatTheCheckerAccepts) {
  const Ptxas ptxas = find_ptxas();
  if (ptxas.program.empty()) GTEST_SKIP() << ptxas.why_not;
  ASSERT_GT(files().size(), 100u);
  Comparison comparison(ptxas);
  for (std::uint64_t n = 0; n < program_count;) {
    Kernels kernels(first_program + n);
    for (std::uint64_t i = 0; i < kTogether && n < program_count; ++i, ++n)
      if ((first_program + n) % kChangedFile == 0)
        comparison.compare(changed_file(first_program + n));
      else
        kernels.add();
    comparison.compare(kernels.head(), kernels.list());
  }
  std::cout << program_count << " programs of " << comparison.statements() << " statements, of which "
            << comparison.refused() << " are refused; ptxas crashes on " << comparison.crashes() << "\n";
  for (const auto& [why, count] : comparison.explained()) std::cout << "  " << count << " " << why << "\n";
  EXPECT_LE(comparison.unexplained() * 500, comparison.statements());
  EXPECT_LT(comparison.refused() * 2, comparison.statements()) << "too little is accepted";
  EXPECT_GT(comparison.refused() * 20, comparison.statements()) << "too little is refused";
}

} // namespace ptxas_test
} // namespace warplens::fuzz

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i + 1 < argc; i += 2) {
    using namespace warplens::fuzz::ptxas_test;
    for (const auto& [name, number] : {std::pair{"--first", &first_program}, {"--programs", &program_count}})
      if (std::string_view(argv[i]) == name) *number = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return RUN_ALL_TESTS();
}
