// SPDX-License-Identifier: Apache-2.0
// The transaction counts that models receive, on the micro-benchmarks of Dasgupta's thesis (section 3.2.4, Table 17): a
// warp makes 800 transactions of one size, and the model's time is known.
#include "analyzers/machine_work.hpp"
#include "api/launch/contention.hpp"
#include "api/launch/statistics.hpp"
#include "api/plan/launch_file.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace warplens::api {
namespace statistics_test {

using analyzers::MetricId;

struct Case {
  const char* kernel;
  int bytes;           ///< of every transaction; 0: there are none
  double milliseconds; ///< of the model, in the thesis
};

TEST(Microbenchmark, GivesTheTimesOfTheThesis) {
  const Expected<Plan> plan = read_launch_file(WARPLENS_SOURCE_DIR "/samples/microbenchmark/launch.toml", {});
  ASSERT_TRUE(plan);
  const Expected<PlanReport> report = run_plan(*plan, {});
  ASSERT_TRUE(report) << render(report.error(), "");
  const Case table[] = {{"scalar_config0", 0, 0.844},
                        {"scalar_32b", 32, 0.7222},
                        {"scalar_64b", 64, 0.7222},
                        {"scalar_128b", 128, 1.131}};
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const LaunchReport& launch = report->launches.at(i);
    SCOPED_TRACE(launch.kernel);
    EXPECT_EQ(launch.kernel, table[i].kernel);
    for (const int bytes : {32, 64, 128})
      EXPECT_EQ(launch.profile.integer("gld_" + std::to_string(bytes) + "b"), bytes == table[i].bytes ? 768000u : 0u);
    const auto dasgupta = std::find_if(launch.predictions.begin(), launch.predictions.end(),
                                       [](const model::Prediction& p) { return p.model == "dasgupta"; });
    ASSERT_NE(dasgupta, launch.predictions.end());
    // The PTX replaces the thesis' machine code, which has a few more instructions.
    EXPECT_NEAR(dasgupta->milliseconds, table[i].milliseconds, 0.003 * table[i].milliseconds);
  }
}

TEST(Statistics, RulesOfTheDeviceDecide) {
  analyzers::Profile profile;
  profile.metrics.add(MetricId::warps_launched, std::uint64_t{2});
  profile.metrics.add(MetricId::blocks_launched, std::uint64_t{1});
  profile.metrics.add(MetricId::warp_instructions, std::uint64_t{20});
  analyzers::InstructionRow row;
  row.lane_bytes = 4;
  row.metrics.add(MetricId::warp_instructions, std::uint64_t{10});
  row.metrics.add(MetricId::thread_instructions_on, std::uint64_t{320});
  row.metrics.add(MetricId::global_requests_ld, std::uint64_t{10});
  row.metrics.add(MetricId::global_sectors, std::uint64_t{80});
  row.metrics.add(MetricId::gld_request, std::uint64_t{10});
  profile.instructions.push_back(row);
  ir::Function kernel;
  kernel.instructions.emplace_back().opcode = "ld.global.f32";

  // Every second word: one transaction of 128 bytes a half-warp on 1.2, one a lane on 1.0, 8 sectors on 6.0.
  std::uint64_t addresses[exec::kWarpSize];
  for (std::size_t lane = 0; lane < std::size(addresses); ++lane) addresses[lane] = 4096 + 8 * lane;
  const auto on = [&](const char* name) {
    const model::Device device = *load_device(name);
    analyzers::TransactionCount ten{10, 1280, {}};
    ten.sum.add(analyzers::transactions(device.coalescing_rule, addresses, ~0u, 4), 10,
                analyzers::Transactions::kSizes);
    profile.instructions[0].counts.transactions = {ten, {}, {}, {}};
    return Statistics(profile, ir::Module{}, kernel, device).of(64, 8);
  };
  EXPECT_EQ(on("c1060").transactions_128, 10);
  EXPECT_EQ(on("c1060").coalesced_requests, 5);
  EXPECT_EQ(on("8800gtx").uncoalesced_requests, 5);
  EXPECT_EQ(on("8800gtx").uncoalesced_transactions, 32);
  EXPECT_EQ(on("8800gtx").transactions_32, 160); // of ten requests, by two warps: those of lanes, not sectors
  EXPECT_EQ(on("h200").transactions_32, 40);
  EXPECT_EQ(on("h200").uncoalesced_requests, 5);
  EXPECT_EQ(on("h200").bytes_per_request, 128);
  EXPECT_EQ(on("h200").instructions, 10);
}

