// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map with bad input: each stops the kernel with a reason, and nothing outside is read or written.
// tests/hardware/tensor_copies_test.cpp has what they copy.
#include "tests/exec/kernel_test.hpp"

#include "api/session/tensor_map.hpp"
#include "emulator/exec/checks/copy_check.hpp"
#include "emulator/exec/checks/race_check.hpp"

#include <cstring>

namespace warplens::tests {
namespace tensor_copy_test {

constexpr std::size_t kWords = 1024;

api::TensorMapRequest request_of(std::uint64_t address) {
  api::TensorMapRequest r;
  r.type = 2; // u32
  r.rank = 2;
  r.address = address;
  r.sizes = {32, 16};
  r.strides = {128};
  r.box = {32, 8};
  return r;
}

struct Change {
  std::string statement = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1, "
                          "{%r11, %r12}], [%r13];";
  std::string before = {};
  std::size_t forged_word = 16; ///< of the map; 16: none
  std::uint64_t forged = 0;
  std::uint64_t rows = 16;
  bool im2col = false;
  bool whole_warp = false; ///< all lanes execute the statement
};

// The first words of the buffer are the map. `findings`: those of racecheck or of synccheck.
std::string trap_of(const Change& change, std::vector<exec::ToolFindingGroup>* findings = nullptr,
                    bool of_races = true) {
  std::string text = kernel_of("mov.u32 %r10, s; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, b;\n"
                               "setp.ne.u32 %p1, %r1, 0;" +
                                   std::string(change.whole_warp ? "" : "@%p1 ret;\n") +
                                   "@!%p1 mbarrier.init.shared.b64 [%r13], 1;\n"
                                   "@!%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r13], 1024;\n" +
                                   change.before + change.statement + " ret;",
                               ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 b;\n");
  text.replace(text.find(".version 8.3"), 12, ".version 9.0");
  text.replace(text.find("sm_90"), 5, "sm_90a");
  Emulated machine(text, "tensor.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = 32;
  const std::uint64_t tensor = machine.buffer(std::vector<std::uint32_t>(512, 7));
  api::TensorMapRequest r = request_of(tensor);
  r.sizes[1] = change.rows;
  if (change.im2col) {
    r.kind = api::TensorMapRequest::Kind::im2col;
    r.rank = 3;
    r.sizes = {32, 4, 4};
    r.strides = {128, 512};
    r.channels = 32;
    r.pixels = 4;
  }
  auto words = api::make_tensor_map(r)->encoded();
  if (change.forged_word < words.size()) words[change.forged_word] = change.forged;
  std::vector<std::uint32_t> buffer(kWords);
  std::memcpy(buffer.data(), words.data(), sizeof words);
  request.arguments.push_back({machine.buffer(buffer), 8});
  exec::RaceCheck races;
  exec::CopyCheck copies;
  if (findings != nullptr) {
    request.checkers.push_back(of_races ? static_cast<exec::LaunchChecker*>(&races) : &copies);
    (of_races ? request.tools.racecheck : request.tools.synccheck) = true;
  }
  std::string trap = machine.run(request);
  if (findings != nullptr) *findings = machine.findings();
  return trap;
}

void expect_trap(const Change& change, const std::string& part) {
  const std::string trap = trap_of(change);
  EXPECT_NE(trap.find(part), std::string::npos) << change.before << change.statement << "\n" << trap;
}

TEST(TensorCopy, Copies) { EXPECT_EQ(trap_of({}), ""); }

TEST(TensorCopy, ForgedMaps) {
  const std::string none = "there is no tensor map at its address";
  for (std::size_t word = 0; word < 16; ++word)
    for (const std::uint64_t bits : {~std::uint64_t{0}, std::uint64_t{1} << 63}) {
      Change change;
      change.forged_word = word;
      change.forged = bits;
      // Those are sizes and strides: another tensor, of which the box is inside.
      const bool harmless = word == 2 || word == 4 || word == 5;
      EXPECT_EQ(trap_of(change).empty(), harmless) << word;
    }
  expect_trap({.before = "add.u64 %rd1, %rd1, 512;\n"}, none);
  // Slices of channels need three dimensions.
  for (const char* const rank : {"0", "1"})
    expect_trap({.statement = rank[0] == '0'
                                  ? "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                                    "[%r10], [%rd1, {%r11}], [%r13];"
                                  : Change{}.statement,
                 .before = "tensormap.replace.tile.rank.global.b1024.b32 [%rd1], " + std::string(rank) +
                           ";\ntensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd1], 1;\n"},
                none);
}

TEST(TensorCopy, MapsOfOtherShapes) {
  expect_trap({.statement =
                   "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1, "
                   "{%r11, %r12, %r12}], [%r13];"},
              "the tensor map has 2 dimensions, but the instruction 3");
  expect_trap({.statement =
                   "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1, "
                   "{%r11, %r12, %r12}], [%r13];",
               .im2col = true},
              "the tensor map is one of im2col");
}

TEST(TensorCopy, Places) {
  expect_trap({.before = "add.u64 %rd1, %rd1, 8;\n"}, "misaligned");           // the map
  expect_trap({.before = "add.u32 %r10, %r10, 64;\n"}, "misaligned");          // shared memory
  expect_trap({.before = "add.u32 %r10, %r10, 128;\n"}, "outside");            // its end
  expect_trap({.before = "mov.u64 %rd1, 4096;\n"}, "invalid __global__ read"); // no memory
  expect_trap({.before = "mov.u32 %r11, 1;\n"}, "its innermost coordinate, 1, is not at a multiple of 16 bytes");
  expect_trap({.before = "add.u32 %r13, %r13, 8;\n"}, "mbarrier");
  expect_trap({.before = "mov.u32 %r12, 16;\n", .rows = 64}, "invalid __global__ read"); // a tensor that is not there
}

TEST(TensorCopy, Stores) {
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r11, %r12}], [%r10];";
  expect_trap({.statement = store, .before = "mov.u32 %r12, -1;\n"}, "it writes from a negative coordinate, -1, on");
  expect_trap({.statement = store, .before = "mov.u32 %r12, 16;\n", .rows = 64}, "invalid __global__ write");
  EXPECT_EQ(trap_of({.statement = store, .before = "mov.u32 %r12, 12;\n"}), "");
}

TEST(TensorCopy, RacecheckKnowsWhatIsWaitedFor) {
  const std::string copy = "mbarrier.arrive.shared.b64 %rd10, [%r13];\n" + Change{}.statement + "\n";
  const std::string wait = "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], 0; @!%p2 bra again;\n";
  const std::string read = "ld.shared.u32 %r14, [%r10]; st.global.u32 [%rd2+512], %r14;";
  std::vector<exec::ToolFindingGroup> findings;
  EXPECT_EQ(trap_of({.statement = copy + wait + read}, &findings), "");
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(trap_of({.statement = copy + read}, &findings), "");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].first.detail, "no wait for the asynchronous copy");
}

