// SPDX-License-Identifier: Apache-2.0
// The error of the register estimate, compared with ptxas, for the samples, the test programs, the benchmark kernels
// and the measured kernels. docs/analyzers.md states the error.
#include "emulator/ir/check.hpp"
#include "emulator/ir/liveness.hpp"
#include "emulator/ir/parse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace warplens::ir {
namespace registers_test {

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(WARPLENS_SOURCE_DIR "/") + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Registers, AreEstimatedAsWellAsIsStated) {
  std::istringstream list(text_of("tests/data/ptxas_registers.txt"));
  std::map<std::string, Module> modules;
  double error = 0, relative = 0;
  int kernels = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string file, kernel;
    int registers = 0;
    fields >> file >> kernel >> registers;
    if (!modules.contains(file)) {
      auto module = parse(text_of(file), file);
      ASSERT_TRUE(module) << file;
      check(*module);
      modules[file] = std::move(*module);
    }
    const Function* const function = modules[file].find(kernel);
    ASSERT_NE(function, nullptr) << file << " " << kernel;
    const int estimate = static_cast<int>(estimated_registers(modules[file], *function));
    error += std::abs(estimate - registers);
    relative += std::abs(estimate - registers) / static_cast<double>(registers);
    ++kernels;
  }
  EXPECT_EQ(kernels, 42);
  char stated[100];
  std::snprintf(stated, sizeof stated, "%d kernels: %.1f registers, or %.0f %%, on average", kernels, error / kernels,
                100 * relative / kernels);
  EXPECT_NE(text_of("docs/analyzers.md").find(stated), std::string::npos) << stated;
}

} // namespace registers_test
} // namespace warplens::ir