// Four loads of a variable and two stores of elements, each lane another one: transactions of loads and of stores.
TEST(Statistics, LocalMemoryIsLoadedAndStored) {
  analyzers::Profile profile;
  profile.metrics.add(MetricId::warps_launched, std::uint64_t{2});
  ir::Function kernel;
  for (const auto& [opcode, name, requests, sectors] : {std::tuple("ld.local.u32", MetricId::local_load, 4u, 16u),
                                                        std::tuple("st.local.u32", MetricId::local_store, 2u, 64u)}) {
    analyzers::InstructionRow row;
    row.instruction = static_cast<std::uint32_t>(kernel.instructions.size());
    row.metrics.add(name, std::uint64_t{requests});
    row.metrics.add(requests == 4 ? MetricId::local_sectors_ld : MetricId::local_sectors_st, std::uint64_t{sectors});
    profile.instructions.push_back(row);
    kernel.instructions.emplace_back().opcode = opcode;
  }
  const model::KernelStatistics h200 = Statistics(profile, ir::Module{}, kernel, *load_device("h200")).of(64, 8);
  EXPECT_EQ(h200.global_requests, 3);
  EXPECT_EQ(h200.load_transactions, 8);
  EXPECT_EQ(h200.store_transactions, 32);
  EXPECT_EQ(h200.transactions_32, 40);
  const model::KernelStatistics c1060 =
      Statistics(profile, ir::Module{}, kernel, *load_device("c1060")).of(64, 8); // half-warps
  EXPECT_EQ(c1060.load_transactions, 4);
  EXPECT_EQ(c1060.store_transactions, 2);
  EXPECT_EQ(c1060.transactions_64, 6);
}

/// An instruction, and its recorded accesses of the first and of the last block: 32 lanes from `first` or `last` on.
model::KernelStatistics contention_of(const char* opcode, std::uint64_t first, std::uint64_t last, std::uint64_t stride,
                                      double sectors) {
  analyzers::InstructionRow row;
  for (const std::uint64_t cta : {0, 9}) {
    analyzers::RecordedAccess& access = row.recorded.emplace_back();
    access.cta = cta;
    access.space = isa::Space::global;
    access.mask = ~0u;
    for (std::size_t lane = 0; lane < exec::kWarpSize; ++lane)
      access.addresses[lane] = (cta == 0 ? first : last) + lane * stride;
  }
  ir::Instruction instruction;
  instruction.opcode = opcode;
  Contention contention;
  contention.add(row, instruction, sectors);
  model::KernelStatistics s;
  contention.put_into(s);
  return s;
}

TEST(Contention, OneWordTakesAllUpdates) {
  const auto s = contention_of("red.global.add.u32", 4096, 4096, 0, 3200);
  EXPECT_EQ(s.half_line_updates, 3200);
  EXPECT_EQ(s.word_float_updates, 0);
  EXPECT_EQ(s.kilobyte_updates, 3200);
  EXPECT_EQ(contention_of("red.global.add.f32", 4096, 4096, 0, 3200).word_float_updates, 3200);
  // Of a request, different words of a sector are updated together: here four lanes to a sector.
  EXPECT_EQ(contention_of("red.global.add.f64", 4096, 4096, 8, 3200).word_float_updates, 100);
}

