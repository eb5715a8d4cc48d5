// SPDX-License-Identifier: Apache-2.0
// Lowers asynchronous copies and stores, and mbarrier.
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/access/async_copy.hpp"
#include "emulator/exec/access/launch_control.hpp"
#include "emulator/exec/access/mbarrier.hpp"
#include "emulator/exec/block/control.hpp"

namespace warplens::exec {

using isa::Space;
using isa::Word;

// An address operand. Its computation is emitted first, so that the ops of one instruction are consecutive.
Decoder::Place Decoder::place(Space space, const ir::Operand& where) {
  const ir::Operand* const variable = named_variable(where);
  if (space == Space::generic && variable != nullptr) space = module_.variable(function_, variable->index).space;
  return {space, address(where)};
}

// An op with one address of the instruction; `lane_bytes` is the size of a lane's access, or of a piece of it.
Op& Decoder::access(Handler handler, AccessKind kind, int lane_bytes, const Place& place) {
  return access(handler, site(place.space, kind, lane_bytes, place.address), place.address);
}

// Operations on a barrier object are not counted as accesses to shared memory.
Op& Decoder::access_object(Handler handler, AccessKind kind, const Place& place) {
  constexpr int kBytes = 8;
  Op& op = access(handler, kind, kBytes, place);
  program_->sites.back().observed_bytes = 0;
  return op;
}

void Decoder::mbarrier(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto has = [&](Word word) { return spelling.has(word); };
  const Space space = spelling.form.space();
  if (has(Word::w_pending_count)) {
    const std::uint32_t state = source(operands[1], isa::Type::b64, false);
    emit_main(mbarrier_pending, {destination(operands[0], isa::Type::u32, false)}, {state});
    return;
  }
  if (has(Word::w_test_wait) || has(Word::w_try_wait)) {
    const bool parity = has(Word::w_parity);
    const std::uint32_t of = source(operands[2], parity ? isa::Type::u32 : isa::Type::b64, false);
    const std::uint32_t result = destination(operands[0], isa::Type::pred, false);
    Op& op = access_object(mbarrier_wait, AccessKind::load, place(space, operands[1]));
    op.src[1] = of;
    op.dst[0] = result;
    op.extra = parity ? kParity : 0u;
    return;
  }
  if (has(Word::w_async)) { // cp.async.mbarrier.arrive
    access_object(mbarrier_copies_arrive, AccessKind::atomic, place(space, operands[0])).extra =
        has(Word::w_noinc) ? kNoIncrement : 0u;
    return;
  }
  const bool arrives = has(Word::w_arrive) || has(Word::w_arrive_drop);
  const std::size_t where = arrives ? 1 : 0;
  const std::uint32_t value =
      operands.size() > where + 1 ? source(operands[where + 1], isa::Type::u32, false) : file_.constant(4, 1);
  if (arrives) {
    const bool result = operands[0].kind == ir::OperandKind::reg;
    const std::uint32_t state = result ? destination(operands[0], isa::Type::b64, false) : 0;
    Op& op = access_object(mbarrier_arrive, AccessKind::atomic, place(space, operands[where]));
    op.src[1] = value;
    op.dst[0] = state;
    op.extra = (result ? kHasResult : 0u) | (has(Word::w_arrive_drop) ? kDrops : 0u) |
               (has(Word::w_expect_tx) ? kExpects : 0u) | (has(Word::w_no_complete) ? kNoComplete : 0u);
    return;
  }
  const bool writes = has(Word::w_init) || has(Word::w_inval);
  const Handler handler = has(Word::w_init)        ? mbarrier_init
                          : has(Word::w_inval)     ? mbarrier_invalidate
                          : has(Word::w_expect_tx) ? mbarrier_expect
                                                   : mbarrier_complete;
  access_object(handler, writes ? AccessKind::store : AccessKind::atomic, place(space, operands[where])).src[1] = value;
}

// Groups of asynchronous work: those that complete at an mbarrier are told by its handlers.
void Decoder::tell_async_step(const isa::Spelling& spelling) {
  using Work = AsyncStep::Work;
  using StepKind = AsyncStep::Kind;
  const auto tell = [&](Work work, StepKind kind, std::int64_t running = 0) {
    Op& op = emit(exec::tell_async_step);
    op.extra = static_cast<std::uint32_t>(work) | static_cast<std::uint32_t>(kind) << 8;
    op.imm = running;
  };
  const auto order = [&](Work work) {
    if (spelling.has(Word::w_commit_group)) tell(work, StepKind::commits);
    if (spelling.has(Word::w_wait_all)) tell(work, StepKind::waits_for_all);
    if (spelling.has(Word::w_wait_group))
      tell(work, StepKind::waits,
           static_cast<std::int64_t>(constant_value(function_.operands(*current_)[0], isa::Type::u32)));
  };
  switch (spelling.entry->family) {
  case isa::Family::async_copy: return tell(Work::copies, StepKind::begins);
  case isa::Family::bulk_copy:
  case isa::Family::tensor_copy:
    if (spelling.has(Word::w_bulk_group)) tell(Work::bulk_copies, StepKind::begins);
    return;
  case isa::Family::group_multiply: return tell(Work::products, StepKind::begins);
  case isa::Family::group_order: return order(Work::products);
  case isa::Family::nothing:
    if (spelling.entry->opcode == "cp") order(spelling.has(Word::w_bulk) ? Work::bulk_copies : Work::copies);
    return;
  default: return;
  }
}

void Decoder::async_copy(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const int bytes = static_cast<int>(constant_value(operands[2], isa::Type::u32));
  const bool policy = spelling.has(Word::w_l2_cache_hint);
  CopySource kind = CopySource::all;
  std::uint32_t row = 0;
  if (operands.size() > (policy ? 4u : 3u)) {
    const ir::Operand& size = operands[3];
    const bool predicate = size.kind == ir::OperandKind::reg && function_.registers[size.index].type == isa::Type::pred;
    kind = predicate ? CopySource::unless : CopySource::bytes;
    row = source(size, predicate ? isa::Type::pred : isa::Type::u32, false);
  }
  const Place to = place(Space::shared, operands[0]), read = place(Space::global, operands[1]);
  Op& from = access(exec::async_copy, AccessKind::load, bytes, read);
  from.extra = static_cast<std::uint32_t>(kind);
  from.src[1] = row;
  access(part_of_instruction, AccessKind::store, bytes, to).extra = spelling.has(Word::w_cg) ? 1 : 0;
}

void Decoder::bulk_copy(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  constexpr int kPiece = 16;
  const bool from_global = spelling.form.words[spelling.has(Word::w_reduce) ? 4 : 3] == Word::w_global,
             to_global = spelling.has(Word::w_bulk_group);
  const bool reduces = spelling.has(Word::w_reduce);
  const std::uint32_t options = (reduces ? kBulkReduces : 0u) | (to_global ? 0u : kCompletes) |
                                (spelling.has(Word::w_multicast_cluster) ? kMulticast : 0u) |
                                (spelling.has(Word::w_cp_mask) ? kMasked : 0u);
  if (reduces && reducer(spelling) == nullptr) unsupported();
  const std::uint32_t size = source(operands[2], isa::Type::u32, false);
  // The mask follows the mbarrier, or the size and a cache policy.
  const std::size_t mask_place = to_global && !spelling.has(Word::w_l2_cache_hint) ? 3 : 4;
  const bool has_mask = (options & (kMulticast | kMasked)) != 0;
  const std::uint32_t mask = has_mask ? source(operands[mask_place], isa::Type::u16, false) : 0;
  const Place to = place(to_global ? Space::global : Space::shared, operands[0]),
              read = place(from_global ? Space::global : Space::shared, operands[1]),
              object = to_global ? Place{} : place(Space::shared, operands[3]);
  Op& from = access(exec::bulk_copy, AccessKind::load, kPiece, read);
  from.src[1] = size;
  from.extra = options;
  // The source is always in the CTA's own shared memory.
  program_->sites.back().cluster = false;
  const AccessKind kind = reduces ? AccessKind::reduction : AccessKind::store;
  access(part_of_instruction, kind, kPiece, to).src[1] = mask;
  if ((options & kCompletes) != 0) access_object(part_of_instruction, AccessKind::atomic, object);
}

void Decoder::async_store(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type type = spelling.form.type();
  const auto values = function_.each_of(operands[1]);
  std::array<std::uint32_t, 8> rows{};
  for (std::size_t e = 0; e < values.size() && e < rows.size(); ++e) rows[e] = source(values[e], type, false);
  const bool reduces = spelling.instruction_class == isa::InstructionClass::atomic;
  if (reduces && reducer(spelling) == nullptr) unsupported();
  const int bytes = static_cast<int>(values.size()) * isa::bytes(type);
  const Place to = place(spelling.form.space(), operands[0]), object = place(spelling.form.space(), operands[2]);
  Op& op = access(exec::async_store, reduces ? AccessKind::reduction : AccessKind::store, bytes, to);
  op.extra = static_cast<std::uint32_t>(values.size());
  program_->sites.back().from = rows;
  access_object(part_of_instruction, AccessKind::atomic, object);
}

void Decoder::bulk_store(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  constexpr int kPiece = 8;
  const std::uint32_t size = source(operands[1], isa::Type::b64, false);
  access(exec::bulk_store, AccessKind::store, kPiece, place(spelling.form.space(), operands[0])).src[1] = size;
}

void Decoder::control_launch(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  if (spelling.has(Word::w_try_cancel)) {
    constexpr int kResponse = 16;
    const Place to = place(spelling.form.space(), operands[0]), object = place(spelling.form.space(), operands[1]);
    access(try_cancel, AccessKind::store, kResponse, to).extra = spelling.has(Word::w_multicast_all) ? kMulticast : 0u;
    access_object(part_of_instruction, AccessKind::atomic, object);
    program_->cancels_blocks = true;
    return;
  }
  const std::uint32_t response = source(operands[1], isa::Type::b128, false);
  if (spelling.has(Word::w_is_canceled)) {
    emit_main(query_canceled, {destination(operands[0], isa::Type::pred, false)}, {response});
    return;
  }
  std::uint32_t place = spelling.has(Word::w_get_first_ctaid_y) ? 1 : spelling.has(Word::w_get_first_ctaid_z) ? 2 : 0;
  constexpr std::uint32_t kCoordinates = 3; // the fourth element is undefined
  for (const ir::Operand& o : function_.each_of(operands[0])) {
    if (place < kCoordinates && o.kind == ir::OperandKind::reg)
      emit_main(query_first_cta, {destination(o, isa::Type::b32, false)}, {response}).extra = place;
    ++place;
  }
}

} // namespace warplens::exec
