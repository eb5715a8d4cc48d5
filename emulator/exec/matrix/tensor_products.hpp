// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma (9.7.16.10): what tensor_products.cpp and tensor_scaled.cpp of a level share.
#pragma once

#include "emulator/exec/matrix/tensor_tiles.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

const Op* multiply_tensors(const Op*, Warp*);

/// A multiplication that a lane issues.
struct Issuer {
  const Op* op;
  Warp* warp;
  int lane;
};
/// B. False: the kernel has stopped.
bool read_tensor_b(const Issuer& by, const TensorIssue& t, float* tile);
/// 16 rows of A of a block from `first` on, as the lanes of a part of the columns of D have them. Not sparse: `present`
/// is left as it is.
bool read_tensor_a(const Issuer& by, const TensorIssue& t, int block, int part, int first, float* tile,
                   Word32* present);

/// With .block_scale.
bool multiply_scaled_tensors(const Issuer& by, const TensorIssue& t);

/// 16 rows of a part of D.
class TensorRows {
public:
  TensorRows(const TensorIssue& t, int block, int part, int first) {
    TensorMemory& memory = *t.blocks[block]->tensor_memory;
    for (int i = 0; i < kRowsOfWarp; ++i) {
      const std::uint32_t lane = t.d.lane + t.layout.lane(part, first + i);
      words_[i] = memory.lane(lane) + t.d.column;
      written_[i] = t.writes(block, lane);
    }
  }
  [[nodiscard]] Word32 word(int i, int column) const { return words_[i][column]; }
  void set(int i, int column, Word32 word) const {
    if (written_[i]) words_[i][column] = word;
  }

private:
  Word32* words_[kRowsOfWarp];
  bool written_[kRowsOfWarp];
};

} // namespace warplens::exec::WARPLENS_LEVEL
