// SPDX-License-Identifier: Apache-2.0
// The allowed includes between folders: the table in docs/design.md, which also names the stages of an instruction.
#include "tests/architecture/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

namespace warplens::architecture {
namespace include_graph_test {

using Names = std::vector<std::string_view>;

std::string_view text_of(std::string_view path) {
  for (const SourceFile& file : tree())
    if (file.path == path) return file.text;
  return {};
}

/// The cells of the table below a heading of docs/design.md, without the header row.
std::vector<std::vector<std::string>> table(const std::string& heading) {
  std::istringstream lines{std::string(text_of("docs/design.md"))};
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (!inside || !line.starts_with("| ")) continue;
    std::istringstream cells(line.substr(2));
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '|');)
      row.push_back(cell.substr(0, cell.find_last_not_of(' ') + 1));
    for (std::string& cell : row) cell.erase(0, cell.find_first_not_of(' '));
  }
  if (rows.size() > 2) rows.erase(rows.begin(), rows.begin() + 2); // titles and dashes
  return rows;
}

/// What stands in backticks.
std::vector<std::string> quoted(const std::string& cell) {
  static const std::regex pattern("`([^`]+)`");
  std::vector<std::string> list;
  for (std::sregex_iterator at(cell.begin(), cell.end(), pattern), end; at != end; ++at) list.push_back((*at)[1]);
  return list;
}

struct Folder {
  std::string path; ///< "emulator/exec/state/"
  std::vector<std::string> may_include;
};

/// By path, so that a folder comes before those inside it.
const std::vector<Folder>& folders() {
  static const std::vector<Folder> list = [] {
    std::vector<Folder> made;
    for (const auto& row : table("Folders")) made.push_back({quoted(row.at(0)).at(0), quoted(row.at(2))});
    std::sort(made.begin(), made.end(), [](const Folder& a, const Folder& b) { return a.path < b.path; });
    return made;
  }();
  return list;
}

/// Libraries that only some files may see, so that they can be replaced.
struct Door {
  std::string_view library; ///< how its includes begin
  Names files;              ///< how the paths of those that may see it begin
};

const std::vector<Door>& doors() {
  static const std::vector<Door> list = {
      {"antlr4-runtime", {"emulator/ir/parse"}},
      {"PtxLexer.h", {"emulator/ir/parse"}},
      {"PtxParser.h", {"emulator/ir/parse"}},
      {"tbb/", {"emulator/exec/grid/workers_tbb.cpp"}},
      {"oneapi/tbb", {"emulator/exec/grid/workers_tbb.cpp"}},
      {"toml++/", {"emulator/base/toml.", "api/plan/launch_override.", "tests/"}},
      {"boost/program_options", {"tools/"}},
      {"hdf5.h", {"analyzers/trace/hdf5_", "tests/analyzers/trace/"}},
      {"llvm/", {"emulator/exec/compile/llvm/"}},
      {"mpi.h", {"tools/ranks/mpi.cpp"}},
      {"isa-l/", {"analyzers/trace/deflate.cpp"}},
      {"gtest/", {"tests/"}},
      {"benchmark/", {"bench/"}},
      // Statements, not values: what prints belongs to tools and runtime.
      {"iostream", {"tools/", "runtime/", "tests/", "bench/"}},
      {"fmt/ostream.h", {"tools/", "runtime/", "tests/", "bench/"}},
  };
  return list;
}

bool begins_with_any(std::string_view text, const Names& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto b) { return text.starts_with(b); });
}

/// The innermost folder of the table that a file lies in.
const Folder* folder_of(std::string_view path) {
  const Folder* found = nullptr;
  for (const Folder& folder : folders())
    if (path.starts_with(folder.path)) found = &folder;
  return found;
}

/// Whether the rows of the folders that `path` lies in allow an include.
bool is_allowed(std::string_view path, std::string_view name) {
  for (const Folder& folder : folders())
    if (path.starts_with(folder.path))
      for (const std::string& allowed : folder.may_include)
        if (name.starts_with(allowed)) return true;
  return false;
}

/// Why a file may not include a name; empty where it may.
std::string objection(std::string_view path, const Include& include) {
  for (const Door& door : doors())
    if (include.name.starts_with(door.library) && !begins_with_any(path, door.files))
      return "only " + std::string(door.files.front()) + "… may see " + std::string(door.library);
  if (!include.quoted) return {};
  const Folder* from = folder_of(path);
  const Folder* to = folder_of(include.name);
  if (from == nullptr) return "docs/design.md does not have the file's folder";
  if (to == nullptr) return include.name.starts_with("Ptx") ? "" : "includes are written from the repository root";
  if (from == to || is_allowed(path, include.name)) return {};
  return from->path + " may not use " + to->path;
}

TEST(IncludeGraph, HasNoForbiddenArrow) {
  int seen = 0;
  for (const SourceFile& file : tree()) {
    if (!is_code(file.path) || file.path.starts_with("samples/")) continue;
    for (const Include& include : includes(file)) {
      ++seen;
      EXPECT_EQ(objection(file.path, include), "") << file.path << ":" << include.line << " includes " << include.name;
    }
  }
  EXPECT_GT(seen, 500); // the tree was read
}

