// SPDX-License-Identifier: Apache-2.0
// Kernels with the functions that they call, and modules linked from several files.
#include "emulator/ir/check.hpp"
#include "emulator/ir/control_flow.hpp"
#include "emulator/ir/link.hpp"
#include "emulator/ir/liveness.hpp"
#include "emulator/ir/merge.hpp"
#include "emulator/ir/print.hpp"
#include "tests/ir/ptx_text.hpp"

namespace warplens::ir {
namespace link_test {

Module checked(const std::string& text, const std::string& file = "test.ptx") {
  auto module = parse(with_header(text), file);
  if (!module) throw std::runtime_error(render(module.error(), text));
  const Checked result = check(*module);
  if (result.errors.has_errors()) throw std::runtime_error(render(result.errors, text));
  return std::move(*module);
}

std::vector<std::string_view> names(const Module& module, const std::vector<std::uint32_t>& functions) {
  std::vector<std::string_view> list;
  for (const std::uint32_t f : functions) list.push_back(module.functions[f].name);
  return list;
}

constexpr const char* kProgram = R"(
.func unused() { ret; }
.func (.reg .u32 r) leaf(.reg .u32 a) { .reg .u32 %t; mul.lo.u32 %t, a, 3; L: mov.u32 r, %t; }
.func pong(.param .b32 n);
.func ping(.param .b32 n) { .reg .u32 %n; .reg .pred %p; ld.param.u32 %n, [n]; setp.eq.u32 %p, %n, 0; @%p ret;
  call pong, (%n); ret; }
.func pong(.param .b32 n) { .reg .u32 %n; ld.param.u32 %n, [n]; sub.u32 %n, %n, 1; call ping, (%n); ret; }
.entry k(.param .u64 x) { .reg .u32 %a; .local .b32 room; L: mov.u32 %a, 1; call (%a), leaf, (%a); call ping, (%a);
  ret; }
.entry alone() { ret; }
)";

TEST(Link, PutsBehindAKernelWhatItReaches) {
  const Module module = checked(kProgram);
  const Function& kernel = *module.find("k");
  EXPECT_EQ(names(module, reachable(module, kernel)), (std::vector<std::string_view>{"k", "leaf", "ping", "pong"}));
  EXPECT_FALSE(needs_linking(*module.find("alone")));
  ASSERT_TRUE(needs_linking(kernel));
  const auto linked = link(module, kernel);
  ASSERT_TRUE(linked);
  ASSERT_EQ(linked->parts.size(), 4u);
  EXPECT_EQ(linked->params.size(), 1u);
  std::uint32_t end = 0;
  for (const Part& part : linked->parts) { // one behind the other, all of them
    EXPECT_EQ(part.first, end);
    end = part.end;
    EXPECT_TRUE(linked->instructions[end - 1].opcode == "ret");
  }
  EXPECT_EQ(end, linked->instructions.size());
  const Part &leaf = linked->parts[1], &ping = linked->parts[2], &pong = linked->parts[3];
  EXPECT_EQ(leaf.end - leaf.first, 3u); // with the ret that its body does without
  EXPECT_NE(linked->instructions[leaf.end - 1].form, kNone);
  ASSERT_EQ(leaf.params.size(), 1u);
  EXPECT_EQ(linked->registers[leaf.params[0].reg].name, "a");
  EXPECT_EQ(linked->registers[leaf.results[0].reg].name, "r");
  EXPECT_EQ(linked->variables[ping.params[0].variable].size, 4u);
  EXPECT_EQ(ping.params[0].reg, kNone);
  // Those that call each other belong together, the others to nobody.
  EXPECT_EQ(linked->parts[0].cycle, kNone);
  EXPECT_EQ(leaf.cycle, kNone);
  EXPECT_NE(ping.cycle, kNone);
  EXPECT_EQ(ping.cycle, pong.cycle);
  // Labels and operands have moved along.
  EXPECT_EQ(linked->labels[1].instruction, leaf.first + 1);
  const Instruction& product = linked->instructions[leaf.first];
  EXPECT_EQ(linked->registers[linked->operands(product)[0].index].name, "%t");
  EXPECT_EQ(linked->operands(product)[1].index, leaf.params[0].reg);
}

TEST(Link, PartsDoNotFlowIntoEachOther) {
  const Module module = checked(kProgram);
  const auto linked = link(module, *module.find("k"));
  const ControlFlow flow = control_flow(*linked);
  for (const Part& part : linked->parts)
    for (std::uint32_t i = part.first; i < part.end; ++i) {
      const Block& block = flow.blocks[flow.block_of[i]];
      EXPECT_GE(block.first, part.first);
      EXPECT_LE(block.end, part.end);
      for (const std::uint32_t s : block.successors) EXPECT_LT(flow.blocks[s].first, part.end);
    }
}

TEST(Link, IndirectCallsReachWhatHasTheirShapeAndAnAddress) {
  const Module module = checked(R"(
.func (.param .b32 r) f(.param .b32 a) { ret; }
.func (.param .b32 r) g(.param .b32 a) { ret; }
.func (.param .b32 r) nobody_asks(.param .b32 a) { ret; }
.func (.param .b32 r) wider(.param .b64 a) { ret; }
.global .u64 table[2] = {f, wider};
.entry other() { .reg .u64 %x; mov.u64 %x, g; ret; }
.entry k(.param .u64 p) { .reg .u64 %x; .reg .b32 %y; ld.param.u64 %x, [p];
  shape: .callprototype (.param .b32 _) _ (.param .b32 _); call (%y), %x, (1), shape; ret; }
.entry listed(.param .u64 p) { .reg .u64 %x; .reg .b32 %y; ld.param.u64 %x, [p];
  list: .calltargets nobody_asks; call (%y), %x, (1), list; ret; }
)");
  EXPECT_EQ(names(module, reachable(module, *module.find("k"))), (std::vector<std::string_view>{"k", "f", "g"}));
  EXPECT_EQ(names(module, reachable(module, *module.find("listed"))),
            (std::vector<std::string_view>{"listed", "nobody_asks"}));
}

TEST(Link, PrintsEachPartWithItsOwnNames) {
  const Module module = checked(".func f() { .reg .u32 %r; mov.u32 %r, 5; }\n"
                                ".entry k() { .reg .u32 %r; mov.u32 %r, 1; call f; ret; }");
  const auto linked = link(module, *module.find("k"));
  EXPECT_EQ(print_lines(module, *linked),
            (std::vector<std::string>{"mov.u32 %r, 1;", "call f;", "ret;", "mov.u32 %r, 5;", "ret;"}));
}

TEST(Link, WhatIsReadAfterACallIsLive) {
  const Module module =
      checked(".func (.reg .u32 r) f(.reg .u32 a) { ret; }\n"
              ".entry k(.param .u64 p) { .reg .u32 %a, %b, %c; .reg .u64 %x; mov.u32 %a, 1; mov.u32 %b, 2;"
              "ld.param.u64 %x, [p]; call (%c), f, (%b); add.u32 %a, %a, %c; st.global.u32 [%x], %a; ret; }");
  const Function& kernel = *module.find("k");
  const auto live = live_after(module, kernel, {3});
  std::vector<std::string_view> found;
  for (const std::uint32_t r : live->front()) found.push_back(kernel.registers[r].name);
  EXPECT_EQ(found, (std::vector<std::string_view>{"%a", "%c", "%x"}));
}

TEST(Link, ATargetThatIsNowhereIsAnError) {
  const Module module = checked(".extern .func f(); .entry k() { call f; ret; }");
  const auto linked = link(module, *module.find("k"));
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().list().front().message, "function 'f' is called but not defined");
}

