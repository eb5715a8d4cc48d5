// SPDX-License-Identifier: Apache-2.0
// PTX text -> check. What is accepted must print as PTX that is accepted, too, and prints the same again.
#include "tests/fuzz/mutate_ptx.hpp"
#include "tests/fuzz/target.hpp"

#include "emulator/base/limits.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"
#include "emulator/ir/print.hpp"

namespace warplens::fuzz {

namespace {

void print_again(ir::Module& module) {
  const std::string printed = ir::print(module);
  auto again = ir::parse(printed, "printed.ptx");
  if (!again) wrong("the printed module does not parse: " + render(again.error(), printed));
  const ir::Checked checked = ir::check(*again);
  if (checked.errors.has_errors()) wrong("the printed module is refused: " + render(checked.errors, printed));
  if (const std::string twice = ir::print(*again); twice != printed)
    wrong("the module prints in two ways:\n" + printed + "\n---- and\n" + twice);
}

void run(std::string_view text) {
  static const std::string limits = set_limits("registers=2000,register-name-bytes=65536,initial-bytes=65536");
  auto module = ir::parse(text, "fuzz.ptx");
  if (!module) return void(render(module.error(), text));
  const ir::Checked checked = ir::check(*module);
  render(checked.errors, text);
  for (const ir::Unsupported& u : checked.unsupported)
    if (u.why.message.empty()) wrong("an unsupported instruction without a message");
  if (!checked.errors.has_errors()) print_again(*module);
}

} // namespace

const Target target::ptx_check{"ptx_check", run, mutate_ptx, ptx_dictionary, 8192};

} // namespace warplens::fuzz
