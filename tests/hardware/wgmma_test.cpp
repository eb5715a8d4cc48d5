// SPDX-License-Identifier: Apache-2.0
// Products of a warp group, compared with tests/data/hardware/wgmma.jsonl, which ask/wgmma.cpp recorded on an H200.
#include "tests/hardware/wgmma_reference.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace warplens::tests {
namespace {

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

TEST(Wgmma, FormsAreThoseRecorded) {
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

INSTANTIATE_TEST_SUITE_P(H200, WgmmaRule, testing::Range(std::size_t{0}, kShards));

} // namespace
} // namespace warplens::tests
