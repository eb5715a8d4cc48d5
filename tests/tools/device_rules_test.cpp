// SPDX-License-Identifier: Apache-2.0
// The rules of a device can be files or built in: the same rule under another name gives the same report, on every
// device. Errors in a device's rules are reported before anything runs.
#include "tests/tools/folder.hpp"
#include "tests/tools/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <set>

namespace warplens::testing {
namespace device_rules_test {

namespace fs = std::filesystem;
const fs::path kSource = WARPLENS_SOURCE_DIR;

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at)) text.erase(at, part.size());
  return text;
}

/// The name and the text of each built-in rule.
std::map<std::string, std::string> rule_texts() {
  std::map<std::string, std::string> texts;
  for (const auto& entry : fs::directory_iterator(kSource / "rules")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string text = read_text(entry.path());
    std::smatch name;
    if (std::regex_search(text, name, std::regex("\nname = \"([^\"]*)\""))) texts[name[1]] = text;
  }
  return texts;
}

/// The device file with its rules replaced by copies, in the folder "rules" next to it.
std::string with_copies(std::string device, const Folder& folder) {
  static const std::map<std::string, std::string> texts = rule_texts();
  for (const std::string key : {"coalescing_rule", "bank_rule", "rule_on", "rule_off"}) {
    std::smatch found;
    if (!std::regex_search(device, found, std::regex("(^|\n)" + key + "( *= *)\"([^\"]*)\""))) continue;
    const std::string name = found[3];
    fs::create_directory(folder.path() / "rules");
    (void)folder.write("rules/" + name + ".toml", std::regex_replace(texts.at(name), std::regex("\nname = \"[^\"]*\""),
                                                                     "\nname = \"" + name + "-copy\""));
    device = found.prefix().str() + found[1].str() + key + found[2].str() + "\"rules/" + name + ".toml\"" +
             found.suffix().str();
  }
  return device;
}

TEST(DeviceRules, CopiesOfBuiltInRulesGiveTheSameReport) {
  std::set<std::set<std::string>> seen; // one device for those with the same rules: most runs would show nothing new
  for (const auto& entry : fs::directory_iterator(kSource / "model/devices")) {
    const std::string id = entry.path().stem().string();
    SCOPED_TRACE(id);
    const Folder folder;
    const std::string copy = folder.write("copy.toml", with_copies(read_text(entry.path()), folder));
    std::set<std::string> rules;
    for (const auto& rule : fs::directory_iterator(folder.path() / "rules")) rules.insert(rule.path().stem());
    if (!seen.insert(rules).second) continue;
    for (const std::string launch : {"samples/ubench/small.toml", "samples/shared_copy/small.toml"}) {
      const auto report = [&](const std::string& device, bool json) {
        std::vector<std::string> command = {"run", (kSource / launch).string(), "--device", device};
        if (json) command.insert(command.end(), {"--per-block", "--json", "-"});
        const Output o = run_program(command);
        EXPECT_EQ(o.status, 0) << o.err;
        return o.out;
      };
      EXPECT_EQ(without(report(copy, false), "-copy"), report(id, false));
      // Not as text: the counters of blocks are sorted by name.
      EXPECT_EQ(nlohmann::json::parse(without(report(copy, true), "-copy")), nlohmann::json::parse(report(id, true)));
    }
  }
  EXPECT_GE(seen.size(), 6u);
}

TEST(DeviceRules, WithTheFirstLevelOffToo) {
  const Folder folder;
  const std::string copy =
      folder.write("copy.toml", with_copies(read_text(kSource / "model/devices/gtx480.toml"), folder));
  const std::string launch = (kSource / "samples/ubench/small.toml").string();
  const Output own = run_program({"run", launch, "--device", copy, "--l1", "off", "--details", "memory"});
  EXPECT_EQ(without(own.out, "-copy"),
            run_program({"run", launch, "--device", "gtx480", "--l1", "off", "--details", "memory"}).out);
  EXPECT_NE(own.out.find("under rule 2.x-l2-copy"), std::string::npos);
}

