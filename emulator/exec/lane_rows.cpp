// Makes the handlers of every `lane` entry of the table. Compiled once per level and per group of units
// (WARPLENS_UNITS), so that the work spreads over several compilations.
#include "emulator/exec/lane_rows.hpp"
#include "emulator/exec/lanes.hpp"

#include "emulator/isa/semantics/approximate.hpp"
#include "emulator/isa/semantics/bits.hpp"
#include "emulator/isa/semantics/compare.hpp"
#include "emulator/isa/semantics/convert.hpp"
#include "emulator/isa/semantics/convert_packed.hpp"
#include "emulator/isa/semantics/floating.hpp"
#include "emulator/isa/semantics/half.hpp"
#include "emulator/isa/semantics/integer.hpp"

namespace warplens::exec::WARPLENS_LEVEL {

namespace {

using namespace isa::WARPLENS_LEVEL;

// The position of a line in the table is the same for every file that includes it.
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define INSTRUCTION(...) JOIN(line_, __LINE__),
#define LEGACY(...) JOIN(line_, __LINE__),
#define FAMILY(...) JOIN(line_, __LINE__),
enum Position : int {
#include "emulator/isa/instructions.def"
};
#undef INSTRUCTION
#undef LEGACY
#undef FAMILY

constexpr bool wanted(isa::Unit unit) {
  constexpr isa::Unit units[] = {WARPLENS_UNITS};
  for (const isa::Unit u : units)
    if (u == unit) return true;
  return false;
}

template <bool make, template <Form> class F, isa::Pattern pattern, isa::OperandList operands>
void add(HandlerRows& rows, int position) {
  if constexpr (make) {
    static constexpr auto kRow = handler_row<F, pattern, operands>();
    rows[position] = kRow;
  }
}

} // namespace

void WARPLENS_FILL(HandlerRows& rows) {
  using enum isa::Unit;
#define INSTRUCTION(opcode, pattern, operands, functor, unit, ptx, sm)                                                 \
  add<wanted(unit), functor, isa::parse_pattern(pattern), isa::parse_operands(operands)>(rows, JOIN(line_, __LINE__));
#define LEGACY INSTRUCTION
#define FAMILY(...)
#include "emulator/isa/instructions.def"
#undef INSTRUCTION
#undef LEGACY
#undef FAMILY
}

} // namespace warplens::exec::WARPLENS_LEVEL
