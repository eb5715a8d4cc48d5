// SPDX-License-Identifier: Apache-2.0
// Lowers calls, the stack, and branches through tables. See calls.hpp for the layout of a frame.
#include "emulator/base/checked.hpp"
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/calls/calls.hpp"
#include "emulator/exec/decode/decoder.hpp"
#include "emulator/exec/memory/memory.hpp"
#include "emulator/ir/liveness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

namespace {

// The default of cudaLimitStackSize. Here, a stack can grow beyond it, up to the maximum local memory per thread (CUDA
// C++ Programming Guide, "Compute Capabilities").
constexpr std::uint64_t kFirstStack = 1024;
constexpr std::uint64_t kMostLocal = 512 << 10;

constexpr std::uint64_t kMostFrame = 1 << 30; // so that offsets in frames fit 32 bits

std::uint64_t aligned_or_most(std::uint64_t offset, std::uint64_t alignment) {
  return Checked(offset).aligned(alignment).saturated();
}

} // namespace

// Assigns frame offsets to the variables of the parts. The kernel's frame begins at 0, with the module's local
// variables, and has no header.
void Decoder::lay_out_frames() {
  program_->frame_row = file_.hidden(4);
  program_->top_row = file_.hidden(4);
  program_->parts.resize(function_.parts.size());
  part_of_.assign(module_.functions.size(), ir::kNone);
  for (std::uint32_t p = 0; p < function_.parts.size(); ++p) part_of_[function_.parts[p].function] = p;
  for (std::size_t p = 0; p < function_.parts.size(); ++p) {
    const ir::Part& part = function_.parts[p];
    CalledPart& called = program_->parts[p];
    called.library =
        part.first == part.end ? ir::library_named(module_.functions[part.function].name) : ir::Library::none;
    std::uint64_t end = p == 0 ? program_->local_bytes : sizeof(FrameHeader);
    for (std::uint32_t v = part.first_variable; v < part.end_variable; ++v) {
      const ir::Variable& variable = function_.variables[v];
      if (variable.space != isa::Space::local && variable.space != isa::Space::param) continue;
      const Checked offset = Checked(end).aligned(variable.alignment);
      local_offsets_[v] = offset.saturated();
      end = (offset + variable.size).saturated();
      called.alignment = std::max(called.alignment, variable.alignment);
      if (end <= kMostFrame) continue;
      diagnostics_.error(variable.where,
                         fmt::format("'{}' makes the local memory of a function larger than 1 GiB", variable.name));
      return;
    }
    called.frame_bytes = static_cast<std::uint32_t>(end);
    const auto formals = [&](const std::vector<ir::Formal>& list, std::vector<FrameRow>& rows,
                             std::vector<std::uint32_t>& offsets) {
      for (const ir::Formal& f : list) {
        offsets.push_back(static_cast<std::uint32_t>(local_offsets_[f.variable]));
        if (f.reg == ir::kNone) continue;
        const int lane_bytes = file_.lane_bytes(f.reg);
        for (int c = 0; c < function_.registers[f.reg].components; ++c)
          rows.push_back(
              {file_.reg(f.reg, c), lane_bytes, offsets.back() + static_cast<std::uint32_t>(c * lane_bytes)});
      }
    };
    formals(part.params, called.params, called.param_offsets);
    formals(part.results, called.results, called.result_offsets);
  }
  saved_begin_.clear();
  for (const CalledPart& called : program_->parts) saved_begin_.push_back(called.frame_bytes);
  called_by_.resize(function_.parts.size());
}

// The part of a block.
void Decoder::enter_part(std::uint32_t first_instruction) {
  while (part_ < function_.parts.size() && first_instruction >= function_.parts[part_].end) ++part_;
}

// Whether a variable is in a frame whose address is known only at run time.
bool Decoder::in_moving_frame(std::uint32_t variable) const {
  if (part_ == 0 || ir::variable_owner(variable) != ir::VariableOwner::local) return false;
  const isa::Space space = function_.variables[ir::variable_position(variable)].space;
  return space == isa::Space::local || space == isa::Space::param;
}

// frame + offset, with the requested width.
std::uint32_t Decoder::frame_address(std::uint64_t offset, int bytes) {
  const std::uint32_t sum = file_.temporary(bytes);
  const std::uint32_t frame = resized(program_->frame_row, 4, bytes, false);
  lane_as(bytes == 4 ? "add.u32" : "add.u64", {sum}, {frame, file_.constant(bytes, offset)});
  return sum;
}

// The caller's side of an argument or result; nothing if a result is discarded.
std::optional<Transfer> Decoder::transfer(const ir::Operand& operand, const ir::Variable& formal,
                                          std::uint32_t offset) {
  Transfer t;
  t.offset = offset;
  t.bytes = static_cast<std::uint32_t>(formal.size);
  switch (operand.kind) {
  case ir::OperandKind::sink: return std::nullopt;
  case ir::OperandKind::variable:
    t.place = static_cast<std::uint32_t>(local_offsets_[ir::variable_position(operand.index)]);
    return t;
  case ir::OperandKind::reg: t.place = register_row(operand, &t.lane_bytes); break;
  default:
    t.lane_bytes = formal.type == isa::Type::pred ? 0 : isa::bytes(formal.type);
    t.place = source(operand, formal.type, false);
  }
  t.in_row = true;
  return t;
}