/// "KIND xCOUNT" of each finding of synccheck.
std::vector<std::string> pending(const std::string& statement) {
  std::vector<exec::ToolFindingGroup> findings;
  EXPECT_EQ(trap_of({.statement = statement}, &findings, false), "") << statement;
  std::vector<std::string> list;
  for (const exec::ToolFindingGroup& g : findings)
    list.push_back(std::string(id_of(g.first.kind)) + " x" + std::to_string(g.count));
  return list;
}
using Findings = std::vector<std::string>;

TEST(TensorCopy, ALoadIsPendingUntilItsPhaseIsWaitedFor) {
  const std::string arrive = "mbarrier.arrive.shared.b64 %rd10, [%r13];\n",
                    fence = "fence.mbarrier_init.release.cluster;\n", load = Change{}.statement + "\n";
  const std::string wait = "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r13], 0; @!%p2 bra again;\n";
  const std::string read = "ld.shared.u32 %r14, [%r10+1020];\n", write = "st.shared.u32 [%r10], 0;\n";
  EXPECT_EQ(pending(fence + arrive + load + wait + read + write), Findings{});
  EXPECT_EQ(pending(fence + arrive + load + read + wait), Findings{"missing_wait x1"});
  EXPECT_EQ(pending(fence + arrive + load + write + wait), Findings{"missing_wait x1"});
  EXPECT_EQ(pending(arrive + load + wait), Findings{"missing_fence x1"}) << "of the mbarrier";
  EXPECT_EQ(pending(fence + arrive + load + "ld.global.u32 %r14, [%rd1+512];\n" + wait), Findings{});
}

