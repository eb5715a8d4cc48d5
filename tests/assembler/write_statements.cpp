// SPDX-License-Identifier: Apache-2.0
// For the scripts of tests/data/assembler, which compare Warplens with ptxas.
//
//   write_statements spellings 90          every spelling that the table has for that version of PTX (times ten): line
//                                          of the table, spelling, statement
//   write_statements whole 90              the same with all optional operands, also of textures and asynchronous
//   copies write_statements refusals 90 sm_90a    reads statements, one a line; writes the objection to each
//   write_statements mutations             the modules of mutations.txt that we accept and ptxas rejects (-), or
//                                          vice versa (+)
#include "tests/assembler/mutations.hpp"
#include "tests/assembler/statements.hpp"

#include <cstdlib>
#include <iostream>

namespace {

int write_spellings(int ptx, bool whole) {
  const auto table = warplens::isa::table();
  for (std::size_t line = 0; line < table.size(); ++line) {
    if (table[line].ptx > ptx || (!whole && !warplens::assembler::is_spelt(table[line]))) continue;
    for (const auto& s : warplens::assembler::spellings(table[line], whole))
      std::cout << line << '\t' << s.spelling << '\t' << s.text << '\n';
  }
  return 0;
}

int write_refusals(int ptx, const std::string& target) {
  std::vector<std::string> statements;
  for (std::string line; std::getline(std::cin, line);) statements.push_back(line);
  for (const std::string& refusal : warplens::assembler::refusals(statements, ptx, target))
    std::cout << refusal << '\n';
  return 0;
}

int write_mutations() {
  for (const auto& m : warplens::assembler::mutations()) {
    const std::string why = warplens::assembler::refusal(m.module);
    if (why.empty() == m.taken) continue;
    std::cout << (m.taken ? '+' : '-') << ' ' << m.part << ' ' << m.ptx << ' ' << m.target << " | " << m.text << " | "
              << why << '\n';
  }
  return 0;
}

} // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if ((what == "spellings" || what == "whole") && count == 3)
    return write_spellings(std::atoi(arguments[2]), what == "whole");
  if (what == "refusals" && count == 4) return write_refusals(std::atoi(arguments[2]), arguments[3]);
  if (what == "mutations" && count == 2) return write_mutations();
  std::cerr << "usage: write_statements spellings | whole VERSION | refusals VERSION TARGET | mutations\n";
  return 2;
}
