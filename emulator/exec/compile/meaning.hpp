// SPDX-License-Identifier: Apache-2.0
// What a handler does, for the compiler: handlers are functions, and this is their inverse table.
//
//   Meanings(level).of(op)  ->  {kind: lane, entry: 17, variant: 2}
#pragma once

#include "emulator/exec/decode/levels.hpp"

#include <unordered_map>

namespace warplens::exec {

struct OpMeaning {
  enum class Kind : std::uint8_t {
    unknown, ///< runs as a handler
    lane,    ///< `variant` of line `entry` of the instruction table
    load,    ///< as `memory` says
    store,
    atomic, ///< on one element a lane: as `memory` says, of register_bytes
    parameter,
    predicate_and,
    predicate_or,
    predicate_xor,
    copy,
    pack,   ///< an element of `part_bytes` into a whole of `whole_bytes`, `imm` bits from its low end …
    unpack, ///< … or out of it
    nothing,
    special, ///< tells of operands: `special` names the function of the bitcode that finds them
    count_block,
    count_guarded,
    jump,
    branch,
    rejoin,
    exit,
    trap,
    barrier,
    warp_barrier,
    across, ///< the lanes of a warp, as `warp` says
  };
  Kind kind = Kind::unknown;
  std::uint32_t entry = 0;
  std::uint32_t variant = 0;
  MemoryHandlerKey memory{};
  bool doubles = false; ///< operates on f64
  std::uint32_t whole_bytes = 0, part_bytes = 0;
  /// How a `lane` op makes arithmetic sequences out of sequences, if it does. The result may be wider than the sources.
  enum class Linear : std::uint8_t { none, same, sum, difference, product, product_sum, shift };
  Linear linear = Linear::none;
  const char* special = nullptr;
  const char* atomic = nullptr; ///< the function that does it in all lanes at once (support.hpp), if there is one
  bool sign_extends = false;    ///< where the result is wider
  WarpHandlerKey warp{};        ///< of `across`
  std::uint8_t latency = 1;     ///< of a `lane` op whose functor is one instruction of the processor: cycles, about
};

class Meanings {
public:
  explicit Meanings(const Level& level);
  [[nodiscard]] OpMeaning of(const Op& op) const;

private:
  void add(Handler handler, OpMeaning meaning);
  void add_across(const Level& level);
  std::unordered_map<Handler, OpMeaning> all_;
};

} // namespace warplens::exec
