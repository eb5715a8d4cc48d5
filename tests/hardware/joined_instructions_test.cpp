// SPDX-License-Identifier: Apache-2.0
// Which instructions ptxas makes one: tests/data/hardware/joined_instructions.jsonl, from ask/joined_instructions.py.
#include "analyzers/machine_code.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>

namespace warplens::tests {
namespace joined_instructions_test {

/// Without loads, stores, and what every kernel has.
analyzers::MachineWork computation(const std::string& ptx) {
  Expected<ir::Module> module = ir::parse(ptx, "k.ptx");
  EXPECT_TRUE(module) << ptx;
  EXPECT_FALSE(ir::check(*module).errors.has_errors());
  const ir::Function& kernel = module->functions.front();
  const std::vector<analyzers::MachineWork> work = analyzers::machine_code(*module, kernel);
  analyzers::MachineWork sum{.instructions = 0};
  for (std::size_t i = 0; i < work.size(); ++i) {
    const std::string_view head = kernel.instructions[i].head();
    if (head == "ld" || head == "st" || head == "ret") continue;
    sum.instructions += work[i].instructions;
    sum.alu += work[i].alu;
  }
  return sum;
}

/// What we count differently: moves of registers that ptxas adds to some of the copies, and one half of a shift.
const std::map<std::string, double> kMore = {
    {"abs", 0.75}, {"extend_u32", 0.5}, {"shr64_add", -1}, {"signed_byte", 0.75}};

TEST(JoinedInstructions, AreCountedAsInMachineCode) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/hardware/joined_instructions.jsonl");
  int asked = 0;
  for (std::string line; std::getline(in, line); ++asked) {
    const nlohmann::json answer = nlohmann::json::parse(line);
    const std::string name = answer["name"];
    const analyzers::MachineWork ours = computation(answer["ptx"]);
    const double instructions = answer["instructions"], alu = answer["alu"];
    const auto more = kMore.find(name);
    EXPECT_EQ(ours.instructions + (more != kMore.end() ? more->second : 0), instructions) << name;
    // Sums of two words and shifts run on either unit.
    EXPECT_LE(ours.alu, alu + 0.2) << name;
    EXPECT_GE(ours.alu, alu - (name == "shl_add_constant" ? 1 : 0.6 * instructions)) << name;
  }
  EXPECT_GT(asked, 90);
}

} // namespace joined_instructions_test
} // namespace warplens::tests
