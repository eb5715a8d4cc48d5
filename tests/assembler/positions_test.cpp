// SPDX-License-Identifier: Apache-2.0
// Every kind of operand in every position of every instruction: the checker never crashes, and the decoder decodes what
// the checker accepts, or rejects it with a reason.
#include "tests/assembler/statements.hpp"

#include <gtest/gtest.h>

namespace warplens::assembler {
namespace positions_test {

constexpr const char* kDeclared = "{ .shared .u32 sh[4]; .local .u64 lo; .global .u32 gl[2][3]; .const .f32 co; "
                                  ".reg .v2 .b32 v; ";
constexpr const char* kKinds[] = {"%b32_8",
                                  "%b64_8",
                                  "%f32_8",
                                  "%f16x2_8",
                                  "%b128_8",
                                  "%pred_8",
                                  "!%pred_8",
                                  "-%b32_8",
                                  "%b32_8.b0",
                                  "%b32_8.h10",
                                  "%pred_8|%pred_7",
                                  "%b32_8|%pred_8",
                                  "v",
                                  "v.x",
                                  "v.z",
                                  "{%b32_8, %b32_7}",
                                  "{%f32_8, %f32_7, %f32_6, %f32_5}",
                                  "{v, v}",
                                  "{gl, gl}",
                                  "{{%b32_8}}",
                                  "{}",
                                  "0",
                                  "-1",
                                  "1.5",
                                  "0f3F800000",
                                  "0d3FF0000000000000",
                                  "WARP_SZ",
                                  "_",
                                  "%tid",
                                  "%tid.x",
                                  "%clock64",
                                  "label_0",
                                  "table_0",
                                  "device",
                                  "kernel",
                                  "device+4",
                                  "param_0",
                                  "gl",
                                  "gl+4",
                                  "co",
                                  "sh",
                                  "lo",
                                  "gl[1]",
                                  "gl[%b32_8]",
                                  "gl[%b64_8+1]",
                                  "gl[gl]",
                                  "gl[v.x]",
                                  "gl[label_0]",
                                  "gl[device]",
                                  "gl[%tid.x]",
                                  "[gl]",
                                  "[co]",
                                  "[sh+4]",
                                  "[lo]",
                                  "[param_0]",
                                  "[%b64_8]",
                                  "[%b32_8+4]",
                                  "[%f32_8]",
                                  "[%pred_8]",
                                  "[v]",
                                  "[v.x]",
                                  "[gl+%b64_8]",
                                  "[gl+gl]",
                                  "[gl+v]",
                                  "[device]",
                                  "[label_0]",
                                  "[table_0]",
                                  "[%tid.x]",
                                  "[4]",
                                  "[_]",
                                  "[-1]",
                                  "[gl, {%f32_8}]",
                                  "[gl, %b32_8]",
                                  "[%b64_8, {%b32_8, %b32_7}]",
                                  "[%b64_8, gl, {%b32_8}]",
                                  "[[gl]]",
                                  "(%b32_8)",
                                  "generic(gl)"};

std::vector<std::string> operands_of(const std::string& statement) {
  std::vector<std::string> list{""};
  int depth = 0;
  const std::size_t blank = statement.find(' ');
  if (blank == std::string::npos) return {};
  for (const char c : statement.substr(blank + 1, statement.size() - blank - 2)) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      list.emplace_back();
    else
      list.back() += c;
  }
  return list;
}

TEST(Positions, NothingBreaksWhateverStandsThere) {
  std::vector<std::string> statements;
  for (const isa::Entry& entry : isa::table()) {
    const std::vector<Statement> all = spellings(entry);
    const Statement& s = all[all.size() / 2];
    const auto operands = operands_of(s.text);
    for (std::size_t place = 0; place < operands.size(); ++place)
      for (const char* kind : kKinds) {
        std::string text = kDeclared + s.spelling;
        for (std::size_t o = 0; o < operands.size(); ++o)
          text += (o == 0 ? " " : ",") + (o == place ? std::string(kind) : operands[o]);
        statements.push_back(text + "; }");
      }
  }
  EXPECT_GT(statements.size(), 50'000u);
  std::size_t taken = 0;
  for (const std::string& why : refusals(statements, 90, "sm_90a")) taken += why.empty() ? 1 : 0;
  EXPECT_GT(taken, statements.size() / 50);
  EXPECT_LT(taken, statements.size() / 2);
}

} // namespace positions_test
} // namespace warplens::assembler