TEST(Contention, RequestsOfASectorFollowEachOther) {
  analyzers::InstructionRow rows[2];
  for (const std::uint64_t word : {0, 1})
    for (const std::uint64_t cta : {0, 9}) {
      analyzers::RecordedAccess& access = rows[word].recorded.emplace_back();
      access.cta = cta;
      access.space = isa::Space::global;
      access.mask = ~0u;
      for (std::uint64_t& address : access.addresses) address = 4096 + 8 * word;
    }
  ir::Instruction instruction;
  instruction.opcode = "red.global.add.f64";
  Contention contention;
  for (const analyzers::InstructionRow& row : rows) contention.add(row, instruction, 3200);
  model::KernelStatistics s;
  contention.put_into(s);
  EXPECT_EQ(s.word_float_updates, 6400);
}

/// Of the word that most update: two blocks record two accesses each, four lanes to a word, of 1000 lanes of a block.
double shared_swaps_of(const char* opcode) {
  analyzers::InstructionRow row;
  for (const std::uint64_t cta : {0, 0, 9, 9}) {
    analyzers::RecordedAccess& access = row.recorded.emplace_back();
    access.cta = cta;
    access.space = isa::Space::shared;
    access.mask = ~0u;
    for (std::size_t lane = 0; lane < exec::kWarpSize; ++lane) access.addresses[lane] = lane / 4 * 8;
  }
  ir::Instruction instruction;
  instruction.opcode = opcode;
  Contention contention;
  contention.add_shared(row, instruction, 1000);
  model::KernelStatistics s;
  contention.put_into(s);
  return s.shared_word_swaps.value();
}

TEST(Contention, SharedMemoryHasUnitsForIntegersOf32BitsOnly) {
  for (const char* opcode : {"atom.shared.add.f32", "red.shared.add.f64", "atom.shared.add.u64", "red.shared.xor.b64",
                             "red.shared.add.noftz.f16x2"})
    EXPECT_EQ(shared_swaps_of(opcode), 1000 * 4 / 32.0) << opcode;
  for (const char* opcode : {"atom.shared.add.u32", "red.shared.xor.b32", "atom.shared.exch.b64", "atom.shared.cas.b64",
                             "red.shared.max.u64", "st.shared.f32"})
    EXPECT_EQ(shared_swaps_of(opcode), 0) << opcode;
}

TEST(Contention, WordsOfOneBlockAreNotContended) {
  const auto s = contention_of("atom.global.add.u32", 4096, 8192, 0, 3200);
  EXPECT_EQ(s.half_line_updates, 0);
  EXPECT_EQ(s.kilobyte_updates, 0);
}

TEST(Contention, LanesSpreadTheUpdates) {
  const auto s = contention_of("red.global.add.u32", 4096, 4096, 4, 400);
  EXPECT_DOUBLE_EQ(s.half_line_updates.value(), 200); // two of four sectors
  EXPECT_DOUBLE_EQ(contention_of("red.global.add.f32", 4096, 4096, 4, 400).word_float_updates.value(), 400 / 32.0);
  EXPECT_DOUBLE_EQ(s.kilobyte_updates.value(), 400);
  // The same kilobyte, wherever it begins.
  EXPECT_DOUBLE_EQ(contention_of("red.global.add.u32", 4096 + 512, 4096 + 512, 32, 3200).kilobyte_updates.value(),
                   3200);
  const auto spread = contention_of("red.global.add.u32", 4096, 4096, 256, 3200); // 32 sectors of 8 kilobytes
  EXPECT_DOUBLE_EQ(spread.kilobyte_updates.value(), 400);
}

