// SPDX-License-Identifier: Apache-2.0
// Small kernels under initcheck.
//
//   check(kShared + "ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd2], %r11;").findings.size() == 1
#pragma once

#include "emulator/exec/checks/init_check.hpp"
#include "tests/exec/kernel_test.hpp"

namespace warplens::tests {
namespace init_test {

using exec::InitCheck;
using exec::ToolFinding;

struct Checked {
  std::vector<exec::ToolFindingGroup> findings;
  std::string trap;
};

struct Way {
  std::uint32_t blocks = 1, threads = 32, cluster = 1;
  unsigned workers = 1;
  bool fresh = false; ///< the buffer of 4096 words
  std::string declarations = ".shared .align 16 .b8 s[1024];\n";
};

inline Checked check(const std::string& body, const Way& way = {}) {
  Emulated machine(kernel_of(body, way.declarations), "init.ptx");
  InitCheck init;
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = way.blocks;
  request.shape.block[0] = way.threads;
  request.shape.cluster[0] = way.cluster;
  request.workers = way.workers;
  request.tools.initcheck = true;
  request.checkers = {&init};
  const std::uint64_t buffer = machine.buffer(std::vector<std::uint32_t>(4096, 0));
  if (way.fresh) init.fresh(buffer, 16384, false);
  request.arguments = {{buffer, 8}};
  Checked checked;
  checked.trap = machine.run(request);
  EXPECT_EQ(checked.trap, "") << body;
  checked.findings = machine.findings();
  return checked;
}

/// The only finding.
inline exec::ToolFindingGroup only(const Checked& checked) {
  EXPECT_EQ(checked.findings.size(), 1u);
  return checked.findings.empty() ? exec::ToolFindingGroup{} : checked.findings.front();
}

// %r10: this thread's word in s
const std::string kShared = "shl.b32 %r10, %r1, 2; mov.u32 %r12, s; add.u32 %r10, %r10, %r12;\n";

} // namespace init_test
} // namespace warplens::tests
