// For the scripts of tests/data/assembler, which hold Warplens against the assembler.
//
//   write_statements spellings             every spelling of the table: line of the table, spelling, statement
//   write_statements refusals 90 sm_90a    reads statements, one a line; writes for each what is said against it
#include "tests/assembler/statements.hpp"

#include <cstdlib>
#include <iostream>

namespace {

int write_spellings() {
  std::size_t line = 0;
  for (const warplens::isa::Entry& entry : warplens::isa::table()) {
    for (const auto& s : warplens::assembler::spellings(entry))
      std::cout << line << '\t' << s.spelling << '\t' << s.text << '\n';
    ++line;
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

} // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "spellings") return write_spellings();
  if (what == "refusals" && count == 4) return write_refusals(std::atoi(arguments[2]), arguments[3]);
  std::cerr << "usage: write_statements spellings | refusals VERSION TARGET\n";
  return 2;
}
