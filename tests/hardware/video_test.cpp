// SPDX-License-Identifier: Apache-2.0
// Every video instruction of tests/data/hardware/video.jsonl, at every level, compared with the results of an H200.
// tests/data/hardware/ask/video.py recorded the file and defines the inputs of each thread.
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace warplens {
namespace video_test {

using Words = std::vector<std::uint32_t>;

constexpr std::size_t kThreads = 12, kTurn = 48, kFormsPerKernel = 100;

Words words_of(const std::string& text) {
  Words words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
  return words;
}

struct Answers {
  struct VideoForm {
    std::string op, operands;
    Words result;
  };
  Words a, b, c;
  std::vector<VideoForm> forms;

  Answers() {
    std::istringstream lines(tests::data_file("hardware/video.jsonl"));
    std::string line;
    std::getline(lines, line);
    const auto inputs = nlohmann::json::parse(line);
    a = words_of(inputs["a"]);
    b = words_of(inputs["b"]);
    c = words_of(inputs["c"]);
    while (std::getline(lines, line)) {
      const auto form = nlohmann::json::parse(line);
      forms.push_back({form["op"], form["operands"], words_of(form["result"])});
    }
  }

  [[nodiscard]] std::uint32_t input_b(std::size_t form, std::size_t thread) const { return b[thread + form % kTurn]; }
  [[nodiscard]] std::uint32_t input_c(std::size_t form, std::size_t thread) const {
    return c[thread + 5 * form % kTurn];
  }
};

// A kernel for the forms from `first` on; each thread reads its inputs from a row of three words per form.
std::string kernel_of(const Answers& answers, std::size_t first, std::size_t end) {
  std::ostringstream ptx;
  ptx << ".version 8.3\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<8>; .reg .b64 %l<4>;\n"
         "ld.param.u64 %l1, [in]; ld.param.u64 %l2, [out]; mov.u32 %r4, %tid.x;\n"
         "mad.wide.u32 %l1, %r4, "
      << 12 * (end - first) << ", %l1; mad.wide.u32 %l2, %r4, " << 4 * (end - first) << ", %l2;\n";
  for (std::size_t i = first; i < end; ++i) {
    const std::size_t at = 12 * (i - first);
    ptx << "ld.global.u32 %r1, [%l1+" << at << "]; ld.global.u32 %r2, [%l1+" << at + 4 << "]; ld.global.u32 %r3, [%l1+"
        << at + 8 << "];\n"
        << answers.forms[i].op << " " << answers.forms[i].operands << "; st.global.u32 [%l2+" << at / 3 << "], %r0;\n";
  }
  ptx << "ret;\n}\n";
  return ptx.str();
}

// What the forms from `first` on give, thread by thread.
Words results_of(const Answers& answers, std::size_t first, std::size_t end, const exec::Level& level) {
  tests::Emulated machine(kernel_of(answers, first, end), "video.ptx");
  Words inputs;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    for (std::size_t i = first; i < end; ++i)
      inputs.insert(inputs.end(), {answers.a[thread], answers.input_b(i, thread), answers.input_c(i, thread)});
  Words results(kThreads * (end - first));
  const std::uint64_t in = machine.buffer(inputs), out = machine.buffer(results);
  tests::Emulated::Request request;
  request.kernel = "k";
  request.shape.block[0] = kThreads;
  request.level = &level;
  request.arguments = {{in, 8}, {out, 8}};
  EXPECT_EQ(machine.run(request), "");
  std::copy_n(reinterpret_cast<const std::uint32_t*>(out), results.size(), results.begin());
  machine.free_buffers();
  return results;
}

class Video : public testing::TestWithParam<int> {};

TEST_P(Video, AsOnHardware) {
  const exec::Level& level = exec::levels()[GetParam()];
  const Answers answers;
  EXPECT_GE(answers.forms.size(), 1900u);
  for (std::size_t first = 0; first < answers.forms.size(); first += kFormsPerKernel) {
    const std::size_t end = std::min(first + kFormsPerKernel, answers.forms.size());
    const Words results = results_of(answers, first, end, level);
    for (std::size_t i = first; i < end; ++i) {
      const Answers::VideoForm& form = answers.forms[i];
      ASSERT_EQ(form.result.size(), kThreads);
      for (std::size_t thread = 0; thread < kThreads; ++thread) {
        const std::uint32_t got = results[thread * (end - first) + i - first];
        if (got == form.result[thread]) continue;
        ADD_FAILURE() << form.op << " " << form.operands << std::hex << ": " << answers.a[thread] << ", "
                      << answers.input_b(i, thread) << ", " << answers.input_c(i, thread) << " give " << got
                      << ", on hardware " << form.result[thread];
        break;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Video, testing::Range(0, static_cast<int>(exec::levels().size())),
                         [](const auto& one) {
                           std::string name(exec::levels()[one.param].name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace video_test
} // namespace warplens
