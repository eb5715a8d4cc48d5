// SPDX-License-Identifier: Apache-2.0
// Conventions that the compiler does not check: files are short, the core neither prints nor aborts, and no text names
// the machine that it was written on.
#include "tests/architecture/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <sstream>

namespace warplens::architecture {
namespace habits_test {

constexpr long kMostLines = 500;

bool is_data(std::string_view path) {
  return path.starts_with("tests/data/") || path.ends_with(".ptx") || path.ends_with(".csv") ||
         path.ends_with(".json") || path.ends_with(".svg") || path.ends_with(".ipynb") ||
         (path.starts_with("samples/") && path.ends_with(".toml")) || path == "docs/instructions.md" ||
         path == "docs/reproduction.md";
}

TEST(Habits, FilesAreShort) {
  for (const SourceFile& file : tree()) {
    if (is_data(file.path)) continue;
    const long lines = std::count(file.text.begin(), file.text.end(), '\n');
    EXPECT_LE(lines, kMostLines) << file.path << ": look for the second thing that the file does";
  }
}

// Test files are compiled in batches.
TEST(Habits, TestFilesHaveNamespacesOfTheirOwn) {
  int seen = 0;
  for (const SourceFile& file : tree()) {
    if (!file.path.starts_with("tests/") || !file.path.ends_with("_test.cpp")) continue;
    const std::string name = std::filesystem::path(file.path).stem();
    const std::string code = without_comments_and_literals(file.text);
    seen += code.find("namespace " + name + " {") != std::string::npos ? 1 : 0;
    EXPECT_EQ(code.find("namespace {"), std::string::npos)
        << file.path << ": another file of its test program may use the same name; name the namespace " << name;
  }
  EXPECT_GT(seen, 200);
}

// ---- the core never prints and never aborts

const std::regex& printing() {
  static const std::regex pattern(
      R"(\bstd::(cout|cerr|clog|exit|terminate|quick_exit)\b|\bfmt::print\b|)"
      R"(\b(printf|fprintf|vprintf|puts|fputs|putchar|perror|abort|_exit|_Exit|assert|__builtin_trap)\s*\()");
  return pattern;
}

/// Lines of code that print or abort.
std::vector<int> printing_lines(std::string_view text) {
  std::vector<int> lines;
  std::istringstream code(without_comments_and_literals(text));
  int number = 0;
  for (std::string line; std::getline(code, line);) {
    ++number;
    if (std::regex_search(line, printing())) lines.push_back(number);
  }
  return lines;
}

TEST(Habits, TheCoreNeitherPrintsNorAborts) {
  int seen = 0;
  for (const SourceFile& file : tree()) {
    constexpr std::array<std::string_view, 4> core = {"emulator/", "analyzers/", "model/", "api/"};
    const bool in_core = std::any_of(core.begin(), core.end(), [&](auto f) { return file.path.starts_with(f); });
    // ptx_run has no other way to report an error. The worker is a program.
    if (!in_core || !is_code(file.path) || file.path == "api/c/ptx_run.cpp" ||
        file.path == "emulator/exec/compile/llvm/worker_main.cpp")
      continue;
    ++seen;
    for (const int line : printing_lines(file.text)) ADD_FAILURE() << file.path << ":" << line << " prints or aborts";
  }
  EXPECT_GT(seen, 100);
}

TEST(Habits, PrintingIsRecognised) {
  EXPECT_EQ(printing_lines("int a;\nstd::cout << a;\n"), std::vector<int>{2});
  EXPECT_EQ(printing_lines("  assert(x > 0);"), std::vector<int>{1});
  EXPECT_EQ(printing_lines("/* one\n two */ abort();"), std::vector<int>{2});
  EXPECT_TRUE(printing_lines("static_assert(true); // printf(\n\"abort()\"; fmt::format(\"x\"); 1'000;").empty());
}

// ---- what an instruction is, the instruction table says: nobody who checks, counts or predicts asks for its name

std::vector<int> matching_lines(std::string_view text, const std::regex& pattern) {
  std::vector<int> lines;
  std::istringstream code{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(code, line);) {
    ++number;
    if (std::regex_search(line, pattern)) lines.push_back(number);
  }
  return lines;
}

std::vector<int> lines_that_ask_for_an_opcode(std::string_view text) {
  static const std::regex pattern(R"(opcode\w*(\(\))?\s*[!=]=\s*"|opcode\w*(\(\))?\.starts_with\()");
  return matching_lines(text, pattern);
}

TEST(Habits, TheTableIsAskedNotTheOpcode) {
  int seen = 0;
  for (const SourceFile& file : tree()) {
    constexpr std::array<std::string_view, 4> users = {"emulator/ir/check", "emulator/ir/parse", "analyzers/",
                                                       "model/"};
    const bool asks = std::any_of(users.begin(), users.end(), [&](auto f) { return file.path.starts_with(f); });
    if (!asks || !is_code(file.path)) continue;
    ++seen;
    for (const int line : lines_that_ask_for_an_opcode(file.text))
      ADD_FAILURE() << file.path << ":" << line << " compares an opcode: make it a property in the instruction table";
  }
  EXPECT_GT(seen, 50);
}

TEST(Habits, AskingForAnOpcodeIsRecognised) {
  EXPECT_EQ(lines_that_ask_for_an_opcode("int a;\nif (entry->opcode == \"mov\") a = 1;"), std::vector<int>{2});
  EXPECT_EQ(lines_that_ask_for_an_opcode("i.opcode.starts_with(\"st\")"), std::vector<int>{1});
  EXPECT_TRUE(lines_that_ask_for_an_opcode("e.opcode == name; s->opcode == other.opcode;").empty());
}

// ---- rules and devices are data: everything asks them for their properties, and nothing for their names

std::vector<std::string> names_in(std::string_view folder, const std::string& key) {
  const std::regex pattern("(^|\n)" + key + " *= *\"([^\"]+)\"");
  std::vector<std::string> names;
  for (const SourceFile& file : tree())
    if (std::smatch name;
        file.path.starts_with(folder) && file.path.ends_with(".toml") && std::regex_search(file.text, name, pattern))
      names.push_back(name[2]);
  return names;
}

/// Lines that have one of the names as a literal, outside of comments.
std::vector<int> lines_with_literal(std::string_view text, const std::vector<std::string>& names) {
  std::vector<int> lines;
  std::istringstream code{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(code, line);) {
    ++number;
    const std::string_view before_comment = std::string_view(line).substr(0, line.find("//"));
    if (std::any_of(names.begin(), names.end(),
                    [&](const auto& n) { return before_comment.find('"' + n + '"') != before_comment.npos; }))
      lines.push_back(number);
  }
  return lines;
}

TEST(Habits, RulesAndDevicesAreNotKnownByName) {
  std::vector<std::string> names = names_in("rules/", "name");
  const std::vector<std::string> devices = names_in("model/devices/", "id");
  ASSERT_GT(names.size(), 10u);
  ASSERT_GT(devices.size(), 10u);
  names.insert(names.end(), devices.begin(), devices.end());
  constexpr std::array<std::string_view, 8> users = {"emulator/", "rules/", "analyzers/", "model/",
                                                     "api/",      "tools/", "runtime/",   "python/"};
  // What the profilers count, and what a launch counts that has no device; the devices that are the default.
  constexpr std::array<std::string_view, 2> defaults = {"analyzers/counted_rules.cpp", "api/launch/load.cpp"};
  int seen = 0;
  for (const SourceFile& file : tree()) {
    if (!is_code(file.path)) continue;
    if (std::none_of(users.begin(), users.end(), [&](auto f) { return file.path.starts_with(f); })) continue;
    const bool is_default = std::find(defaults.begin(), defaults.end(), file.path) != defaults.end();
    const std::vector<int> lines = lines_with_literal(file.text, names);
    EXPECT_EQ(!lines.empty(), is_default) << file.path << ":" << (lines.empty() ? 0 : lines.front())
                                          << " names a rule or a device: ask it for its properties";
    ++seen;
  }
  EXPECT_GT(seen, 400);
}

// ---- a name that is written twice can be written wrong once

TEST(Habits, FindingsAreNamedOnce) {
  const auto text_of = [](std::string_view path) {
    const auto file = std::find_if(tree().begin(), tree().end(), [&](const auto& f) { return f.path == path; });
    return file == tree().end() ? std::string() : file->text;
  };
  const std::string declared = text_of("analyzers/finding_kinds.hpp"), kinds = text_of("analyzers/finding_kinds.cpp");
  std::vector<std::string> names;
  static const std::regex constant("string_view k(\\w+) = \"(\\w+)\";");
  for (std::sregex_iterator at(declared.begin(), declared.end(), constant), end; at != end; ++at) {
    const bool has_kind = kinds.find("names::k" + (*at)[1].str() + ",") != kinds.npos;
    EXPECT_TRUE(has_kind || (*at)[1] == "TrapFinding") << (*at)[1] << " has no kind";
    if ((*at)[2] != "Occupancy") names.push_back((*at)[2]); // which is a heading, too
  }
  ASSERT_GE(names.size(), 20u);
  for (const SourceFile& file : tree()) {
    if (!is_code(file.path) || file.path.starts_with("tests/") || file.path == "analyzers/finding_kinds.hpp") continue;
    EXPECT_EQ(lines_with_literal(file.text, names), std::vector<int>{}) << file.path << " has a name of a finding";
  }
}

// A variable that is not in the list is unknown to `warplens doctor`, and inherited by the programs of exec.
TEST(Habits, EnvironmentVariablesAreInTheList) {
  static const std::regex variable("\"(WARPLENS_[A-Z0-9_]+)\"");
  const auto list =
      std::find_if(tree().begin(), tree().end(), [](const auto& f) { return f.path == "api/session/environment.def"; });
  ASSERT_NE(list, tree().end());
  int seen = 0;
  for (const SourceFile& file : tree()) {
    if (!is_code(file.path) || file.path.starts_with("tests/")) continue;
    for (std::sregex_iterator at(file.text.begin(), file.text.end(), variable), end; at != end; ++at, ++seen)
      EXPECT_NE(list->text.find((*at)[0].str()), list->text.npos) << file.path << ": " << (*at)[1];
  }
  EXPECT_GT(seen, 1);
}

TEST(Habits, LiteralsAreRecognised) {
  const std::vector<std::string> names{"6.0", "h200"};
  EXPECT_EQ(lines_with_literal("int a;\nif (rule.name == \"6.0\") a = 1;", names), std::vector<int>{2});
  EXPECT_TRUE(lines_with_literal("int a; // \"6.0\"\nf(\"16.0\", \"h200.toml\");", names).empty());
}

// ---- a program that calls the runtime may pass any number for an enumeration: without a fixed type, reading one that
// is not among its values is undefined behaviour

std::vector<int> lines_with_open_enumerations(std::string_view text) {
  static const std::regex pattern(R"(^\s*(typedef\s+)?enum\s+(class\s+)?\w*\s*\{)");
  return matching_lines(text, pattern);
}

TEST(Habits, EnumerationsOfCallersHaveATypeOfTheirOwn) {
  int seen = 0;
  for (const SourceFile& file : tree()) {
    if (!file.path.starts_with("runtime/abi/")) continue;
    ++seen;
    for (const int line : lines_with_open_enumerations(file.text))
      ADD_FAILURE() << file.path << ":" << line << ": write enum NAME : int";
  }
  EXPECT_GT(seen, 5);
  EXPECT_EQ(lines_with_open_enumerations("enum A : int { a };\nenum B { b };\n"), std::vector<int>{2});
}

// ---- words that belong to one machine, not to the project. Written in pieces, for this file is read too.

const std::vector<std::string>& forbidden_words() {
  static const std::vector<std::string> words = {
      std::string("/wo") + "rk/",      std::string("deb.deb") + "ian.org",   std::string("archive.ub") + "untu.com",
      std::string("py") + "pi.org",    std::string("python") + "hosted.org", std::string("registry.npm") + "js",
      std::string("art") + "ifactory", std::string("localhost") + ":",       std::string("/tmp/") + "b-",
      std::string("127.0") + ".0.1",
  };
  return words;
}

TEST(Habits, NoTextNamesAMachine) {
  for (const SourceFile& file : tree())
    for (const std::string& word : forbidden_words())
      if (const std::size_t at = file.text.find(word); at != std::string::npos)
        ADD_FAILURE() << file.path << ":"
                      << 1 + std::count(file.text.begin(), file.text.begin() + static_cast<long>(at), '\n') << " says "
                      << word;
}

} // namespace habits_test
} // namespace warplens::architecture
