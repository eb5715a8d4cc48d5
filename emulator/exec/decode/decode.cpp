// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/block/control.hpp"
#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/calls/calls.hpp"
#include "emulator/ir/joined_accesses.hpp"
#include "emulator/ir/link.hpp"
#include "emulator/ir/swap_updates.hpp"
#include "emulator/ir/warp_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::exec {

Expected<std::shared_ptr<const Program>> decode(const ir::Module& module, const ir::Function& kernel,
                                                const VariableAddresses& variables, const DecodeOptions& options) {
  if (!kernel.has_body || !ir::needs_linking(kernel)) {
    Expected<std::shared_ptr<Program>> program = Decoder(module, kernel, variables, options).run();
    if (!program) return failure(program.error());
    return std::shared_ptr<const Program>(std::move(*program));
  }
  Expected<ir::Function> linked = ir::link(module, kernel);
  if (!linked) return failure(linked.error());
  const auto function = std::make_shared<const ir::Function>(std::move(*linked));
  Expected<std::shared_ptr<Program>> program = Decoder(module, *function, variables, options).run();
  if (!program) return failure(program.error());
  (*program)->linked = function;
  return std::shared_ptr<const Program>(std::move(*program));
}

Decoder::Decoder(const ir::Module& module, const ir::Function& function, const VariableAddresses& variables,
                 const DecodeOptions& options)
    : module_(module), function_(function), variables_(variables),
      level_(options.level != nullptr ? *options.level : levels().front()), watched_(options.watched),
      checked_(options.checked), program_(std::make_shared<Program>()), file_(function),
      flow_(ir::control_flow(function)) {}

Expected<std::shared_ptr<Program>> Decoder::run() {
  if (!function_.has_body) return failure(fmt::format("'{}' has no body", function_.name));
  program_->module = &module_;
  program_->function = &function_;
  program_->watched = watched_;
  program_->level = level_.name;
  program_->block_dependence = ir::block_dependence(module_, function_);
  program_->reductions_commute = ir::reductions_commute(module_, function_);
  swap_updates_ = ir::swap_updates(module_, function_);
  list_constants();
  check_registers(); // before their offsets are used
  if (!diagnostics_.has_errors()) lay_out_variables();
  if (diagnostics_.has_errors()) return failed();
  if (watched_ && module_.sm >= 50) find_joined_accesses();
  if (checked_) {
    program_->unwritten = ir::unwritten(module_, function_);
    program_->group_registers = ir::group_registers(module_, function_);
    program_->first_op.resize(function_.instructions.size());
    for (std::uint32_t r = 0; r < function_.registers.size(); ++r) program_->register_rows.push_back(file_.reg(r));
  }
  meeting_.assign(flow_.blocks.size() + 1, false);
  for (const ir::Block& b : flow_.blocks)
    if (b.successors.size() + (b.exits ? 1 : 0) > 1 && b.ipdom != ir::kNone) meeting_[b.ipdom] = true;
  if (!function_.parts.empty()) emit(enter_kernel);
  for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
    enter_part(flow_.blocks[b].first);
    begin_block(b);
    for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].end; ++i) instruction(i);
  }
  block_op_.push_back(static_cast<std::uint32_t>(program_->ops.size()));
  current_ = nullptr;
  current_index_ = function_.instructions.empty() ? 0 : static_cast<std::uint32_t>(function_.instructions.size() - 1);
  const std::int64_t last_instructions = uncharged_instructions();
  emit(exit_lanes).imm = last_instructions; // the end of the body returns
  check_registers();                        // with constants and temporaries
  if (diagnostics_.has_errors()) return failed();
  patch_branches();
  patch_jump_tables();
  finish_frames();
  if (diagnostics_.has_errors()) return failed();
  file_.finish(*program_);
  program_->why_interpreted = checked_ ? "a tool checks each step" : "";
  program_->compilable = *program_->why_interpreted == '\0';
  // Compiled warps do not take turns after each instruction: a program that may show the order must not notice when it
  // has been compiled. A tool sees more of what can happen if they do.
  program_->takes_turns =
      program_->warp_bytes <= kLargestPair && !(program_->compilable && ir::depends_on_warp_order(module_, function_));
  return program_;
}

tl::unexpected<Diagnostics> Decoder::failed() {
  diagnostics_.in_file(module_.file);
  return failure(std::move(diagnostics_));
}

void Decoder::admit(const Limit& limit, Checked number) {
  if (limit.admits(number)) return;
  const ir::Function& named = function_.parts.empty() ? function_ : module_.functions[function_.parts[0].function];
  diagnostics_.error(named.where, limit.exceeded(fmt::format("kernel '{}'", function_.name), number), limit.hint());
}

