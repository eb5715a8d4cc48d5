// The instruction of docs/extending/instruction.md: its line of the table is expanded and its functor applied to lanes,
// as emulator/exec/lane_rows.cpp does with the real table. The level's name is one of this test alone.
#define WARPLENS_LEVEL docs_level

#include "emulator/exec/lanes.hpp"

#include "emulator/isa/semantics/distance.hpp" // from the page

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <span>

namespace warplens::exec::docs_level {
namespace {

using namespace isa::docs_level;

std::span<const Handler> handlers_of_the_page() {
#define INSTRUCTION(opcode, pattern, operands, functor, unit, ptx, sm)                                                 \
  static constexpr auto kRow = handler_row<functor, isa::parse_pattern(pattern), isa::parse_operands(operands)>();
#include "emulator/isa/added_instructions.def" // from the page
#undef INSTRUCTION
  return kRow;
}

isa::Pattern pattern_of_the_page() {
#define INSTRUCTION(opcode, pattern, operands, functor, unit, ptx, sm) return isa::parse_pattern(pattern);
#include "emulator/isa/added_instructions.def"
#undef INSTRUCTION
}

struct WarpMemory {
  Warp* warp;
  WarpMemory() : warp(new (std::aligned_alloc(64, sizeof(Warp) + 4 * 64 * 8)) Warp) {
    predicate(warp, kRegisterFile) = kFullMask; // the guard that always holds
    warp->active = kFullMask;
  }
  ~WarpMemory() { std::free(warp); }
  WarpMemory(const WarpMemory&) = delete;
  WarpMemory& operator=(const WarpMemory&) = delete;
};

std::uint32_t run(std::string_view words, std::uint32_t a, std::uint32_t b) {
  std::vector<isa::Word> spelling;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find('.', at + 1), words.size());
    spelling.push_back(isa::word_named(words.substr(at + 1, end - at - 1)));
    at = end;
  }
  const isa::Match match = isa::match(pattern_of_the_page(), spelling);
  EXPECT_TRUE(match.matched) << words;
  WarpMemory memory;
  Op op;
  op.guard = kRegisterFile;
  op.dst[0] = kRegisterFile + 64;
  op.src[0] = kRegisterFile + 64 + 256;
  op.src[1] = kRegisterFile + 64 + 512;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    row<std::uint32_t>(memory.warp, op.src[0])[lane] = a;
    row<std::uint32_t>(memory.warp, op.src[1])[lane] = b;
  }
  EXPECT_EQ(handlers_of_the_page()[static_cast<std::size_t>(match.variant)](&op, memory.warp), &op + 1);
  const std::uint32_t* const result = row<std::uint32_t>(memory.warp, op.dst[0]);
  for (int lane = 1; lane < kWarpSize; ++lane) EXPECT_EQ(result[lane], result[0]);
  return result[0];
}

TEST(InstructionExample, ComputesLanes) {
  EXPECT_EQ(run(".u32.u32.u32", 3, 10), 7u);
  EXPECT_EQ(run(".u32.s32.s32", static_cast<std::uint32_t>(-3), 10), 13u);
  EXPECT_EQ(run(".u32.u32.u32", 0xffffffffu, 0), 0xffffffffu);
  EXPECT_EQ(run(".s32.u32.u32", 0xffffffffu, 0), 0xffffffffu);     // wraps to -1
  EXPECT_EQ(run(".s32.u32.u32.sat", 0xffffffffu, 0), 0x7fffffffu); // clamps
}

} // namespace
} // namespace warplens::exec::docs_level