TEST(Statistics, ConversionsOfFloatingPointNumbersFromAndTo64Bits) {
  analyzers::Profile profile;
  profile.metrics.add(MetricId::warps_launched, std::uint64_t{1});
  const std::pair<const char*, int> table[] = {{"cvt.f64.f32", 1},     {"cvt.rn.f32.f64", 2},   {"cvt.rn.f32.u64", 4},
                                               {"cvt.u64.u32", 8},     {"cvt.rzi.s64.f32", 16}, {"cvt.rn.f32.s32", 32},
                                               {"cvt.rn.f16.f32", 64}, {"add.f64", 128}};
  ir::Function kernel;
  for (const auto& [opcode, times] : table) {
    analyzers::InstructionRow& row = profile.instructions.emplace_back();
    row.instruction = static_cast<std::uint32_t>(kernel.instructions.size());
    row.metrics.add(MetricId::warp_instructions, static_cast<std::uint64_t>(times));
    kernel.instructions.emplace_back().opcode = opcode;
  }
  EXPECT_EQ(Statistics(profile, ir::Module{}, kernel, *load_device("h200")).of(32, 8).wide_conversions, 1 + 2 + 4 + 16);
}

// A product that is added is one machine instruction, which other units than the ALU execute.
TEST(Statistics, MachineInstructionsAreThoseOfTheFunction) {
  Expected<ir::Module> module = ir::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .b32 %r<5>; .reg .b64 %rd<4>; "
      ".reg .f32 %f<2>; mul.wide.s32 %rd1, %r1, 4; add.s64 %rd2, %rd3, %rd1; xor.b32 %r2, %r1, %r1; "
      "cvt.rzi.s32.f32 %r3, %f1; popc.b32 %r4, %r3; ret; }",
      "k.ptx");
  ASSERT_TRUE(module);
  ASSERT_FALSE(ir::check(*module).errors.has_errors());
  const ir::Function& kernel = *module->find("k");
  analyzers::Profile profile;
  profile.metrics.add(MetricId::warps_launched, std::uint64_t{2});
  for (std::uint32_t i = 0; i + 1 < kernel.instructions.size(); ++i) { // without ret
    analyzers::InstructionRow& row = profile.instructions.emplace_back();
    row.instruction = i;
    row.metrics.add(MetricId::warp_instructions, std::uint64_t{20});
  }
  const model::KernelStatistics s = Statistics(profile, *module, kernel, *load_device("h200")).of(64, 8);
  EXPECT_EQ(s.machine_instructions, 40);
  EXPECT_EQ(s.alu_operations, 10);
  EXPECT_EQ(s.special_operations, 20);
}

TEST(MachineWork, SomeInstructionsBecomeMany) {
  using Class = isa::InstructionClass;
  struct Row {
    const char* opcode;
    Class which;
    double instructions, doubles;
  };
  const Row table[] = {{"fma.rn.f32", Class::f32_multiply_add, 1, 0},
                       {"div.rn.f32", Class::f32_divide, 9, 0},
                       {"div.approx.ftz.f32", Class::f32_fast_divide, 2, 0},
                       {"div.rn.f64", Class::f64_divide, 16, 13},
                       {"sqrt.rn.f64", Class::f64, 20, 14},
                       {"sqrt.rn.f32", Class::square_root, 8, 0},
                       {"rcp.rn.f64", Class::f64, 12, 8},
                       {"rsqrt.approx.f64", Class::f64, 1, 0},
                       {"fma.rn.f64", Class::f64_multiply_add, 1, 1},
                       {"add.s64", Class::integer, 2, 0},
                       {"mul.lo.s64", Class::integer_multiply, 4, 0},
                       {"mul.wide.s32", Class::integer_multiply, 1, 0},
                       {"div.u64", Class::integer_divide, 128, 0},
                       {"rem.u32", Class::integer_divide, 17, 0},
                       {"ex2.approx.ftz.f32", Class::exponential, 1, 0},
                       {"lg2.approx.f32", Class::logarithm, 4, 0},
                       {"ld.param.u64", Class::param, 0, 0},
                       {"cvta.to.global.u64", Class::move, 0, 0}};
  for (const Row& row : table) {
    ir::Instruction instruction;
    instruction.opcode = row.opcode;
    instruction.instruction_class = row.which;
    const analyzers::MachineWork work = analyzers::machine_work(instruction);
    EXPECT_EQ(work.instructions, row.instructions) << row.opcode;
    EXPECT_EQ(work.doubles, row.doubles) << row.opcode;
  }
}

