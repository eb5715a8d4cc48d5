// SPDX-License-Identifier: Apache-2.0
// A multiplication with tensor memory: a kernel that loads shared and tensor memory, multiplies, and stores tensor
// memory; and the plain product that it is compared with. Elements are 0, 1, 2 and their negations, so that all sums
// are exact.
#pragma once

#include "tests/exec/kernel_test.hpp"

#include <array>
#include <random>

namespace warplens::tests {

struct ElementType {
  const char* name;
  int bits; ///< in memory: of 6 and 4 bits with .kind::f8f6f4, 16 are in 16 bytes
  std::uint32_t one, two, sign;
  std::uint32_t number; ///< in the descriptor
};
ElementType element_type(const std::string& name);

struct TensorForm {
  std::string words; ///< after tcgen05.mma
  std::string a = "f16", b = "f16", d = "f32";
  int m = 128, n = 64, k = 16;
  bool a_in_tensor_memory = false, a_transposed = false, b_transposed = false;
  std::uint64_t swizzling = 0; ///< mode
  bool continued = false;      ///< rows go on in another chunk of 128 bytes: with swizzling 2 and K = 96
  bool accumulate = true, negate_a = false, negate_b = false;
  std::string operands = {}; ///< after the predicate
  std::array<std::uint32_t, 8> masked_lanes{};
  bool masks_lanes = false;
  bool scales_with_fraction = false;
  std::uint32_t more_bits = 0; ///< of the instruction descriptor
  int d_base = 0;              ///< about which D is
  std::uint32_t d_lane = 0;    ///< where D, A and the metadata begin
  std::string before = {};     ///< statements: %r20 D, %r21 A, %r22 the descriptor, %rd10 and %rd11 those of A and B

  [[nodiscard]] bool has(const char* word) const { return words.find(word) != std::string::npos; }
  [[nodiscard]] bool pair() const { return has("cta_group::2"); }
  [[nodiscard]] bool sparse() const { return has(".sp"); }
  std::string target = k == 96 ? "sm_103a" : "sm_100a";

  [[nodiscard]] int scales() const {
    const int usual = !has("block_scale") ? 0 : has("mxf8f6f4") ? 1 : has("4X") || has("block16") ? 4 : 2;
    return k == 96 ? usual * 3 / 2 : usual;
  }
  [[nodiscard]] std::uint32_t descriptor() const;
};

class TensorProductTest {
public:
  explicit TensorProductTest(const TensorForm& form, unsigned seed = 1);
  /// Why the kernel stopped; empty: it has not.
  std::string run();
  /// Differences from the plain product, the first ones in words; empty: there are none.
  [[nodiscard]] std::string differences() const;
  void set_d_factor(double factor) { d_factor_ = factor; }
  /// Columns of B that are taken as 0, and by how many columns it is shifted.
  std::vector<int> zero_columns;
  int shift = 0;
  bool shifted_rows = false; ///< .ashift

private:
  static constexpr int kSharedWords = 6144, kLanes = 128, kColumns = 512;
  static constexpr int kB = 16384;                                                    ///< byte in shared memory
  static constexpr int kA = 256, kMetadata = 272, kScalesOfA = 280, kScalesOfB = 288; ///< columns
  struct Block {
    std::vector<std::uint32_t> shared = std::vector<std::uint32_t>(kSharedWords), tensor;
  };
  [[nodiscard]] std::string kernel() const;
  void fill();
  void put_a(int block, int row, const std::vector<int>& kept, const std::vector<std::uint32_t>& metadata);
  void put_shared(int block, int at, bool transposed, int rows, int k_stored, int row, int k, const ElementType& type,
                  int value);
  /// Of a row that is continued: where it begins in its chunk, and the other chunk of B is.
  static constexpr int kBegin = 96, kOtherB = kB + 4096;
  [[nodiscard]] std::uint64_t shared_descriptor(int at, bool transposed, int rows, int k_stored,
                                                const ElementType& type) const;
  [[nodiscard]] std::uint32_t& word(int block, std::uint32_t lane, int column) {
    return blocks_[static_cast<std::size_t>(block)].tensor[lane * kColumns + static_cast<std::size_t>(column)];
  }
  /// The lane of a row of D, and its column.
  [[nodiscard]] std::pair<std::uint32_t, int> place_of_d(int row, int n) const;
  [[nodiscard]] std::vector<std::uint32_t> lanes_of_row(int row) const;
  [[nodiscard]] int rows() const { return form_.m / (form_.pair() ? 2 : 1); }
  [[nodiscard]] int parts() const;

  TensorForm form_;
  std::mt19937 random_;
  std::vector<Block> blocks_;
  std::vector<std::vector<int>> a_, b_; ///< by row, by column
  std::vector<std::vector<double>> a_scales_, b_scales_, d_;
  double d_factor_ = 1;
  std::vector<std::uint32_t> out_;
};

/// Expects the plain product.
void expect_product(const TensorForm& form);

} // namespace warplens::tests
