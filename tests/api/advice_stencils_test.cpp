// SPDX-License-Identifier: Apache-2.0
// The borders and halos of stencils are no divergence; where a stencil really diverges, a finding says so.
#include "tests/api/advice_launches.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>

namespace warplens::api {
namespace advice_stencils_test {

struct Stencil {
  std::string kernel, shape, more; ///< `more`: arguments after the two arrays
};

std::string shape(const char* grid, const char* block) { return fmt::format("grid = [{}]\nblock = [{}]", grid, block); }

const std::string kWidth = "{ s32 = 512 }", kHeight = "{ s32 = 384 }", kBoth = kWidth + ", " + kHeight;

LaunchReport run_stencil(const Stencil& s) {
  const std::string arguments = fmt::format("arg = [{{ buffer = \"x\" }}, {}]", s.more);
  LaunchReport report =
      run("module = \"tests/data/advice/stencils.ptx\"\ndevice = \"h200\"\n" + launch_of(s.kernel, s.shape, arguments) +
          buffer("x", "f32", 1 << 18, kIota) + buffer("y", "f32", 1 << 18, kZeros) +
          buffer("flags", "s32", 1 << 18, "random = [0, 255]\nseed = 1"))
          .at(0);
  EXPECT_FALSE(report.trap) << s.kernel << ": " << report.trap->message;
  return report;
}

const std::string kY = "{ buffer = \"y\" }, ", kFlags = "{ buffer = \"flags\" }, ";

std::vector<Stencil> without_divergence() {
  std::vector<Stencil> list;
  // Blocks whose rows are longer than a warp, as long, shorter, and at odds with it.
  for (const auto& [grid, block] : {std::pair("8, 96, 1", "64, 4, 1"),
                                    {"16, 48, 1", "32, 8, 1"},
                                    {"32, 24, 1", "16, 16, 1"},
                                    {"64, 48, 1", "8, 8, 1"},
                                    {"22, 16, 1", "24, 24, 1"},
                                    {"29, 22, 1", "18, 18, 1"}})
    list.push_back({"inside", shape(grid, block), kY + kBoth});
  for (const auto& [grid, block] : {std::pair("16, 48, 1", "32, 8, 1"), {"32, 24, 1", "16, 16, 1"}})
    for (const char* kernel : {"neighbours", "border_rule"}) list.push_back({kernel, shape(grid, block), kY + kBoth});
  // A grid as small as a warp: both borders are in each warp.
  list.push_back({"inside", shape("1, 48, 1", "32, 8, 1"), kY + "{ s32 = 32 }, " + kHeight});
  for (const char* kernel : {"edges_load", "loop_loads"})
    list.push_back({kernel, shape("31, 23, 1", "16, 16, 1"), kY + kWidth});
  list.push_back({"lanes_take_turns", shape("32, 24, 1", "16, 16, 1"), kY + kBoth});
  list.push_back({"overlap_16", shape("36, 27, 1", "16, 16, 1"), kY + kWidth});
  list.push_back({"overlap_18", shape("31, 23, 1", "18, 18, 1"), kY + kWidth});
  for (const auto& [grid, block] :
       {std::pair("2, 16, 16", "32, 4, 4"), {"8, 16, 16", "8, 4, 4"}, {"16, 16, 16", "4, 4, 4"}})
    list.push_back({"inside_3d", shape(grid, block), kY + "{ s32 = 64 }"});
  return list;
}

TEST(AdviceStencils, BordersAndHalosAreNoDivergence) {
  for (const Stencil& stencil : without_divergence()) {
    const LaunchReport report = run_stencil(stencil);
    for (const analyzers::Finding& f : report.findings)
      EXPECT_FALSE(f.rule == "ThreadDivergence") << stencil.kernel << "\n"
                                                 << stencil.shape << "\n"
                                                 << list_of(report.findings);
  }
}

TEST(AdviceStencils, HalosNeedNotBeCoalesced) {
  const LaunchReport report = run_stencil(
      {"frame_of_planes", shape("4, 16, 1", "32, 8, 1"), kY + "{ s32 = 128 }, { s32 = 128 }, { s32 = 16 }"});
  for (const analyzers::Finding& f : report.findings)
    EXPECT_FALSE(f.rule == "UncoalescedGlobalAccess" || f.rule == "ThreadDivergence") << list_of(report.findings);
}

std::string line_of_source(std::uint32_t number) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/tests/data/advice/stencils.cu");
  std::string line;
  for (std::uint32_t i = 0; i < number; ++i) std::getline(in, line);
  return line;
}

TEST(AdviceStencils, RealDivergenceIsTold) {
  struct Told {
    Stencil stencil;
    std::string line, remedy;
  };
  for (const std::string& s : {shape("16, 48, 1", "32, 8, 1"), shape("32, 24, 1", "16, 16, 1")})
    for (const Told& told :
         {Told{{"red_black", s, kBoth + ", { s32 = 0 }"}, "// finds ThreadDivergence", "neighbouring indices"},
          Told{{"obstacles", s, kFlags + kY + kBoth}, "// finds ThreadDivergence of data", "sort the threads"},
          Told{{"sources", s, kFlags + kY + kWidth}, "// finds ThreadDivergence of a few", ""}}) {
      const LaunchReport report = run_stencil(told.stencil);
      bool found = false;
      for (const analyzers::Finding& f : report.findings)
        found = found || (f.rule == "ThreadDivergence" && f.speedup.value_or(0) > 1.05 &&
                          line_of_source(f.source_line).find(told.line) != std::string::npos &&
                          f.remedy.find(told.remedy) != std::string::npos);
      EXPECT_TRUE(found) << told.stencil.kernel << "\n" << s << "\n" << list_of(report.findings);
    }
}

} // namespace advice_stencils_test
} // namespace warplens::api
