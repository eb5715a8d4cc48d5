// SPDX-License-Identifier: Apache-2.0
// The rules are those of ptxas 13.0 for sm_90: tests/data/hardware/joined_instructions.jsonl.
#include "analyzers/machine_code.hpp"

#include "analyzers/compiled_code.hpp"
#include "analyzers/compiled_loops.hpp"
#include "emulator/ir/effects.hpp"
#include "emulator/ir/opcode_parts.hpp"

#include <algorithm>
#include <string_view>

namespace warplens::analyzers {

namespace {

using ir::of_wide_integers;

/// What an instruction may be a part of, or may take as a part.
enum class Part : std::uint8_t {
  none,
  sum,
  product,
  wide_product,
  negation,
  extension,   ///< of a signed word to 64 bits
  lengthening, ///< of a byte or half-word
  left_shift,  ///< by a constant
  right_shift, ///< likewise
  logic,
  comparison,
  predicates
};

bool has_other_type(const ir::Instruction& i) {
  return ir::has_any_part(
      i, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64", "u16", "s16", "b16", "u16x2", "s16x2", "cc", "sat"});
}

Part part_of_conversion(const ir::Instruction& i) {
  if (i.opcode.ends_with(".s64.s32")) return Part::extension;
  const bool shorter = i.opcode.ends_with("8") || i.opcode.ends_with("16");
  return shorter && !ir::has_any_part(i, {"f16", "bf16", "f32", "f64"}) ? Part::lengthening : Part::none;
}

Part part_of(const ir::Function& function, const ir::Instruction& i) {
  if (i.guard != ir::kNone) return Part::none;
  const std::string_view head = i.head();
  if (head == "setp") return i.operand_count == 3 ? Part::comparison : Part::none;
  if (head == "cvt") return part_of_conversion(i);
  if (has_other_type(i)) return Part::none;
  if (head == "add" || head == "sub") return Part::sum;
  if (head == "neg") return Part::negation;
  if (head == "mul") return ir::has_part(i, "wide") ? Part::wide_product : Part::product;
  if (head == "shl" || head == "shr") {
    if (function.operands(i)[2].kind != ir::OperandKind::integer) return Part::none;
    return head == "shl" ? Part::left_shift : Part::right_shift;
  }
  if (head == "and" || head == "or" || head == "xor" || head == "not")
    return ir::has_part(i, "pred") ? Part::predicates : Part::logic;
  return Part::none;
}

class Joiner {
public:
  Joiner(const ir::Module& module, const ir::Function& function)
      : function_(function), flow_(ir::control_flow(function)), code_(compiled_code(function, flow_)),
        effects_(ir::effects(module, function)), full_(effects_.size()), words_(effects_.size()),
        writer_(function.registers.size(), ir::kNone), readers_(function.registers.size()) {
    std::vector<bool> written(function.registers.size());
    for (std::uint32_t i = 0; i < effects_.size(); ++i) {
      work_.push_back(machine_work(instruction(i)));
      parts_.push_back(part_of(function, instruction(i)));
      for (const std::uint32_t r : effects_[i].writes) {
        writer_[r] = written[r] ? ir::kNone : i;
        written[r] = true;
      }
      for (const std::uint32_t r : effects_[i].reads) readers_[r].push_back(i);
    }
  }

  std::vector<MachineWork> joined() {
    constexpr double kOfKernel = 2; // the stack pointer, and the descriptor of global memory
    if (function_.is_entry && !work_.empty()) work_[0].instructions += kOfKernel;
    shorten_loops();
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) mark_meeting_point(b);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] == Part::sum || parts_[i] == Part::logic) take_rotation(i);
      if (parts_[i] == Part::lengthening) follow_load(i);
      follow_operands(i);
    }
    for (std::uint32_t i = 0; i < parts_.size(); ++i) join_with_sums(i);
    for (std::uint32_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i] == Part::sum) take_sum(i);
      if (parts_[i] == Part::logic) take_logic(i);
      if (parts_[i] == Part::comparison) take_test(i);
      if (parts_[i] == Part::predicates) take_comparison(i);
    }
    issue_predicated();
    for (const CompiledBlock& block : code_.blocks)
      for (const std::uint32_t i : block.instructions)
        work_[i].text = work_[i].instructions * (block.unrolled ? kTurns : 1);
    return std::move(work_);
  }