// Products with powers of two are shifts: 10 of the two multiplications' 20 are left.
TEST(Statistics, ClassesAndDeviceFilesHaveTheSameKeys) {
  std::set<std::string_view> issue = {"basic"},
                             latency(std::begin(model::kResultLatencies), std::end(model::kResultLatencies)),
                             path(std::begin(model::kPathLatencies), std::end(model::kPathLatencies));
  for (std::size_t i = 0; i < model::kIssueClasses; ++i) issue.insert(to_string(static_cast<model::IssueClass>(i)));
  std::set<std::string_view> asked_issue, asked_latency;
  for (const isa::ClassInfo& c : isa::kInstructionClasses) {
    asked_issue.insert(c.issue);
    asked_latency.insert(c.latency);
    EXPECT_TRUE(path.contains(fmt::format("latency_{}", c.latency))) << c.name;
    EXPECT_EQ(isa::info(c.counted_as).counted_as, c.counted_as) << c.name;
  }
  EXPECT_EQ(asked_issue, issue);
  EXPECT_EQ(asked_latency, latency);
}

// Blocks run here one after the other, so that the first takes all the work that blocks share out, or waits for all.
TEST(Statistics, TheOrderOfBlocksMakesNoLongestWarp) {
  const auto longest_with = [](const std::string& body, std::uint64_t times) {
    const std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
                             ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\nld.param.u64 %rd1, [x];\n" +
                             body + "\nret;\n}\n";
    auto module = ir::parse(text, "k.ptx");
    EXPECT_TRUE(module && !ir::check(*module).errors.has_errors()) << body;
    const std::size_t size = module->functions[0].instructions.size();
    // The longest warp executes each instruction so often, and those of the ten blocks 30 times in all.
    const exec::LongestWarps longest{size * times, size * 30, std::vector<std::uint64_t>(size, times),
                                     std::vector<std::uint64_t>(size, 30)};
    model::KernelStatistics s;
    s.blocks = 10;
    s.longest_of_blocks_path_l2 = s.longest_of_blocks_path_memory = 3;
    s.longest_warp_path_l2 = s.longest_warp_path_memory = 100;
    add_longest_warps(s, longest, *module, module->functions[0]);
    EXPECT_EQ(*s.longest_warp == *s.longest_of_blocks, *s.longest_warp_path_l2 == 3) << body;
    EXPECT_EQ(*s.longest_warp_path_l2, *s.longest_warp_path_memory) << body;
    return *s.longest_warp_path_l2;
  };
  const std::string queue = "L: atom.global.add.u32 %r2, [%rd1], 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra L;";
  EXPECT_EQ(longest_with(queue, 20), 3);
  EXPECT_EQ(longest_with(queue, 7), 100) << "each block asks several times";
  EXPECT_EQ(longest_with("L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;", 20), 3);
  EXPECT_EQ(longest_with("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra L;", 20), 100);
  EXPECT_EQ(longest_with("red.global.add.u32 [%rd1], 1;", 20), 100) << "nobody learns the result";
}

