// SPDX-License-Identifier: Apache-2.0
// racecheck against the programs with a planted fault and their correct twins, tests/data/faults: it finds all races,
// and reports nothing of a correct program. Programs whose races are in the order of the host's operations are run by
// the tests of the runtime.
#include "emulator/exec/checks/race_check.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace race_faults_test {

using Json = nlohmann::json;
using exec::ToolFinding;
using exec::ToolFindingGroup;

std::vector<Json> cases() {
  std::vector<Json> list;
  std::istringstream in(data_file("faults/cases.jsonl"));
  for (std::string line; std::getline(in, line);) list.push_back(Json::parse(line));
  return list;
}

std::vector<std::string> words_of(const std::string& step) {
  std::istringstream in(step);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Does the steps of a case; those that only look at results need no machine.
class Player {
public:
  explicit Player(const std::string& module, std::uint64_t seed = 0)
      : machine_(data_file("faults/" + module), module), seed_(seed) {}

  static bool knows(const Json& one) {
    static const std::set<std::string> verbs = {"alloc", "iota", "set", "launch", "want", "sync", "free-rest"};
    return std::all_of(one["steps"].begin(), one["steps"].end(), [](const Json& step) {
      const auto words = words_of(step);
      const bool streams = std::any_of(words.begin(), words.end(), [](auto& w) { return w.starts_with("stream="); });
      return verbs.contains(words[0]) && !streams && !(words[0] == "set" && words.size() > 4);
    });
  }

  void play(const Json& one) {
    for (const std::string step : one["steps"]) {
      const auto w = words_of(step);
      if (w[0] == "alloc") buffers_[w[1]] = machine_.buffer(std::vector<std::uint32_t>((std::stoul(w[2]) + 3) / 4));
      if (w[0] == "iota")
        for (std::uint32_t i = 0; i < std::stoul(w[2]); ++i) reinterpret_cast<std::uint32_t*>(buffers_.at(w[1]))[i] = i;
      if (w[0] == "launch") launch(w);
    }
  }
  [[nodiscard]] const std::vector<ToolFindingGroup>& races() const { return races_; }

  /// The lines of the source that an instruction of the kernel comes from: its own and those of calls.
  [[nodiscard]] std::set<std::uint32_t> lines(const std::string& kernel, std::uint32_t instruction) const {
    const ir::Module& module = machine_.module();
    const ir::Function& function = *module.find(kernel);
    std::set<std::uint32_t> lines;
    if (instruction >= function.instructions.size()) return lines;
    ir::SourcePosition at = function.instructions[instruction].source;
    for (lines.insert(at.line); at.inlined_at != ir::kNone; lines.insert(at.line))
      at = module.call_sites[at.inlined_at].where;
    return lines;
  }

private:
  std::uint64_t value(const std::string& word) {
    if (word.starts_with("u32:") || word.starts_with("u64:")) return std::stoul(word.substr(4));
    const std::size_t plus = word.find('+');
    const std::uint64_t base = buffers_.contains(word.substr(0, plus)) ? buffers_.at(word.substr(0, plus)) : 0;
    return base + (plus == word.npos ? 0 : std::stoul(word.substr(plus + 1)));
  }
  void launch(const std::vector<std::string>& w) {
    exec::RaceCheck check;
    Emulated::Request request;
    request.kernel = w[1];
    if (machine_.module().find(w[1]) == nullptr) return;
    request.shape.grid[0] = static_cast<std::uint32_t>(std::stoul(w[2]));
    request.shape.block[0] = static_cast<std::uint32_t>(std::stoul(w[3]));
    request.max_steps = 2'000'000;
    request.tools.racecheck = true;
    request.schedule_seed = seed_;
    request.checkers = {&check};
    const auto& params = machine_.module().find(w[1])->params;
    for (std::size_t i = 4; i < w.size(); ++i) {
      const std::size_t equals = w[i].find('=');
      if (w[i] == "cooperative")
        request.cooperative = true;
      else if (w[i].starts_with("shared="))
        request.shape.shared_dynamic = std::stoul(w[i].substr(equals + 1));
      else if (w[i].starts_with("cluster="))
        request.shape.cluster[0] = static_cast<std::uint32_t>(std::stoul(w[i].substr(equals + 1)));
      else
        request.arguments.push_back({value(w[i]), w[i].starts_with("u32:") ? 4u : 8u});
    }
    request.arguments.resize(std::min(request.arguments.size(), params.size()));
    trap_ = machine_.run(request);
    races_.insert(races_.end(), machine_.findings().begin(), machine_.findings().end());
  }

  Emulated machine_;
  std::uint64_t seed_;
  std::map<std::string, std::uint64_t> buffers_;
  std::vector<ToolFindingGroup> races_;
  std::string trap_;
};

std::string kernel_of(const Json& one) {
  for (const std::string step : one["steps"])
    if (step.starts_with("launch ")) return words_of(step)[1];
  return {};
}

std::string described(const Player& player, const Json& one) {
  std::string text;
  for (const ToolFindingGroup& g : player.races()) {
    const auto line = [&](const exec::ThreadAccess& a) {
      std::string all;
      for (const std::uint32_t l : player.lines(kernel_of(one), a.instruction)) all += " " + std::to_string(l);
      return all + " (block " + std::to_string(a.cta) + ", thread " + std::to_string(a.thread) + ")";
    };
    text += std::string(id_of(g.first.kind)) + " of" + line(*g.first.other) + " and" + line(g.first.at) + ", " +
            std::to_string(g.first.at.bytes) + " bytes: " + g.first.detail + "\n";
  }
  return text;
}

// The kind of a race is that of the accesses in the order of the source: a report may name the other order. Where a
// line reads and writes, every kind is right.
bool kinds_agree(const Json& expect, const ToolFinding& f) {
  const std::string wanted = expect["kind"], found{id_of(f.kind)};
  const auto both = [](const exec::ThreadAccess& a) {
    return a.access == exec::AccessKind::atomic || a.access == exec::AccessKind::reduction;
  };
  return wanted == found || (wanted != "waw" && found != "waw") || !expect.contains("other_line") || both(f.at) ||
         both(*f.other);
}

bool found(const Player& player, const Json& one) {
  const Json& expect = one["expect"];
  const std::uint32_t line = expect["line"];
  bool at_line = false, at_other = !expect.contains("other_line");
  for (const ToolFindingGroup& g : player.races())
    for (const std::uint32_t instruction : {g.first.at.instruction, g.first.other->instruction}) {
      const auto lines = player.lines(kernel_of(one), instruction);
      at_other = at_other || lines.contains(expect["other_line"].get<std::uint32_t>());
      at_line =
          at_line || (lines.contains(line) && kinds_agree(expect, g.first) && expect["bytes"] == g.first.at.bytes);
    }
  return at_line && at_other;
}

// In the usual order, the consumer runs after the producer has passed; in the reverse order, a kernel stops at an
// object that is not initialised yet.
const std::set<std::string> kHiddenByTheUsualOrder = {"mbarrier_wrong_parity", "mbarrier_buffer_not_returned"},
                            kHiddenByTheReverse = {"mbarrier_init_not_waited_for"};

TEST(RaceFaults, AllAreFoundAtTheirLines) {
  std::size_t asked = 0;
  for (const Json& one : cases()) {
    if (one["tool"] != "racecheck" || !one.contains("expect") || !Player::knows(one)) continue;
    ++asked;
    for (const std::uint64_t seed : {0, 1}) {
      Player player(one["module"], seed);
      player.play(one);
      EXPECT_EQ(found(player, one), !(seed == 0 ? kHiddenByTheUsualOrder : kHiddenByTheReverse).contains(one["id"]))
          << one["id"] << ", seed " << seed << ": expected " << one["expect"] << "\n"
          << described(player, one);
    }
  }
  EXPECT_GE(asked, 70u);
}

// All lanes store to a[3], which lane 3 reads: its fault is that of initcheck, but its twin is not free of races.
const std::set<std::string> kRacesOfTwins = {"register_as_address.fixed"};

TEST(RaceFaults, NothingIsReportedOfCorrectPrograms) {
  std::size_t asked = 0;
  for (const Json& one : cases()) {
    if (one.contains("expect") || !Player::knows(one)) continue;
    for (const std::uint64_t seed : {0, 1, 2}) {
      Player player(one["module"], seed);
      player.play(one);
      ++asked;
      EXPECT_EQ(player.races().empty(), !kRacesOfTwins.contains(one["id"])) << one["id"] << ", seed " << seed << "\n"
                                                                            << described(player, one);
    }
  }
  EXPECT_GE(asked, 450u);
}

} // namespace race_faults_test
} // namespace warplens::tests
