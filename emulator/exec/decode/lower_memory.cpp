// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/control.hpp"
#include "emulator/exec/decode/decoder.hpp"

#include "emulator/exec/access/atomics.hpp"
#include "emulator/exec/memory/memory.hpp"

#include <fmt/format.h>

namespace warplens::exec {

using isa::Space;
using isa::Word;

namespace {

// Whether other blocks or the host may access the memory at the same time.
bool is_strong(const isa::Spelling& spelling) {
  return spelling.has(Word::w_volatile_) || spelling.has(Word::w_relaxed) || spelling.has(Word::w_acquire) ||
         spelling.has(Word::w_release) || spelling.has(Word::w_mmio);
}

} // namespace

Decoder::Address Decoder::address(const ir::Operand& operand) {
  if (operand.count == 0) return {file_.constant(8, static_cast<std::uint64_t>(operand.value)), 0, false};
  const ir::Operand& base = function_.elements(operand)[0];
  if (base.kind == ir::OperandKind::indexed) return indexed_address(base, operand.value);
  if (base.kind != ir::OperandKind::reg) {
    const std::uint64_t value = constant_value(base, isa::Type::u64) + static_cast<std::uint64_t>(operand.value);
    if (base.kind == ir::OperandKind::variable && in_moving_frame(base.index))
      return {program_->frame_row, static_cast<std::int64_t>(value), true};
    return {file_.constant(8, value, is_shared_address(base)), 0, false};
  }
  int bytes = 0;
  const std::uint32_t row = register_row(base, &bytes);
  return {row, operand.value, bytes == 4};
}

// [array + register * step]: the sum in a temporary row.
Decoder::Address Decoder::indexed_address(const ir::Operand& indexed, std::int64_t offset) {
  const ir::Operand& variable = function_.elements(indexed)[0];
  const ir::Operand& index = function_.elements(indexed)[1];
  int bytes = 0;
  const std::uint32_t index_row = register_row(index, &bytes);
  const std::uint64_t start = address_of(variable.index) + static_cast<std::uint64_t>(variable.value + offset);
  const std::uint32_t sum = file_.temporary(bytes);
  lane_as(bytes == 4 ? "mad.lo.u32" : "mad.lo.u64", {sum},
          {index_row, file_.constant(bytes, static_cast<std::uint64_t>(index.value)),
           file_.constant(bytes, start, is_shared_address(variable))});
  if (in_moving_frame(variable.index))
    lane_as(bytes == 4 ? "add.u32" : "add.u64", {sum}, {sum, resized(program_->frame_row, 4, bytes, false)});
  return {sum, 0, bytes == 4};
}

// The variable that an address names, if it names one.
const ir::Operand* Decoder::named_variable(const ir::Operand& address) const {
  if (address.count == 0) return nullptr;
  const ir::Operand* base = &function_.elements(address)[0];
  if (base->kind == ir::OperandKind::indexed) base = &function_.elements(*base)[0];
  return base->kind == ir::OperandKind::variable ? base : nullptr;
}

// A generic instruction that names a variable uses that variable's space.
Space Decoder::space_of_access(const isa::Spelling& spelling, const ir::Operand& operand) const {
  const Space space = spelling.form.space();
  const ir::Operand* const variable = named_variable(operand);
  // Parameters and results of functions are in their frames.
  const bool of_kernel =
      variable != nullptr ? ir::variable_owner(variable->index) == ir::VariableOwner::parameter : part_ == 0;
  if (space == Space::param && !of_kernel) return Space::local;
  return space == Space::generic && variable != nullptr ? module_.variable(function_, variable->index).space : space;
}

MemorySite& Decoder::site(Space space, AccessKind kind, int lane_bytes, const Address& address) {
  MemorySite s;
  s.index = static_cast<std::uint32_t>(program_->sites.size());
  s.instruction = current_index_;
  s.space = space;
  s.kind = kind;
  s.lane_bytes = static_cast<std::uint16_t>(lane_bytes);
  s.address32 = address.is_32_bit;
  s.cluster = space == Space::generic ||
              (current_->form != ir::kNone && module_.spellings[current_->form].has(Word::w_shared_cluster));
  const auto joined = joined_.find(current_index_);
  s.observed_bytes = joined == joined_.end() ? s.lane_bytes : joined->second.bytes;
  s.observed_offset = joined == joined_.end() ? 0 : joined->second.offset;
  s.resolve = level_.resolve;
  program_->sites.push_back(s);
  return program_->sites.back();
}

// Compilers keep parameters and results of functions in registers, so accesses to them are not reported. Kernel
// parameters are in memory: only reads at computed offsets count as accesses, not at fixed ones (load_parameter).
Op& Decoder::access(Handler handler, MemorySite& site, const Address& address,
                    std::initializer_list<std::uint32_t> destinations, std::initializer_list<std::uint32_t> values) {
  Op& op = emit_main(handler, destinations, {address.row});
  std::copy(values.begin(), values.end(), op.src + 1);
  op.imm = address.offset;
  op.site = &site;
  return op;
}

MemorySite& Decoder::hidden_param(MemorySite& site, const isa::Spelling& spelling) {
  if (spelling.form.space() == Space::param && site.space != Space::param) site.observed_bytes = 0;
  return site;
}

// Kernel parameters at a fixed offset are the same for all lanes: no address is computed.
void Decoder::load_parameter(const isa::Spelling& spelling, std::span<const ir::Operand> elements,
                             std::uint64_t offset) {
  const isa::Type type = spelling.form.type();
  const int size = isa::bytes(type);
  for (std::size_t e = 0; e < elements.size(); ++e, offset += static_cast<unsigned>(size)) {
    if (elements[e].kind == ir::OperandKind::sink) continue;
    int register_bytes = 0;
    const std::uint32_t d = register_row(elements[e], &register_bytes);
    const Handler handler = level_.memory({MemoryHandlerKey::Kind::param, type, register_bytes, 1, false});
    // Offsets before the first parameter have wrapped around.
    const bool inside =
        offset <= program_->param_bytes && program_->param_bytes - offset >= static_cast<unsigned>(size);
    if (handler == nullptr) return unsupported();
    if (!inside) return unsupported("the address is outside the parameter space");
    emit(handler, {d}).imm = static_cast<std::int64_t>(offset);
  }
}

Decoder::VectorRows Decoder::vector_rows(std::span<const ir::Operand> elements, isa::Type type) {
  VectorRows rows{{}, isa::bytes(type)};
  for (const ir::Operand& e : elements)
    if (e.kind == ir::OperandKind::reg) register_row(e, &rows.bytes);
  for (std::size_t e = 0; e < elements.size() && e < rows.of.size(); ++e) {
    const ir::Operand& element = elements[e];
    const bool moves = element.kind == ir::OperandKind::variable && in_moving_frame(element.index);
    int bytes = rows.bytes;
    rows.of[e] = element.kind == ir::OperandKind::reg       ? register_row(element, &bytes)
                 : element.kind == ir::OperandKind::sink    ? file_.temporary(bytes)
                 : element.kind == ir::OperandKind::special ? special_row(element, bytes)
                 : moves                                    ? frame_address(constant_value(element, type), bytes)
                         : file_.constant(bytes, constant_value(element, type), is_shared_address(element));
    if (bytes != rows.bytes) unsupported("the registers of a vector must have the same width");
  }
  return rows;
}

void Decoder::load(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto elements = function_.each_of(operands[0]);
  const ir::Operand& where = operands[1];
  const Space space = space_of_access(spelling, where);
  const bool fixed = where.count != 0 && function_.elements(where)[0].kind == ir::OperandKind::variable;
  if (space == Space::param && fixed) {
    const std::uint64_t offset =
        address_of(function_.elements(where)[0].index) + static_cast<std::uint64_t>(where.value);
    load_parameter(spelling, elements, offset);
    return;
  }
  const isa::Type type = spelling.form.type();
  const int width = spelling.vector_width();
  const auto [rows, register_bytes] = vector_rows(elements, type);
  const Handler handler =
      level_.memory({MemoryHandlerKey::Kind::load, type, register_bytes, width, is_strong(spelling)});
  if (handler == nullptr) return unsupported();
  const Address a = address(where);
  MemorySite& s = site(space, AccessKind::load, width * isa::bytes(type), a);
  s.to = rows;
  access(handler, hidden_param(s, spelling), a, {rows[0], rows[1]}, {rows[2], rows[3]});
}

void Decoder::store(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const auto elements = function_.each_of(operands[1]);
  const Space space = space_of_access(spelling, operands[0]);
  if (space == Space::param) return unsupported("the parameters of a kernel cannot be written");
  const isa::Type type = spelling.form.type();
  const int width = spelling.vector_width();
  const auto [rows, register_bytes] = vector_rows(elements, type);
  const Handler handler =
      level_.memory({MemoryHandlerKey::Kind::store, type, register_bytes, width, is_strong(spelling)});
  if (handler == nullptr) return unsupported();
  const Address a = address(operands[0]);
  MemorySite& s = site(space, AccessKind::store, width * isa::bytes(type), a);
  s.from = rows;
  access(handler, hidden_param(s, spelling), a, {rows[3]}, {rows[0], rows[1], rows[2]});
}

void Decoder::atomic(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const bool returns = spelling.entry->family == isa::Family::atomic;
  const isa::Type type = spelling.form.type();
  const int width = spelling.vector_width();
  const Handler handler = atomic_handler(spelling, width);
  if (handler == nullptr) return unsupported();
  std::size_t next = returns ? 1 : 0;
  const ir::Operand& where = operands[next++];
  const Address a = address(where);
  const auto values = function_.each_of(operands[next++]);
  const std::uint32_t b = source(values[0], type, false);
  const std::uint32_t c = spelling.has(Word::w_cas) ? source(operands[next], type, false) : b;
  MemorySite& s = site(space_of_access(spelling, where), returns ? AccessKind::atomic : AccessKind::reduction,
                       width * isa::bytes(type), a);
  s.swaps = swap_updates_[current_index_];
  if (width > 1) {
    for (std::size_t e = 0; e < values.size(); ++e) s.from[e] = source(values[e], type, false);
    if (returns) {
      const auto results = function_.each_of(operands[0]);
      for (std::size_t e = 0; e < results.size(); ++e) s.to[e] = destination(results[e], type, false);
    }
  }
  const std::uint32_t d = returns && width == 1 ? destination(operands[0], type, false) : 0;
  access(handler, s, a, {d}, {b, c});
}

// Generic addresses of shared and local memory are offsets in a window; all other spaces are flat.
void Decoder::convert_address(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  const isa::Type type = spelling.form.type();
  const Space space = spelling.form.space();
  std::uint64_t window = 0;
  if (space == Space::shared) window = isa::bits(type) == 32 ? kSharedWindow32 : kSharedWindow;
  if (space == Space::local) window = isa::bits(type) == 32 ? kLocalWindow32 : kLocalWindow;
  if (space == Space::param) window = part_ == 0 ? kParamWindow : kLocalWindow; // for a function: in its frame
  if (spelling.has(Word::w_to)) window = std::uint64_t{0} - window;
  const std::uint32_t s = source(operands[1], type, false);
  const std::uint32_t d = destination(operands[0], type, false);
  lane_as(fmt::format("add.{}", isa::name(type)), {d}, {s, file_.constant(isa::bytes(type), window)});
}

// result |= address in [begin, begin + size)
void Decoder::either_in(std::uint32_t result, std::uint32_t address, int bytes, std::uint64_t begin,
                        std::uint64_t size) {
  const std::string width = bytes == 4 ? "32" : "64";
  const std::uint32_t distance = file_.temporary(bytes), inside = file_.temporary(0);
  lane_as("sub.u" + width, {distance}, {address, file_.constant(bytes, begin)});
  lane_as("setp.lt.u" + width, {inside}, {distance, file_.constant(bytes, size)});
  lane_as("or.pred", {result}, {result, inside});
}

// result |= address in the CTA's own shared memory, at its place in the cluster
void Decoder::own_shared(std::uint32_t result, std::uint32_t address, int bytes, std::uint64_t window) {
  const std::string width = bytes == 4 ? "32" : "64";
  const std::uint32_t rank = file_.special(isa::Special::cluster_ctarank, 0, bytes), seen = file_.temporary(bytes);
  lane_as("mul.lo.u" + width, {seen}, {rank, file_.constant(bytes, kClusterStride)});
  lane_as("sub.u" + width, {seen}, {address, seen});
  either_in(result, seen, bytes, window, kClusterStride);
}

// isspacep (9.7.9.18). Constant variables are among global ones; addresses in no other space are global.
void Decoder::test_space(const isa::Spelling& spelling) {
  const auto operands = function_.operands(*current_);
  int bytes = module_.address_size / 8;
  if (operands[1].kind == ir::OperandKind::reg) register_row(operands[1], &bytes);
  const std::uint32_t address = source(operands[1], bytes == 4 ? isa::Type::u32 : isa::Type::u64, false);
  const std::uint64_t shared = bytes == 4 ? kSharedWindow32 : kSharedWindow,
                      local = bytes == 4 ? kLocalWindow32 : kLocalWindow,
                      size = bytes == 4 ? kWindowSize32 : kWindowSize;
  const std::uint32_t result = file_.temporary(0);
  lane_as("mov.pred", {result}, {file_.always()});
  lane_as("not.pred", {result}, {result});
  const Space space = spelling.form.space();
  const bool global = space == Space::global, own = space == Space::shared && !spelling.has(Word::w_shared_cluster);
  if (own) own_shared(result, address, bytes, shared);
  if ((space == Space::shared && !own) || global) either_in(result, address, bytes, shared, size);
  if (space == Space::local || global) either_in(result, address, bytes, local, size);
  if ((space == Space::param || global) && bytes == 8) either_in(result, address, bytes, kParamWindow, size);
  if (space == Space::constant || global) {
    emit(or_in_constant, {result}, {address}).imm = bytes;
  }
  if (global) lane_as("not.pred", {result}, {result});
  lane_as("mov.pred", {destination(operands[0], isa::Type::pred, false)}, {result});
}

} // namespace warplens::exec