private:
  static constexpr double kTurns = 4; ///< of an unrolled loop, in one of its machine code

  [[nodiscard]] const ir::Instruction& instruction(std::uint32_t i) const { return function_.instructions[i]; }
  [[nodiscard]] bool wide(std::uint32_t i) const { return of_wide_integers(instruction(i)); }
  [[nodiscard]] bool joined(std::uint32_t i) const { return work_[i].instructions == 0; }
  void join(std::uint32_t i) { work_[i] = {.instructions = 0, .joined = true}; }

  /// What depends on the kinds of the operands: shifts and fields of bits at positions that are not constants,
  /// parameters of kernels, special registers.
  void follow_operands(std::uint32_t i) {
    const std::string_view head = instruction(i).head();
    const auto operands = function_.operands(instruction(i));
    const bool special = head == "mov" && operands[1].kind == ir::OperandKind::special;
    if (special || (function_.is_entry && instruction(i).instruction_class == isa::InstructionClass::param))
      work_[i].instructions = 1;
    if (head == "bfe" && effects_[i].reads.size() > 1) work_[i].instructions = work_[i].alu = 5;
    if (head == "shl" && parts_[i] == Part::none) work_[i].alu = work_[i].instructions;
  }

  /// Branches that predicates replace, and what a loop does not repeat in each turn once it is unrolled.
  void shorten_loops() {
    mark_unrolled(code_, function_, effects_);
    for (std::uint32_t i = 0; i < work_.size(); ++i)
      if (code_.removed[i]) join(i);
    for (const CompiledBlock& block : code_.blocks) {
      if (!block.unrolled) continue;
      const std::uint32_t last = block.instructions.back();
      for (const std::uint32_t i : block.instructions) {
        const bool compares = effects_[i].writes == std::vector{instruction(last).guard};
        if (i != last && !steps(i) && !compares) continue;
        work_[i].instructions /= kTurns;
        work_[i].alu /= kTurns;
      }
    }
  }

  /// Instructions with predicates that replace a branch issue in all warps that come to the branch.
  void issue_predicated() {
    for (const CompiledBlock& block : code_.blocks)
      for (const std::uint32_t i : block.instructions) {
        if (code_.predicate_of[i] == ir::kNone) continue;
        work_[block.instructions.front()].add(work_[i], 1);
        work_[i] = {.instructions = 0, .joined = work_[i].joined};
      }
  }

  /// A branch to a later place, unless to the end, sets a barrier where its paths meet, and they wait there.
  void mark_meeting_point(std::uint32_t block) {
    constexpr double kOfBarrier = 2;
    const ir::Block& b = flow_.blocks[block];
    if (b.first == b.end || b.successors.size() != 2) return;
    const std::uint32_t branch = b.end - 1;
    if (instruction(branch).head() != "bra" || code_.removed[branch]) return;
    for (const std::uint32_t to : b.successors)
      if (to <= block || ends(flow_.blocks[to])) return;
    work_[branch].instructions += kOfBarrier;
  }

  [[nodiscard]] bool ends(const ir::Block& block) const { return block.exits && block.end - block.first == 1; }

  /// add.s32 %r1, %r1, 4
  [[nodiscard]] bool steps(std::uint32_t i) const {
    return parts_[i] == Part::sum && effects_[i].reads == effects_[i].writes;
  }

  /// Those that read what an instruction writes; none if others write it, too.
  [[nodiscard]] std::vector<std::uint32_t> readers(std::uint32_t i) const {
    const std::vector<std::uint32_t>& written = effects_[i].writes;
    if (written.size() != 1 || writer_[written[0]] != i) return {};
    return readers_[written[0]];
  }

  /// Operands of sums that change in the same instruction: sign, length, factor, and shift.
  void join_with_sums(std::uint32_t i) {
    const Part part = parts_[i];
    const bool form = part == Part::negation || part == Part::extension;
    const bool multiplies = part == Part::wide_product;
    const bool shifts = part == Part::left_shift || (part == Part::right_shift && !wide(i));
    if (joined(i) || (!form && !multiplies && !shifts)) return;
    const std::vector<std::uint32_t> all = readers(i);
    const bool sums = !all.empty() && std::all_of(all.begin(), all.end(), [&](std::uint32_t reader) {
      const bool fits = parts_[reader] == Part::sum && !full_[reader] && wide(reader) == (multiplies || wide(i));
      return fits && (form || instruction(reader).head() == "add");
    });
    if (!sums) return;
    join(i);
    for (const std::uint32_t reader : all) {
      if (!form) full_[reader] = true;
      if (multiplies) work_[reader] = {};
      if (part == Part::right_shift || (shifts && wide(reader))) work_[reader].alu = work_[reader].instructions;
    }
  }

  /// What writes a register that only this instruction reads, in the same block; kNone: nothing, or another part.
  [[nodiscard]] std::uint32_t only_writer(std::uint32_t reader, std::uint32_t which, Part part) const {
    const std::uint32_t writer = writer_[which];
    const bool usable = writer != ir::kNone && writer < reader && parts_[writer] == part && !joined(writer) &&
                        readers_[which].size() == 1 && flow_.block_of[writer] == flow_.block_of[reader] &&
                        wide(writer) == wide(reader);
    return usable ? writer : ir::kNone;
  }

  [[nodiscard]] std::uint32_t only_writer(std::uint32_t reader, Part part) const {
    for (const std::uint32_t r : effects_[reader].reads)
      if (const std::uint32_t writer = only_writer(reader, r, part); writer != ir::kNone) return writer;
    return ir::kNone;
  }

  /// Three numbers are added at once, and a product of words to a word.
  void take_sum(std::uint32_t i) {
    if (full_[i]) return;
    const std::uint32_t product = only_writer(i, Part::product), first = only_writer(i, Part::sum);
    if (product != ir::kNone && instruction(i).head() == "add" && !wide(i)) {
      join(i);
      std::swap(work_[i], work_[product]);
    } else if (first != ir::kNone && !full_[first]) {
      join(first);
      work_[i].alu = work_[i].instructions;
    } else {
      return;
    }
    full_[i] = true;
  }

  /// A word that is shifted to the left, and to the right by the other bits: both halves of a rotated word.
  void take_rotation(std::uint32_t i) {
    const std::uint32_t left = only_writer(i, Part::left_shift), right = only_writer(i, Part::right_shift);
    if (left == ir::kNone || right == ir::kNone || wide(i) || instruction(i).head() == "sub") return;
    const auto a = function_.operands(instruction(left)), b = function_.operands(instruction(right));
    constexpr std::int64_t kBits = 32;
    if (a[1].kind != b[1].kind || a[1].index != b[1].index || a[2].value + b[2].value != kBits) return;
    join(left);
    join(right);
    work_[i].alu = work_[i].instructions;
    full_[i] = true;
  }

  /// A loaded byte or half-word fills its register.
  void follow_load(std::uint32_t i) {
    const std::vector<std::uint32_t>& read = effects_[i].reads;
    if (read.size() != 1 || writer_[read[0]] == ir::kNone) return;
    const ir::Instruction& load = instruction(writer_[read[0]]);
    if (load.head() == "ld" && (load.opcode.ends_with("8") || load.opcode.ends_with("16"))) join(i);
  }

  /// Any function of three words is one instruction.
  void take_logic(std::uint32_t i) {
    if (full_[i]) return;
    constexpr std::size_t kMost = 3;
    std::vector<std::uint32_t> parts;
    for (const std::uint32_t r : effects_[i].reads)
      if (const std::uint32_t writer = only_writer(i, r, Part::logic); writer != ir::kNone && !full_[writer])
        parts.push_back(writer);
    while (words_of(i, parts).size() > kMost && !parts.empty()) parts.pop_back();
    words_[i] = words_of(i, parts);
    for (const std::uint32_t part : parts) join(part);
  }

  /// The words of a logic instruction and of those that it takes; each constant is a word of its own.
  [[nodiscard]] std::vector<std::uint32_t> words_of(std::uint32_t i, const std::vector<std::uint32_t>& parts) const {
    std::vector<std::uint32_t> words;
    const auto add = [&](std::uint32_t word) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    };
    for (const std::uint32_t r : effects_[i].reads)
      if (std::find(parts.begin(), parts.end(), writer_[r]) == parts.end()) add(r);
    const auto first_constant = static_cast<std::uint32_t>(function_.registers.size());
    for (const ir::Operand& o : function_.operands(instruction(i)))
      if (o.kind == ir::OperandKind::integer) add(first_constant + i);
    for (const std::uint32_t part : parts)
      for (const std::uint32_t word : words_[part]) add(word);
    return words;
  }

  /// Logic compares its result with zero.
  void take_test(std::uint32_t i) {
    const ir::Instruction& test = instruction(i);
    const ir::Operand& with = function_.operands(test)[2];
    if (with.kind != ir::OperandKind::integer || with.value != 0 || !ir::has_any_part(test, {"eq", "ne"})) return;
    if (const std::uint32_t logic = only_writer(i, Part::logic); logic != ir::kNone && !wide(i)) join(logic);
  }

  /// A comparison combines its result with another predicate.
  void take_comparison(std::uint32_t i) {
    if (instruction(i).head() == "not" || only_writer(i, Part::comparison) != ir::kNone) join(i);
  }

  const ir::Function& function_;
  ir::ControlFlow flow_;
  CompiledCode code_;
  std::vector<ir::Effect> effects_;
  std::vector<MachineWork> work_;
  std::vector<Part> parts_;
  std::vector<bool> full_;                          ///< takes no other instruction
  std::vector<std::vector<std::uint32_t>> words_;   ///< of logic with what it took
  std::vector<std::uint32_t> writer_;               ///< by register: the only instruction that writes it
  std::vector<std::vector<std::uint32_t>> readers_; ///< by register
};

} // namespace

std::vector<MachineWork> machine_code(const ir::Module& module, const ir::Function& function) {
  return Joiner(module, function).joined();
}

} // namespace warplens::analyzers