TEST(IncludeGraph, UsesEveryArrow) {
  for (const Folder& folder : folders())
    for (const std::string& allowed : folder.may_include) {
      const auto uses = [&](const SourceFile& file) {
        if (!is_code(file.path) || !file.path.starts_with(folder.path)) return false;
        const std::vector<Include> all = includes(file);
        return std::any_of(all.begin(), all.end(), [&](const Include& i) { return i.name.starts_with(allowed); });
      };
      EXPECT_TRUE(std::any_of(tree().begin(), tree().end(), uses)) << folder.path << " never uses " << allowed;
    }
}

// The page itself must not allow a circle: an arrow leads from a folder to each that its own row names.
TEST(IncludeGraph, HasNoCircle) {
  std::map<std::string, int> depth; // -1: on the way
  const auto visit = [&](const auto& self, const Folder& folder) -> int {
    const auto [known, is_new] = depth.try_emplace(folder.path, -1);
    if (!is_new) return known->second;
    int most = 0;
    for (const std::string& name : folder.may_include)
      for (const Folder& other : folders()) {
        const bool is_meant = other.path.starts_with(name) || folder_of(name) == &other;
        if (!is_meant || &other == &folder || folder.path.starts_with(other.path)) continue;
        const int below = self(self, other);
        EXPECT_GE(below, 0) << folder.path << " and " << other.path << " may use each other";
        most = std::max(most, below + 1);
      }
    return depth[folder.path] = most;
  };
  for (const Folder& folder : folders()) visit(visit, folder);
  EXPECT_GT(depth.size(), 30u);
}

// The hops of an instruction from its text to its row in the report, as docs/design.md lists them.
TEST(IncludeGraph, HopsExist) {
  const auto hops = table("The path of an instruction");
  EXPECT_GT(hops.size(), 5u);
  EXPECT_LE(hops.size(), 12u);
  for (const auto& hop : hops) {
    std::string function = quoted(hop.at(1)).at(0);
    ASSERT_TRUE(function.ends_with("()")) << function;
    function.erase(function.size() - 2);
    const std::string file = quoted(hop.at(2)).at(0);
    // Defined there: a type or a scope comes before the name.
    const std::regex definition(R"((^|\n)[^\n;=.]*[\w>&*](\s|::)+)" + function + R"(\([^;{}]*\{)");
    EXPECT_TRUE(std::regex_search(without_comments_and_literals(text_of(file)), definition))
        << file << " does not define " << function << "()";
  }
}

TEST(IncludeGraph, QuotedFilesExist) {
  for (const SourceFile& file : tree()) {
    if (!is_code(file.path) || file.path.starts_with("tests/docs/")) continue; // these include examples of the pages
    for (const Include& include : includes(file)) {
      if (!include.quoted || include.name.starts_with("Ptx")) continue; // made from the grammar
      EXPECT_TRUE(std::filesystem::exists(std::string(WARPLENS_SOURCE_DIR "/") + include.name))
          << file.path << ":" << include.line << " includes " << include.name;
    }
  }
}

TEST(IncludeGraph, ObjectsToWhatIsForbidden) {
  const auto refused = [](std::string_view path, std::string name, bool quoted = true) {
    return !objection(path, {std::move(name), quoted, 1}).empty();
  };
  EXPECT_TRUE(refused("emulator/base/diagnostic.cpp", "emulator/isa/types.hpp"));
  EXPECT_TRUE(refused("emulator/ir/parse.cpp", "emulator/exec/state/events.hpp"));
  EXPECT_TRUE(refused("analyzers/banks.cpp", "emulator/exec/state/warp.hpp"));
  EXPECT_TRUE(refused("model/device.cpp", "analyzers/banks.hpp"));
  EXPECT_TRUE(refused("tools/run.cpp", "emulator/ir/module.hpp"));
  EXPECT_TRUE(refused("emulator/exec/block/cta.cpp", "tbb/parallel_for.h", false));
  EXPECT_TRUE(refused("emulator/ir/check.cpp", "antlr4-runtime/antlr4-runtime.h", false));
  EXPECT_TRUE(refused("emulator/exec/block/cta.cpp", "warp.hpp"));
  EXPECT_TRUE(refused("emulator/exec/state/warp.hpp", "emulator/exec/block/cta.hpp"));
  EXPECT_TRUE(refused("api/session/session.hpp", "api/launch/launch.hpp"));
  EXPECT_TRUE(refused("runtime/driver/machine/stream.cpp", "runtime/driver/graph/graph.hpp"));
  EXPECT_FALSE(refused("emulator/exec/block/cta.hpp", "emulator/exec/state/warp.hpp"));
  EXPECT_FALSE(refused("analyzers/banks.cpp", "emulator/exec/state/events.hpp"));
  EXPECT_FALSE(refused("emulator/exec/grid/workers_tbb.cpp", "tbb/parallel_for.h", false));
  EXPECT_FALSE(refused("api/launch/launch.cpp", "model/models.hpp"));
}

} // namespace include_graph_test
} // namespace warplens::architecture