// Vector registers are passed element by element.
void Decoder::transfer_elements(const ir::Operand& vector, const ir::Variable& formal, std::uint32_t offset,
                                std::vector<Transfer>& transfers) {
  ir::Variable element = formal;
  element.size = formal.size / vector.count;
  for (const ir::Operand& o : function_.elements(vector)) {
    transfers.push_back(*transfer(o, element, offset));
    offset += static_cast<std::uint32_t>(element.size);
  }
}

CallTarget Decoder::call_target(const ir::CallOperands& operands, std::uint32_t part_index) {
  const ir::Part& part = function_.parts[part_index];
  const CalledPart& called = program_->parts[part_index];
  CallTarget target;
  target.part = part_index;
  target.address = function_address(part.function, module_.address_size);
  const auto copy = [&](std::span<const ir::Operand> actual, const std::vector<ir::Formal>& formals,
                        const std::vector<std::uint32_t>& offsets, std::vector<Transfer>& transfers) {
    for (std::size_t i = 0; i < formals.size(); ++i) {
      const ir::Variable& formal = function_.variables[formals[i].variable];
      if (actual[i].kind == ir::OperandKind::vector)
        transfer_elements(actual[i], formal, offsets[i], transfers);
      else if (const auto t = transfer(actual[i], formal, offsets[i]))
        transfers.push_back(*t);
    }
  };
  copy(operands.arguments, part.params, called.param_offsets, target.arguments);
  copy(operands.results, part.results, called.result_offsets, target.results);
  return target;
}

// The registers that a call must preserve if it may recursively reach this part.
std::vector<FrameRow> Decoder::saved_rows() {
  if (live_after_calls_.empty()) {
    std::vector<std::uint32_t> calls;
    for (const ir::Part& part : function_.parts)
      for (std::uint32_t i = part.first; part.cycle != ir::kNone && i < part.end; ++i)
        if (ir::is_call(function_.instructions[i])) calls.push_back(i);
    auto live = ir::live_after(module_, function_, calls);
    if (!live)
      unsupported(fmt::format("recursive calls save too many registers in total: the limit {} is {}",
                              limits::kSavedRegisters.name(), limits::kSavedRegisters.most()));
    for (std::size_t i = 0; i < calls.size(); ++i)
      live_after_calls_[calls[i]] = live ? std::move((*live)[i]) : std::vector<std::uint32_t>{};
  }
  std::vector<FrameRow> rows;
  std::uint32_t end = saved_begin_[part_];
  for (const std::uint32_t r : live_after_calls_.at(current_index_))
    for (int c = 0; c < function_.registers[r].components; ++c) {
      rows.push_back({file_.reg(r, c), file_.lane_bytes(r), end});
      end += static_cast<std::uint32_t>(std::max(1, file_.lane_bytes(r)));
    }
  program_->parts[part_].frame_bytes = std::max(program_->parts[part_].frame_bytes, end);
  return rows;
}

ir::CallGraph& Decoder::callees() const {
  if (!callees_) callees_.emplace(module_);
  return *callees_;
}

void Decoder::call() {
  const ir::CallOperands operands = ir::call_operands(function_, *current_);
  const bool direct = operands.target->kind == ir::OperandKind::function;
  const auto number = static_cast<std::uint32_t>(program_->calls.size());
  CallSite& site = program_->calls.emplace_back();
  site.caller = part_;
  bool circular = false;
  for (const std::uint32_t f : callees().of(function_, *current_)) {
    const std::uint32_t p = part_of_[f];
    if (p == ir::kNone) continue;
    site.targets.push_back(call_target(operands, p));
    called_by_[part_].push_back(p);
    circular =
        circular || (function_.parts[p].cycle != ir::kNone && function_.parts[p].cycle == function_.parts[part_].cycle);
  }
  if (circular) site.saved = saved_rows();
  if (direct && program_->parts[site.targets.front().part].library != ir::Library::none)
    return library_call(site, number);
  int address_bytes = 0;
  const std::uint32_t address = direct ? 0 : register_row(*operands.target, &address_bytes);
  Op& op = emit(direct ? exec::call : call_indirect, {static_cast<std::uint32_t>(address_bytes)}, {address});
  op.extra = number;
  op.imm = uncharged_instructions();
  emit(finish_call).extra = number;
  if (!direct || current_->guard != ir::kNone) emit(rejoin);
  count_rest_of_block(); // lanes may have exited
}

