// SPDX-License-Identifier: Apache-2.0
// Selects the handler of an instruction across the lanes of a warp. Each level compiles its own.
//
// Rows of an op: dst[0] the value, dst[1] the predicate; src[0] the value or predicate of each lane, src[1] and
// src[2] operands b and c of shfl, src[3] the membermask of a .sync form.
#pragma once

#include "emulator/exec/state/warp.hpp"

namespace warplens::exec {

enum class WarpOperation : std::uint8_t {
  shuffle_up,
  shuffle_down,
  shuffle_butterfly,
  shuffle_index,
  vote_all, ///< votes: `imm` flips the source predicate
  vote_any,
  vote_uniform,
  ballot,
  match_any_32,
  match_any_64,
  match_all_32,
  match_all_64,
  add,
  min_unsigned,
  max_unsigned,
  min_signed,
  max_signed,
  bit_and,
  bit_or,
  bit_xor,
  min_float, ///< `extra`: kAbsolute, kPropagateNan
  max_float,
  elect,
  active_mask,
  special_division_32, ///< these tell watchers of operands: special_operands.hpp
  special_division_64,
  special_root_32,
  special_root_64,
  special_reciprocal_32,
  special_reciprocal_64,
};

constexpr std::uint32_t kAbsolute = 1, kPropagateNan = 2;

struct WarpHandlerKey {
  WarpOperation operation{};
  bool sync = false;      ///< has a membermask
  bool predicate = false; ///< shfl: d|p
};

} // namespace warplens::exec
