// SPDX-License-Identifier: Apache-2.0
// Entries of the cache folder are found as they were stored, also while others store them.
#include "emulator/base/entry_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include <unistd.h>

namespace warplens::testing {
namespace entry_folder_test {

namespace fs = std::filesystem;

class Entries : public ::testing::Test {
protected:
  Entries() { setenv(EntryFolder::kVariable, path_.c_str(), 1); }
  ~Entries() override {
    fs::remove_all(path_);
    before_.empty() ? unsetenv(EntryFolder::kVariable) : setenv(EntryFolder::kVariable, before_.c_str(), 1);
  }
  std::string before_ = std::getenv(EntryFolder::kVariable) == nullptr ? "" : std::getenv(EntryFolder::kVariable);
  fs::path path_ = fs::path(::testing::TempDir()) / ("entries_" + std::to_string(getpid()));
};

TEST_F(Entries, WithBytesOfAllKinds) {
  const EntryFolder folder = EntryFolder::of_environment();
  EXPECT_EQ(folder.find("k"), std::nullopt);
  std::string content("\n\0\r\n", 4);
  for (int i = 0; i < 256; ++i) content += static_cast<char>(i);
  folder.store("k", content);
  EXPECT_EQ(folder.find("k"), content);
  folder.store("empty", "");
  EXPECT_EQ(folder.find("empty"), "");
  EXPECT_EQ(folder.use().entries, 2u);
}

TEST_F(Entries, OfManyWritersAreWhole) {
  const EntryFolder folder = EntryFolder::of_environment();
  std::vector<std::thread> threads;
  for (char writer = 'a'; writer < 'e'; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < 100; ++i) {
        folder.store("k", std::string(10'000u + 1'000u * static_cast<unsigned>(i), writer));
        const std::optional<std::string> found = folder.find("k");
        ASSERT_TRUE(found);
        ASSERT_EQ(found->find_first_not_of(found->front()), std::string::npos);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(folder.use().entries, 1u);
}

} // namespace entry_folder_test
} // namespace warplens::testing
