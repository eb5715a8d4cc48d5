// SPDX-License-Identifier: Apache-2.0
// Random statements have the operands that their spelling has.
#include "tests/fuzz/ptx_statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace warplens::fuzz {
namespace statements_test {

/// Operands that no brackets or braces hold together.
std::vector<std::string> operands_of(const std::string& statement) {
  std::vector<std::string> list;
  int depth = 0;
  for (const char c : statement.substr(statement.find(' ') + 1)) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (list.empty() || (c == ',' && depth == 0)) list.emplace_back();
    if ((c != ',' || depth != 0) && c != ';' && c != ' ') list.back() += c;
  }
  return list;
}

TEST(Statements, PoliciesComeWithTheirWordOnly) {
  PtxNames names;
  names.registers["b64"] = {"%policy"};
  names.registers["b32"] = {"%word"};
  Random random(1);
  int with = 0, without = 0;
  for (const isa::Entry& entry : isa::table()) {
    const auto* const end = entry.operands.items.data() + entry.operands.count;
    if (std::none_of(entry.operands.items.data(), end,
                     [](const isa::OperandSpec& o) { return o.kind == isa::OperandClass::policy; }))
      continue;
    for (int i = 0; i < 20; ++i) {
      const RandomSpelling spelling = random_spelling(random, entry);
      std::string statement = random_statement(random, names, spelling);
      if (statement.front() == '@') statement = statement.substr(statement.find(' ') + 1);
      const std::vector<std::string> operands = operands_of(statement);
      const bool has = spelling.form.has(isa::Word::w_l2_cache_hint);
      ++(has ? with : without);
      ASSERT_EQ(operands.size(), static_cast<std::size_t>(entry.operands.count) - (has ? 0 : 1)) << statement;
      EXPECT_TRUE(!has || operands.back() == "%policy" || operands.back().starts_with("%r")) << statement;
    }
  }
  EXPECT_GT(with, 100);
  EXPECT_GT(without, 100);
}

} // namespace statements_test
} // namespace warplens::fuzz
