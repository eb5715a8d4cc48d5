// SPDX-License-Identifier: Apache-2.0
// Makes the handlers of the `lane` entries of one group of files of the table (WARPLENS_TABLE), for one level.
#include "emulator/exec/lanes/lane_rows.hpp"
#include "emulator/exec/lanes/lanes.hpp"

#include "emulator/isa/semantics/approximate.hpp"
#include "emulator/isa/semantics/bits.hpp"
#include "emulator/isa/semantics/compare.hpp"
#include "emulator/isa/semantics/convert.hpp"
#include "emulator/isa/semantics/convert_packed.hpp"
#include "emulator/isa/semantics/floating.hpp"
#include "emulator/isa/semantics/half.hpp"
#include "emulator/isa/semantics/integer.hpp"
#include "emulator/isa/semantics/mixed.hpp"
#include "emulator/isa/semantics/video.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using namespace isa::WARPLENS_LEVEL;

template <template <Form> class F, isa::Pattern pattern, isa::OperandList operands> HandlerRow made() {
  static constexpr auto kRow = handler_row<F, pattern, operands>();
  return kRow;
}

} // namespace

HandlerRow* WARPLENS_FILL(HandlerRow* row) {
#define INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)                                                 \
  *row++ = made<functor, isa::parse_pattern(pattern), isa::parse_operands(operands)>();
#define LEGACY INSTRUCTION
#define RETIRED(opcode, pattern, operands, functor, kind, ptx, sm, last)                                               \
  INSTRUCTION(opcode, pattern, operands, functor, kind, ptx, sm)
#define FAMILY(...) *row++ = {};
#include WARPLENS_TABLE
#undef INSTRUCTION
#undef LEGACY
#undef RETIRED
#undef FAMILY
  return row;
}

} // namespace warplens::exec::WARPLENS_LEVEL
