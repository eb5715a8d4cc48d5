// SPDX-License-Identifier: Apache-2.0
// The handlers are compiled once per processor level. A weak symbol (an inline function, a template) with the same name
// in two levels is merged by the linker, which keeps the first one: code for a new processor may then run and crash
// on an old one. Therefore all weak symbols in the objects of a level have the level's namespace in their names.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace warplens::architecture {
namespace levels_test {

struct LevelObject {
  std::string level; ///< "v4"
  std::string path;
};

std::vector<LevelObject> level_objects() {
  std::vector<LevelObject> list;
  std::ifstream file(WARPLENS_LEVEL_OBJECTS); // "target;object;object…" a line
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string target, object;
    std::getline(words, target, ';');
    const std::size_t start = target.find('_', target.find('_') + 1) + 1; // warplens_lanes_LEVEL_group
    const std::string level = target.substr(start, target.find('_', start) - start);
    while (std::getline(words, object, ';')) list.push_back({level, object});
  }
  return list;
}

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 1 << 16> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) lines.emplace_back(line.data());
  return lines;
}

// Data, the same at every level: a pointer to the runtime's exception handler, and arguments of templates.
constexpr std::string_view kPersonality = "DW.ref.__gxx_personality_v0", kArgument = "template parameter object for ";

/// "0000000000000000 W std::vector<…>::~vector()" of nm: the name, where it may be merged with another level's.
std::string shared_name(const std::string& line, const std::string& level) {
  if (line.size() < 20 || std::string_view("WVu").find(line[17]) == std::string_view::npos) return {};
  std::string name = line.substr(19, line.find('\n') - 19);
  if (name == kPersonality || name.starts_with(kArgument) || name.find("::" + level + "::") != std::string::npos)
    return {};
  const bool mangled = name.starts_with("_Z"); // nm does not know all that newer compilers mangle
  if (mangled && name.find(std::to_string(level.size()) + level) != std::string::npos) return {};
  return name;
}

TEST(Levels, ShareNoWeakSymbols) {
  const std::vector<LevelObject> objects = level_objects();
  ASSERT_FALSE(objects.empty());
  std::size_t symbols = 0;
  for (const LevelObject& object : objects) {
    const auto lines = lines_of("'" WARPLENS_NM "' --demangle --defined-only '" + object.path + "'");
    symbols += lines.size();
    for (const std::string& line : lines)
      EXPECT_EQ(shared_name(line, object.level), "") << object.path << " (level " << object.level << ")";
  }
  EXPECT_GT(symbols, objects.size() * 100); // nm ran
}

TEST(Levels, SharedSymbolsAreRecognised) {
  EXPECT_EQ(shared_name("0000000000000000 W std::vector<int>::~vector()\n", "v4"), "std::vector<int>::~vector()");
  EXPECT_EQ(shared_name("0000000000000000 W warplens::exec::v3::f()\n", "v4"), "warplens::exec::v3::f()");
  EXPECT_EQ(shared_name("0000000000000000 u warplens::exec::f()::rows\n", "v4"), "warplens::exec::f()::rows");
  EXPECT_EQ(shared_name("0000000000000000 W warplens::exec::v4::f()\n", "v4"), "");
  EXPECT_EQ(shared_name("0000000000000000 W _ZN8warplens3isa2v35applyITnDaE\n", "v4"),
            "_ZN8warplens3isa2v35applyITnDaE");
  EXPECT_EQ(shared_name("0000000000000000 W _ZN8warplens3isa2v45applyITnDaE\n", "v4"), "");
  EXPECT_EQ(shared_name("0000000000000000 T main\n", "v4"), "");
}

} // namespace levels_test
} // namespace warplens::architecture
