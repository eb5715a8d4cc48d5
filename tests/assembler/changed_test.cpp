// SPDX-License-Identifier: Apache-2.0
// Compares the checker with ptxas results for statements whose words and operands were changed at random:
// tests/data/assembler/changed.txt, from changed.py.
#include "tests/assembler/statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string_view>

namespace warplens::assembler {
namespace changed_test {

constexpr int kVersion = 90;

struct Answer {
  bool taken = false;
  std::string text;
};

/// By target; a kernel has instructions of single blocks or of pairs, so those of pairs come apart.
std::map<std::pair<std::string, bool>, std::vector<Answer>> answers() {
  std::map<std::pair<std::string, bool>, std::vector<Answer>> all;
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/assembler/changed.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t blank = line.find(' ');
    const std::string text = line.substr(blank + 3);
    const bool pairs = text.find("cta_group::2") != std::string::npos;
    all[{line.substr(0, blank), pairs}].push_back({line[blank + 1] == '+', text});
  }
  return all;
}

bool any_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool begins(std::string_view text, std::initializer_list<std::string_view> opcodes) {
  return std::any_of(opcodes.begin(), opcodes.end(), [&](std::string_view opcode) { return text.starts_with(opcode); });
}

/// What ptxas takes, and what the manual does not define: docs/limits.md.
struct Difference {
  std::string_view why;
  bool (*is)(std::string_view text);
};
constexpr Difference kOnlyTaken[] = {
    {"addresses in registers of other widths, for which it warns, and in special registers",
     [](std::string_view t) {
       return any_of(t, {"[%b8_", "[%b16_", "[%b128_", "[%u8_", "[%u16_", "[%s8_", "[%s16_", "[%f", "[%pred_",
                         "[%laneid", "[%clock64", "[%tid"});
     }},
    {"addresses without brackets",
     [](std::string_view t) {
       return begins(t, {"cp.async.bulk", "cp.reduce."});
     }},
    {"predicates as elements of vectors, and numbers as whole fragments",
     [](std::string_view t) {
       return begins(t, {"mma.", "wmma.", "wgmma.", "ldmatrix.", "stmatrix.", "movmatrix.", "multimem.", "tcgen05.",
                         "clusterlaunchcontrol."});
     }},
    {"words of other fences", [](std::string_view t) { return begins(t, {"fence."}); }},
    {"stores and reductions that complete nowhere",
     [](std::string_view t) {
       return begins(t, {"st.async.", "red.async."});
     }},
    {"vectors of surfaces without their word, and wider values",
     [](std::string_view t) {
       return begins(t, {"suld.", "sust.", "sured."});
     }},
    {"tests without a test", [](std::string_view t) { return begins(t, {"testp."}); }},
    {"textures with other operands",
     [](std::string_view t) {
       return begins(t, {"tex.", "tld4."});
     }},
    {"functions as numbers", [](std::string_view t) { return any_of(t, {"device"}); }},
    {"it crashes when it has to make code of it", [](std::string_view t) { return begins(t, {"createpolicy.cvt"}); }},
    {"numbers of barriers have 32 bits",
     [](std::string_view t) {
       return begins(t, {"bar.", "barrier."});
     }},
};
constexpr Difference kOnlyRefused[] = {
    {"fractions of policies above 1", [](std::string_view t) { return begins(t, {"createpolicy.fractional"}); }},
    {"textures that are numbers, special registers or variables",
     [](std::string_view t) {
       return begins(t, {"tex.", "tld4."});
     }},
    {"wider coordinates of surfaces", [](std::string_view t) { return begins(t, {"suld."}); }},
    {"braces in ex2 and tanh of .bf16x2, and set from .bf16 to .f32",
     [](std::string_view t) {
       return begins(t, {"ex2.", "tanh.", "set."});
     }},
    {"braces around one value", [](std::string_view t) { return begins(t, {"multimem.red."}); }},
    {".nc after other words", [](std::string_view t) { return begins(t, {"ld."}) && any_of(t, {".nc"}); }},
    {"32-bit addresses of vectors",
     [](std::string_view t) {
       return begins(t, {"multimem.", "red."}) && any_of(t, {"[%b32_"});
     }},
};

template <std::size_t n> bool explained(const Difference (&list)[n], std::string_view text) {
  return std::any_of(std::begin(list), std::end(list), [&](const Difference& d) { return d.is(text); });
}

TEST(ChangedStatements, AreTakenOrRefusedAsByTheAssembler) {
  std::size_t count = 0, taken = 0, different = 0;
  for (const auto& [where, list] : answers()) {
    std::vector<std::string> texts;
    for (const Answer& a : list) texts.push_back(a.text);
    const std::vector<std::string> said = refusals(texts, kVersion, where.first);
    for (std::size_t i = 0; i < list.size(); ++i) {
      ++count;
      taken += list[i].taken ? 1 : 0;
      if (said[i].empty() == list[i].taken) continue;
      ++different;
      const bool known = list[i].taken ? explained(kOnlyTaken, list[i].text) : explained(kOnlyRefused, list[i].text);
      if (!known)
        ADD_FAILURE() << where.first << ": " << list[i].text << (list[i].taken ? " is taken" : " is refused")
                      << " by the assembler; " << said[i];
    }
  }
  EXPECT_GT(count, 2000u);
  EXPECT_GT(taken, 600u);
  // As few as when the list was made: docs/limits.md has the number for another list.
  EXPECT_LE(different, count / 30);
}

} // namespace changed_test
} // namespace warplens::assembler
