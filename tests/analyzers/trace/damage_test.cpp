// SPDX-License-Identifier: Apache-2.0
// Blocks with randomly changed rows are rejected, or analysed without a crash. Checksums detect most damage to a file
// earlier, but not files that were changed on purpose.
#include "analyzers/analyzers.hpp"
#include "analyzers/trace/block.hpp"
#include "emulator/ir/parse.hpp"
#include "tests/analyzers/trace/events.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace warplens::analyzers::trace {
namespace damage_test {

using testing::MadeUp;

/// A kernel with as many instructions as the synthetic events use, of every kind that has events.
ir::Module module_of_all_kinds() {
  std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                     ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n";
  const char* const kinds[] = {"ld.global.u32 %r1, [%rd1];",
                               "st.global.u32 [%rd1], %r1;",
                               "ld.shared.u32 %r1, [%rd1];",
                               "st.local.u32 [%rd1], %r1;",
                               "@%p1 bra END;",
                               "bar.sync 0;",
                               "atom.global.add.u32 %r1, [%rd1], %r2;"};
  for (std::uint32_t i = 0; i + 1 < MadeUp::kInstructions; ++i) text += std::string(kinds[i % std::size(kinds)]) + "\n";
  Expected<ir::Module> module = ir::parse(text + "END:\nret;\n}\n", "kinds.ptx");
  if (!module) throw std::runtime_error(render(module.error(), text));
  return std::move(*module);
}

Block made_up_block(unsigned seed) {
  struct Builder final : exec::Shard {
    BlockBuilder builder;
    bool begin_cta(std::uint64_t cta) override { return builder.begin_cta(cta), true; }
    void end_cta(std::uint64_t cta) override { builder.end_cta(cta); }
    void barrier(const exec::Barrier& b) override { builder.barrier(b); }
    void each_access(const exec::WarpId& of, const exec::Access& a) override { builder.access(of, a); }
    void each_branch(const exec::WarpId& of, const exec::Branch& b) override { builder.branch(of, b); }
  } shard;
  MadeUp(seed).tell(shard, 60, [](std::uint64_t) { return true; });
  return shard.builder.take();
}

template <class Row> void change_a_byte(std::vector<Row>& rows, std::mt19937_64& random) {
  if (rows.empty()) return;
  auto* const bytes = reinterpret_cast<unsigned char*>(&rows[random() % rows.size()]);
  const unsigned char interesting[] = {0, 1, 2, 3, 31, 32, 127, 128, 255, static_cast<unsigned char>(random())};
  bytes[random() % sizeof(Row)] = interesting[random() % std::size(interesting)];
}

TEST(DamagedBlocks, AreRefusedOrAnalysed) {
  const ir::Module module = module_of_all_kinds();
  const ir::Function& function = module.functions.at(0);
  ASSERT_EQ(function.instructions.size(), std::size_t{MadeUp::kInstructions});
  const Limits limits{MadeUp::kCtas, MadeUp::kWarps, MadeUp::kInstructions};
  std::mt19937_64 random(11);
  int refused = 0, analysed = 0;
  for (unsigned round = 0; round < 1500; ++round) {
    Block block = made_up_block(round % 10);
    ASSERT_EQ(find_damage(block, limits), "");
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) switch (random() % 6) {
      case 0: change_a_byte(block.pattern, random); break;
      case 1: change_a_byte(block.warp, random); break;
      case 2: change_a_byte(block.base, random); break;
      case 3: change_a_byte(block.offsets, random); break;
      case 4: change_a_byte(block.segments, random); break;
      default: change_a_byte(block.patterns, random); break;
      }
    if (!find_damage(block, limits).empty()) {
      ++refused;
      continue;
    }
    ++analysed;
    Analysis analysis(module, function, testing::made_up_shape());
    std::vector<std::unique_ptr<exec::Shard>> shards;
    shards.push_back(analysis.make_shard());
    Deliverer(*shards[0]).deliver(block);
    analysis.finish(std::move(shards), testing::made_up_counts());
    EXPECT_FALSE(analysis.profile().metrics.list().empty());
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(analysed, 100);
}

TEST(DamagedBlocks, EachKindIsNamed) {
  const Limits limits{MadeUp::kCtas, MadeUp::kWarps, MadeUp::kInstructions};
  const auto damage = [&](auto&& change) {
    Block block = made_up_block(1);
    change(block);
    return find_damage(block, limits);
  };
  EXPECT_EQ(damage([](Block& b) { b.patterns[0].instruction = MadeUp::kInstructions; }),
            "an instruction that the kernel does not have");
  EXPECT_EQ(damage([](Block& b) { b.patterns[0].mask = 0; }), "an event without lanes");
  EXPECT_EQ(damage([](Block& b) { b.patterns[0].event = static_cast<EventKind>(3); }), "an event of unknown kind");
  EXPECT_EQ(damage([](Block& b) { b.pattern[5] = 0xffff; }), "an event of unknown pattern");
  EXPECT_EQ(damage([](Block& b) { b.offsets.pop_back(); }), "too few or too many offsets");
  EXPECT_EQ(damage([](Block& b) { b.segments[0].cta = MadeUp::kCtas; }), "block 12 of a grid of 12");
  EXPECT_EQ(damage([](Block& b) { b.warp[0] = MadeUp::kWarps; }), "warp 7 of a block of 7");
  EXPECT_EQ(damage([](Block& b) { ++b.segments[0].events; }), "tables of different lengths");
}

} // namespace damage_test
} // namespace warplens::analyzers::trace