void Decoder::library_call(CallSite& site, std::uint32_t number) {
  const std::uint32_t part = site.targets.front().part;
  const ir::Function& declared = module_.functions[function_.parts[part].function];
  const ir::LibraryFunction& signature = *ir::find_library_function(declared.name);
  const auto address_bytes = static_cast<std::uint64_t>(module_.address_size) / 8;
  const auto agrees = [&](const std::vector<ir::Variable>& list, const std::vector<std::uint64_t>& sizes) {
    return std::equal(
        list.begin(), list.end(), sizes.begin(), sizes.end(),
        [&](const ir::Variable& v, std::uint64_t size) { return v.size == (size == 8 ? address_bytes : size); });
  };
  if (!agrees(declared.params, signature.params) || !agrees(declared.results, signature.results))
    return unsupported(fmt::format("'{}' is not declared as in the device library", declared.name));
  switch (signature.library) {
  case ir::Library::vprintf:
  case ir::Library::assertfail:
  case ir::Library::graph_set_conditional: break;
  default: program_->uses_heap = true;
  }
  MemorySite& strings = this->site(isa::Space::generic, AccessKind::load, 1, {0, 0, module_.address_size == 32});
  strings.observed_bytes = 0;
  site.strings = &strings;
  emit(call_library).extra = number;
}

void Decoder::branch_indexed() {
  const auto operands = function_.operands(*current_);
  const std::uint32_t index = source(operands[0], isa::Type::u32, false);
  std::vector<std::uint32_t> blocks;
  for (const std::uint32_t label : function_.tables[operands[1].index].labels) blocks.push_back(block_at(label));
  jump_patches_.push_back(
      {program_->ops.size(), std::move(blocks), flow_.blocks[flow_.block_of[current_index_]].ipdom});
  Op& op = emit(watched_ ? branch_indexed_watched : exec::branch_indexed, {},
                {0, index, static_cast<std::uint32_t>(jump_patches_.size() - 1)});
  op.imm = uncharged_instructions();
  count_branch(op);
}

void Decoder::stack(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type type = spelling.form.type();
  const bool allocates = spelling.entry->opcode == "alloca", saves = spelling.entry->opcode == "stacksave";
  const std::uint32_t value = saves ? 0 : source(operands[allocates ? 1 : 0], type, false);
  const std::uint32_t result = allocates || saves ? destination(operands[0], type, false) : 0;
  Op& op = emit(allocates ? allocate_on_stack : saves ? save_stack : restore_stack, {result}, {value});
  op.imm = isa::bytes(type);
  op.extra = allocates ? kFrameAlignment : part_;
  if (!allocates) return;
  grows_ = true;
  if (operands.size() > 2) op.extra = std::max(op.extra, static_cast<std::uint32_t>(operands[2].value));
}

void Decoder::patch_jump_tables() {
  for (const JumpPatch& patch : jump_patches_) {
    std::vector<const Op*>& table = program_->jump_tables.emplace_back();
    for (const std::uint32_t block : patch.target_blocks) table.push_back(program_->ops.data() + block_op_[block]);
    if (patch.meeting_block != ir::kNone) program_->ops[patch.op].src[0] = distance(patch.op, patch.meeting_block);
  }
}

// The maximum depth of stacks: known, unless functions are recursive or use alloca.
void Decoder::finish_frames() {
  if (function_.parts.empty()) return;
  std::vector<CalledPart>& parts = program_->parts;
  for (std::uint32_t p = 0; p < parts.size(); ++p) {
    const ir::Part& part = function_.parts[p];
    parts[p].frame_bytes = static_cast<std::uint32_t>(aligned_or_most(parts[p].frame_bytes, kFrameAlignment));
    grows_ = grows_ || part.cycle != ir::kNone;
    if (part.first != part.end) parts[p].entry = program_->ops.data() + block_op_[flow_.block_of[part.first]];
  }
  const std::uint64_t most = grows_ ? parts[0].frame_bytes + kFirstStack : deepest_stack();
  admit(limits::kLocalBytes, most);
  program_->local_bytes = most;
  program_->stack_limit = grows_ ? std::max(kMostLocal, most) : most;
}

// The depth of the stack including all callees. The depth of a part is known once those of its callees are. The
// traversal is not recursive, because chains of calls may be long.
std::uint64_t Decoder::deepest_stack() const {
  std::vector<std::uint64_t> depths(function_.parts.size(), 0);
  std::vector<std::pair<std::uint32_t, std::size_t>> running{{0, 0}}; // a part, and the number of processed callees
  while (!running.empty()) {
    auto& [part, next] = running.back();
    if (next < called_by_[part].size()) {
      const std::uint32_t callee = called_by_[part][next++];
      if (depths[callee] == 0) running.emplace_back(callee, 0);
      continue;
    }
    std::uint64_t deepest = 0;
    for (const std::uint32_t callee : called_by_[part]) deepest = std::max(deepest, depths[callee]);
    const CalledPart& called = program_->parts[part];
    depths[part] = called.frame_bytes + (called.alignment - kFrameAlignment) + deepest;
    running.pop_back();
  }
  return depths[0];
}

} // namespace warplens::exec