// A trace holds the rules of its device: they need not be there when it is read.
TEST(DeviceRules, ATraceKeepsThem) {
  const Folder folder;
  const std::string copy =
      folder.write("copy.toml", with_copies(read_text(kSource / "model/devices/c1060.toml"), folder));
  const std::string launch = (kSource / "samples/vector_add/launch.toml").string();
  const std::string trace = (folder.path() / "t.h5").string();
  const Output run = run_program({"run", launch, "--device", copy, "--trace", trace});
  ASSERT_EQ(run.status, 0) << run.err;
  fs::remove_all(folder.path() / "rules");
  const Output replayed = run_program({"analyze", trace, "--details", "memory"});
  EXPECT_EQ(replayed.status, 0) << replayed.err;
  EXPECT_NE(replayed.out.find("each half-warp makes as few transactions"), std::string::npos) << replayed.out;
  const Output seen = run_program({"inspect", trace, "--limit", "1"});
  EXPECT_EQ(seen.out.find("transactions by rule 1.2-copy, passes by rule 1.x-copy"), 0u) << seen.out;
}

TEST(DeviceRules, AreCheckedWhenTheDeviceLoads) {
  const Folder folder;
  const std::string text = read_text(kSource / "model/devices/h200.toml");
  const std::string launch = (kSource / "samples/vector_add/launch.toml").string();
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const Output o = run_program({"run", launch, "--device", folder.write("d.toml", changed)});
    EXPECT_EQ(o.status, 2) << o.out;
    return o.err;
  };
  const std::string unknown = refusal("\"6.0\"", "\"6.O\"");
  EXPECT_NE(unknown.find("d.toml:11:"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("there is no rule '6.O'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("did you mean '6.0'?"), std::string::npos) << unknown;
  EXPECT_NE(refusal("\"5.x+\"", "\"nonsense\"").find("there is no rule 'nonsense'"), std::string::npos);
  EXPECT_NE(refusal("\"5.x+\"", "\"6.0\"").find("'6.0' is not a rule for banks"), std::string::npos);
  (void)folder.write("bad.toml", "rule = \"banks\"\nname = \"bad\"\n");
  EXPECT_NE(refusal("\"5.x+\"", "\"bad.toml\"").find("the rule lacks the key 'title'"), std::string::npos);
  (void)folder.write("taken.toml", read_text(kSource / "rules/banks_2.x.toml"));
  EXPECT_NE(refusal("\"5.x+\"", "\"taken.toml\"").find("the name of a built-in rule"), std::string::npos);
}

// Whole warps and segments of 64 bytes, on a device: its own counts are in the report, findings and models.
TEST(DeviceRules, ADeviceOfAnotherDesignIsCountedByIt) {
  const Folder folder;
  (void)folder.write("full.toml", "rule = \"coalescing\"\nname = \"full\"\ntitle = \"whole warps\"\norder = \"any\"\n"
                                  "shrink = true\nsmallest = 32\n[[word]]\nbytes = 4\nsegment = 64\n");
  (void)folder.write("banks.toml",
                     "rule = \"banks\"\nname = \"eight\"\ntitle = \"eight banks\"\nbanks = 8\nbank_bytes = 4\n"
                     "broadcast = \"every_word\"\nsplit_words = false\n[[word]]\nbytes = 4\n");
  std::string text = read_text(kSource / "model/devices/h200.toml");
  text.replace(text.find("\"6.0\""), 5, "\"full.toml\"");
  text.replace(text.find("\"5.x+\""), 6, "\"banks.toml\"");
  const Output o = run_program({"run", (kSource / "samples/transpose/shared.toml").string(), "--device",
                                folder.write("d.toml", text), "--details", "memory,findings"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("each warp makes as few transactions of 32 and 64\n  bytes"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("8 banks of 4 bytes serve a warp"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("passes over the 8 banks"), std::string::npos) << o.out;
}

} // namespace device_rules_test
} // namespace warplens::testing
