// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/check.hpp"

#include "emulator/base/limits.hpp"
#include "emulator/ir/check_addresses.hpp"
#include "emulator/ir/check_calls.hpp"
#include "emulator/ir/check_selectors.hpp"
#include "emulator/ir/check_texture.hpp"
#include "emulator/ir/check_values.hpp"
#include "emulator/ir/check_vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace warplens::ir {

namespace {

using isa::Class;
using isa::Family;
using isa::OperandClass;
using isa::OperandSpec;

constexpr std::size_t kMaxErrors = 1000; // per module, as in the parser
constexpr int kFirstDouble = 13;         // earlier targets have no double precision (manual 11.1.2)
constexpr int kLeastColumns = 32;        // of tensor memory

/// No target has such an instruction, so it is an error even if no kernel reaches it.
bool writes_constants(const Instruction& instruction) {
  const auto table = isa::table();
  return instruction.opcode.find(".const") != std::string_view::npos &&
         std::any_of(table.begin(), table.end(), [&](const isa::Entry& e) {
           return e.opcode == instruction.head() &&
                  (e.family == Family::store || e.family == Family::atomic || e.family == Family::reduction);
         });
}

class Checker {
public:
  explicit Checker(Module& module) : module_(module) {}

  Checked run() {
    for (std::uint32_t f = 0; f < module_.functions.size(); ++f) function(f);
    Instruction plain_return; // link() may have to add one
    plain_return.opcode = module_.intern("ret");
    if (has_calls_) known(plain_return);
    result_.errors.in_file(module_.file);
    for (Unsupported& u : result_.unsupported)
      if (u.why.file.empty()) u.why.file = module_.file;
    return std::move(result_);
  }

private:
  // Information about a spelling with this number of operands: its index in Module::spellings, or the reason why there
  // is none. Opcodes are interned, so the address of the text identifies it.
  struct Known {
    std::uint32_t form = kNone;
    Diagnostic why;
  };

  const Known& known(const Instruction& instruction) {
    const auto count = static_cast<int>(instruction.operand_count);
    const auto [found, fresh] = known_.try_emplace({instruction.opcode.data(), count});
    Known& k = found->second;
    if (!fresh) return k;
    const auto spelling = isa::lookup(instruction.opcode, module_.version, isa::target_named(module_.target), count);
    if (spelling) {
      k.form = static_cast<std::uint32_t>(module_.spellings.size());
      module_.spellings.push_back(*spelling);
    } else {
      k.why = spelling.error().list().front();
      if (module_.sm < kFirstDouble && instruction.opcode.find(".f64") != std::string_view::npos)
        k.why.hint = "map_f64_to_f32 (double precision computed in single precision) is not supported";
    }
    return k;
  }

  void function(std::uint32_t index) {
    Function& f = module_.functions[index];
    function_ = &f;
    table_targets_ = 0;
    cta_group_ = isa::Word::none;
    for (std::uint32_t i = 0; i < f.instructions.size() && result_.errors.error_count() < kMaxErrors; ++i) {
      Instruction& instruction = f.instructions[i];
      instruction_ = &instruction;
      const Known& k = known(instruction);
      instruction.form = k.form;
      if (k.form != kNone) instruction.instruction_class = module_.spellings[k.form].instruction_class;
      if (k.form == kNone && writes_constants(instruction)) {
        error(nullptr, fmt::format("'{}' cannot write: .const memory is read-only", instruction.opcode));
        continue;
      }
      if (k.form == kNone) {
        Diagnostic why = k.why;
        why.where = instruction.where;
        result_.unsupported.push_back({index, i, std::move(why)});
        continue;
      }
      remove_braces(f, instruction, module_.spellings[k.form]);
      guard();
      cta_group(module_.spellings[k.form]);
      if (module_.spellings[k.form].entry->family == Family::call)
        call(index, i);
      else
        operands(module_.spellings[k.form]);
    }
  }

  void error(const Operand* operand, std::string message, std::string hint = {}) {
    if (result_.errors.error_count() == kMaxErrors) return;
    SourceLocation where = instruction_->where;
    if (operand != nullptr && operand->column != 0) where.column = operand->column;
    result_.errors.error(where, std::move(message), std::move(hint));
  }

