// SPDX-License-Identifier: Apache-2.0
// Compares the checker with ptxas results for directives and declarations.
#include "tests/assembler/mutations.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>

namespace warplens::assembler {
namespace mutations_test {

/// Modules in which we differ on purpose, by their text.
struct Difference {
  bool taken; ///< by ptxas, and refused by us; false: the other way round
  std::string_view part, text;
  std::string_view why;
};
constexpr std::string_view kDebug = "debug information is not read";
constexpr std::string_view kNewer = "what is newer than the assembler is taken";
constexpr std::string_view kIndexed = "a register is added to a variable in every address, as the manual has it";
constexpr std::string_view kNames = "labels and tables have names of their own, and may be named above their place";
constexpr std::string_view kLate = "initial values may name what is declared below";
constexpr std::string_view kHarmless = "changes nothing";
constexpr std::string_view kNonsense = "the assembler does not look; what it makes of it is not known";
constexpr Difference kDifferences[] = {
    {false, "", ".section", kDebug},
    {false, "", "function_name", kDebug},
    {false, "headers", ".version 9.1", kNewer},
    {false, "headers", ".version 10.0", kNewer},
    {false, "headers", "sm_999", kNewer},
    {false, "headers", "texmode_raw", kNewer},
    {false, "addresses", "x[", kIndexed},
    {false, "addresses", "[x+", kIndexed},
    {false, "bodies", ".reg .u32 L;", kNames},
    {false, "bodies", "T: ret;", kNames},
    {false, "bodies", "call q, T; T: .calltargets f;", kNames},
    {false, "words", "p[2] = {q", kLate},
    {false, "words", "p [ 2 ] = { q", kLate},
    {false, "declarations", "x<0>", kHarmless},
    {false, "declarations", ".param .f16x2 x$1;", kHarmless},
    {false, "declarations", ".const .b8 x = 0xFF(y);", kHarmless},
    {false, "performance", ".pragma", kHarmless},
    {true, "bodies", ".target sm_20", kNonsense},
    {true, "bodies", "T: .branchtargets T;", kNonsense},
    {true, "bodies", "mov.u32 s.z, r;", kNonsense},
    {true, "bodies", ".callprototype _ (.param .v2 .u32 _)", kNonsense},
    {true, "addresses", "x[x]", kNonsense},
    {true, "addresses", "mov.u32 r, a+4;", kNonsense},
    {true, "attributes", ".attribute(.managed) .global .u32 x;", kNonsense},
    {true, "headers", "sm_90b", kNonsense},
    {true, "declarations", ".b8 x = 0f3F800000;", kNonsense},
    {true, "functions", ".param .pred a", kNonsense},
};

const Difference* explained(const Mutation& m) {
  for (const Difference& d : kDifferences)
    if (d.taken == m.taken && (d.part.empty() || d.part == m.part) && m.text.find(d.text) != std::string::npos)
      return &d;
  return nullptr;
}

TEST(Mutations, AreTakenAsTheAssemblerTakesThem) {
  std::set<std::string> texts;
  std::map<const Difference*, int> used;
  std::size_t answers = 0, differences = 0;
  for (const Mutation& m : mutations()) {
    ++answers;
    texts.insert(m.part + m.text);
    const std::string why = refusal(m.module);
    if (why.empty() == m.taken) continue;
    ++differences;
    const Difference* const d = explained(m);
    if (d != nullptr)
      ++used[d];
    else
      ADD_FAILURE() << m.module << (m.taken ? "is taken" : "is refused") << " by the assembler" << (m.taken ? ": " : "")
                    << why;
  }
  EXPECT_GT(texts.size(), 7000u);
  EXPECT_GT(answers, 40000u);
  EXPECT_LT(differences, answers / 50);
  for (const Difference& d : kDifferences) EXPECT_TRUE(used.contains(&d)) << d.text << " differs no longer: " << d.why;
}

} // namespace mutations_test
} // namespace warplens::assembler
