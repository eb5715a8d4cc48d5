// SPDX-License-Identifier: Apache-2.0
// Runs the program that queried an H200's driver about tensor maps. Our driver must give the same answers, in
// tests/data/hardware/tensor_maps.jsonl.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace tensor_maps_test {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> part{};
  while (const std::size_t bytes = std::fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), bytes);
  pclose(pipe);
  return text;
}

TEST(TensorMaps, AsAnH200sDriverMakesThem) {
  const std::string library = WARPLENS_LIBCUDA, folder = library.substr(0, library.rfind('/'));
  std::istringstream ours(output_of("LD_LIBRARY_PATH=" + folder + " " WARPLENS_ASK_TENSOR_MAPS));
  std::ifstream theirs(WARPLENS_SOURCE_DIR "/tests/data/hardware/tensor_maps.jsonl");
  int lines = 0, crashes = 0;
  for (std::string wanted, found; std::getline(theirs, wanted); ++lines) {
    ASSERT_TRUE(std::getline(ours, found)) << lines;
    // The driver crashes if a corner is null; ours refuses it.
    if (const std::size_t crash = wanted.find("\"result\": -1"); crash != std::string::npos) {
      wanted.replace(crash, 12, "\"result\": 1");
      ++crashes;
    }
    EXPECT_EQ(found, wanted) << lines;
  }
  EXPECT_GT(lines, 3000);
  EXPECT_EQ(crashes, 2);
}

} // namespace tensor_maps_test
