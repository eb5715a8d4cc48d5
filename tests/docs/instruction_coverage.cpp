#include "tests/docs/instruction_coverage.hpp"

#include "emulator/isa/table.hpp"

#include <map>

namespace warplens::docs {

namespace {

std::string_view title(isa::Unit unit) {
  switch (unit) {
  case isa::Unit::integer: return "Integers, logic, comparison and selection";
  case isa::Unit::fp32: return "Single precision";
  case isa::Unit::fp64: return "Double precision";
  case isa::Unit::half: return "Half precision";
  case isa::Unit::conversion: return "Conversion";
  case isa::Unit::special: return "Approximations";
  case isa::Unit::memory: return "Memory";
  case isa::Unit::control: return "Control";
  case isa::Unit::barrier: return "Barriers and fences";
  case isa::Unit::warp: return "Across the lanes of a warp";
  case isa::Unit::move: return "Moves";
  }
  return "";
}

/// Words as in the table, without the marks that are meant for the decoder.
std::string words_of(const isa::Entry& entry) {
  std::string words(entry.pattern_text);
  std::erase(words, '~');
  return words.empty() ? "" : "`" + words + "`";
}

std::string version(int times_ten) { return std::to_string(times_ten / 10) + "." + std::to_string(times_ten % 10); }

std::string row(const isa::Entry& entry) {
  return "| `" + std::string(entry.opcode) + "` | " + words_of(entry) + " | " + version(entry.ptx) + " | sm_" +
         std::to_string(entry.sm) + (entry.legacy ? ", before sm_20 only" : "") + " |\n";
}

} // namespace

std::string instruction_coverage() {
  std::map<isa::Unit, std::string> tables;
  for (const isa::Entry& entry : isa::table()) tables[entry.unit] += row(entry);
  std::string page =
      "# Instructions\n"
      "Made from `emulator/isa/instructions/*.def`; do not edit (`ninja -C build docs-instructions` writes "
      "it). What is not here cannot be run, see [limits](limits.md).\n\n"
      "`{a,b}` is a choice, `[…]` may be left out. PTX and target: the first that have the spelling. " +
      std::to_string(isa::opcodes().size()) + " opcodes, " + std::to_string(isa::table().size()) + " lines.\n";
  for (const auto& [unit, rows] : tables)
    page +=
        "\n## " + std::string(title(unit)) + "\n| opcode | words | PTX | target |\n| --- | --- | --- | --- |\n" + rows;
  return page;
}

} // namespace warplens::docs
