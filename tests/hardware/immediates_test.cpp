// SPDX-License-Identifier: Apache-2.0
// Bit-field and shift instructions with immediate operands, compared with tests/data/hardware/immediates.jsonl,
// which ask/immediates.py recorded on an H200.
#include "tests/exec/kernel_test.hpp"

#include <nlohmann/json.hpp>

#include <cstring>
#include <sstream>

namespace warplens::tests {
namespace immediates_test {

constexpr std::uint64_t kValues[] = {
    0x21, 0x86008F88, 0xFFFFFFFFFF2CCB49, 0x8000000000000000, 0x7FFFFFFF12345678, 0, 0xFFFFFFFFFFFFFFFF, 0x10000};

// The register of operand a or b as a 64-bit literal, in the width of the instruction.
std::string statement(const std::string& op, const std::string& immediates) {
  const std::string width = op.substr(op.rfind('.') + 2);
  const bool two = op.starts_with("bfi") || op.starts_with("shf");
  const std::string d = width == "16" ? "%h0" : width == "32" ? "%r10" : "%rd13";
  const std::string a = width == "16" ? "%h1" : width == "32" ? "%r11" : "%rd11";
  const std::string b = width == "32" ? "%r12" : "%rd12";
  std::string text = op + " " + d + ", " + a + ", " + (two ? b + ", " : "") + immediates + ";\n";
  if (width != "64") text += "cvt.u64.u" + width + " %rd13, " + d + ";\n";
  return text;
}

TEST(Immediates, AsOnHardware) {
  std::istringstream lines(data_file("hardware/immediates.jsonl"));
  std::vector<nlohmann::json> forms;
  for (std::string line; std::getline(lines, line);) forms.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(forms.size(), 1955u);
  // Thread i holds values i and i + 3; each form writes one 64-bit word per thread.
  std::string body = "and.b32 %r20, %r1, 7; mov.u64 %rd11, 0; mov.u64 %rd12, 0;\n";
  for (int i = 0; i < 8; ++i)
    body += "setp.eq.u32 %p1, %r20, " + std::to_string(i) + "; @%p1 mov.b64 %rd11, " + std::to_string(kValues[i]) +
            "U; @%p1 mov.b64 %rd12, " + std::to_string(kValues[(i + 3) % 8]) + "U;\n";
  body += "cvt.u32.u64 %r11, %rd11; cvt.u32.u64 %r12, %rd12; cvt.u16.u64 %h1, %rd11;\n"
          "mul.wide.u32 %rd10, %r20, 8; add.u64 %rd10, %rd10, %rd1;\n";
  for (std::size_t i = 0; i < forms.size(); ++i)
    body += statement(forms[i]["op"], forms[i]["immediates"]) + "st.global.b64 [%rd10+" + std::to_string(64 * i) +
            "], %rd13;\n";
  const Ran ran = run_kernel(kernel_of(body + "ret;"), {1, 8, forms.size() * 16});
  ASSERT_EQ(ran.trap, "");
  std::vector<std::uint64_t> results(forms.size() * 8);
  std::memcpy(results.data(), ran.words.data(), 4 * ran.words.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    std::ostringstream got;
    for (int k = 0; k < 8; ++k) got << (k == 0 ? "" : " ") << std::hex << results[8 * i + k];
    EXPECT_EQ(got.str(), forms[i]["result"].get<std::string>()) << forms[i]["op"] << " " << forms[i]["immediates"];
  }
}

} // namespace immediates_test
} // namespace warplens::tests
