// SPDX-License-Identifier: Apache-2.0
#include "analyzers/analyzers.hpp"
#include "analyzers/global_transactions.hpp"
#include "analyzers/local_memory.hpp"
#include "analyzers/shared_banks.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"
#include "tests/analyzers/accesses.hpp"
#include "tests/analyzers/spelled.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

namespace warplens::analyzers {
namespace analysis_test {

using namespace rules;

using exec::AccessKind;
using isa::Space;
using testing::WarpAccess;

ir::Function function_of(std::initializer_list<std::string_view> opcodes) {
  ir::Function function;
  function.name = "k";
  std::uint32_t line = 10;
  for (std::string_view opcode : opcodes) {
    ir::Instruction instruction = tests::spelled(opcode);
    instruction.where = {line++, 2};
    function.instructions.push_back(instruction);
  }
  return function;
}

/// Distributes `events` over the shards of the workers: event i goes to shard i % workers.
template <class Event>
Profile run(const ir::Module& module, const ir::Function& function, std::size_t workers,
            const std::vector<Event>& events, const std::vector<exec::InstructionCount>& counts = {}) {
  Analysis analysis(module, function, {.grid = {4, 1, 1}, .block = {64, 1, 1}});
  std::vector<std::unique_ptr<exec::Shard>> shards;
  for (std::size_t i = 0; i < workers; ++i) shards.push_back(analysis.make_shard());
  for (std::size_t i = 0; i < events.size(); ++i) events[i](*shards[i % workers]);
  analysis.finish(std::move(shards), counts);
  return analysis.profile();
}
using Events = std::vector<std::function<void(exec::Shard&)>>;

std::string text(const Metrics& metrics) {
  std::string result;
  for (const Metric& metric : metrics.list())
    result += std::string(metric.name()) + "=" +
              (metric.value.index() ? std::to_string(std::get<double>(metric.value))
                                    : std::to_string(std::get<std::uint64_t>(metric.value))) +
              "\n";
  return result;
}
std::string text(const Profile& profile) {
  std::string result = profile.kernel + "\n" + text(profile.metrics);
  for (const InstructionRow& row : profile.instructions)
    result +=
        std::to_string(row.line) + " " + row.pattern + " " + std::to_string(row.stride) + "\n" + text(row.metrics);
  return result;
}

TEST(Analysis, ThreeRulesAtOnce) {
  const ir::Module module;
  const ir::Function function = function_of({"ld.global.f32", "st.global.f32"});
  const WarpAccess strided(0xffffffffu, 4, [](int lane) { return 4096 + 8 * lane; });
  const WarpAccess unit(0xffffffffu, 4, [](int lane) { return 4096 + 4 * lane; });
  const Profile profile =
      run(module, function, 1,
          Events{[&](exec::Shard& s) { s.access(strided.event(AccessKind::load, Space::global, 0, 10)); },
                 [&](exec::Shard& s) { s.access(unit.event(AccessKind::store, Space::global, 1, 3)); }});
  EXPECT_EQ(profile.integer("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 10u);
  EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 80u);
  EXPECT_EQ(profile.integer("memory_l2_theoretical_sectors_global"), 92u);
  EXPECT_EQ(profile.integer("memory_l2_theoretical_sectors_global_ideal"), 52u);
  EXPECT_EQ(profile.integer("derived__memory_l2_theoretical_sectors_global_excessive"), 40u);
  EXPECT_EQ(profile.integer("global_lone_sectors"), 0u);
  EXPECT_EQ(profile.integer("global_lines_128b"), 10u * 2 + 3);
  EXPECT_EQ(profile.integer("global_bank_passes"), 10u * 2 + 3); // words 8 bytes apart: two for each bank
  EXPECT_EQ(profile.integer("gld_128b"), 20u);
  EXPECT_EQ(profile.integer("gld_incoherent"), 320u);
  EXPECT_EQ(profile.integer("gld_coherent"), 0u);
  EXPECT_EQ(profile.integer("gst_64b"), 6u);
  EXPECT_EQ(profile.integer("gst_coherent"), 6u);
  EXPECT_EQ(profile.integer("gst_request"), 3u);
  ASSERT_EQ(profile.instructions.size(), 2u);
  EXPECT_EQ(profile.instructions[0].pattern, "stride 8 bytes");
  EXPECT_EQ(profile.instructions[0].stride, 8);
  EXPECT_EQ(profile.instructions[0].line, 10u);
  EXPECT_EQ(profile.instructions[1].pattern, "unit stride");
  EXPECT_DOUBLE_EQ(profile.instructions[0]
                       .metrics.find("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio")
                       ->number(),
                   8);
}

TEST(Analysis, SharedMemory) {
  const ir::Module module;
  const ir::Function function = function_of({"ld.shared.f32", "atom.shared.add.u32", "ld.const.f32"});
  const WarpAccess strided(0xffffffffu, 4, [](int lane) { return 8 * lane; });
  const WarpAccess same(0xffffffffu, 4, [](int) { return 8; });
  const WarpAccess four(0xffffffffu, 4, [](int lane) { return lane % 4 * 4; });
  const Profile profile =
      run(module, function, 1,
          Events{[&](exec::Shard& s) { s.access(strided.event(AccessKind::load, Space::shared, 0, 5)); },
                 [&](exec::Shard& s) { s.access(same.event(AccessKind::atomic, Space::shared, 1)); },
                 [&](exec::Shard& s) { s.access(four.event(AccessKind::load, Space::constant, 2)); }});
  EXPECT_EQ(profile.integer("smsp__inst_executed_op_shared_ld.sum"), 5u);
  EXPECT_EQ(profile.integer("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 10u);
  EXPECT_EQ(profile.integer("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 5u);
  EXPECT_EQ(profile.integer("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"), 32u);
  // Two half-warps, each two-way, five times; an atomic of 16 lanes on one word each; 3 of 4 constants per half-warp.
  EXPECT_EQ(profile.integer("warp_serialize"), 5u * 2 + 2 * 15 + 2 * 3);
  EXPECT_EQ(profile.integer("shared_access_2_way"), 5u);
  EXPECT_EQ(profile.integer("shared_access_32_way"), 1u);
}

// Parameters at computed addresses: in a constant bank, on 1.x in shared memory. Generic addresses of one instruction
// may go to either.
TEST(Analysis, Parameters) {
  const ir::Module module;
  const ir::Function function = function_of({"ld.param.f32", "ld.f32"});
  const WarpAccess four(0xffffffffu, 4, [](int lane) { return lane % 4 * 4; });
  const WarpAccess column(0xffffffffu, 4, [](int lane) { return lane % 4 * 64; }); // of one bank of 16
  const Profile profile =
      run(module, function, 1,
          Events{[&](exec::Shard& s) { s.access(four.event(AccessKind::load, Space::param, 0, 3)); },
                 [&](exec::Shard& s) { s.access(column.event(AccessKind::load, Space::param, 1)); },
                 [&](exec::Shard& s) { s.access(column.event(AccessKind::load, Space::shared, 1)); }});
  EXPECT_EQ(profile.integer("idc__requests.sum"), 4u);
  EXPECT_EQ(profile.integer("constant_passes"), 4u * 4);
  EXPECT_EQ(profile.integer("smsp__inst_executed_op_shared_ld.sum"), 1u);
  EXPECT_EQ(profile.integer("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), 2u);
  // A half-warp takes 4 passes for 4 words that 4 lanes each want, of one bank as of four: a pass broadcasts one word.
  EXPECT_EQ(profile.integer("warp_serialize"), 5u * 2 * 3);
}

TEST(Analysis, Divergence) {
  const ir::Module module;
  const ir::Function function = function_of({"bra", "bra"});
  const Profile profile = run(
      module, function, 1,
      Events{[](exec::Shard& s) { s.branch({.instruction = 0, .active = 0xffffffffu, .taken = 0xffu, .count = 3}); },
             [](exec::Shard& s) { s.branch({.instruction = 1, .active = 0xffu, .taken = 0xffu, .count = 9}); },
             [](exec::Shard& s) { s.branch({.instruction = 1, .active = 0xffu, .taken = 0, .count = 4}); }});
  EXPECT_EQ(profile.integer("branch"), 16u);
  EXPECT_EQ(profile.integer("divergent_branch"), 3u);
  EXPECT_EQ(profile.integer("smsp__sass_branch_targets_threads_uniform.sum"), 13u);
  EXPECT_DOUBLE_EQ(profile.metrics.find("smsp__sass_average_branch_targets_threads_uniform.pct")->number(),
                   100.0 * 13 / 16);
  EXPECT_EQ(profile.integer("branch_with_8_active_lanes"), 13u);
  EXPECT_EQ(profile.integer("branch_active_lanes"), 3u * 32 + 13 * 8);
  EXPECT_EQ(profile.integer("branch_taken_lanes"), 3u * 8 + 9 * 8);
}

// if (outer) { if (inner) a; b; } c;  A divergent branch answers for what is idle until its sides meet, the inner one
// for what lies inside of it.
TEST(Analysis, LostLaneSlotsBelongToTheInnermostDivergentBranch) {
  constexpr std::string_view kText = ".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\n"
                                     "  .reg .pred %p<2>;\n  .reg .b32 %r<4>;\n"
                                     "  mov.u32 %r1, %tid.x;\n"               // 0
                                     "  setp.ne.u32 %p0, %r1, 0;\n"           // 1
                                     "  setp.ne.u32 %p1, %r1, 1;\n"           // 2
                                     "  @%p0 bra meet;\n"                     // 3
                                     "  @%p1 bra inner;\n"                    // 4
                                     "  mov.u32 %r2, 1;\n"                    // 5
                                     "inner:\n  mov.u32 %r2, 2;\n"            // 6
                                     "meet:\n  mov.u32 %r3, 3;\n  ret;\n}\n"; // 7, 8
  const auto module = ir::parse(kText, "k.ptx");
  ASSERT_TRUE(module);
  const ir::Function* const function = module->find("k");
  ASSERT_NE(function, nullptr);
  ASSERT_EQ(function->instructions.size(), 9u);
  const Events both{[](exec::Shard& s) { s.branch({.instruction = 3, .active = ~0u, .taken = ~0xffffu}); },
                    [](exec::Shard& s) { s.branch({.instruction = 4, .active = 0xffffu, .taken = 0xfu}); }};
  const std::vector<exec::InstructionCount> counts = {{1, 32, 32}, {1, 32, 32}, {1, 32, 32}, {1, 32, 32}, {1, 16, 16},
                                                      {1, 12, 12}, {1, 16, 16}, {1, 32, 32}, {1, 32, 32}};
  const Profile profile = run(*module, *function, 1, both, counts);
  const auto lost = [&](std::size_t i) { return profile.instructions[i].metrics.integer("branch_lost_lane_slots"); };
  EXPECT_EQ(lost(3), 16u + 16); // instructions 4 and 6
  EXPECT_EQ(lost(4), 20u);      // instruction 5
  EXPECT_EQ(profile.integer("branch_lost_lane_slots"), 52u);
  // Where nothing diverged, nobody answers.
  const Profile uniform =
      run(*module, *function, 1,
          Events{[](exec::Shard& s) { s.branch({.instruction = 3, .active = 0xffffu, .taken = 0}); }}, counts);
  EXPECT_EQ(uniform.integer("branch_lost_lane_slots"), 0u);
}

TEST(Analysis, LocalMemory) {
  const ir::Module module;
  const ir::Function function = function_of({"ld.local.u32", "st.local.u32"});
  const WarpAccess same(0xffffffffu, 4, [](int) { return 8; });
  const Profile profile =
      run(module, function, 1,
          Events{[&](exec::Shard& s) { s.access(same.event(AccessKind::load, Space::local, 0, 7)); },
                 [&](exec::Shard& s) { s.access(same.event(AccessKind::store, Space::local, 1, 2)); }});
  EXPECT_EQ(profile.integer("smsp__sass_inst_executed_op_local_ld.sum"), 7u);
  EXPECT_EQ(profile.integer("smsp__sass_inst_executed_op_local_st.sum"), 2u);
  EXPECT_EQ(profile.integer("gld_request"), 0u);
  // The same variable of 32 lanes is one segment of 128 bytes: 4 sectors, all of them used.
  EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"), 28u);
  EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"), 8u);
  EXPECT_EQ(profile.integer("memory_l2_theoretical_sectors_local_ideal"), 36u);
  EXPECT_EQ(profile.integer("local_bytes_asked"), 9u * 128);
}

// Interleaved by words of 4 bytes: a sector holds the same word of 8 neighbouring lanes.
TEST(Analysis, LocalMemoryIsInterleavedByLanes) {
  const auto sectors = [](exec::Mask mask, std::uint16_t bytes, auto offset) {
    const WarpAccess a(mask, bytes, offset);
    return local_sectors(a.addresses.data(), a.mask, a.lane_bytes);
  };
  EXPECT_EQ(sectors(0xffffffffu, 4, [](int) { return 12; }), 4u);
  EXPECT_EQ(sectors(0xffffffffu, 16, [](int) { return 16; }), 16u);
  EXPECT_EQ(sectors(0xffffffffu, 1, [](int lane) { return lane % 4; }), 4u);
  EXPECT_EQ(sectors(0xffffffffu, 4, [](int lane) { return 4 * lane; }), 32u); // another element for each lane
  EXPECT_EQ(sectors(0xffffffffu, 4, [](int lane) { return lane / 8 * 4; }), 4u);
  EXPECT_EQ(sectors(0x000000ffu, 8, [](int) { return 8; }), 2u);
  EXPECT_EQ(sectors(0x01010101u, 4, [](int) { return 0; }), 4u);
}

// Constant memory serves one address of a warp after the other; textures are counted by the sectors of their texels.
TEST(Analysis, ConstantAndTextureMemory) {
  const ir::Module module;
  const ir::Function function = function_of({"ld.const.f32", "tex.2d.v4.f32.s32", "sust.b.2d.b32.trap"});
  const WarpAccess same(0xffffffffu, 4, [](int) { return 8; });
  const WarpAccess four(0xffffffffu, 4, [](int lane) { return lane % 4 * 4; });
  const WarpAccess row(0xffffffffu, 4, [](int lane) { return 4096 + lane * 4; });
  const Profile profile =
      run(module, function, 1,
          Events{[&](exec::Shard& s) { s.access(same.event(AccessKind::load, Space::constant, 0, 10)); },
                 [&](exec::Shard& s) { s.access(four.event(AccessKind::load, Space::constant, 0, 2)); },
                 [&](exec::Shard& s) { s.access(row.event(AccessKind::load, Space::texture, 1, 3)); },
                 [&](exec::Shard& s) { s.access(four.event(AccessKind::store, Space::texture, 2)); }});
  EXPECT_EQ(profile.integer("idc__requests.sum"), 12u);
  EXPECT_EQ(profile.integer("constant_passes"), 10u + 2 * 4);
  EXPECT_EQ(profile.integer("constant_passes_excessive"), 6u);
  EXPECT_EQ(profile.integer("l1tex__t_requests_pipe_tex_mem_texture.sum"), 3u);
  EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_tex_mem_texture.sum"), 12u);
  EXPECT_EQ(profile.integer("l1tex__t_requests_pipe_tex_mem_surface_op_st.sum"), 1u);
  EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum"), 1u);
  EXPECT_EQ(profile.integer("l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum"), 0u);
}

TEST(Analysis, BytesAskedAndMoved) {
  const ir::Module module;
  const ir::Function function = function_of({"ld.global.f32"});
  const WarpAccess strided(0x0000ffffu, 4, [](int lane) { return 4096 + 8 * lane; });
  const Profile profile =
      run(module, function, 1,
          Events{[&](exec::Shard& s) { s.access(strided.event(AccessKind::load, Space::global, 0, 10)); }});
  EXPECT_EQ(profile.integer("smsp__sass_data_bytes_mem_global_op_ld.sum"), 640u);
  EXPECT_EQ(profile.integer("l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum"), 10u * 4 * 32);
  EXPECT_EQ(profile.integer("smsp__sass_data_bytes_mem_global_op_st.sum"), 0u);
}

/// Accesses and branches as a kernel with many sites makes them: repeated, interleaved, regular or not.
Events random_events(std::size_t count) {
  std::mt19937_64 random(3);
  Events events;
  for (std::size_t i = 0; i < count; ++i) {
    const auto instruction = static_cast<std::uint32_t>(random() % 6);
    if (random() % 8 == 0) {
      const auto active = static_cast<exec::Mask>(random()) | 1u, taken = static_cast<exec::Mask>(random()) & active;
      events.push_back(
          [=](exec::Shard& s) { s.branch({.instruction = 6, .active = active, .taken = taken, .count = 2}); });
      continue;
    }
    const Space spaces[] = {Space::global, Space::shared, Space::local, Space::global, Space::shared, Space::global};
    const auto kind = static_cast<AccessKind>(instruction % 4);
    const auto bytes = static_cast<std::uint16_t>(1u << random() % 5);
    const std::uint64_t stride = bytes * (random() % 4), base = random() % 64 * bytes;
    const bool regular = random() % 3 != 0;
    WarpAccess access(random() % 4 ? 0xffffffffu : static_cast<exec::Mask>(random()) | 4u, bytes, [&](int lane) {
      return 4096 + (regular ? base + static_cast<std::uint64_t>(lane) * stride : random() % 512 * bytes);
    });
    const Space space = spaces[instruction];
    const std::uint64_t times = 1 + random() % 5;
    events.push_back([=](exec::Shard& s) { s.access(access.event(kind, space, instruction, times)); });
  }
  return events;
}

TEST(Analysis, SameReportForAnyNumberOfWorkersAndAnyOrder) {
  const ir::Module module;
  const ir::Function function = function_of({"a", "b", "c", "d", "e", "f", "bra"});
  Events events = random_events(20000);
  const std::string one = text(run(module, function, 1, events));
  EXPECT_EQ(text(run(module, function, 3, events)), one);
  EXPECT_EQ(text(run(module, function, 16, events)), one);
  std::mt19937 random(1);
  std::shuffle(events.begin(), events.end(), random);
  EXPECT_EQ(text(run(module, function, 5, events)), one);
}

// An access that repeats is counted without being looked at again: the sums must be those of single accesses.
TEST(Analysis, RepeatedShapesCountLikeSingleOnes) {
  const ir::Module module;
  const ir::Function function = function_of({"ld"});
  std::mt19937_64 random(9);
  Events events;
  std::uint64_t sectors = 0, passes_taken = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t base = 65536 + random() % 40 * 4, stride = random() % 5 * 4, pitch = 4096 + random() % 3 * 4;
    const bool tile = random() % 2; // four rows of eight words; the pattern comes back at other bases
    const WarpAccess access(random() % 4 ? 0xffffffffu : 0x7fff7fffu, 4, [&](int lane) {
      const auto n = static_cast<std::uint64_t>(lane);
      return base + (tile ? n / 8 * pitch + n % 8 * 4 : n * stride);
    });
    events.push_back([=](exec::Shard& s) {
      s.access(access.event(AccessKind::load, Space::global));
      s.access(access.event(AccessKind::load, Space::shared));
    });
    const std::uint64_t* addresses = access.addresses.data();
    sectors += transactions(*find_coalescing_rule("6.0"), addresses, access.mask, 4).total();
    passes_taken += passes(*find_bank_rule("5.x+"), addresses, access.mask, 4).passes;
  }
  const Profile profile = run(module, function, 2, events);
  EXPECT_EQ(profile.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), sectors);
  EXPECT_EQ(profile.integer("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), passes_taken);
}

TEST(Analysis, AnalyzersWorkOnTheirOwn) {
  const ir::Function function;
  const CountedRules counted(function, {}, {});
  GlobalTransactions alone(1, counted);
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(alone.make_shard());
  const WarpAccess unit(0xffffffffu, 4, [](int lane) { return 4096 + 4 * lane; });
  shards[0]->access(unit.event(AccessKind::load, Space::global));
  alone.finish(std::move(shards), {});
  Metrics metrics;
  std::vector<InstructionRow> rows(1);
  alone.report(metrics, rows);
  EXPECT_EQ(metrics.integer("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 4u);
}

TEST(Analysis, EveryDescribedMetricIsReported) {
  const ir::Module module;
  ir::Function function = function_of({"ld.global.f32", "selp", "bar.sync", "st.global.f32", "fma.rn.f32"});
  function.registers.push_back({"%f1", isa::Type::f32});
  function.operand_pool.push_back({.kind = ir::OperandKind::reg, .index = 0});
  function.instructions[0].operand_count = 1; // what it loads
  Board board{.multiprocessors = 2,
              .resident_ctas = 2,
              .partitions = Partitions{1, 256},
              .l1 = CacheGeometry{.bytes = 1024},
              .l2 = CacheGeometry{.bytes = 4096}};
  board.result_latency.emplace().fill(4);
  board.path_latency.emplace().results.fill(4);
  Analysis analysis(module, function, {.grid = {4, 1, 1}, .block = {64, 1, 1}}, {.named = {"all"}, .board = board});
  std::vector<std::unique_ptr<exec::Shard>> shards;
  shards.push_back(analysis.make_shard());
  const WarpAccess unit(0xffffffffu, 4, [](int lane) { return 4096 + 4 * lane; });
  const auto access = [&](AccessKind kind, std::uint32_t instruction) {
    shards[0]->access(unit.event(kind, Space::global, instruction));
    shards[0]->each_access({0, 0}, unit.event(kind, Space::global, instruction));
  };
  ASSERT_TRUE(shards[0]->begin_cta(0));
  access(AccessKind::load, 0);
  access(AccessKind::load, 0);
  access(AccessKind::store, 3);
  for (const Space space : {Space::constant, Space::param})
    shards[0]->each_access({0, 0}, unit.event(AccessKind::load, space, 0));
  shards[0]->special_operands({.instruction = 0, .lanes = 1});
  shards[0]->branch({.instruction = 1, .active = 1, .taken = 1});
  shards[0]->barrier({.instruction = 2, .active = 1, .steps = 3});
  shards[0]->product({.instruction = 4, .element = exec::MatrixElement::f16, .multiply_adds = 1024});
  shards[0]->bulk_copy({.instruction = 0, .kind = AccessKind::load, .bytes = 32, .sectors = 1, .received = 1});
  shards[0]->lane_copy({.instruction = 0, .sectors = 16, .fetched = 32, .looked_up = 32});
  shards[0]->end_cta(0);
  analysis.longest_warps({5, 5, std::vector<std::uint64_t>(5, 1), std::vector<std::uint64_t>(5, 1)});
  analysis.finish(std::move(shards), std::vector<exec::InstructionCount>(5, {1, 32, 32}));
  const Profile profile = analysis.profile();
  for (const AnalyzerInfo* analyzer : analyzers()) {
    EXPECT_FALSE(metrics_of(analyzer->id).empty()) << analyzer->id;
    for (const MetricInfo& metric : metrics_of(analyzer->id))
      EXPECT_TRUE(metric.family || profile.metrics.find(metric.id) != nullptr) << metric.name;
  }
  EXPECT_GE(analyzers().size(), 18u);
}

// Code of a header counts for the line of the kernel's file that calls it; code of the same file for its own line.
TEST(Analysis, InlinedCodeIsBlamedOnTheCaller) {
  ir::Module module;
  module.files = {{1, "k.cu"}, {2, "atomics.h"}};
  module.call_sites = {{{1, 30, ir::kNone}, 3}, {{1, 12, 0}, 5}};
  ir::Function function = function_of({"ld.global.f32", "ld.global.f32", "ld.global.f32"});
  function.instructions[0].source = {2, 80, 1}; // atomics.h:80, called at k.cu:12, called at k.cu:30
  function.instructions[1].source = {1, 12, 0};
  function.instructions[2].source = {1, 30};
  const WarpAccess unit(0xffffffffu, 4, [](int lane) { return 4096 + 4 * lane; });
  Events events;
  for (std::uint32_t i = 0; i < 3; ++i)
    events.push_back([=](exec::Shard& s) { s.access(unit.event(AccessKind::load, Space::global, i)); });
  const Profile profile = run(module, function, 1, events);
  ASSERT_EQ(profile.instructions.size(), 3u);
  EXPECT_EQ(profile.instructions[0].source_file, "k.cu");
  EXPECT_EQ(profile.instructions[0].source_line, 12u);
  EXPECT_EQ(profile.instructions[0].inlined, (std::vector<SourceFrame>{{"atomics.h", 80}, {"k.cu", 12}, {"k.cu", 30}}));
  EXPECT_EQ(profile.instructions[1].source_line, 12u);
  EXPECT_EQ(profile.instructions[2].source_line, 30u);
  EXPECT_TRUE(profile.instructions[2].inlined.empty());
}

} // namespace analysis_test
} // namespace warplens::analyzers
