// SPDX-License-Identifier: Apache-2.0
// Every source file states its licence, and the licence is there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace warplens {
namespace licence_test {

namespace fs = std::filesystem;

const fs::path kRoot = WARPLENS_SOURCE_DIR;

/// Sources that people read and copy: not data, not PTX and not the CUDA text that .loc lines of committed PTX refer
/// to.
bool states_licence(const fs::path& file) {
  static const std::set<std::string> suffixes = {".cpp",   ".hpp", ".h",   ".def", ".g4",  ".in",  ".map",
                                                 ".cmake", ".py",  ".pyi", ".js",  ".jsx", ".mjs", ".css"};
  return suffixes.contains(file.extension().string()) || file.filename() == "CMakeLists.txt";
}

TEST(Licence, IsStatedBySourceFiles) {
  std::size_t seen = 0;
  for (const char* folder : {"emulator", "rules", "analyzers", "model", "api", "runtime", "tools", "bench", "tests",
                             "grammar", "samples", "packaging", "frontend", "python"})
    for (auto entry = fs::recursive_directory_iterator(kRoot / folder); entry != fs::end(entry); ++entry) {
      if (entry->path() == kRoot / "tests/data") {
        entry.disable_recursion_pending();
        continue;
      }
      if (!entry->is_regular_file() || !states_licence(entry->path())) continue;
      std::ifstream file(entry->path());
      std::string first, second;
      std::getline(file, first);
      std::getline(file, second); // after #!
      EXPECT_NE((first + second).find("SPDX-License-Identifier: Apache-2.0"), std::string::npos) << entry->path();
      ++seen;
    }
  EXPECT_GT(seen, 800u);
}

TEST(Licence, IsApache) {
  std::ostringstream text;
  text << std::ifstream(kRoot / "LICENSE").rdbuf();
  EXPECT_NE(text.str().find("Apache License"), std::string::npos);
  EXPECT_NE(text.str().find("Version 2.0, January 2004"), std::string::npos);
}

} // namespace licence_test
} // namespace warplens