  AddressChecker addresses() { return {module_, *function_, *instruction_, complaint()}; }
  /// Counts the targets of a table for every instruction that names it.
  void take_table(const Operand& o, std::size_t targets) {
    const Limit& limit = limits::kTableTargets;
    const bool first = limit.admits(table_targets_);
    table_targets_ += targets;
    if (first && !limit.admits(table_targets_))
      error(&o, limit.exceeded(fmt::format("'{}'", function_->name), table_targets_), limit.hint());
  }

  Complaint complaint() {
    return [this](const Operand* o, std::string message, std::string hint) {
      error(o, std::move(message), std::move(hint));
    };
  }

  void call(std::uint32_t function, std::uint32_t index) {
    has_calls_ = true;
    if (!index_) index_.emplace(module_);
    if (const Operand* const table = call_operands(*function_, *instruction_).table)
      if (table->kind == OperandKind::table) take_table(*table, function_->tables[table->index].functions.size());
    if (auto why = check_call(module_, *index_, *function_, *instruction_, complaint()))
      result_.unsupported.push_back({function, index, std::move(*why)});
  }

  void guard() {
    if (instruction_->guard == kNone) return;
    const Register& r = function_->registers[instruction_->guard];
    if (r.type != Type::pred)
      error(nullptr,
            fmt::format("a guard must be a predicate, got register '{}' of type .{}", r.name, isa::name(r.type)));
  }

  void operands(const isa::Spelling& spelling) {
    const auto given = function_->operands(*instruction_);
    const isa::OperandList& specs = spelling.entry->operands;
    std::size_t next = 0;
    int wanted = 0, least = 0;
    bool lacks = false; // an operand after one that could have been left out
    for (int i = 0; i < specs.count; ++i) {
      const OperandSpec& spec = specs.items[i];
      if (!spec.is_written() || !has_operand(spec, spelling.form)) continue;
      ++wanted;
      least += spec.optional ? 0 : 1;
      const bool left_out =
          spec.optional && spec.braces && next < given.size() && given[next].kind != OperandKind::vector;
      lacks = lacks || (next >= given.size() && !spec.optional);
      if (next < given.size() && !left_out) operand(given[next++], spec, spelling.types[i], spelling);
    }
    if (next < given.size() && static_cast<int>(given.size()) <= wanted)
      error(&given[next], fmt::format("'{}' does not take this operand", instruction_->opcode));
    for (const TextureComplaint& c : texture_complaints(module_, *function_, *instruction_, spelling))
      error(c.operand, c.message, c.hint);
    const auto count = static_cast<int>(given.size());
    if (count < least || count > wanted || lacks)
      error(nullptr, fmt::format("'{}' takes {}{} operands, got {}", instruction_->opcode,
                                 least != wanted ? fmt::format("{} to ", least) : "", wanted, count));
    else if (count < wanted && specs.items[0].selectors != isa::Selectors::none && given[0].component != 0)
      error(&given[0],
            fmt::format("'{}' with a selector on its destination takes {} operands, got {}", instruction_->opcode,
                        wanted, count),
            "the last operand provides the bits that are not selected");
    else if (count == 4 && specs.items[3].minus && given[3].negated && given[1].negated != given[2].negated)
      error(&given[3], fmt::format("'{}' can negate the product or the addend, but not both", instruction_->opcode));
  }

  // Components and signs, which are independent of the rest of an operand.
  void marks(const Operand& o, const OperandSpec& spec) {
    if (o.kind == OperandKind::reg) {
      const Register& r = function_->registers[o.index];
      const bool fits =
          o.component < kByte0 ? o.component <= (r.components == 1 ? 0 : r.components) : selector_fits(o, spec);
      if (!fits)
        error(&o, fmt::format("'{}' takes no such selector of register '{}'", instruction_->opcode, r.name),
              std::string(selectors_of(spec)));
      if (o.negated && r.type != Type::pred && !spec.minus)
        error(&o, fmt::format("'{}' cannot negate operands", instruction_->opcode));
      if (o.negated && spec.destination)
        error(&o, fmt::format("'{}' cannot write to the negation of '{}'", instruction_->opcode, r.name));
    } else if (o.count != 0) {
      for (const Operand& element : function_->elements(o)) marks(element, {});
    }
  }

