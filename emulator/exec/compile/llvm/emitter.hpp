// SPDX-License-Identifier: Apache-2.0
// Makes LLVM's form of a program's compiled code.
//
// A function has the code of all ops of a part. Its rows are in a local variable with the layout of a warp;
// the optimiser takes it apart. Where a warp leaves, the rows that were written and are still live go back to memory.
// Lanes that are not active compute values that nobody uses: only rows in memory keep those of other paths.
#pragma once

#include "emulator/exec/compile/llvm/bitcode.hpp"
#include "emulator/exec/compile/llvm/part.hpp"

#include <llvm/IR/IRBuilder.h>

#include <map>

namespace warplens::exec::compile {

class Emitter {
public:
  Emitter(const Program& program, const Region& region, const Part& part, Bitcode& bitcode, llvm::Module& module,
          unsigned vector_bytes);
  /// Makes the part's function, and head_N, which enters it, for each head's op N.
  llvm::Function* run();

private:
  llvm::Value* slot(std::uint32_t offset);
  llvm::Value* home(std::uint32_t offset);
  llvm::Value* real(std::uint32_t op);
  llvm::Type* chunk_type(std::uint32_t bytes);
  std::uint32_t chunks(std::uint32_t bytes) const;
  llvm::Value* chunk_of(llvm::Value* row, std::uint32_t bytes, std::uint32_t chunk);
  llvm::Value* load_chunk(llvm::Value* row, std::uint32_t bytes, std::uint32_t chunk);
  void store_chunk(llvm::Value* value, llvm::Value* row, std::uint32_t bytes, std::uint32_t chunk);
  llvm::Value* lanes_of(llvm::Value* mask, std::uint32_t bytes, std::uint32_t chunk);
  llvm::Value* active_lanes_of(std::uint32_t bytes, std::uint32_t chunk);
  void take_home(std::uint32_t offset, std::uint32_t bytes);
  void fetch(std::uint32_t offset, std::uint32_t bytes);
  llvm::Value* guard(std::uint32_t op);
  llvm::Constant* constant_op(std::uint32_t op);
  llvm::Value* call_original(llvm::Value* op, llvm::Value* at);
  llvm::Value* call(const char* name, llvm::ArrayRef<llvm::Value*> arguments);

  void enter();
  void emit(std::uint32_t op);
  void lane(std::uint32_t op);
  void memory(std::uint32_t op, bool loads);
  void parameter(std::uint32_t op);
  void predicate(std::uint32_t op);
  void copy(std::uint32_t op);
  void move_element(std::uint32_t op);
  void by_handler(std::uint32_t op);
  void jump(std::uint32_t op);
  void branch(std::uint32_t op);
  void rejoin(std::uint32_t op);
  /// Leaves for the interpreter, before `op`.
  llvm::BasicBlock* leave(std::uint32_t op);
  void save_live(std::uint32_t op, const llvm::BitVector& dirty);
  llvm::Value* left_after(std::uint32_t op);
  void take(std::uint32_t op);
  void guarded_write(std::uint32_t op, llvm::function_ref<void()> write);

  const Program& program_;
  const Region& region_;
  const Part& part_;
  Bitcode& bitcode_;
  llvm::Module& module_;
  unsigned vector_bytes_;
  llvm::IRBuilder<> b_;
  llvm::Function* body_ = nullptr;
  llvm::Value *base_ = nullptr, *warp_ = nullptr, *entry_ = nullptr, *file_ = nullptr, *active_ = nullptr,
              *originals_ = nullptr;
  std::map<std::pair<std::uint32_t, std::uint32_t>, llvm::Value*> active_lanes_; ///< by number of chunks and chunk
  std::vector<llvm::BasicBlock*> blocks_;                                        ///< by op, of leaders
  std::map<std::uint32_t, llvm::BasicBlock*> leaving_;
};

} // namespace warplens::exec::compile
