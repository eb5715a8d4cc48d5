// SPDX-License-Identifier: Apache-2.0
// The programs of tests/data/faults, run with `warplens exec --tool`, and what their index expects of a message.
#pragma once

#include "tests/tools/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace warplens::testing {

using FaultJson = nlohmann::json;

inline const std::string kFaults = WARPLENS_SOURCE_DIR "/tests/data/faults/";

inline std::vector<FaultJson> fault_cases(const std::string& tool) {
  std::vector<FaultJson> list;
  std::ifstream in(kFaults + "cases.jsonl");
  for (std::string line; std::getline(in, line);)
    if (FaultJson one = FaultJson::parse(line); tool.empty() || one["tool"] == tool) list.push_back(std::move(one));
  return list;
}

struct CheckedRun {
  Output output;
  std::vector<FaultJson> messages;
};

inline CheckedRun check_program(const FaultJson& one, const std::string& tools,
                                const std::vector<std::string>& options = {}) {
  const Folder folder;
  const std::string file = (folder.path() / "messages.json").string();
  std::vector<std::string> words = {"exec", "--tool",       tools, "--leak-check", "full", "--save",
                                    file,   "--time-limit", "60"};
  if (one.contains("device")) words.insert(words.end(), {"--device", one["device"]});
  words.insert(words.end(), options.begin(), options.end());
  const std::vector<std::string> program = {"--", WARPLENS_PLAY, "libcuda.so.1",
                                            kFaults + one["module"].get<std::string>()};
  words.insert(words.end(), program.begin(), program.end());
  for (const std::string step : one["steps"]) words.push_back(step);
  CheckedRun run{run_program(words), {}};
  std::ifstream in(file);
  const FaultJson saved = FaultJson::parse(in, nullptr, false);
  EXPECT_TRUE(saved.is_object()) << one["id"] << ": " << run.output.err;
  if (saved.is_object()) run.messages = saved["messages"].get<std::vector<FaultJson>>();
  return run;
}

/// "0-2,5" as numbers.
inline std::set<unsigned> numbers_of(const std::string& ranges) {
  std::set<unsigned> all;
  std::istringstream in(ranges);
  for (std::string one; std::getline(in, one, ',');) {
    const auto last = one.find('-');
    const unsigned from = static_cast<unsigned>(std::stoul(one));
    const unsigned to = last == one.npos ? from : static_cast<unsigned>(std::stoul(one.substr(last + 1)));
    for (unsigned i = from; i <= to; ++i) all.insert(i);
  }
  return all;
}

/// How a message, or several of one kind together, differ from the expectation of a case.
class FaultDifference {
public:
  FaultDifference(const FaultJson& one, const std::vector<FaultJson>& messages, std::set<std::string> unchecked)
      : source_(one["source"]), expect_(one["expect"]), unchecked_(std::move(unchecked)) {
    for (const FaultJson& m : messages)
      if (m["kind"] == expect_["kind"]) same_.push_back(&m);
    if (same_.empty()) {
      text_ = "no message of kind " + expect_["kind"].get<std::string>() + "; got";
      for (const FaultJson& m : messages) text_ += " " + m["kind"].get<std::string>();
      return;
    }
    std::string best;
    for (const FaultJson* m : same_) {
      text_.clear();
      compare(*m);
      if (text_.empty()) return;
      if (best.empty() || text_.size() < best.size()) best = text_;
    }
    text_ = best;
  }
  [[nodiscard]] const std::string& text() const { return text_; } ///< empty: there is a message as expected

private:
  bool wants(const char* field) const { return expect_.contains(field) && !unchecked_.contains(field); }

  void want(const char* field, const FaultJson& where, const char* name) {
    if (!wants(field)) return;
    const FaultJson got = where.is_object() && where.contains(name) ? where[name] : FaultJson();
    if (got != expect_[field])
      text_ += std::string(field) + ": " + got.dump() + " instead of " + expect_[field].dump() + "; ";
  }

  void compare(const FaultJson& m) {
    const FaultJson none = FaultJson::object();
    const FaultJson& at = m.contains("at") ? m["at"] : none;
    const FaultJson& memory = m.contains("memory") ? m["memory"] : none;
    const bool of_memory = expect_["kind"] == "leak" || expect_["kind"] == "unused";
    if (!of_memory) {
      for (const char* field : {"access", "space", "bytes", "kernel"}) want(field, at, field);
      want("distance", memory, "distance");
    }
    want("size", memory, "size");
    want("error", m, "error");
    if (wants("call") && m.value("call", "").find(expect_["call"].get<std::string>()) != 0)
      text_ += "call: " + m.value("call", "") + "; ";
    lines(at);
    threads(m);
  }

  void lines(const FaultJson& at) {
    std::vector<unsigned> found;
    std::vector<std::string> functions;
    for (const FaultJson& frame : at.value("frames", FaultJson::array())) {
      functions.push_back(frame["function"]);
      if (frame["file"].get<std::string>().ends_with(source_)) found.push_back(frame["line"]);
    }
    if (wants("line") && (found.empty() || found.front() != expect_["line"])) {
      text_ += "line: ";
      for (const unsigned line : found) text_ += std::to_string(line) + " ";
      text_ += "instead of " + expect_["line"].dump() + "; ";
    }
    // An inlined function has no name in PTX.
    if (wants("function") && !functions.empty() && !functions.front().empty() &&
        functions.front() != expect_["function"].get<std::string>())
      text_ += "function: " + functions.front() + "; ";
  }

  void threads(const FaultJson& m) {
    std::set<unsigned> all, blocks;
    const bool of_all = expect_["kind"] == "leak"; // a message for each block of the heap
    for (const FaultJson* one : of_all ? same_ : std::vector<const FaultJson*>{&m}) {
      if (!one->contains("at")) continue;
      for (const FaultJson& group : (*one)["at"].value("threads", FaultJson::array())) {
        all.merge(numbers_of(group["threads"]));
        blocks.insert(group["block"].get<unsigned>());
      }
    }
    if (wants("threads") && all != numbers_of(expect_["threads"])) text_ += "other threads; ";
    if (!wants("blocks")) return;
    const std::set<unsigned> wanted = numbers_of(expect_["blocks"]);
    if (!std::includes(wanted.begin(), wanted.end(), blocks.begin(), blocks.end())) text_ += "other blocks; ";
  }

  const std::string source_;
  const FaultJson& expect_;
  const std::set<std::string> unchecked_;
  std::vector<const FaultJson*> same_;
  std::string text_;
};

} // namespace warplens::testing
