// SPDX-License-Identifier: Apache-2.0
// Where compiled code has the rows of a warp: in variables, as vectors or as the first values of a sequence. LLVM turns
// the variables into registers. Their homes are in memory, where the interpreter has them.
//
// Lanes that are not active compute values that nobody uses: only rows in memory keep those of other paths.
#pragma once

#include "emulator/exec/compile/llvm/by_value.hpp"
#include "emulator/exec/compile/llvm/part.hpp"
#include "emulator/exec/compile/llvm/shapes.hpp"

#include <llvm/IR/IRBuilder.h>

#include <map>

namespace warplens::exec::compile {

class RowValues {
public:
  /// Variables are made in the block `entry`.
  RowValues(const Program& program, const Region& region, Chunks chunks, llvm::IRBuilder<>& builder, llvm::Value* warp,
            llvm::BasicBlock* entry);

  RowShapes shapes; ///< where code is being made

  [[nodiscard]] Shape shape(std::uint32_t offset) const { return shapes[region_.row(offset)]; }
  [[nodiscard]] const Chunks& chunks() const { return chunks_; }

  /// All lanes of a chunk, as a vector; of a predicate, its mask.
  llvm::Value* chunk(std::uint32_t offset, std::uint32_t chunk);
  void set_chunk(std::uint32_t offset, std::uint32_t chunk, llvm::Value* value);
  /// The first value of the half of a sequence; of a uniform predicate, its truth.
  llvm::Value* first(std::uint32_t offset, unsigned half);
  void set_first(std::uint32_t offset, unsigned half, llvm::Value* value);
  /// The chunk of a sequence that begins with these values.
  llvm::Value* spread(Shape shape, std::uint32_t bytes, std::uint32_t chunk, llvm::Value* first, llvm::Value* second);
  /// Code that follows expects the row in another shape, of which the present one is a special case.
  void convert(std::uint32_t row, Shape wanted);

  /// The lanes of a mask that a chunk has, as truth values.
  llvm::Value* lanes_of(llvm::Value* mask, std::uint32_t bytes, std::uint32_t chunk);
  /// The active lanes of a row go to memory, …
  void take_home(std::uint32_t row);
  /// … and come from there, in the row's shape.
  void fetch(std::uint32_t row);
  /// Likewise, of a row at any place: its chunks, or the first values of a sequence.
  void take_home(llvm::Value* place, std::uint32_t bytes, llvm::ArrayRef<llvm::Value*> values);
  void fetch(llvm::Value* place, std::uint32_t bytes, Shape shape, llvm::SmallVectorImpl<llvm::Value*>& values);
  /// From here on, these lanes are active.
  void enter(llvm::Value* active);
  /// The active lanes, and what is known of them.
  struct Lanes {
    llvm::Value* active = nullptr;
    llvm::Value* first[3]{};                                                  ///< of each half, of the warp
    std::map<std::pair<std::uint32_t, std::uint32_t>, llvm::Value*> of_chunk; ///< by number of chunks and chunk
  };
  [[nodiscard]] const Lanes& lanes() const { return lanes_; }
  void set_lanes(const Lanes& lanes) { lanes_ = lanes; }
  /// Whether an active lane of the row at home is not of the sequence that was fetched: a mask of such lanes.
  llvm::Value* differing(std::uint32_t row);
  llvm::Value* home(std::uint32_t offset);
  [[nodiscard]] llvm::Value* active() const { return lanes_.active; }

private:
  [[nodiscard]] const RowInfo& info(std::uint32_t row) const { return region_.rows()[row]; }
  [[nodiscard]] const ConstantRow* constant(std::uint32_t row) const;
  llvm::Value* chunk_at(llvm::Value* place, std::uint32_t bytes, std::uint32_t chunk);
  llvm::Value* home_chunk(std::uint32_t offset, std::uint32_t bytes, std::uint32_t chunk);
  llvm::AllocaInst* variable(std::uint32_t row, std::uint32_t part, llvm::Type* type);
  llvm::Type* lane_type(std::uint32_t bytes);
  llvm::Value* active_lanes(std::uint32_t bytes, std::uint32_t chunk);

  const Program& program_;
  const Region& region_;
  Chunks chunks_;
  llvm::IRBuilder<>& b_;
  llvm::Value* warp_;
  Lanes lanes_;
  llvm::BasicBlock* entry_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, llvm::AllocaInst*> variables_; ///< by row; chunks, then halves
};

} // namespace warplens::exec::compile
