// SPDX-License-Identifier: Apache-2.0
// The functions of the bitcode read and write rows in memory. These take and return the rows as vectors: they are made
// and optimised once, and inlined where an op is compiled.
#pragma once

#include "emulator/exec/compile/llvm/bitcode.hpp"
#include "emulator/exec/compile/llvm/passes.hpp"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/DerivedTypes.h>

namespace warplens::exec::compile {

/// How a row is divided into vectors of the processor.
class Chunks {
public:
  explicit Chunks(unsigned vector_bytes) : vector_bytes_(vector_bytes) {}
  /// `bytes` of a lane; 0: a predicate, which is one word.
  [[nodiscard]] std::uint32_t of(std::uint32_t bytes) const;
  [[nodiscard]] std::uint32_t lanes(std::uint32_t bytes) const;
  llvm::Type* type(llvm::LLVMContext& context, std::uint32_t bytes) const;
  [[nodiscard]] unsigned vector_bytes() const { return vector_bytes_; }

private:
  unsigned vector_bytes_;
};

/// Which bitcode, and for which processor.
struct Target {
  Bitcode& bitcode;
  llvm::TargetMachine& machine;
  std::string_view level;
  Chunks chunks;
};

/// The rows of a function: bytes of a lane of each, 0: a predicate.
struct RowsOfFunction {
  llvm::SmallVector<std::uint32_t, 6> sources, destinations;
};

/// Of all lanes: {destinations' chunks …} (sources' chunks …). Returns its name.
std::string all_by_value(Target& target, const std::string& function, const RowsOfFunction& rows);
/// Of one lane: {destinations …} (sources …).
std::string first_by_value(Target& target, const std::string& function, const RowsOfFunction& rows);
/// Of a memory function: {whether it was possible, destinations' chunks …} (sources' chunks …, offset of the address,
/// the warp, the op, its AccessFacts).
std::string access_by_value(Target& target, const std::string& function, const RowsOfFunction& rows, bool loads);

} // namespace warplens::exec::compile