  void operand(const Operand& o, const OperandSpec& spec, Type type, const isa::Spelling& spelling) {
    const bool has_parts = o.kind != OperandKind::reg && o.kind != OperandKind::special && o.count != 0;
    if (has_parts && addresses().wrong_index(o)) return;
    marks(o, spec);
    switch (spec.kind) {
    case OperandClass::selection:
    case OperandClass::carry:
    case OperandClass::texture: return; // see texture_complaints()
    case OperandClass::policy: break;
    case OperandClass::any: return addresses().any_address(o);
    case OperandClass::label:
      if (o.kind != OperandKind::label) error(&o, fmt::format("expected a label, got {}", described(*function_, o)));
      if (o.kind == OperandKind::label && o.value != 0) error(&o, "a label takes no offset");
      return;
    case OperandClass::table:
      if (o.kind != OperandKind::table || function_->tables[o.index].kind != Table::Kind::branch_targets)
        error(&o, fmt::format("expected the label of a .branchtargets, got {}", described(*function_, o)));
      else
        take_table(o, function_->tables[o.index].labels.size());
      return;
    case OperandClass::function: return; // check_call() handles calls
    case OperandClass::address: return addresses().address(o, spelling);
    case OperandClass::tensor: return addresses().tensor(o, spelling);
    case OperandClass::tensor_memory: return addresses().tensor_memory(o);
    case OperandClass::predicate:
      if (spec.pair && o.kind == OperandKind::pair) {
        for (const Operand& element : function_->elements(o)) predicate(element, spec);
        return;
      }
      return predicate(o, spec);
    case OperandClass::value:
      if (spec.or_predicate && o.kind == OperandKind::reg && function_->registers[o.index].type == Type::pred) return;
      if (spec.pair && (!spec.vector || o.kind == OperandKind::pair))
        return value_and_predicate(o, spec, type, spelling);
      break;
    }
    if (type == Type::pred) return predicate(o, spec);
    if (spec.or_tensor_memory && o.kind == OperandKind::address) return addresses().tensor_memory(o);
    if (spec.or_descriptor && o.kind != OperandKind::vector) return value(o, spec, Type::b64, spelling);
    if (o.kind == OperandKind::vector || spec.braces) return vector(o, spec, type, spelling);
    const bool whole_special = spec.moved && o.kind == OperandKind::special && o.component == 0 &&
                               isa::info(static_cast<isa::Special>(o.index)).components > 1;
    if (spec.vector && spelling.vector_width() > 1 && !(whole_special && !spec.destination)) {
      error(&o, fmt::format("'{}' expects a vector of {}, got {}", instruction_->opcode, spelling.vector_width(),
                            described(*function_, o)));
      return;
    }
    value(o, spec, type, spelling);
  }

  // d|p: if both are required, the value may be _, but not the predicate.
  void value_and_predicate(const Operand& o, const OperandSpec& spec, Type type, const isa::Spelling& spelling) {
    if (o.kind != OperandKind::pair) {
      if (!spec.both) return value(o, spec, type, spelling);
      error(&o, fmt::format("'{}' expects a register and a predicate as d|p, got {}", instruction_->opcode,
                            described(*function_, o)));
      return;
    }
    const auto both = function_->elements(o);
    if (spec.both && both[1].kind == OperandKind::sink)
      error(&o, fmt::format("'{}' expects a predicate after '|'", instruction_->opcode));
    if (both[0].kind == OperandKind::vector)
      vector(both[0], spec, type, spelling);
    else if (both[0].kind != OperandKind::sink || !spec.both)
      value(both[0], spec, type, spelling);
    predicate(both[1], spec);
  }

  void predicate(const Operand& o, const OperandSpec& spec) {
    if (o.kind == OperandKind::sink && spec.destination && spec.pair) return;
    const bool number = o.kind == OperandKind::integer || o.kind == OperandKind::warp_size;
    if (number && !spec.destination && number_is_predicate(module_.spellings[instruction_->form].form)) return;
    if (o.kind == OperandKind::special && !spec.destination) return special(o, spec, Type::pred);
    if ((o.kind == OperandKind::reg && function_->registers[o.index].type == Type::pred)) return;
    error(&o, fmt::format("'{}' expects a predicate, got {}", instruction_->opcode, described(*function_, o)));
  }

