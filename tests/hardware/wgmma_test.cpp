// SPDX-License-Identifier: Apache-2.0
// Products of a warp group, compared with tests/data/hardware/wgmma.jsonl, which ask/wgmma.cpp recorded on an H200.
#include "tests/hardware/emulated.hpp"
#include "tests/hardware/wgmma_reference.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace warplens::tests {
namespace wgmma_test {

using nlohmann::json;

const std::vector<json>& recorded() {
  static const std::vector<json> list = [] {
    std::vector<json> lines;
    std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/wgmma.jsonl");
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }();
  return list;
}

TEST(WgmmaForms, AreThoseRecorded) {
  const std::vector<WgmmaForm> forms = wgmma_forms();
  ASSERT_EQ(forms.size(), recorded().size());
  for (std::size_t i = 0; i < forms.size(); ++i) EXPECT_EQ(forms[i].key(), recorded()[i]["form"].get<std::string>());
}

// All forms would take a minute: each shard has every eighth.
class WgmmaRule : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t kShards = 8;

TEST_P(WgmmaRule, GivesTheSumsOfHardware) {
  const std::vector<WgmmaForm> forms = wgmma_forms();
  ASSERT_EQ(forms.size(), recorded().size());
  for (std::size_t i = GetParam(); i < forms.size(); i += kShards) {
    const WgmmaForm& form = forms[i];
    std::vector<WordHash> hashes(kMatrixModes);
    for (int test = 0; test < form.tests; ++test)
      for (const std::uint32_t word : wgmma_reference(form, wgmma_input(form, test)))
        hashes[static_cast<std::size_t>(test % kMatrixModes)].take(word);
    for (std::size_t mode = 0; mode < hashes.size(); ++mode)
      EXPECT_EQ(hashes[mode].text(), recorded()[i]["hashes"][mode].get<std::string>())
          << form.key() << ", mode " << mode;
  }
}

// What Warplens answers.
class Wgmma : public testing::TestWithParam<std::size_t> {};

std::vector<std::uint32_t> emulated(const WgmmaForm& form) {
  WgmmaInput all;
  const auto append = [](std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int test = 0; test < form.tests; ++test) {
    const WgmmaInput one = wgmma_input(form, test);
    append(all.a, one.a);
    append(all.b, one.b);
    append(all.c, one.c);
    append(all.e, one.e);
  }
  Emulated machine(wgmma_kernel(form), "wgmma.ptx");
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = static_cast<std::uint32_t>(form.tests);
  request.shape.block[0] = kGroup;
  request.shape.shared_dynamic = static_cast<std::uint32_t>(form.image_a() + form.image_b());
  const std::uint64_t d = machine.buffer(std::vector<std::uint32_t>(all.c.size()));
  all.a.resize(std::max<std::size_t>(all.a.size(), 1));
  for (const std::uint64_t buffer : {d, machine.buffer(all.a), machine.buffer(all.b), machine.buffer(all.c),
                                     machine.buffer(all.e), form.in_a.descriptor(), form.in_b.descriptor()})
    request.arguments.push_back({buffer, 8});
  EXPECT_EQ(machine.run(request), "") << form.key();
  const auto* const words = reinterpret_cast<const std::uint32_t*>(d);
  return {words, words + all.c.size()};
}

TEST_P(Wgmma, AsOnHardware) {
  const std::vector<WgmmaForm> forms = wgmma_forms();
  ASSERT_EQ(forms.size(), recorded().size());
  for (std::size_t i = GetParam(); i < forms.size(); i += kShards) {
    const WgmmaForm& form = forms[i];
    const std::vector<std::uint32_t> found = emulated(form);
    const std::size_t each = found.size() / static_cast<std::size_t>(form.tests);
    for (std::size_t mode = 0; mode < kMatrixModes; ++mode) {
      WordHash hash;
      for (std::size_t test = mode; test < static_cast<std::size_t>(form.tests); test += kMatrixModes)
        for (std::size_t word = 0; word < each; ++word) hash.take(found[test * each + word]);
      EXPECT_EQ(hash.text(), recorded()[i]["hashes"][mode].get<std::string>()) << form.key() << ", mode " << mode;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(H200, Wgmma, testing::Range(std::size_t{0}, kShards));
INSTANTIATE_TEST_SUITE_P(H200, WgmmaRule, testing::Range(std::size_t{0}, kShards));

} // namespace wgmma_test
} // namespace warplens::tests