TEST(TensorCopy, AStoreIsPendingUntilItsGroupIsWaitedFor) {
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r11, %r12}], [%r10];\n"
                            "cp.async.bulk.commit_group;\n",
                    write = "st.shared.u32 [%r10], 0;\n", fence = "fence.proxy.async;\n",
                    wait = "cp.async.bulk.wait_group 0;\n", wait_read = "cp.async.bulk.wait_group.read 0;\n";
  EXPECT_EQ(pending(write + fence + store + wait_read + write), Findings{});
  EXPECT_EQ(pending(write + fence + store + write + wait), Findings{"missing_wait x1"});
  EXPECT_EQ(pending(write + store + wait), Findings{"missing_fence x1"});
  EXPECT_EQ(pending(store), Findings{"missing_wait x1"}) << "the block exits";
}

// CUTLASS lets a whole warp issue one copy.
TEST(TensorCopy, RacecheckTakesTheSameCopyOfSeveralLanesForOne) {
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r11, %r12}], [%r10];\n"
                            "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  std::vector<exec::ToolFindingGroup> findings;
  EXPECT_EQ(trap_of({.statement = store, .whole_warp = true}, &findings), "");
  EXPECT_TRUE(findings.empty());
  EXPECT_EQ(trap_of({.statement = store, .before = "shr.u32 %r12, %r1, 4;\n", .whole_warp = true}, &findings), "");
  EXPECT_FALSE(findings.empty()) << "to other rows";
}

TEST(TensorCopy, RacecheckTakesCopiesOfOtherPixelsForOthers) {
  const auto found = [](const std::string& offset) {
    std::vector<exec::ToolFindingGroup> findings;
    const Change change{
        .statement = "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r10], "
                     "[%rd1, {%r11, %r12, %r12}], [%r13], {%h1};",
        .before = "@!%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r13], 15360;\n" + offset,
        .im2col = true,
        .whole_warp = true};
    EXPECT_EQ(trap_of(change, &findings), "") << offset;
    return !findings.empty();
  };
  EXPECT_FALSE(found("mov.u16 %h1, 1;\n"));
  EXPECT_TRUE(found("cvt.u16.u32 %h1, %r1;\n"));
}

TEST(TensorCopy, FieldsOfMaps) {
  expect_trap({.statement = "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 0, %r10;",
               .before = "mov.u32 %r10, 257;\n"},
              "a tensor map cannot have the value 0x101 in this field");
  expect_trap({.statement = "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd3;",
               .before = "mov.u64 %rd3, 8;\n"},
              "a tensor map cannot have the value 0x8 in this field");
}

// A box of 8 rows fits into shared memory; one of 16 does not.
TEST(TensorCopy, AMapThatTheKernelChangesIsDecodedAgain) {
  const std::string copy =
      Change{}.statement + "\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r13], 1024;\n" + Change{}.statement;
  const auto box_of = [&](const std::string& rows) {
    const std::size_t second = copy.rfind("cp.async");
    return copy.substr(0, second) + "mov.u32 %r14, " + rows +
           "; tensormap.replace.tile.box_dim.global.b1024.b32 [%rd1], 1, %r14;\n" + copy.substr(second);
  };
  EXPECT_EQ(trap_of({.statement = copy}), "");
  EXPECT_EQ(trap_of({.statement = box_of("8")}), "");
  expect_trap({.statement = box_of("16")}, "outside");
}

} // namespace tensor_copy_test
} // namespace warplens::tests
