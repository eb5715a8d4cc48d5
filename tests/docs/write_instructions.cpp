// SPDX-License-Identifier: Apache-2.0
// write_instructions FILE: writes docs/instructions.md.
#include "tests/docs/instruction_coverage.hpp"

#include <fstream>
#include <iostream>

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: write_instructions FILE\n";
    return 2;
  }
  std::ofstream file(arguments[1], std::ios::binary);
  file << warplens::docs::instruction_coverage();
  file.close();
  return file ? 0 : 1;
}