  void vector(const Operand& o, const OperandSpec& spec, Type type, const isa::Spelling& spelling) {
    if (spec.moved && !spec.vector) return moved_vector(o, spec, type);
    const int wanted = spec.braces ? element_count(spec, spelling.form) : spelling.vector_width();
    if (spec.braces && o.kind != OperandKind::vector) {
      error(&o,
            fmt::format("'{}' expects a vector of {}, got {}", instruction_->opcode, wanted, described(*function_, o)));
      return;
    }
    const auto elements = function_->elements(o);
    if (!spec.vector && !spec.braces) {
      error(&o, fmt::format("'{}' takes no vector", instruction_->opcode));
      return;
    }
    if (static_cast<int>(elements.size()) != wanted)
      error(&o,
            fmt::format("'{}' expects a vector of {}, got {} elements", instruction_->opcode, wanted, elements.size()));
    OperandSpec each = spec;
    const bool has_register =
        std::any_of(elements.begin(), elements.end(), [](const Operand& e) { return e.kind == OperandKind::reg; });
    if (spelling.entry->family == Family::tensor_transfer && !has_register)
      error(&o, fmt::format("'{}' expects at least one register", instruction_->opcode));
    const bool number = elements.size() == 1 &&
                        (elements[0].kind == OperandKind::integer || elements[0].kind == OperandKind::warp_size);
    if (spec.braces && number && !spec.immediate && !spec.bounded)
      error(&o, fmt::format("'{}' expects a register in braces, got a number", instruction_->opcode));
    const VectorElements vector(module_, *function_, elements, spec, type, spelling);
    for (const Operand& e : elements) {
      const bool moved = spec.moved && e.kind == OperandKind::special; // of any type that mov reads it as
      if (elements.size() == 1 || spec.bounded || spec.immediate || moved)
        value(e, each, type, spelling);
      else if (!vector.fits(e))
        does_not_fit(e, spec, type);
      if (spec.second_most != 0) each.least = 0, each.most = spec.second_most, each.step = 1;
    }
  }

  // mov packs and unpacks: the elements together are as wide as the (untyped) type.
  void moved_vector(const Operand& o, const OperandSpec& spec, Type type) {
    const auto given = function_->operands(*instruction_);
    if (spec.destination && given.size() == 2 && given[1].kind == OperandKind::vector) {
      error(&given[1], fmt::format("'{}' cannot move a vector to a vector", instruction_->opcode),
            "use mov.v2 or mov.v4");
      return;
    }
    const auto elements = function_->elements(o);
    const int each = isa::bits(type) / static_cast<int>(elements.size());
    if (isa::info(type).kind != Class::untyped || each * static_cast<int>(elements.size()) != isa::bits(type) ||
        each < 8) {
      error(&o, fmt::format("'{}' cannot move a vector of {} elements", instruction_->opcode, elements.size()),
            "mov moves all bits of a vector together, as .b16, .b32, .b64 or .b128");
      return;
    }
    if (kinds_of(*function_, elements).mixed)
      error(&o, fmt::format("'{}' expects elements of one kind: all integers or all floats", instruction_->opcode),
            "untyped registers (.b32) go with both");
    for (const Operand& e : elements) {
      if (e.kind == OperandKind::sink && spec.destination) continue;
      if (e.kind == OperandKind::reg && isa::bits(function_->registers[e.index].type) == each) continue;
      if (!spec.destination && (e.kind == OperandKind::integer || e.kind == OperandKind::real32)) continue;
      if (!spec.destination && e.kind == OperandKind::special) {
        special(e, spec, each == 64 ? Type::b64 : each == 32 ? Type::b32 : Type::b16);
        continue;
      }
      error(&e, fmt::format("'{}' expects elements of {} bits, got {}", instruction_->opcode, each,
                            described(*function_, e)));
    }
  }