std::string check_errors(const std::string& text) {
  auto module = parse(with_header(text), "test.ptx");
  if (!module) return "does not parse";
  const Checked result = check(*module);
  reachable(*module, *module->find("k")); // whatever check() has found: takes no harm
  std::string list;
  for (const Diagnostic& d : result.errors.list()) list += d.message + "\n";
  for (const Unsupported& u : result.unsupported) list += "unsupported: " + u.why.message + "\n";
  return list;
}

TEST(CheckCalls, LooksThroughAliases) {
  const std::string real = ".visible .func real(.param .b64 a, .param .b32 b) { ret; } .entry kernel() { ret; }\n";
  EXPECT_EQ(check_errors(real + ".func other(.param .b32 a); .alias other, real; .entry k() { call other, (1); ret; }"),
            "'real' has 2 parameters, but the call has 1\n");
  EXPECT_EQ(check_errors(real + ".entry k() { call kernel; ret; }"),
            "'kernel' is a kernel: only functions (.func) can be called\n");
  EXPECT_EQ(check_errors(real + ".func other(.param .b32 a); .alias other, real;\n.entry k() { .reg .b64 %x;"
                                "list: .calltargets other, kernel; call %x, (1), list; ret; }"),
            "'other' has 2 parameters, but the call has 1\n'list' lists 'kernel', which is not a function\n");
}

