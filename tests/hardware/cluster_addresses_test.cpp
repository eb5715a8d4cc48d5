// SPDX-License-Identifier: Apache-2.0
// Addresses of shared memory in clusters, compared with tests/data/hardware/cluster_addresses.txt, which
// ask/cluster_addresses.cpp recorded on an H100.
#include "tests/hardware/cluster_questions.hpp"
#include "tests/hardware/emulated.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

namespace warplens::tests {
namespace cluster_addresses_test {

// Of an H100, static shared memory begins 1024 bytes into the block's: what is before is the system's.
constexpr std::uint32_t kOfSystem = 0x400, kWord = 0x80;

// Here Warplens is stricter, as the manual is: the mbarrier of a copy must be in the block that gets the data.
bool is_stricter(const std::string& question) {
  return question.starts_with("copy ") && question.substr(7, 4) != question.substr(question.find("%bar_") + 5, 4);
}

// Blocks that race: any of them may be the last one.
bool is_race(const std::string& question) { return question.starts_with("st.shared::cluster.u32 [%plain]"); }

struct Answer {
  std::string trap;
  std::vector<std::uint32_t> values; ///< by rank
};

Answer ask(const ClusterShape& shape, const std::string& question) {
  Emulated machine(cluster_kernel(shape, question), "cluster.ptx");
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(1024)),
                      in = machine.buffer(std::vector<std::uint32_t>(64, 0x300));
  Emulated::Request request;
  request.kernel = "k";
  const unsigned extent[] = {shape.x, shape.y, shape.z};
  std::copy_n(extent, 3, request.shape.grid);
  std::copy_n(extent, 3, request.shape.cluster);
  request.shape.block[0] = 32;
  request.arguments = {{out, 8}, {in, 8}};
  Answer answer;
  answer.trap = machine.run(request);
  const auto* const words = reinterpret_cast<const std::uint32_t*>(out);
  answer.values.assign(words, words + shape.x * shape.y * shape.z);
  return answer;
}

// "= 480 1000480", of an H100, as it is here.
std::string as_recorded(const std::vector<std::uint32_t>& values) {
  std::string text = "=";
  for (const std::uint32_t v : values) text += fmt::format(" {:x}", (v & 0xffffff) == kWord ? v + kOfSystem : v);
  return text;
}

TEST(ClusterAddresses, AsOnHardware) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/cluster_addresses.txt");
  std::size_t lines = 0, errors = 0, stricter = 0;
  for (const ClusterShape& shape : cluster_shapes())
    for (const std::string& question : cluster_questions()) {
      std::string line;
      ASSERT_TRUE(std::getline(file, line));
      ++lines;
      const std::string asked = shape.name + ": " + question + " ";
      ASSERT_TRUE(line.starts_with(asked)) << line;
      SCOPED_TRACE(line);
      const std::string recorded = line.substr(asked.size());
      const Answer answer = ask(shape, question);
      if (recorded.starts_with("error") || (is_stricter(question) && shape.name != "none")) {
        EXPECT_NE(answer.trap, "");
        ++(recorded.starts_with("error") ? errors : stricter);
      } else {
        EXPECT_EQ(answer.trap, "");
        const std::size_t from = is_race(question) ? 4 : 0; // the word of the first block
        EXPECT_EQ(as_recorded(answer.values).substr(from), recorded.substr(from));
      }
    }
  EXPECT_EQ(lines, 330u);
  EXPECT_EQ(errors, 93u);
  EXPECT_EQ(stricter, 12u);
}

} // namespace cluster_addresses_test
} // namespace warplens::tests
