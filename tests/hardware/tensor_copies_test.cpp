// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map, compared with tests/data/hardware/tensor_copies.jsonl, which ask/tensor_copies.cpp recorded on
// an H200.
#include "tests/hardware/matrix_inputs.hpp"
#include "tests/hardware/tensor_reference.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace warplens::tests {
namespace {

using nlohmann::json;

std::string hash(const std::vector<std::uint32_t>& words) {
  WordHash h;
  for (const std::uint32_t word : words) h.take(word);
  return h.text();
}

// Of each block: whether its barrier was told of all bytes, and its shared memory, "" if it has not changed.
void expect_blocks(const TensorQuestion& q, const TensorAnswer& answer, const json& line) {
  const std::string changed = answer.shared == shared_memory(q) ? "" : hash(answer.shared);
  for (int block = 0; block < q.blocks; ++block) {
    const bool meant = q.mask == 0 ? block == 0 : (q.mask >> block & 1) != 0;
    const auto at = static_cast<std::size_t>(block);
    EXPECT_EQ(line["shared"][at].get<std::string>(), meant ? changed : "");
    EXPECT_EQ(line["complete"][at].get<int>(), meant && answer.bytes == tensor_bytes(q) ? 1 : 0);
  }
}

void expect_answer(const TensorQuestion& q, const TensorAnswer& answer, const json& line) {
  ASSERT_EQ(line.value("error", 0), answer.error);
  if (answer.error != 0) return;
  expect_blocks(q, answer, line);
  EXPECT_EQ(line.value("global", ""), answer.memory == tensor_memory(q) ? "" : hash(answer.memory));
}

TEST(TensorCopies, AsOnHardware) {
  const std::vector<TensorQuestion> questions = tensor_questions();
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/tensor_copies.jsonl");
  std::size_t i = 0, refused = 0, unknown = 0;
  for (std::string line; std::getline(file, line); ++i) {
    ASSERT_LT(i, questions.size());
    const TensorQuestion& q = questions[i];
    ASSERT_TRUE(line.starts_with("{" + q.text() + ", ")) << i << ": " << line;
    const json recorded = json::parse(line);
    SCOPED_TRACE(line);
    if (recorded.contains("encode")) {
      ++refused;
    } else if (const auto answer = tensor_reference(q)) {
      expect_answer(q, *answer, recorded);
    } else {
      ++unknown;
    }
  }
  EXPECT_EQ(i, questions.size());
  EXPECT_EQ(refused, 272u); // by the driver: tensor_maps_test.cpp
  EXPECT_EQ(unknown, 6u);   // reductions of f16 and bf16
}

} // namespace
} // namespace warplens::tests
