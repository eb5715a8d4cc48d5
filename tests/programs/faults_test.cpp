// SPDX-License-Identifier: Apache-2.0
// The programs with a planted fault and their correct twins, tests/data/faults: the index, the CUDA sources and the PTX
// belong together.
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"
#include "tests/hardware/emulated.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

namespace warplens::tests {
namespace faults_test {

using Json = nlohmann::json;

std::string text_of(const std::string& name) { return data_file("faults/" + name); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

const std::map<std::string, Json>& cases() {
  static const std::map<std::string, Json> list = [] {
    std::map<std::string, Json> read;
    for (const std::string& line : lines_of(text_of("cases.jsonl"))) {
      Json one = Json::parse(line);
      const std::string id = one["id"];
      EXPECT_TRUE(read.emplace(id, std::move(one)).second) << id << " is there twice";
    }
    return read;
  }();
  return list;
}

bool is_faulty(const Json& one) { return one.contains("expect"); }

void expect_fields(const Json& object, const std::set<std::string>& needed, const std::set<std::string>& known,
                   const std::string& id) {
  for (const std::string& name : needed) EXPECT_TRUE(object.contains(name)) << id << " lacks " << name;
  for (const auto& [name, value] : object.items())
    EXPECT_TRUE(needed.contains(name) || known.contains(name)) << id << " has the unknown field " << name;
}

const std::map<std::string, std::set<std::string>>& kinds() {
  static const std::map<std::string, std::set<std::string>> list = {
      {"memcheck",
       {"out_of_bounds", "misaligned", "use_after_free", "double_free", "foreign_free", "leak", "api_error",
        "stack_overflow", "forged_handle", "exited_block"}},
      {"racecheck", {"raw", "war", "waw"}},
      {"initcheck", {"uninitialized", "unused"}},
      {"synccheck", {"divergent_barrier", "divergent_aligned",    "thread_count",         "mask_without_caller",
                     "exited_lanes",      "masks_differ",         "lanes_missing",        "inactive_source",
                     "missing_wait",      "missing_fence",        "group_wait",           "group_fence",
                     "tensor_wait",       "tensor_fence",         "mbarrier_double_init", "mbarrier_not_initialised",
                     "mbarrier_phase",    "mbarrier_overwritten", "mbarrier_count",       "cluster_barrier",
                     "grid_sync"}},
  };
  return list;
}

TEST(Faults, AreManyAndEachHasATwin) {
  std::size_t faulty = 0;
  for (const auto& [id, one] : cases()) {
    ASSERT_TRUE(cases().contains(one["twin"])) << id;
    const Json& twin = cases().at(one["twin"]);
    EXPECT_EQ(twin["twin"], id);
    EXPECT_NE(is_faulty(one), is_faulty(twin)) << id;
    if (!is_faulty(one)) continue;
    ++faulty;
    const bool other_host = one["steps"] != twin["steps"];
    EXPECT_TRUE(other_host || text_of(one["module"]) != text_of(twin["module"])) << id << " is the same as its twin";
  }
  EXPECT_GE(faulty, 150u);
  EXPECT_EQ(cases().size(), 2 * faulty);
}

TEST(Faults, HaveKnownFieldsAndEveryKindOccurs) {
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& [id, one] : cases()) {
    const std::set<std::string> optional = {"sanitizer", "found", "differs", "device"};
    std::set<std::string> needed = {"id", "twin", "tool", "class", "source", "module", "steps"};
    if (is_faulty(one)) needed.insert({"what", "rule", "expect"});
    expect_fields(one, needed, optional, id);
    if (is_faulty(one)) {
      expect_fields(one["expect"], {"kind"},
                    {"access", "benign", "blocks", "bytes", "call", "distance", "error", "function", "hangs", "kernel",
                     "line", "missing", "of", "other_access", "other_kernel", "other_line", "size", "space", "threads"},
                    id);
      seen[one["tool"]].insert(one["expect"]["kind"]);
    }
    // Where compute-sanitizer differs, the reason is given.
    if (one.contains("found")) {
      EXPECT_EQ(one.contains("differs"), one["found"] != is_faulty(one)) << id;
    }
  }
  EXPECT_EQ(seen, kinds());
}

std::set<std::string> modules() {
  std::set<std::string> names;
  for (const auto& [id, one] : cases()) names.insert(one["module"]);
  return names;
}

TEST(Faults, ModulesPassTheCheckerAndHaveTheKernels) {
  for (const std::string& name : modules()) {
    auto module = ir::parse(text_of(name), name);
    ASSERT_TRUE(module) << name;
    EXPECT_FALSE(ir::check(*module).errors.has_errors()) << name;
    for (const auto& [id, one] : cases())
      for (const std::string step : one["steps"]) {
        const std::size_t at = step.find("launch ");
        if (one["module"] != name || at == step.npos) continue;
        const std::string kernel = step.substr(at + 7, step.find(' ', at + 7) - at - 7);
        const bool wanted = !is_faulty(one) || one["expect"].value("call", "") != "cuModuleGetFunction";
        EXPECT_EQ(module->find(kernel) != nullptr, wanted) << id << ": " << kernel;
      }
  }
}

int number_after(const std::string& line, std::string_view word) {
  const std::size_t at = line.find(word);
  int number = -1;
  const std::size_t digits = at == line.npos ? at : line.find_first_not_of(" \t", at + word.size());
  if (digits != line.npos) std::from_chars(line.data() + digits, line.data() + line.size(), number);
  return number;
}

/// Instructions of a module by the line of the source that they come from; those of the callers count, too.
std::multimap<int, std::string> instructions(const std::string& ptx, const std::string& source) {
  std::multimap<int, std::string> found;
  std::string file;
  for (const std::string& line : lines_of(ptx))
    if (line.find("\"" + source + "\"") != line.npos && line.starts_with("\t.file"))
      file = std::to_string(number_after(line, ".file"));
  std::set<int> here;
  bool in_chain = false; // each further .loc is of what is inlined there
  for (const std::string& line : lines_of(ptx)) {
    if (line.starts_with("\t.loc\t")) {
      if (!in_chain) here.clear();
      here.insert({number_after(line, ".loc\t" + file + " "), number_after(line, "inlined_at " + file + " ")});
      in_chain = true;
      continue;
    }
    std::istringstream statements(line);
    for (std::string one; std::getline(statements, one, ';');) {
      const std::size_t first = one.find_first_not_of(" \t{}");
      if (first == one.npos || one[first] == '.' || one[first] == '/') continue;
      in_chain = false;
      for (const int number : here) found.emplace(number, one.substr(first));
    }
  }
  return found;
}

/// Not what computes addresses and conditions; `of_register`: anything that reads a register.
bool accesses_or_synchronises(const std::string& instruction, bool of_register) {
  static const std::vector<std::string> opcodes = {
      "ld.",  "st.", "st\t", "atom.", "red.",     "bar.",     "bar",   "shfl",   "vote",   "match",   "redux",
      "call", "cp.", "tex.", "sust.", "mbarrier", "ldmatrix", "fence", "membar", "wgmma.", "tcgen05."};
  const std::string plain = instruction.starts_with("@") ? instruction.substr(instruction.find(' ') + 1) : instruction;
  if (plain.starts_with("ld.param")) return false;
  return of_register ||
         std::any_of(opcodes.begin(), opcodes.end(), [&](const auto& o) { return plain.starts_with(o); });
}

TEST(Faults, AreInTheNamedLines) {
  std::map<std::string, std::multimap<int, std::string>> code;
  std::size_t asked = 0;
  for (const auto& [id, one] : cases()) {
    if (!is_faulty(one)) continue;
    const Json& expect = one["expect"];
    const std::string module = one["module"], source = one["source"];
    const std::vector<std::string> lines = lines_of(text_of(source));
    if (!code.contains(module)) code[module] = instructions(text_of(module), source);
    for (const auto& [field, mark] : {std::pair{"line", "// FAULT"}, std::pair{"other_line", "// OTHER"}}) {
      if (!expect.contains(field)) continue;
      const int line = expect[field];
      ASSERT_LE(line, static_cast<int>(lines.size())) << id;
      const bool of_other_kernel = std::string(field) == "other_line" && expect.contains("other_kernel");
      EXPECT_NE(lines[static_cast<std::size_t>(line) - 1].find(of_other_kernel ? "// FAULT" : mark), std::string::npos)
          << id << ": " << source << ":" << line;
      const auto [begin, end] = code[module].equal_range(line);
      const bool of_register = expect.value("space", "") == "register";
      EXPECT_TRUE(
          std::any_of(begin, end, [&](const auto& i) { return accesses_or_synchronises(i.second, of_register); }))
          << id << ": nothing of " << source << ":" << line << " is left in " << module;
      ++asked;
    }
  }
  EXPECT_GT(asked, 200u);
}

} // namespace faults_test
} // namespace warplens::tests