void Decoder::check_registers() {
  const Checked bytes = file_.size();
  admit(limits::kRegisterBytes, bytes.at_most(~std::uint32_t{0}) ? bytes : Checked(0) - 1);
}

namespace {

// By position in Module::variables: whether the kernel or a function that it calls names the variable.
std::vector<bool> named_variables(const ir::Module& module, const ir::Function& function) {
  std::vector<bool> named(module.variables.size());
  for (const ir::Operand& operand : function.operand_pool)
    if (operand.kind == ir::OperandKind::variable && ir::variable_owner(operand.index) == ir::VariableOwner::module)
      named[ir::variable_position(operand.index)] = true;
  return named;
}

} // namespace

// Shared variables get offsets in the CTA's shared memory, local ones in the thread's local memory, in source order,
// module scope first. Of the module's shared variables, only those that the kernel can reach use space. `extern`
// variables have no size; dynamic shared memory follows at the end, which is aligned for all of the module, as by
// ptxas, whether the kernel names them or not.
void Decoder::lay_out_variables() {
  constexpr std::uint64_t kAlignment = 16;
  Checked shared = 0, local = 0;
  std::uint64_t of_dynamic = kAlignment;
  const std::vector<bool> named = named_variables(module_, function_);
  const auto is_dynamic = [](const ir::Variable& v) {
    return v.space == isa::Space::shared && v.linkage == ir::Linkage::external;
  };
  const auto place = [&](const ir::Variable& v) -> std::uint64_t {
    Checked& end = v.space == isa::Space::shared ? shared : local;
    if (is_dynamic(v)) return ~std::uint64_t{0};
    const Checked offset = end.aligned(v.alignment);
    end = offset + v.size;
    return offset.value_or(0);
  };
  for (std::size_t i = 0; i < module_.variables.size(); ++i) {
    const ir::Variable& v = module_.variables[i];
    const bool is_local = v.space == isa::Space::local; // modules could have these before PTX 3.1
    if (is_dynamic(v)) of_dynamic = std::max<std::uint64_t>(of_dynamic, v.alignment);
    shared_offsets_.push_back((v.space == isa::Space::shared || is_local) && named[i] ? place(v) : 0);
  }
  const bool has_frames = !function_.parts.empty();
  for (const ir::Variable& v : function_.variables) {
    if (is_dynamic(v)) of_dynamic = std::max<std::uint64_t>(of_dynamic, v.alignment);
    local_offsets_.push_back(v.space == isa::Space::shared || (v.space == isa::Space::local && !has_frames) ? place(v)
                                                                                                            : 0);
  }
  shared = shared.aligned(of_dynamic);
  local = local.aligned(kAlignment); // frames, if any, begin there
  admit(limits::kSharedBytes, shared);
  admit(limits::kLocalBytes, local);
  program_->shared_bytes = shared.saturated();
  program_->local_bytes = local.saturated();
  program_->param_offsets = parameter_layout(function_);
  program_->param_bytes = program_->param_offsets.back();
  for (std::uint64_t& offset : shared_offsets_)
    if (offset == ~std::uint64_t{0}) offset = program_->shared_bytes;
  for (std::uint64_t& offset : local_offsets_)
    if (offset == ~std::uint64_t{0}) offset = program_->shared_bytes;
  if (has_frames) lay_out_frames();
}

