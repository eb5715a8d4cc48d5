// SPDX-License-Identifier: Apache-2.0
// The class of an instruction for analyzers and models, given in its line of the instruction table.
//
//   info(InstructionClass::logarithm).counted_as == InstructionClass::exponential, .issue == "logarithm"
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace warplens::isa {

enum class InstructionClass : std::uint8_t {
#define INSTRUCTION_CLASS(name, counted_as, issue, latency, operations) name,
#include "emulator/isa/classes.def"
#undef INSTRUCTION_CLASS
};

struct ClassInfo {
  std::string_view name;       ///< as in metric names: "integer_multiply"
  InstructionClass counted_as; ///< in the instruction mix
  std::string_view issue;      ///< key of [issue_cycles] in device files
  std::string_view latency;    ///< key of [result_latency]
  int operations;              ///< floating-point operations of a lane
};

/// By InstructionClass.
constexpr ClassInfo kInstructionClasses[] = {
#define INSTRUCTION_CLASS(name, counted_as, issue, latency, operations)                                                \
  {#name, InstructionClass::counted_as, #issue, #latency, operations},
#include "emulator/isa/classes.def"
#undef INSTRUCTION_CLASS
};
constexpr std::size_t kInstructionClassCount = std::size(kInstructionClasses);

constexpr const ClassInfo& info(InstructionClass which) { return kInstructionClasses[static_cast<std::size_t>(which)]; }

} // namespace warplens::isa
