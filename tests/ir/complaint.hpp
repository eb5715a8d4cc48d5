// SPDX-License-Identifier: Apache-2.0
// What the checker says of statements.
//
//   EXPECT_EQ(complaint("tcgen05.shift.cta_group::1.down [%r1];"), "");
#pragma once

#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

namespace warplens::ir {

// The first diagnostic for statements; empty if there is none.
inline std::string complaint(const std::string& statements, const std::string& target = "sm_100a",
                             const std::string& version = "8.8") {
  auto module =
      parse(".version " + version + "\n.target " + target +
                "\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 "
                "%h<9>; .reg .s32 %s<9>; .reg .pred %p<9>;\n.shared .b32 place;\n" +
                statements + "\nret;\n}\n",
            "test.ptx");
  const Diagnostics parse_errors = module ? Diagnostics{} : module.error();
  const Checked checked = module ? check(*module) : Checked{};
  for (const Diagnostics* d : {&parse_errors, &checked.errors})
    if (d->has_errors()) return d->list()[0].message;
  return checked.unsupported.empty() ? "" : checked.unsupported[0].why.message;
}

} // namespace warplens::ir
