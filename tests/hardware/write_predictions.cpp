// SPDX-License-Identifier: Apache-2.0
// Writes docs/predictions.md and its pictures: ninja -C build docs-predictions.
#include "tests/hardware/predictions_page.hpp"

#include <cstdio>
#include <fstream>

namespace {

bool write(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) std::fprintf(stderr, "cannot write '%s'\n", file.c_str());
  return static_cast<bool>(out);
}

} // namespace

int main(int count, char** values) {
  if (count != 2) {
    std::fputs("usage: write_predictions FOLDER\n", stderr);
    return 2;
  }
  using namespace warplens::tests;
  const std::string folder = std::string(values[1]) + "/";
  const bool done = write(folder + "predictions.md", predictions_page()) &&
                    write(folder + "predictions_h200.svg", predictions_plot(kH200)) &&
                    write(folder + "predictions_h100.svg", predictions_plot(kH100));
  return done ? 0 : 1;
}