void Decoder::list_constants() {
  for (std::size_t v = 0; v < module_.variables.size() && v < variables_.size(); ++v)
    if (module_.variables[v].space == isa::Space::constant)
      program_->constant_variables.push_back({variables_[v], variables_[v] + module_.variables[v].size});
  std::sort(program_->constant_variables.begin(), program_->constant_variables.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
}

void Decoder::find_joined_accesses() {
  const auto address = [&](const ir::Operand& o) { return address_of(o.index) + static_cast<std::uint64_t>(o.value); };
  for (const ir::JoinedAccess& j : ir::joined_accesses(function_, flow_, address)) {
    joined_[j.first] = {static_cast<std::uint16_t>(j.bytes), j.offset};
    for (const std::uint32_t other : j.others) joined_[other] = {0, 0};
  }
}

Op& Decoder::emit(Handler handler, std::initializer_list<std::uint32_t> destinations,
                  std::initializer_list<std::uint32_t> sources) {
  Op op;
  op.run = handler;
  op.instruction = current_index_;
  op.guard = file_.always();
  if (current_ != nullptr && current_->guard != ir::kNone) {
    op.guard = guard_;
    op.guard_flip = current_->guard_negated ? kFullMask : 0;
  }
  std::copy(destinations.begin(), destinations.end(), op.dst);
  std::copy(sources.begin(), sources.end(), op.src);
  program_->ops.push_back(op);
  return program_->ops.back();
}

Op& Decoder::emit_main(Handler handler, std::initializer_list<std::uint32_t> destinations,
                       std::initializer_list<std::uint32_t> sources) {
  if (main_op_ == kNoOp) main_op_ = program_->ops.size();
  return emit(handler, destinations, sources);
}

namespace {

// Whether an instruction may order the accesses of several threads, or completes later than it is issued.
bool is_step(const isa::Spelling& spelling) {
  switch (spelling.entry->family) {
  case isa::Family::warp:
  case isa::Family::barrier:
  case isa::Family::warp_barrier:
  case isa::Family::mbarrier:
  case isa::Family::async_copy:
  case isa::Family::bulk_copy:
  case isa::Family::async_store:
  case isa::Family::bulk_store:
  case isa::Family::group_multiply:
  case isa::Family::group_order:
  case isa::Family::tensor_copy:
  case isa::Family::launch_control:
  case isa::Family::tensor_transfer:
  case isa::Family::tensor_copy_shared:
  case isa::Family::tensor_shift:
  case isa::Family::tensor_multiply:
  case isa::Family::tensor_commit:
  case isa::Family::tensor_order:
  case isa::Family::cluster_barrier: return true;
  case isa::Family::nothing: return spelling.entry->instruction_class == isa::InstructionClass::fence;
  default: return false;
  }
}

} // namespace

// The step before the instruction is at `before`; the step after it follows now.
void Decoder::tell_steps(std::size_t before) {
  const std::size_t main = main_op_ == kNoOp ? before + 1 : main_op_, after = program_->ops.size();
  emit(tell_step).extra = 1;
  program_->ops[after].imm = static_cast<std::int64_t>(main) - static_cast<std::int64_t>(after);
  program_->ops[before].imm = static_cast<std::int64_t>(main - before);
}

void Decoder::begin_block(std::uint32_t block) {
  block_op_.push_back(static_cast<std::uint32_t>(program_->ops.size()));
  current_ = nullptr;
  current_index_ = flow_.blocks[block].first;
  if (meeting_[block]) emit(rejoin);
  if (watched_) {
    block_counter_.push_back(static_cast<std::uint32_t>(program_->blocks.size()));
    count_instructions(flow_.blocks[block].first, flow_.blocks[block].end);
  }
}

// Adds a counter for instructions that the same lanes execute.
void Decoder::count_instructions(std::uint32_t first, std::uint32_t end) {
  emit(count_block).extra = static_cast<std::uint32_t>(program_->blocks.size());
  program_->blocks.push_back({first, end - first});
}

void Decoder::unsupported() { unsupported(fmt::format("'{}' is not supported", current_->opcode)); }

void Decoder::unsupported(std::string why) {
  diagnostics_.error(current_->where, std::move(why),
                     fmt::format("kernel '{}' cannot be launched because of this instruction", function_.name));
}

// If an instruction writes its own guard, as in `@p setp.eq.and.s32 p|q, …`, its ops use a copy of the guard: there may
// be several ops.
void Decoder::read_guard() {
  if (current_->guard == ir::kNone) return;
  guard_ = file_.reg(current_->guard);
  const auto is_guard = [&](const ir::Operand& o) {
    return o.kind == ir::OperandKind::reg && o.index == current_->guard;
  };
  const auto operands = function_.operands(*current_);
  if (operands.empty()) return;
  const ir::Operand& first = operands[0];
  bool written = is_guard(first);
  if (first.kind == ir::OperandKind::pair || first.kind == ir::OperandKind::vector)
    for (const ir::Operand& o : function_.elements(first)) written = written || is_guard(o);
  if (!written) return;
  const std::uint32_t copy = file_.temporary(0);
  Op& op = emit(predicate_and, {copy}, {guard_, guard_});
  op.guard = file_.always();
  op.guard_flip = 0;
  guard_ = copy;
}

void Decoder::instruction(std::uint32_t index) {
  current_ = &function_.instructions[index];
  current_index_ = index;
  file_.reset_temporaries();
  pending_.clear();
  if (checked_) program_->first_op[index] = static_cast<std::uint32_t>(program_->ops.size());
  read_guard();
  if (current_->form == ir::kNone) return unsupported();
  const isa::Spelling& spelling = module_.spellings[current_->form];
  const bool branches = spelling.entry->family == isa::Family::branch ||
                        spelling.entry->family == isa::Family::branch_indexed; // they count their lanes themselves
  if (watched_ && current_->guard != ir::kNone && !branches) {
    emit(count_guarded).extra = static_cast<std::uint32_t>(program_->guarded.size());
    program_->guarded.push_back(index);
  }
  main_op_ = kNoOp;
  if (checked_ && (program_->unwritten.uses.contains(index) || program_->group_registers.uses.contains(index)))
    emit(tell_registers);
  const std::size_t before = program_->ops.size();
  const bool tells = checked_ && is_step(spelling);
  if (tells) emit(tell_step);
  if (watched_) tell_async_step(spelling);
  if (watched_) tell_special_operands(spelling);
  lower(spelling);
  if (tells) tell_steps(before);
}

void Decoder::lower(const isa::Spelling& spelling) {
  if (spelling.entry->opcode == "tcgen05") program_->uses_tensor_memory = true;
  switch (spelling.entry->family) {
  case isa::Family::lane:
    if (!move_vector(spelling)) lane(spelling);
    break;
  case isa::Family::vector_move: move_elements(spelling); break;
  case isa::Family::set: set(spelling); break;
  case isa::Family::logic_predicate: logic_predicate(spelling); break;
  case isa::Family::load: load(spelling); break;
  case isa::Family::store: store(spelling); break;
  case isa::Family::atomic:
  case isa::Family::reduction: atomic(spelling); break;
  case isa::Family::address_conversion: convert_address(spelling); break;
  case isa::Family::warp: warp_level(spelling); break;
  case isa::Family::branch: branch(); break;
  case isa::Family::branch_indexed: branch_indexed(); break;
  case isa::Family::call: call(); break;
  case isa::Family::stack: stack(spelling); break;
  case isa::Family::ret:
  case isa::Family::exit: leave(); break;
  case isa::Family::barrier: barrier(spelling); break;
  case isa::Family::warp_barrier: warp_barrier(); break;
  case isa::Family::trap: emit(trap); break;
  case isa::Family::sleep: emit(sleep); break;
  case isa::Family::policy: // the 64 bits of a cache policy have no effect
    lane_as("mov.b64", {destination(function_.operands(*current_)[0], isa::Type::b64, false)}, {file_.constant(8, 0)});
    break;
  case isa::Family::space_test: test_space(spelling); break;
  case isa::Family::texture: texture(spelling); break;
  case isa::Family::surface: surface(spelling); break;
  case isa::Family::texture_query: query_texture(spelling); break;
  case isa::Family::texture_type: test_texture_type(spelling); break;
  case isa::Family::nothing: emit(no_op); break;
  case isa::Family::mbarrier: mbarrier(spelling); break;
  case isa::Family::async_copy: async_copy(spelling); break;
  case isa::Family::bulk_copy: bulk_copy(spelling); break;
  case isa::Family::async_store: async_store(spelling); break;
  case isa::Family::bulk_store: bulk_store(spelling); break;
  case isa::Family::cluster_barrier: cluster_barrier(spelling); break;
  case isa::Family::map_address: map_address(spelling); break;
  case isa::Family::cta_rank: cta_rank(spelling); break;
  case isa::Family::matrix_transfer: transfer_matrices(spelling); break;
  case isa::Family::matrix_transpose: transpose_matrix(spelling); break;
  case isa::Family::fragment_transfer: transfer_fragment(spelling); break;
  case isa::Family::matrix_multiply: multiply_matrices(spelling); break;
  case isa::Family::group_multiply: multiply_by_group(spelling); break;
  case isa::Family::group_order: emit(no_op); break; // multiplications are complete when they have been issued
  case isa::Family::tensor_copy: copy_by_tensor_map(spelling); break;
  case isa::Family::tensor_map: change_tensor_map(spelling); break;
  case isa::Family::launch_control: control_launch(spelling); break;
  case isa::Family::tensor_allocation: allocate_tensor_memory(spelling); break;
  case isa::Family::tensor_transfer: transfer_tensor(spelling); break;
  case isa::Family::tensor_order: order_tensor(spelling); break;
  case isa::Family::tensor_copy_shared: copy_to_tensor_memory(spelling); break;
  case isa::Family::tensor_shift: shift_tensor(spelling); break;
  case isa::Family::tensor_multiply: multiply_tensors(spelling); break;
  case isa::Family::tensor_commit: commit_tensors(spelling); break;
  }
}

// The distance in ops to the first op of a block.
std::uint32_t Decoder::distance(std::size_t op, std::uint32_t block) const {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(block_op_[block]) - static_cast<std::int32_t>(op));
}

void Decoder::patch_branches() {
  for (const Patch& p : patches_) {
    Op& op = program_->ops[p.op];
    op.target = program_->ops.data() + block_op_[p.target_block];
    op.src[1] = kNotCounted;
    const bool meets = p.target_block == flow_.blocks.size() || meeting_[p.target_block];
    if (watched_ && !meets) { // the branch counts the block and skips its count_block
      op.src[1] = block_counter_[p.target_block];
      ++op.target;
    }
    if (p.meeting_block != ir::kNone) op.src[0] = distance(p.op, p.meeting_block);
  }
}

} // namespace warplens::exec