TEST(Statistics, ShiftsAreNoMultiplications) {
  ir::Function kernel;
  for (const std::int64_t factor : {4, 12}) {
    ir::Instruction& i = kernel.instructions.emplace_back();
    i.opcode = "mul.wide.s32";
    i.instruction_class = isa::InstructionClass::integer_multiply;
    i.first_operand = static_cast<std::uint32_t>(kernel.operand_pool.size());
    i.operand_count = 1;
    kernel.operand_pool.push_back({.kind = ir::OperandKind::integer, .value = factor});
  }
  analyzers::Profile profile;
  profile.metrics.add(MetricId::warps_launched, std::uint64_t{1});
  profile.metrics.add(MetricId::blocks_launched, std::uint64_t{1});
  profile.metrics.add(MetricId::warp_instructions, std::uint64_t{20});
  for (std::uint32_t instruction : {0u, 1u}) {
    analyzers::InstructionRow row;
    row.instruction = instruction;
    row.metrics.add(MetricId::warp_instructions, std::uint64_t{10});
    profile.instructions.push_back(row);
  }
  const model::KernelStatistics s = Statistics(profile, ir::Module{}, kernel, *load_device("c1060")).of(64, 8);
  EXPECT_EQ(s.by_class[static_cast<std::size_t>(model::IssueClass::integer_multiply)], 10);
}

// What is counted is what could merge; with the C1060's queue the model says how much does.
TEST(Statistics, DuplicateLoadsAreIdealOnesWhereTheQueueIsKnown) {
  ir::Function kernel;
  kernel.instructions.emplace_back().opcode = "ld.global.f32";
  analyzers::Profile profile;
  profile.metrics.add(MetricId::warps_launched, std::uint64_t{2});
  profile.metrics.add(MetricId::blocks_launched, std::uint64_t{1});
  profile.metrics.add(MetricId::warp_instructions, std::uint64_t{20});
  analyzers::InstructionRow row;
  row.metrics.add(MetricId::duplicates_requested, std::uint64_t{20});
  row.metrics.add(MetricId::duplicates_on_multiprocessor, std::uint64_t{10});
  profile.instructions.push_back(row);
  const auto on = [&](const char* device) {
    return Statistics(profile, ir::Module{}, kernel, *load_device(device)).of(64, 8);
  };
  EXPECT_EQ(on("c1060").ideal_duplicate_loads, 2);
  EXPECT_EQ(on("c1060").duplicate_loads, std::nullopt);
  EXPECT_EQ(on("c2050").duplicate_loads, 2);
}

// Those of the command line, else those of the launch file, else an estimate.
TEST(Registers, OfALaunchFile) {
  Expected<Plan> plan = read_launch_file(WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml", {});
  ASSERT_TRUE(plan);
  const auto registers = [&](const PlanOptions& options) { return run_plan(*plan, options)->launches.at(0).resources; };
  EXPECT_EQ(registers({}).registers_from, Resources::RegisterSource::estimated);
  plan->launches.at(0).registers = 40;
  EXPECT_EQ(registers({}).registers, 40u);
  EXPECT_EQ(registers({}).registers_from, Resources::RegisterSource::given);
  PlanOptions options;
  options.launch.registers = 24;
  EXPECT_EQ(registers(options).registers, 24u);
}

// Fermi's first cache fetches lines of 128 bytes: one for the 32 words of a warp, where the sectors would be four.
TEST(Statistics, ADeviceOfAnotherRuleIsCountedByIt) {
  Expected<Plan> plan = read_launch_file(WARPLENS_SOURCE_DIR "/samples/vector_add/launch.toml", {});
  ASSERT_TRUE(plan);
  plan->device = "c2050";
  const Expected<PlanReport> report = run_plan(*plan, {});
  ASSERT_TRUE(report) << render(report.error(), "");
  const model::KernelStatistics& s = report->launches.at(0).statistics;
  EXPECT_EQ(s.transactions_32, 0);
  EXPECT_EQ(s.transactions_128, s.global_requests); // all are aligned
  EXPECT_EQ(s.uncoalesced_requests, 0);
  bool sim = false;
  for (const model::Prediction& p : report->launches[0].predictions) sim |= p.model == "sim";
  EXPECT_TRUE(sim);
}

} // namespace statistics_test
} // namespace warplens::api
