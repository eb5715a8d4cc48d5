// SPDX-License-Identifier: Apache-2.0
// The targets of each instruction: compares the checker with the ptxas results in tests/data/hardware/targets.txt,
// which ask/targets.py recorded.
#include "tests/hardware/emulated.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

namespace warplens::tests {
namespace targets_test {

constexpr const char* kRegisters =
    ".reg .b8 %q<4>; .reg .b16 %h<4>; .reg .b32 %r<6>; .reg .b64 %l<4>; .reg .b128 %x<4>; .reg .f32 %f<6>;\n"
    ".reg .f64 %d<4>; .reg .pred %p<4>; .reg .v2 .f32 %v; .reg .v4 .u32 %w;\n";

bool accepted(const std::string& statement, const std::string& target) {
  const std::string text = ".version 9.0\n.target sm_" + target + "\n.address_size 64\n.visible .entry k()\n{\n" +
                           kRegisters + statement + "\nret;\n}\n";
  auto module = ir::parse(text, "statement.ptx");
  if (!module) return false;
  const ir::Checked checked = ir::check(*module);
  return !checked.errors.has_errors() && checked.unsupported.empty();
}

// cvt.rs to e2m1x4 is intentionally missing: see docs/limits.md.
TEST(Targets, AsTheAssembler) {
  std::istringstream file(data_file("hardware/targets.txt"));
  std::string line;
  std::getline(file, line);
  std::istringstream names(line);
  std::vector<std::string> targets;
  for (std::string name; names >> name;) targets.push_back(name);
  ASSERT_EQ(targets.size(), 21u);
  int statements = 0;
  for (; std::getline(file, line); ++statements) {
    const std::size_t end = line.find(';') + 1;
    const std::string statement = line.substr(0, end);
    std::istringstream rest(line.substr(end));
    std::set<std::string> expected;
    for (std::string name; rest >> name;) expected.insert(name);
    for (const std::string& target : targets)
      EXPECT_EQ(accepted(statement, target), expected.contains(target)) << statement << " for sm_" << target;
  }
  EXPECT_EQ(statements, 648);
}

} // namespace targets_test
} // namespace warplens::tests
