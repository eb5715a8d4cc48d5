// SPDX-License-Identifier: Apache-2.0
// What the compiler must know of a program's ops: the rows that they read and write, where they continue, and which
// rows are live.
#pragma once

#include "emulator/exec/compile/compiler.hpp"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/SmallVector.h>

#include <optional>
#include <unordered_map>

namespace warplens::exec::compile {

/// A row that an op reads or writes; 0 bytes a lane: a predicate.
struct RowUse {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

struct OpFacts {
  OpMeaning meaning;
  llvm::SmallVector<RowUse, 6> uses, defs;
  bool guarded = false; ///< only some lanes may act
  bool leaves = false;  ///< always continues in the interpreter
  bool reads_all = false;
  bool by_handler = false;   ///< a `lane` op whose functor is not taken apart for all lanes, …
  bool has_scalar = false;   ///< … and that is for one
  std::uint32_t sources = 0; ///< of a `lane` op: the first of `uses`
};

struct RowInfo {
  std::uint32_t offset = 0, bytes = 0;
  std::int64_t constant = -1; ///< index into Program::constants
};

/// Whether compiled code reaches this space itself; local memory only by lanes, of which each has its own.
inline bool is_quick(isa::Space space) {
  return space == isa::Space::global || space == isa::Space::shared || space == isa::Space::constant;
}

inline bool shuffles(WarpOperation o) { return o >= WarpOperation::shuffle_up && o <= WarpOperation::shuffle_index; }
inline bool votes(WarpOperation o) { return o >= WarpOperation::vote_all && o <= WarpOperation::ballot; }

/// The ops of a program.
class Region {
public:
  /// `facts`: by op.
  Region(const Program& program, std::vector<OpFacts> facts);

  /// Then nothing else of it may be asked.
  [[nodiscard]] bool is_too_large() const;
  [[nodiscard]] const OpFacts& facts(std::uint32_t op) const { return facts_[op]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(facts_.size()); }
  [[nodiscard]] const std::vector<RowInfo>& rows() const { return rows_; }
  [[nodiscard]] const llvm::BitVector& live_before(std::uint32_t op) const { return live_[op]; }
  [[nodiscard]] std::uint32_t row(std::uint32_t offset) const { return row_of_.at(offset); }
  [[nodiscard]] std::optional<std::uint32_t> find_row(std::uint32_t offset) const;
  [[nodiscard]] bool goes(std::uint32_t op) const; ///< to its target, always or perhaps
  [[nodiscard]] std::uint32_t target(std::uint32_t op) const;
  /// Where the lanes of a branch meet again, if each side can run its few ops under a mask, while the lanes of the
  /// other one wait; or 0. Nothing else leads into these ops.
  [[nodiscard]] std::uint32_t masked_until(std::uint32_t branch) const { return masked_until_[branch]; }
  /// Of a branch that can run under masks: whether the lanes that jump have a side, too. It ends at …
  [[nodiscard]] bool has_two_sides(std::uint32_t branch) const { return target(branch) != masked_until(branch); }
  /// … this op, where that of the others, which begins behind the branch, goes on. It may be the meeting place.
  [[nodiscard]] std::uint32_t goes_on_at(std::uint32_t branch) const;
  /// The jump that ends the code before a side or its rest, without the counter of the block, which jumps go past.
  [[nodiscard]] std::uint32_t jump_before(std::uint32_t op) const;
  /// The ops that may follow in compiled code.
  [[nodiscard]] llvm::SmallVector<std::uint32_t, 2> successors(std::uint32_t op) const;

private:
  void list_rows();
  void find_live();
  void find_masked();
  struct Piece {
    std::uint32_t begin = 0, end = 0; ///< ops
  };
  [[nodiscard]] llvm::SmallVector<Piece, 3> pieces_of_sides(std::uint32_t branch, std::uint32_t meeting) const;
  [[nodiscard]] bool can_mask(std::uint32_t branch, const std::vector<std::uint32_t>& going) const;

  const Program& program_;
  std::vector<OpFacts> facts_;
  std::vector<RowInfo> rows_;
  std::unordered_map<std::uint32_t, std::uint32_t> row_of_;
  std::vector<llvm::BitVector> live_;
  std::vector<std::uint32_t> masked_until_; ///< by op
};

} // namespace warplens::exec::compile
