// SPDX-License-Identifier: Apache-2.0
// Malicious PTX for the parser and the checker: tests/data/hostile/ptx and fuzz, and generated text. Parsing and
// checking must be fast and safe. tests/hostile covers the later stages.
#include "tests/ir/ptx_text.hpp"

#include "emulator/ir/check.hpp"
#include "emulator/ir/link.hpp"

#include <ctime>
#include <filesystem>

namespace warplens::ir {
namespace hostile_test {

/// Of processor time, so that other load does not matter; a sanitizer's time included.
constexpr double kMostSeconds = 10;

/// All diagnostics for a text; empty if it is accepted.
std::string survive(const std::string& text) {
  const std::clock_t begin = std::clock();
  std::string said;
  auto module = parse(text, "hostile.ptx");
  const Checked checked = module ? check(*module) : Checked{};
  const Diagnostics& errors = module ? checked.errors : module.error();
  for (const Diagnostic& d : errors.list()) said += d.message + "\n";
  if (said.empty())
    for (const Function& f : module->functions)
      if (f.is_entry && f.has_body) static_cast<void>(link(*module, f));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, kMostSeconds);
  return said;
}

TEST(Hostile, FilesAreReadAndChecked) {
  std::size_t count = 0;
  for (const char* folder : {"ptx", "fuzz"})
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(WARPLENS_SOURCE_DIR) /
                                                                 "tests/data/hostile" / folder)) {
      SCOPED_TRACE(entry.path());
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string said = survive({std::istreambuf_iterator<char>(file), {}});
      EXPECT_EQ(said.find("internal error"), said.npos) << said;
      ++count;
    }
  EXPECT_GT(count, 50u);
}

struct Refused {
  const char* statement;
  const char* why;
};

TEST(Hostile, OperandsThatAreNone) {
  for (const Refused& r :
       {Refused{"mov.u64 %rd1, sym[sym];", "an index must be"}, Refused{"mov.u64 %rd1, sym[k];", "an index must be"},
        Refused{"mov.u64 %rd1, sym[L]; L:", "an index must be"},
        Refused{"mov.u64 %rd1, sym[%tid];", "an index must be"}, Refused{"mov.u64 %rd1, sym[%f1];", "an index must be"},
        Refused{"ld.global.u32 %r1, sym[sym];", "an index must be"},
        Refused{"ld.global.u32 %r1, %rd1[%rd1];", "expected an array before '['"},
        Refused{"ld.global.u32 %r1, k[%rd1];", "expected an array before '['"},
        Refused{"ld.global.u32 %r1, [sym+sym];", "an index must be"},
        Refused{"ld.global.u32 %r1, [%rd1+%rd1];", "a register can only be added to a variable"},
        Refused{"ld.global.u32 %r1, [k];", "an address must be a register or a variable"},
        Refused{"ld.global.u32 %r1, [L]; L:", "an address must be a register or a variable"},
        Refused{"ld.global.u32 %r1, [%tid];", "an address must be a register or a variable"},
        Refused{"ld.global.u32 %r1, [%rd1, %rd1];", "expected ']'"},
        Refused{"ld.global.u32 %r1, [4];", "cannot use a number as the address"},
        Refused{"st.u32 [p], %r1;", "cannot be written"},
        Refused{"st.const.u32 [sym], %r1;", "'st.const.u32' cannot write"}, Refused{"bra L+4; L:", "takes no offset"}})
    EXPECT_NE(survive(body(r.statement)).find(r.why), std::string::npos) << r.statement << "\n"
                                                                         << survive(body(r.statement));
}

TEST(Hostile, NestingHasALimit) {
  constexpr int kDeep = 100'000;
  const auto repeated = [](const std::string& text) {
    std::string result;
    for (int i = 0; i < kDeep; ++i) result += text;
    return result;
  };
  for (const char* open : {"(", "{", "[", "(.s64)", "sym[", "generic(", "0xFF("})
    EXPECT_NE(survive(body("mov.u32 %r1, " + repeated(open) + "1;")).find("nested deeper than"), std::string::npos)
        << open;
  EXPECT_NE(survive(body(repeated("{"))).find("the limit block-depth"), std::string::npos);
  EXPECT_NE(survive(with_header(".global .u32 x = " + repeated("{") + "1;")).find("x"), std::string::npos);
  EXPECT_NE(survive(body("mov.u32 %r1, 1 " + repeated("? 1 : 1") + ";")), "");
  for (const char* prefix : {"-", "~", "!", "+"}) survive(body("mov.u32 %r1, " + repeated(prefix) + "1;"));
  EXPECT_NE(survive(with_header(repeated(std::string(1, '\0')))), "");
}

} // namespace hostile_test
} // namespace warplens::ir