  void value(const Operand& o, const OperandSpec& spec, Type type, const isa::Spelling& spelling) {
    const bool fixed = spec.type_index < 0 && spelling.entry->file != "video"; // whose types the decoder handles
    bool fits = false;
    switch (o.kind) {
    case OperandKind::reg:
      if (spelling.entry->family == Family::mbarrier && spec.destination && spelling.has(isa::Word::w_shared_cluster))
        return error(&o, fmt::format("'{}' returns no state: expected '_'", instruction_->opcode));
      fits = (fixed ? register_fits_fixed : register_fits)(function_->registers[o.index].type, type, spec.relaxed) &&
             !spec.immediate;
      break;
    case OperandKind::sink: fits = spec.sink; break;
    case OperandKind::special:
      if (!spec.destination) return special(o, spec, type);
      break;
    case OperandKind::variable:
    case OperandKind::function: fits = takes_name(o, spec, type); break;
    case OperandKind::indexed: fits = spec.moved && !spec.destination && isa::bits(type) >= 32; break;
    default:
      fits = !spec.destination && !spec.register_only && immediate_fits(o, type) &&
             !(o.kind == OperandKind::real64 && fixed && !isa::is_float(type)) &&
             (!spec.immediate || o.kind == OperandKind::integer || o.kind == OperandKind::warp_size);
    }
    if (fits && o.kind == OperandKind::variable)
      check_param_variable(module_, *function_, *instruction_, o, complaint());
    if (fits) return bounds(o, spec, spelling);
    does_not_fit(o, spec, type);
  }
  void does_not_fit(const Operand& o, const OperandSpec& spec, Type type) {
    error(&o, fmt::format("'{}' expects {} {}, got {}", instruction_->opcode,
                          spec.destination || spec.register_only ? "a register"
                          : spec.immediate                       ? "an immediate"
                                                                 : "a value",
                          types_that_fit(type, spec.relaxed), described(*function_, o)));
  }

  // The address of a variable or function as a value. Where the table does not require an address, the assembler
  // accepts a variable only with an offset.
  bool takes_name(const Operand& o, const OperandSpec& spec, Type type) {
    if (spec.destination || isa::is_float(type) || type == Type::pred) return false;
    const bool function = o.kind == OperandKind::function;
    if (function) {
      const bool kernel = module_.functions[o.index].is_entry;
      const bool named = spec.moved && o.value == 0;
      if (spec.address_of || (named && (module_.version < (kernel ? 31 : 21) || (kernel && module_.sm < 35))))
        return false;
    }
    if (spec.moved || spec.address_of) return isa::bits(type) >= 16;
    const bool fixed = spec.type_index < 0; // by the instruction: no function, and no address of 64 bits
    return isa::bits(type) >= 32 && !spec.register_only && !spec.immediate &&
           (fixed ? !function && o.value != 0 && isa::bits(type) == 32 : function || o.value != 0);
  }

  // Only mov and cvt between integers read special registers.
  void special(const Operand& o, const OperandSpec& spec, Type type) {
    const isa::Spelling& spelling = module_.spellings[instruction_->form];
    const auto special = static_cast<isa::Special>(o.index);
    const isa::SpecialRegisterInfo& has = isa::info(special);
    bool floating = false;
    for (int i = 0; i < spelling.form.type_count(); ++i) floating = floating || isa::is_float(spelling.form.type(i));
    if (has.ptx > module_.version)
      error(&o, fmt::format("'{}' requires PTX ISA .version {}.{} or later", has.name, has.ptx / 10, has.ptx % 10));
    else if (has.sm > module_.sm)
      error(&o, fmt::format("'{}' requires .target sm_{} or higher", has.name, has.sm));
    else if ((!spec.moved && !spec.special) || floating)
      error(&o, fmt::format("'{}' cannot read special register '{}'", instruction_->opcode, has.name),
            "move it into a register first, with mov or with cvt between integer types");
    else if (!isa::readable_as(special, type, spec.special))
      error(&o, fmt::format("'{}' expects a value of type .{}, but '{}' is .{}", instruction_->opcode, isa::name(type),
                            has.name, isa::name(has.type)));
    else if (has.components > 1 && o.component == 0 && spelling.vector_width() == 1 &&
             isa::info(type).kind == Class::untyped)
      error(&o, fmt::format("'{}' is a vector: read one of its components, such as {}.x", has.name, has.name));
    else if (o.component > has.components || (has.components == 1 && o.component != 0))
      error(&o, fmt::format("'{}' has no such component", has.name));
  }

