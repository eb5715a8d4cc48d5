// SPDX-License-Identifier: Apache-2.0
// Writes docs/h200.svg: ninja -C build docs-h200.
#include "tests/hardware/times_plot.hpp"

#include <cstdio>
#include <fstream>

int main(int count, char** values) {
  if (count != 2) {
    std::fputs("usage: write_times_plot FILE\n", stderr);
    return 2;
  }
  std::ofstream out(values[1], std::ios::binary);
  out << warplens::tests::times_plot(warplens::tests::asked_launches());
  out.close();
  if (!out) std::fprintf(stderr, "cannot write '%s'\n", values[1]);
  return out ? 0 : 1;
}
