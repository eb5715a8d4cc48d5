// SPDX-License-Identifier: Apache-2.0
// The loader for user files can read every TOML block of the pages.
#include "api/plan/launch_file.hpp"
#include "model/models.hpp"
#include "rules/keys.hpp"
#include "rules/rule_set.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace warplens::docs {
namespace toml_examples_test {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The TOML examples of a folder: rules, devices, launches.
std::vector<fs::path> examples(const std::string& folder) {
  std::vector<fs::path> list;
  for (const auto& entry : fs::directory_iterator(fs::path(WARPLENS_EXAMPLES_DIR) / folder))
    if (entry.path().extension() == ".toml") list.push_back(entry.path());
  EXPECT_FALSE(list.empty()) << "the pages have no example of " << folder;
  return list;
}

template <class T> std::string complaint(const Expected<T>& result, const std::string& text) {
  return result ? std::string() : render(result.error(), text);
}

TEST(TomlExamples, RulesLoad) {
  for (const fs::path& path : examples("rules")) {
    const std::string text = text_of(path);
    const std::string why = text.find("rule = \"banks\"") != std::string::npos
                                ? complaint(rules::parse_bank_rule(text, path.filename().string()), text)
                                : complaint(rules::parse_coalescing_rule(text, path.filename().string()), text);
    EXPECT_EQ(why, "");
  }
}

// The tables of the language are those of its declaration.
TEST(TomlExamples, ThePageOfRulesHasEveryKey) {
  const std::string page = text_of(WARPLENS_SOURCE_DIR "/docs/extending/rule.md");
  std::size_t rows = 0;
  for (std::size_t at = page.find("\n| `"); at != page.npos; at = page.find("\n| `", at + 1))
    rows += page.compare(at, 9, "\n| `rule.") != 0;
  EXPECT_EQ(rows, rules::keys().size());
  for (const rules::Key& key : rules::keys()) {
    const std::string row = "\n| `" + std::string(key.name) + "` | " + takes(key) + " | " +
                            std::string(key.otherwise.empty() ? "an error" : key.otherwise) + " | " +
                            std::string(key.meaning) + " |\n";
    EXPECT_NE(page.find(row), page.npos) << row;
  }
}

TEST(TomlExamples, DevicesLoad) {
  for (const fs::path& path : examples("devices")) {
    const std::string text = text_of(path);
    const Expected<model::Device> device = model::load_device(text, path.filename().string());
    ASSERT_EQ(complaint(device, text), "");
    EXPECT_NE(device->coalescing_rule.name, "");
    model::OccupancyQuery query;
    query.capability = device->capability;
    query.threads = 64;
    EXPECT_EQ(complaint(model::occupancy(query), ""), "");
  }
}

TEST(TomlExamples, LaunchFilesLoad) {
  for (const fs::path& path : examples("launches")) {
    const std::string text = text_of(path);
    EXPECT_EQ(complaint(api::parse_launch_file(text, path, {}), text), "");
  }
}

// The device of docs/extending/device.md is known to both the occupancy and a model.
TEST(TomlExamples, TheDevicePredicts) {
  const auto device = model::load_device(text_of(WARPLENS_EXAMPLES_DIR "/devices/gtx260.toml"), "gtx260.toml");
  ASSERT_TRUE(device);
  model::KernelStatistics s;
  s.threads_per_block = 256;
  s.blocks = 2400;
  s.resident_blocks = 4;
  s.instructions = 20;
  s.coalesced_requests = 3;
  s.uncoalesced_requests = 0;
  s.bytes_per_request = 128;
  const auto prediction = model::predict("hong-kim", s, *device);
  ASSERT_EQ(complaint(prediction, ""), "");
  EXPECT_EQ(prediction->device, device->name);
  EXPECT_GT(prediction->milliseconds, 0);
}

} // namespace toml_examples_test
} // namespace warplens::docs
