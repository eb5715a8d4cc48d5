// SPDX-License-Identifier: Apache-2.0
// Two tables: launches with a problem, whose remedy is what the next version of the kernel does and whose promised
// speedup is that of running it; and launches of well-written kernels, which have no finding.
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace warplens::api {
namespace {

const std::string kFloats = buffer("in", "f32", 1 << 20, kIota) + buffer("out", "f32", 1 << 20, kZeros);
const std::string kBits =
    buffer("in", "s32", 1 << 20, "random = [0, 9]\nseed = 1") + buffer("out", "s32", 1 << 20, kZeros);
const std::string kFields = buffer("triples", "s32", 3 << 20, kIota) + buffer("triples_out", "s32", 3 << 20, kZeros) +
                            buffer("a", "s32", 1 << 20, kIota) + buffer("b", "s32", 1 << 20, kIota) +
                            buffer("c", "s32", 1 << 20, kIota) + buffer("a_out", "s32", 1 << 20, kZeros) +
                            buffer("b_out", "s32", 1 << 20, kZeros) + buffer("c_out", "s32", 1 << 20, kZeros);

const char* const kMatrix = "arg = [{ buffer = \"in\" }, { buffer = \"out\" }, { s32 = 1024 }, { s32 = 1024 }]";
const char* const kWidth = "arg = [{ buffer = \"in\" }, { buffer = \"out\" }, { s32 = 1024 }]";
const char* const kInOut = "arg = [{ buffer = \"in\" }, { buffer = \"out\" }]";
const char* const kTiles16 = "grid = [64, 64, 1]\nblock = [16, 16, 1]";

struct Before {
  const char* module;
  const char* device;
  const std::string& buffers;
  std::string before, after; ///< the keys of a launch
  const char* rule;
  const char* remedy; ///< a part of it
};

std::vector<Before> table() {
  const char *const transpose = "samples/transpose/transpose.ptx", *const copy = "samples/global_copy/global_copy.ptx",
                    *const shared = "samples/shared_copy/shared_copy.ptx",
                    *const branches = "samples/branching/branching.ptx",
                    *const parts = "samples/partitioning/partitioning.ptx",
                    *const waits = "samples/synchronisation/synchronisation.ptx";
  const std::string padded = launch_of("transpose_padded", "grid = [32, 32, 1]\nblock = [32, 8, 1]", kMatrix);
  const std::string uu = launch_of("copy_uu", kTiles16, kWidth), cc = launch_of("copy_cc", kTiles16, kWidth);
  const char* const fields =
      "arg = [{ buffer = \"a\" }, { buffer = \"b\" }, { buffer = \"c\" }, { buffer = \"a_out\" }, "
      "{ buffer = \"b_out\" }, { buffer = \"c_out\" }, { s32 = 1048576 }]";
  const char* const triples = "arg = [{ buffer = \"triples\" }, { buffer = \"triples_out\" }, { s32 = 1048576 }]";
  const char* const lines = "grid = [4096, 1, 1]\nblock = [256, 1, 1]";
  const auto barriers = [&](int between) {
    return launch_of(
        "block_barriers", lines,
        fmt::format("arg = [{{ buffer = \"in\" }}, {{ buffer = \"out\" }}, {{ s32 = 100 }}, {{ s32 = {} }}]", between)
            .c_str());
  };
  const auto elements = [&](int grid, int block) {
    return launch_of("one_dimension", fmt::format("grid = [{}, 1, 1]\nblock = [{}, 1, 1]", grid, block).c_str(),
                     "arg = [{ buffer = \"in\" }, { buffer = \"out\" }, { s32 = 1048576 }, { s32 = 10 }]");
  };
  std::vector<Before> list = {
      {transpose, "h200", kFloats, launch_of("transpose_1d", lines, kMatrix), padded, "UncoalescedGlobalAccess",
       "shared memory"},
      {transpose, "h200", kFloats, launch_of("transpose_2d", "grid = [128, 32, 1]\nblock = [8, 32, 1]", kMatrix),
       padded, "UncoalescedGlobalAccess", "shared memory"},
      {transpose, "h200", kFloats, launch_of("transpose_shared", "grid = [32, 32, 1]\nblock = [32, 8, 1]", kMatrix),
       padded, "SharedMemoryConflicts", "pad each row of 128 bytes"},
  };
  for (const char* device : {"h200", "gtx280"}) {
    list.push_back({copy, device, kFloats, launch_of("copy_nn", kTiles16, kWidth), cc, "UncoalescedGlobalAccess",
                    "exchange x and y"});
    list.push_back({copy, device, kFloats, launch_of("copy_nc", kTiles16, kWidth), cc, "UncoalescedGlobalAccess",
                    "shared memory"});
    list.push_back({copy, device, kFloats, launch_of("copy_cn", kTiles16, kWidth), cc, "UncoalescedGlobalAccess",
                    "shared memory"});
    list.push_back({copy, device, kFields, launch_of("array_of_structures", lines, triples),
                    launch_of("structure_of_arrays", lines, fields), "UncoalescedGlobalAccess", "separate arrays"});
    list.push_back(
        {parts, device, kBits, elements(10486, 100), elements(8192, 128), "BlockSize", "128 threads instead of 100"});
    list.push_back({waits, device, kBits, barriers(10), barriers(100), "UnneededBarrier", "remove the barrier"});
  }
  for (const char* kernel : {"copy_cu", "copy_uc", "copy_cc"})
    list.push_back({shared, "gtx280", kFloats, launch_of(kernel, kTiles16, kWidth), uu, "SharedMemoryConflicts",
                    "pad each row of 64 bytes of the shared array by 4"});
  list.push_back({branches, "h200", kBits, launch_of("branch_compute_bound", kTiles16, kWidth),
                  launch_of("lookup_compute_bound", kTiles16, kWidth), "ThreadDivergence", "table"});
  list.push_back({branches, "h200", kFloats, launch_of("branch_per_thread", lines, kInOut),
                  launch_of("branch_per_warp", lines, kInOut), "ThreadDivergence", "by the warp"});
  list.push_back({branches, "h200", kBits, launch_of("sum_in_place", lines, kInOut),
                  launch_of("sum_reordered", lines, kInOut), "ThreadDivergence", "neighbouring indices"});
  return list;
}

TEST(AdviceTable, TheRemedyIsWhatTheNextVersionDoes) {
  for (const Before& row : table()) {
    SCOPED_TRACE(fmt::format("{}\n{}", row.device, row.before));
    const std::vector<LaunchReport> reports = run(fmt::format("module = \"{}\"\ndevice = \"{}\"\n{}{}{}", row.module,
                                                              row.device, row.before, row.after, row.buffers));
    const LaunchReport &before = reports.at(0), &after = reports.at(1);
    const analyzers::Finding* found = nullptr;
    const std::string all = list_of(before.findings);
    for (const analyzers::Finding& f : before.findings)
      if (f.rule == row.rule && f.remedy.find(row.remedy) != std::string::npos && found == nullptr) found = &f;
    EXPECT_NE(found, nullptr) << all;
    if (found == nullptr) continue;
    const double actual =
        model::trusted(before.predictions)->milliseconds / model::trusted(after.predictions)->milliseconds;
    EXPECT_TRUE(found->speedup) << all;
    EXPECT_LT(found->speedup.value_or(0), kTolerance * actual) << all;
    EXPECT_GT(found->speedup.value_or(0), actual / kTolerance) << all;
    EXPECT_FALSE(found->values.empty()) << all;
    EXPECT_TRUE(found->page.starts_with("findings.md#"));
    for (const analyzers::Finding& f : after.findings)
      EXPECT_FALSE(f.rule == row.rule && f.severity == Severity::warning) << f.message << "; " << f.remedy;
  }
}

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

TEST(AdviceTable, WellTunedKernelsHaveNoFindings) {
  const std::string buffers =
      buffer("x", "f32", 1 << 20, kIota) + buffer("y", "f32", 1 << 20, kZeros) + buffer("z", "f32", 1 << 20, kZeros);
  for (const Tuned& kernel : tuned()) {
    const std::vector<LaunchReport> reports =
        run(fmt::format("module = \"{}\"\ndevice = \"h200\"\n[[launch]]\nkernel = \"{}\"\n{}\n{}\n{}", kernel.module,
                        kernel.kernel, kernel.shape, kernel.arguments, buffers));
    ASSERT_FALSE(reports.at(0).trap) << kernel.kernel << ": " << reports[0].trap->message;
    EXPECT_TRUE(reports.at(0).findings.empty()) << kernel.kernel << "\n" << list_of(reports[0].findings);
  }
}

} // namespace
} // namespace warplens::api
