// SPDX-License-Identifier: Apache-2.0
// Selects the handler of a matrix instruction; each level compiles its own.
//
// Rows of an op: src[0] the address, src[3] the membermask of a whole warp. Fragments are in the sites: MemorySite::to
// and from (ldmatrix, stmatrix), FragmentTransfer by `extra` (wmma.load, wmma.store), Op::matrix (mma, wmma.mma).
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

enum class MatrixHandler : std::uint8_t {
  load,  ///< ldmatrix: `extra` is how many registers, each with eight rows of 16 bytes
  store, ///< stmatrix
  load_transposed,
  store_transposed,
  load_bytes_transposed, ///< 16 x 16 bytes
  load_six,              ///< 6 bits become bytes: of eight rows, of 16 rows transposed
  load_six_transposed,
  load_four,
  load_four_transposed,
  store_bytes_transposed, ///< 16 x 8 bytes
  transpose,              ///< movmatrix: dst[0], src[0]
  load_fragment,
  store_fragment,
  multiply_floats, ///< f16, bf16, tf32 and smaller formats
  multiply_chained,
  multiply_doubles, ///< by rounding
  multiply_doubles_zero,
  multiply_doubles_down,
  multiply_doubles_up,
  multiply_integers,
  multiply_bits,
  group_floats, ///< wgmma.mma_async
  group_integers,
  group_bits,
  tensor_multiply ///< tcgen05.mma
};

} // namespace warplens::exec
