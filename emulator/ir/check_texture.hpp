// SPDX-License-Identifier: Apache-2.0
// Checks the operands of texture and surface instructions (manual, 9.7.10 and 9.7.11; the assembler decides what the
// manual leaves open).
//
//   tex.2d.v4.f32.f32 {…}, [t, {%f1}];   ->   "'tex.2d.v4.f32.f32' expects 2 coordinates, got 1"
#pragma once

#include "emulator/ir/module.hpp"

#include <string>
#include <vector>

namespace warplens::ir {

struct TextureComplaint {
  const Operand* operand = nullptr;
  std::string message, hint;
};

/// Empty for other instructions. The destination and the data of a store are checked elsewhere, like other operands.
std::vector<TextureComplaint> texture_complaints(const Module& module, const Function& function,
                                                 const Instruction& instruction, const isa::Spelling& spelling);

/// The operands of a texture or surface instruction by purpose; null if absent.
struct TextureOperands {
  const Operand* reference = nullptr; ///< the texture, or the surface
  const Operand* sampler = nullptr;
  const Operand* coordinates = nullptr; ///< a vector, or a single one
  const Operand* level = nullptr;
  const Operand* gradient[2]{}; ///< vectors
  const Operand* offset = nullptr;
  const Operand* compare = nullptr;
  const Operand* unknown = nullptr; ///< an unexpected operand
};
TextureOperands texture_operands(const Function& function, const Instruction& instruction,
                                 const isa::Spelling& spelling);

/// The required operand type of txq and suq: in unified mode, sampler attributes belong to the texture.
Type queried_type(const Module& module, const isa::Spelling& spelling);

/// The number of coordinates of a spelling, including an array index and a sample: those it uses and those written.
struct CoordinateCount {
  std::uint32_t used = 0, written = 0;
};
CoordinateCount coordinate_count(const isa::Spelling& spelling);

} // namespace warplens::ir
