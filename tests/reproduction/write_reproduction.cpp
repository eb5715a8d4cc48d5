// SPDX-License-Identifier: Apache-2.0
// Writes docs/reproduction.md: ninja -C build docs-reproduction.
#include "tests/reproduction/page.hpp"

#include <cstdio>
#include <fstream>

int main(int count, char** values) {
  if (count != 2) {
    std::fputs("usage: write_reproduction FILE\n", stderr);
    return 2;
  }
  const warplens::reproduction::Page page = warplens::reproduction::reproduction();
  for (const std::string& failure : page.failures()) std::fprintf(stderr, "not reproduced: %s\n", failure.c_str());
  std::ofstream out(values[1], std::ios::binary);
  out << page.markdown();
  out.close();
  if (!out) std::fprintf(stderr, "cannot write '%s'\n", values[1]);
  return out && page.failures().empty() ? 0 : 1;
}
