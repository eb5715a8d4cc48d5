// SPDX-License-Identifier: Apache-2.0
// Copies by tensor map, compared with tests/data/hardware/tensor_copies.jsonl, which ask/tensor_copies.cpp recorded on
// an H200.
#include "api/session/tensor_map.hpp"
#include "tests/hardware/emulated.hpp"
#include "tests/hardware/matrix_inputs.hpp"
#include "tests/hardware/tensor_reference.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace warplens::tests {
namespace tensor_copies_test {

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

// ---- what Warplens answers

Expected<exec::TensorMap> map_of(const TensorQuestion& q, std::uint64_t memory) {
  api::TensorMapRequest r;
  r.kind = q.im2col ? api::TensorMapRequest::Kind::im2col : api::TensorMapRequest::Kind::tiled;
  r.type = static_cast<int>(q.tensor.type);
  r.rank = static_cast<int>(q.tensor.sizes.size());
  r.address = memory + q.tensor.address;
  std::copy(q.tensor.sizes.begin(), q.tensor.sizes.end(), r.sizes.begin());
  std::copy(q.tensor.strides.begin(), q.tensor.strides.end(), r.strides.begin());
  std::copy_n(q.tensor.steps.begin(), r.rank, r.steps.begin());
  std::copy(q.box.begin(), q.box.end(), r.box.begin());
  std::copy(q.lower.begin(), q.lower.end(), r.lower.begin());
  std::copy(q.upper.begin(), q.upper.end(), r.upper.begin());
  r.channels = q.channels;
  r.pixels = q.pixels;
  r.interleave = static_cast<int>(q.tensor.interleave);
  r.swizzle = static_cast<int>(q.tensor.swizzle);
  r.fill = static_cast<int>(q.tensor.fill);
  return api::make_tensor_map(r);
}

constexpr std::size_t kOut = 16640; // bytes of a block

void compare(const TensorQuestion& q, const json& line) {
  Emulated machine(tensor_kernel(q), "tensor.ptx");
  const std::uint64_t memory = machine.buffer(tensor_memory(q)), source = machine.buffer(shared_memory(q)),
                      out = machine.buffer(std::vector<std::uint32_t>(kOut / 4 * static_cast<std::size_t>(q.blocks)));
  const auto map = map_of(q, memory);
  if (q.tensor.strides.empty() && line.contains("encode")) return; // the driver wants a pointer, also of no strides
  ASSERT_EQ(map.has_value(), !line.contains("encode"));
  if (!map) return;
  const exec::TensorMap::Words words = map->encoded();
  Emulated::Request request;
  request.kernel = "k";
  request.shape.grid[0] = request.shape.cluster[0] = static_cast<std::uint32_t>(q.blocks);
  request.shape.block[0] = 128;
  request.shape.shared_dynamic = 65536;
  request.arguments = {{0, sizeof words, words.data()}, {memory, 8}, {source, 8}, {out, 8}};
  const std::string trap = machine.run(request);
  const int error = trap.empty() ? 0 : trap.starts_with("misaligned") ? 716 : 715;
  ASSERT_EQ(error, line.value("error", 0)) << trap;
  if (error != 0) return;
  const std::vector<std::uint32_t> before = shared_memory(q);
  for (std::size_t block = 0; block < static_cast<std::size_t>(q.blocks); ++block) {
    const auto* const image = reinterpret_cast<const std::uint32_t*>(out + block * kOut);
    const std::vector<std::uint32_t> shared(image, image + kImage / 4);
    EXPECT_EQ(line["shared"][block].get<std::string>(), shared == before ? "" : hash(shared));
    EXPECT_EQ(line["complete"][block].get<int>(), static_cast<int>(image[kImage / 4]) - 1);
  }
  const auto* const p = reinterpret_cast<const std::uint32_t*>(memory);
  const std::vector<std::uint32_t> after(p, p + kTensorMemory / 4);
  EXPECT_EQ(line.value("global", ""), after == tensor_memory(q) ? "" : hash(after));
}

class TensorCopiesHere : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t kShards = 4;

TEST_P(TensorCopiesHere, AsOnHardware) {
  const std::vector<TensorQuestion> questions = tensor_questions();
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/hardware/tensor_copies.jsonl");
  std::size_t i = 0;
  for (std::string line; std::getline(file, line); ++i) {
    if (i % kShards != GetParam()) continue;
    SCOPED_TRACE(line);
    compare(questions[i], json::parse(line));
  }
}

INSTANTIATE_TEST_SUITE_P(H200, TensorCopiesHere, testing::Range(std::size_t{0}, kShards));

} // namespace tensor_copies_test
} // namespace warplens::tests