  // Numbers with restricted values: by the table; barriers and their thread counts (9.7.13.1).
  void bounds(const Operand& o, const OperandSpec& spec, const isa::Spelling& spelling) {
    const Family family = spelling.entry->family;
    const bool names =
        family == Family::address_conversion || family == Family::map_address || family == Family::cta_rank;
    if (o.kind == OperandKind::variable && names) return addresses().converted(o, spelling);
    if (o.kind != OperandKind::integer && o.kind != OperandKind::warp_size) return;
    const std::int64_t number = o.kind == OperandKind::integer ? o.value : 32;
    const auto given = function_->operands(*instruction_);
    const auto place = static_cast<std::size_t>(&o - given.data());
    const bool limited = spec.immediate || spec.most != isa::kNoLimit;
    if (spec.bounded && (number < spec.least || (limited && number > spec.most) || number % spec.step != 0))
      error(&o,
            fmt::format("expected {}{}, got {}", spec.step > 1 ? fmt::format("a multiple of {} from ", spec.step) : "",
                        !limited                  ? fmt::format("{} on", spec.least)
                        : spec.least == spec.most ? fmt::format("{}", spec.most)
                                                  : fmt::format("{} to {}", spec.least, spec.most),
                        number));
    if (spec.sign && number != 1 && number != -1) error(&o, fmt::format("expected 1 or -1, got {}", number));
    if (family == Family::stack && place == 2 && (number < 1 || number > 1 << 23 || (number & (number - 1)) != 0))
      error(&o, fmt::format("expected a power of two up to 2^23 as alignment, got {}", number));
    if (family == Family::async_copy && place == 2 && number == 12) error(&o, "expected 4, 8 or 16 bytes, got 12");
    if (family == Family::async_copy && place == 3 && (number < 0 || number > given[2].value))
      error(&o, fmt::format("expected the size of the source, up to {} bytes, got {}", given[2].value, number));
    if (family == Family::policy && place == 2 && given.size() == 4 && given[3].kind == OperandKind::integer &&
        (number < 0 || number > given[3].value))
      error(&o, fmt::format("expected a primary size up to the total size {}, got {}", given[3].value, number));
    if (family == Family::bulk_store && place == 2 && number != 0)
      error(&o, fmt::format("expected 0, the only value that st.bulk stores, got {}", number));
    if (family == Family::tensor_allocation && place == 1) columns(o, spelling, number);
    if (family != Family::barrier) return;
    const std::size_t first = spelling.has(isa::Word::w_red) ? 1 : 0; // after the result
    if (place == first && (number < 0 || number > 15))
      error(&o, fmt::format("expected a barrier from 0 to 15, got {}", number));
    if (place == first + 1 && (number < 0 || number % 32 != 0))
      error(&o, fmt::format("expected a multiple of 32 threads, got {}", number));
  }

  // Of tensor memory: 9.7.16.7.1.
  void columns(const Operand& o, const isa::Spelling& spelling, std::int64_t number) {
    if (spelling.has(isa::Word::w_alloc) && (number & (number - 1)) != 0)
      error(&o, fmt::format("expected a power of two as the number of columns, got {}", number));
    if (spelling.has(isa::Word::w_dealloc) && number % kLeastColumns != 0)
      error(&o, fmt::format("expected a multiple of {} columns, got {}", kLeastColumns, number));
  }

  // All tcgen05 instructions of a function have the same .cta_group.
  void cta_group(const isa::Spelling& spelling) {
    if (spelling.entry->family == Family::tensor_copy) return; // of tensor maps
    for (const isa::Word group : {isa::Word::w_cta_group_1, isa::Word::w_cta_group_2}) {
      if (!spelling.has(group)) continue;
      if (cta_group_ == isa::Word::none) cta_group_ = group;
      if (cta_group_ != group)
        error(nullptr,
              fmt::format("'{}' has .{}, but an earlier tcgen05 instruction of '{}' has .{}", instruction_->opcode,
                          isa::text_of(group), function_->name, isa::text_of(cta_group_)));
    }
  }

  Module& module_;
  Function* function_ = nullptr;
  Instruction* instruction_ = nullptr;
  std::map<std::pair<const char*, int>, Known> known_;
  Checked result_;
  bool has_calls_ = false;
  std::optional<FunctionIndex> index_; ///< created for the first call
  std::size_t table_targets_ = 0;      ///< of the current function
  isa::Word cta_group_{};              ///< of its tcgen05 instructions
};

} // namespace

Checked check(Module& module) {
  module.spellings.clear();
  return Checker(module).run();
}

} // namespace warplens::ir
