// Who may include whom: every floor may use the floors below it and no other (CONTRIBUTING.md, "Source tree").
#include "tests/architecture/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace warplens::architecture {
namespace {

using Names = std::vector<std::string_view>;

struct Floor {
  std::string_view folder;
  Names may_include; ///< folders and files, besides itself
};

const std::vector<Floor>& floors() {
  static const std::vector<Floor> list = {
      {"emulator/base/", {}},
      {"emulator/isa/", {"emulator/base/"}},
      {"emulator/ir/", {"emulator/base/", "emulator/isa/"}},
      {"emulator/exec/", {"emulator/base/", "emulator/isa/", "emulator/ir/"}},
      {"rules/", {"emulator/base/"}},
      {"analyzers/", {"emulator/base/", "emulator/isa/", "emulator/ir/", "emulator/exec/events.hpp", "rules/"}},
      {"model/", {"emulator/base/", "rules/"}},
      {"api/", {"emulator/", "rules/", "analyzers/", "model/"}},
      {"tools/", {"api/", "runtime/fatbin/"}},
      {"runtime/", {"api/"}},
      {"python/", {"api/"}},
      {"bench/", {"emulator/", "rules/", "analyzers/", "model/", "api/", "runtime/"}},
      {"tests/", {"emulator/", "rules/", "analyzers/", "model/", "api/", "tools/", "runtime/", "python/"}},
  };
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
      {"tbb/", {"emulator/exec/grid.cpp"}},
      {"oneapi/tbb", {"emulator/exec/grid.cpp"}},
      {"toml++/",
       {"rules/table.cpp", "model/device_load.cpp", "api/launch_file.cpp", "api/launch_override.", "tests/"}},
      {"boost/program_options", {"tools/"}},
      {"hdf5.h", {"analyzers/trace/file.cpp", "tests/analyzers/trace/"}},
      {"libdeflate.h", {"analyzers/trace/deflate.cpp"}},
      {"gtest/", {"tests/"}},
      {"benchmark/", {"bench/"}},
      // Statements, not values: what prints belongs to tools and runtime.
      {"iostream", {"tools/", "runtime/", "python/", "tests/", "bench/"}},
      {"fmt/ostream.h", {"tools/", "runtime/", "tests/", "bench/"}},
  };
  return list;
}

bool begins_with_any(std::string_view text, const Names& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](auto b) { return text.starts_with(b); });
}

const Floor* floor_of(std::string_view path) {
  for (const Floor& floor : floors())
    if (path.starts_with(floor.folder)) return &floor;
  return nullptr;
}

/// Why a file may not include a name; empty where it may.
std::string objection(std::string_view path, const Include& include) {
  for (const Door& door : doors())
    if (include.name.starts_with(door.library) && !begins_with_any(path, door.files))
      return "only " + std::string(door.files.front()) + "… may see " + std::string(door.library);
  if (!include.quoted) return {};
  const Floor* from = floor_of(path);
  const Floor* to = floor_of(include.name);
  if (from == nullptr) return "the file is on no floor of the house";
  if (to == nullptr) return include.name.starts_with("Ptx") ? "" : "includes are written from the repository root";
  if (from == to || begins_with_any(include.name, from->may_include)) return {};
  return std::string(from->folder) + " may not use " + std::string(to->folder);
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
  EXPECT_TRUE(refused("emulator/ir/parse.cpp", "emulator/exec/events.hpp"));
  EXPECT_TRUE(refused("analyzers/banks.cpp", "emulator/exec/warp.hpp"));
  EXPECT_TRUE(refused("model/device.cpp", "analyzers/banks.hpp"));
  EXPECT_TRUE(refused("tools/run.cpp", "emulator/ir/module.hpp"));
  EXPECT_TRUE(refused("emulator/exec/cta.cpp", "tbb/parallel_for.h", false));
  EXPECT_TRUE(refused("emulator/ir/check.cpp", "antlr4-runtime/antlr4-runtime.h", false));
  EXPECT_TRUE(refused("emulator/exec/cta.cpp", "warp.hpp"));
  EXPECT_FALSE(refused("analyzers/banks.cpp", "emulator/exec/events.hpp"));
  EXPECT_FALSE(refused("emulator/exec/grid.cpp", "tbb/parallel_for.h", false));
  EXPECT_FALSE(refused("api/launch.cpp", "model/models.hpp"));
}

} // namespace
} // namespace warplens::architecture