TEST(CheckCalls, WhatIsNoCallIsNotFollowed) {
  EXPECT_EQ(check_errors(".entry k() { .reg .b64 %x; .reg .b32 %r; call.foo (%r), %x, (%r), %x; ret; }").substr(0, 12),
            "unsupported:");
  EXPECT_EQ(check_errors(".func f(.param .b32 n, .param .align 8 .b8 rest[]) { ret; }\n"
                         ".entry k() { .param .b32 n; .param .align 8 .b8 rest[32]; call f, (n, rest); ret; }"),
            "unsupported: 'f' takes a variable number of arguments, which is not supported\n");
}

std::string merge_errors(const std::string& a, const std::string& b) {
  std::vector<Module> both;
  both.push_back(checked(a, "a.ptx"));
  both.push_back(checked(b, "b.ptx"));
  const auto merged = merge(std::move(both));
  std::string text;
  if (!merged)
    for (const Diagnostic& d : merged.error().list()) text += d.file + ": " + d.message + "\n";
  return text;
}

TEST(Merge, FindsWhatIsDefinedElsewhere) {
  std::vector<Module> files;
  files.push_back(
      checked(".file 1 \"a.cu\"\n.extern .func (.param .b32 r) f(.param .b32 a); .extern .global .u32 shared_by_all;"
              ".func helper() { ret; } .weak .func w() { exit; }"
              ".visible .entry k() { .reg .b32 %r; .reg .b64 %x; .loc 1 7 0\n call (%r), f, (1); call helper; call w;"
              "mov.u64 %x, shared_by_all; ret; }",
              "a.ptx"));
  files.push_back(checked(
      ".file 1 \"b.cu\"\n.visible .global .u32 shared_by_all = 7; .func helper() { exit; } .visible .func w() { ret; }"
      ".global .u64 own = helper;"
      ".visible .func (.param .b32 r) f(.param .b32 a) { .loc 1 9 0\n call helper; ret; }",
      "b.ptx"));
  auto merged = merge(std::move(files));
  ASSERT_TRUE(merged);
  const Checked result = check(*merged);
  EXPECT_FALSE(result.errors.has_errors());
  EXPECT_TRUE(result.unsupported.empty());
  const Function& f = *merged->find("f");
  EXPECT_EQ(f.file, "b.ptx");
  EXPECT_EQ(merged->find("k")->file, "a.ptx");
  EXPECT_EQ(merged->find("w")->instructions[0].opcode, "ret"); // the weak one gave way
  // The two helpers are two, and each file calls its own.
  const auto reached = names(*merged, reachable(*merged, *merged->find("k")));
  EXPECT_EQ(reached, (std::vector<std::string_view>{"k", "f", "helper", "w", "helper$2"}));
  ASSERT_EQ(merged->variables.size(), 2u);
  EXPECT_EQ(merged->variables[0].initial.size(), 4u);
  EXPECT_EQ(merged->variables[1].relocations[0].symbol, "helper$2");
  // Numbers of source files stay apart, too.
  ASSERT_EQ(merged->files.size(), 2u);
  EXPECT_EQ(merged->files[1].number, f.instructions[0].source.file);
  EXPECT_NE(merged->files[0].number, merged->files[1].number);
}

TEST(Merge, RefusesWhatDoesNotFit) {
  EXPECT_EQ(merge_errors(".visible .func f() { ret; }", ".visible .func f() { ret; }"),
            "b.ptx: 'f' is also defined in 'a.ptx'\n");
  EXPECT_EQ(merge_errors(".extern .func f(.param .b32 a);", ".visible .func f(.param .b64 a) { ret; }"),
            "b.ptx: 'f' has different parameters or results in 'a.ptx'\n");
  EXPECT_EQ(merge_errors(".visible .global .u32 x;", ".visible .global .u32 x;"),
            "b.ptx: 'x' is also defined in another file\n");
  EXPECT_EQ(merge_errors(".visible .global .u32 x;", ".extern .const .u32 x;"),
            "b.ptx: 'x' is in .const here, but in .global in another file\n");
  EXPECT_EQ(merge_errors(".visible .func f() { ret; }", ".weak .func f() { ret; }"), "");
  EXPECT_EQ(merge_errors(".func f() { ret; }", ".func f() { ret; }"), "");
}

} // namespace link_test
} // namespace warplens::ir
