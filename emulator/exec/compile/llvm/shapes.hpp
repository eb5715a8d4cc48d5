// SPDX-License-Identifier: Apache-2.0
// Which rows hold the same value in all active lanes, or an arithmetic sequence: such a row is one or two numbers.
//
// Compiled code checks what is said of a row where a warp enters it, and its active lanes do not change until it
// leaves; therefore the analysis follows paths as if a warp had one. Where paths of a diverged warp meet, rows that
// were written on one of them are taken for varying, so that the checks do not fail each time.
#pragma once

#include "emulator/exec/compile/llvm/region.hpp"

#include <array>

namespace warplens::exec::compile {

struct Shape {
  enum class Kind : std::uint8_t { unset, sequence, varying };
  Kind kind = Kind::unset;
  bool whole = false;      ///< one sequence over the 32 lanes; otherwise one in each half of the warp
  std::int64_t stride = 0; ///< from lane to lane, the same in both halves

  static Shape varying() { return {Kind::varying}; }
  static Shape sequence(bool whole, std::int64_t stride) { return {Kind::sequence, whole, stride}; }
  static Shape uniform() { return sequence(true, 0); }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_uniform() const { return is_sequence() && whole && stride == 0; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// What holds on both of two ways.
Shape meet(Shape a, Shape b);

/// The shapes of all rows at an op, by row of the region.
using RowShapes = std::vector<Shape>;

/// What an op computes.
struct Computed {
  enum class How : std::uint8_t {
    lanes,  ///< all lanes
    scalars ///< the first lane of a sequence, or of both halves
  };
  How how = How::lanes;
  Shape shape; ///< of what it computes
  Shape kept;  ///< of the row afterwards, which has older values where the op's guard is false
  /// Holds unless the sequence leaves the range of the narrower source, which must be checked: this source, or -1.
  int widened = -1;
};

class Shapes {
public:
  /// `entries`: ops of which at() will be asked, too.
  Shapes(const Program& program, const Region& region, std::array<std::uint32_t, 3> block,
         const std::vector<std::uint32_t>& entries = {});

  /// Before an op where ways meet or begin.
  [[nodiscard]] const RowShapes& at(std::uint32_t leader) const { return at_[index_[leader]]; }
  [[nodiscard]] bool leads(std::uint32_t op) const { return leaders_.test(op); }
  [[nodiscard]] Computed computed(std::uint32_t op, const RowShapes& rows) const;
  /// From before an op to after it.
  void step(std::uint32_t op, RowShapes& rows) const;
  /// Rows that no op writes and that hold the same value in all lanes, active or not.
  [[nodiscard]] bool is_fixed(std::uint32_t row) const { return fixed_.test(row); }
  /// Whether a row surely has its shape at a leader, for any lanes: no op writes it, and its shape follows from
  /// layout(); or all lanes that come there have run the only op that does, which gives any lanes that shape.
  [[nodiscard]] bool is_given(std::uint32_t row, std::uint32_t leader) const {
    return given_.test(row) || (computed_once_.at(index_[leader]).test(row) && at(leader)[row] == once_[row]);
  }
  /// Whether the lanes of a warp may go both ways at the branch.
  [[nodiscard]] bool splits(std::uint32_t branch) const { return splits_.test(branch); }
  /// What the blocks of a launch must have.
  [[nodiscard]] std::uint8_t layout() const { return layout_; }

private:
  Shape of(const RowShapes& rows, std::uint32_t offset) const { return rows[region_.row(offset)]; }
  Computed computed_lane(std::uint32_t op, const RowShapes& rows) const;
  Computed computed_load(std::uint32_t op, const RowShapes& rows) const;
  [[nodiscard]] std::optional<std::uint64_t> constant(std::uint32_t offset) const;
  [[nodiscard]] llvm::SmallVector<std::uint32_t, 2> continues_at(std::uint32_t op) const;
  void find_leaders(const std::vector<std::uint32_t>& entries);
  void begin(std::array<std::uint32_t, 3> block);
  void follow();
  void follow_from(std::uint32_t start);
  bool flow_into(std::uint32_t leader, const RowShapes& rows);
  bool split_at(std::uint32_t branch);
  void find_given();
  [[nodiscard]] bool follows(std::uint32_t op, const RowShapes& rows) const;
  void find_computed_once(const std::vector<std::int64_t>& writer);

  const Program& program_;
  const Region& region_;
  llvm::BitVector leaders_, fixed_, given_, reached_;
  std::uint8_t layout_ = 0;          ///< a BlockLayout
  std::vector<std::uint32_t> index_; ///< by op: of a leader, into at_
  std::vector<RowShapes> at_;
  std::map<std::uint32_t, llvm::BitVector> split_; ///< rows that vary where the paths of a branch meet, by that op
  RowShapes once_; ///< of rows with one op that writes them: what it computes of such rows and given ones, or varying
  std::vector<llvm::BitVector> computed_once_; ///< by leader: those of them that all lanes have
  llvm::BitVector splits_;                     ///< branches that were found to split warps
};

} // namespace warplens::exec::compile
