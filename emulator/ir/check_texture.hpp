// What texture and surface instructions want of their operands (manual, 9.7.10 and 9.7.11; what it leaves open, as the
// assembler has it).
//
//   tex.2d.v4.f32.f32 {…}, [t, {%f1}];   ->   "'tex.2d.v4.f32.f32' wants 2 coordinates, got 1"
#pragma once

#include "emulator/ir/module.hpp"

#include <string>
#include <vector>

namespace warplens::ir {

struct TextureComplaint {
  const Operand* operand = nullptr;
  std::string message, hint;
};

/// Empty for other instructions. The destination, and the data of a store, are checked like any other operand.
std::vector<TextureComplaint> texture_complaints(const Module& module, const Function& function,
                                                 const Instruction& instruction, const isa::Spelling& spelling);

/// The operands of a texture or surface instruction by what they are for; null where one is absent.
struct TextureOperands {
  const Operand* reference = nullptr; ///< the texture, or the surface
  const Operand* sampler = nullptr;
  const Operand* coordinates = nullptr; ///< a vector, or a single one
  const Operand* level = nullptr;
  const Operand* gradient[2]{}; ///< vectors
  const Operand* offset = nullptr;
  const Operand* compare = nullptr;
  const Operand* unknown = nullptr; ///< an operand too many
};
TextureOperands texture_operands(const Function& function, const Instruction& instruction,
                                 const isa::Spelling& spelling);

/// What the operand of txq and suq must be: attributes of a sampler are those of the texture in unified mode.
Type queried_type(const Module& module, const isa::Spelling& spelling);

/// How many coordinates a spelling takes, an array index and a sample among them, and how many of them it looks at.
struct CoordinateCount {
  std::uint32_t used = 0, written = 0;
};
CoordinateCount coordinate_count(const isa::Spelling& spelling);

} // namespace warplens::ir
