// SPDX-License-Identifier: Apache-2.0
// Launches of well-written kernels have no finding.
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

namespace warplens::api {
namespace advice_silence_test {

struct Tuned {
  std::string module, kernel, shape, arguments;
};

std::vector<Tuned> tuned() {
  const std::string own = "tests/data/advice/tuned.ptx";
  const std::string line = "grid = [4096, 1, 1]\nblock = [256, 1, 1]",
                    strided = "grid = [528, 1, 1]\nblock = [256, 1, 1]",
                    few = "grid = [1024, 1, 1]\nblock = [256, 1, 1]";
  const std::string n = "{ s32 = 1048576 }", x = "{ buffer = \"x\" }", y = "{ buffer = \"y\" }",
                    z = "{ buffer = \"z\" }";
  const auto arguments = [](std::initializer_list<std::string> list) {
    std::string text;
    for (const std::string& one : list) text += (text.empty() ? "" : ", ") + one;
    return "arg = [" + text + "]";
  };
  return {
      {own, "saxpy", strided, arguments({x, y, "{ f32 = 2 }", "{ s32 = 1000003 }"})},
      {own, "copy4", few, arguments({x, y, "{ s32 = 262144 }"})},
      {own, "reduce", strided, arguments({x, y, n})},
      {own, "dot", strided, arguments({x, y, z, n})},
      {own, "transpose", "grid = [32, 32, 1]\nblock = [32, 8, 1]", arguments({x, y, "{ s32 = 1024 }"})},
      {own, "matrix_product", "grid = [16, 16, 1]\nblock = [32, 8, 1]", arguments({x, y, z, "{ s32 = 512 }"})},
      {own, "heat", "grid = [32, 125, 1]\nblock = [32, 8, 1]", arguments({x, y, "{ s32 = 1024 }", "{ s32 = 1000 }"})},
      {own, "heat", "grid = [64, 63, 1]\nblock = [16, 16, 1]", arguments({x, y, "{ s32 = 1024 }", "{ s32 = 1000 }"})},
      {own, "softmax", "grid = [256, 1, 1]\nblock = [256, 1, 1]", arguments({x, y, "{ s32 = 512 }"})},
      {own, "matrix_vector", "grid = [256, 1, 1]\nblock = [256, 1, 1]", arguments({x, y, z, "{ s32 = 512 }"})},
      {own, "convolve", line, arguments({x, y, "{ s32 = 1048000 }"})},
      {own, "scan", line, arguments({x, y, "{ s32 = 1048000 }"})},
      {own, "black_scholes", strided, arguments({x, y, "{ s32 = 1000003 }"})},
      {own, "axpby_double", "grid = [2048, 1, 1]\nblock = [256, 1, 1]",
       arguments({x, y, "{ f64 = 2 }", "{ f64 = 3 }", "{ s32 = 524000 }"})},
      {own, "complex_product", "grid = [2048, 1, 1]\nblock = [256, 1, 1]", arguments({x, y, z, "{ s32 = 524000 }"})},
      {own, "bodies", "grid = [256, 1, 1]\nblock = [128, 1, 1]", arguments({x, y, "{ s32 = 4096 }"})},
      {own, "brighten", line, arguments({x, y, "{ s32 = 1048000 }", "{ s32 = 9 }"})},
      {"bench/kernels/vec_add.ptx", "vec_add", line, arguments({x, y, z, n})},
      {"bench/kernels/matmul_tiled.ptx", "matmul_tiled", "grid = [32, 32, 1]\nblock = [16, 16, 1]",
       arguments({x, y, z, "{ s32 = 512 }"})},
      {"bench/kernels/fma_loop.ptx", "fma_loop", few,
       arguments({x, "{ f32 = 0.999 }", "{ f32 = 0.001 }", "{ s32 = 100 }"})},
      {"samples/transpose/transpose.ptx", "transpose_padded", "grid = [32, 32, 1]\nblock = [32, 8, 1]",
       arguments({x, y, "{ s32 = 1024 }", "{ s32 = 1024 }"})},
      {"samples/global_copy/global_copy.ptx", "copy_cc", "grid = [64, 64, 1]\nblock = [16, 16, 1]",
       arguments({x, y, "{ s32 = 1024 }"})},
      {"samples/shared_copy/shared_copy.ptx", "copy_uu", "grid = [64, 64, 1]\nblock = [16, 16, 1]",
       arguments({x, y, "{ s32 = 1024 }"})},
      {"samples/branching/branching.ptx", "branch_per_warp", line, arguments({x, y})},
  };
}

TEST(AdviceSilence, WellTunedKernelsHaveNoFindings) {
  const std::string buffers =
      buffer("x", "f32", 1 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros) + buffer("z", "f32", 1 << 20, kZeros);
  std::set<std::string> kernels;
  for (const Tuned& kernel : tuned()) {
    kernels.insert(kernel.kernel);
    const std::vector<LaunchReport> reports =
        run(fmt::format("module = \"{}\"\ndevice = \"h200\"\n[[launch]]\nkernel = \"{}\"\n{}\n{}\n{}", kernel.module,
                        kernel.kernel, kernel.shape, kernel.arguments, buffers));
    ASSERT_FALSE(reports.at(0).trap) << kernel.kernel << ": " << reports[0].trap->message;
    EXPECT_TRUE(reports.at(0).findings.empty()) << kernel.kernel << "\n" << list_of(reports[0].findings);
  }
  EXPECT_GE(kernels.size(), 20u);
}

} // namespace advice_silence_test
} // namespace warplens::api
