// SPDX-License-Identifier: Apache-2.0
// What the compiler must know of a program's ops: the rows that they read and write, where they continue, which rows
// are live, and where warps enter compiled code.
#pragma once

#include "emulator/exec/compile/compiler.hpp"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/SmallVector.h>

#include <map>

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
  bool by_handler = false; ///< a `lane` op whose functor is not taken apart
};

struct RowInfo {
  std::uint32_t offset = 0, bytes = 0;
  std::int64_t constant = -1; ///< index into Program::constants
};

/// An op's place in the program, and what is known there.
class Region {
public:
  /// `facts`: by op.
  Region(const Program& program, std::vector<OpFacts> facts);

  [[nodiscard]] const OpFacts& facts(std::uint32_t op) const { return facts_[op]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(facts_.size()); }
  [[nodiscard]] const std::vector<RowInfo>& rows() const { return rows_; }
  [[nodiscard]] const llvm::BitVector& live_before(std::uint32_t op) const { return live_[op]; }
  [[nodiscard]] const llvm::BitVector& dirty_before(std::uint32_t op) const { return dirty_[op]; }
  [[nodiscard]] const std::vector<std::uint32_t>& heads() const { return heads_; }
  [[nodiscard]] bool leads(std::uint32_t op) const { return leaders_.test(op); }
  [[nodiscard]] bool reachable(std::uint32_t op) const { return reachable_.test(op); }
  [[nodiscard]] std::uint32_t row(std::uint32_t offset) const { return row_of_.at(offset); }
  [[nodiscard]] std::uint32_t target(std::uint32_t op) const;
  /// The ops that may follow in compiled code.
  [[nodiscard]] llvm::SmallVector<std::uint32_t, 2> successors(std::uint32_t op) const;

private:
  [[nodiscard]] int work_from(std::uint32_t op, int limit) const;
  void list_rows();
  void find_leaders();
  void find_live();
  void find_heads();
  void find_dirty();

  const Program& program_;
  std::vector<OpFacts> facts_;
  std::vector<RowInfo> rows_;
  std::map<std::uint32_t, std::uint32_t> row_of_;
  std::vector<llvm::BitVector> live_, dirty_;
  std::vector<std::uint32_t> heads_;
  llvm::BitVector leaders_, reachable_;
};

} // namespace warplens::exec::compile
