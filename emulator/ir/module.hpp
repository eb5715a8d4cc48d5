// SPDX-License-Identifier: Apache-2.0
// A PTX module after parsing: names are resolved to indices, constants are folded, but nothing is checked against
// the instruction table yet (see ir/check.hpp).
//
//   .visible .entry k(.param .u64 p) { .reg .b32 %r<3>; add.s32 %r1, %r2, 5; ret; }
//
// becomes Module{functions: [Function{name: "k", is_entry, params: [p], registers: [%r0, %r1, %r2],
//   instructions: [{opcode: "add.s32", operands: [register 1, register 2, integer 5]}, {opcode: "ret"}]}]}.
#pragma once

#include "emulator/base/diagnostic.hpp"
#include "emulator/isa/special_registers.hpp"
#include "emulator/isa/table.hpp"
#include "emulator/isa/types.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace warplens::ir {

using isa::Space;
using isa::Type;

constexpr std::uint32_t kNone = 0xffffffffu;

/// Linkage and visibility in front of a declaration.
enum class Linkage : std::uint8_t { internal, visible, external, weak, common };

/// The kind of an operand. The meaning of `index` depends on it: a register of the function; a variable (see
/// VariableRef); a label; a Special; a function of the module; for lists the first of `count` operands in
/// Function::operand_pool.
enum class OperandKind : std::uint8_t {
  reg,       ///< %r1, or one component of a vector register: %v.x
  variable,  ///< the address of a variable or parameter, plus `value`
  function,  ///< the address of a function
  label,     ///< a branch target; `index` is into Function::labels
  special,   ///< %tid.x; `component`; the whole %tid is a vector of these, and so is a whole vector register
  integer,   ///< `value`
  real32,    ///< 0f3F800000: the bits in `value`
  real64,    ///< 0d3FF0000000000000 or a decimal such as 1.5: the bits of the double in `value`
  warp_size, ///< WARP_SZ
  sink,      ///< _
  vector,    ///< {a, b}
  pair,      ///< p|q
  address,   ///< [base+value]; the base is pool[index] (count 1), absent (count 0) for [123]; further elements
             ///< follow a comma, as in [tex, {x, y}]
  list,      ///< (a, b) of a call
  table,     ///< a .branchtargets, .calltargets or .callprototype label; `index` into Function::tables
  indexed,   ///< array[%r+2], or the base of [symbol+%r]: pool[index] is the variable, its `value` an offset in bytes;
             ///< pool[index+1] the register, its `value` the size of an element in bytes
};

/// Components of video instructions (manual, 9.7.18): %r1.b0 to .b3, .h0, .h1, and the selections of the SIMD ones,
/// whose digits are in Operand::value: %r1.h10 is 0x10, %r1.b7531 is 0x7531. kSomeBytes is a selection of two or three
/// bytes in descending order: %r1.b20, %r1.b310.
enum Component : std::uint8_t { kByte0 = 5, kHalf0 = 9, kHalves = 11, kBytes = 12, kSomeBytes = 13 };

struct Operand {
  OperandKind kind = OperandKind::sink;
  bool negated = false;       ///< !%p, or -%r if the PTX version allows it
  std::uint8_t component = 0; ///< 1..4 for .x .y .z .w (also .r .g .b .a), 0 for the whole; see Component
  bool unified = false;       ///< `.unified` after a texture operand
  std::uint32_t index = kNone;
  std::uint32_t count = 0;
  std::uint32_t column = 0; ///< of its first character; 0 if it is not on the line of the instruction
  std::int64_t value = 0;
};

/// A CUDA source position from `.loc`: `file` is an index into Module::files' numbers, 0 when unknown.
struct SourcePosition {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t inlined_at = kNone; ///< the call that was inlined, in Module::call_sites
  bool operator==(const SourcePosition&) const = default;
};

/// The position of a call that the compiler inlined; it may itself be in an inlined function.
struct CallSite {
  SourcePosition where;
  std::uint32_t column = 0;
};

struct Instruction {
  std::string_view opcode;     ///< the whole spelling, e.g. "ld.global.v2.f32"; owned by the module
  SourceLocation where;        ///< in the PTX text
  SourcePosition source;       ///< the `.loc` in force
  std::uint32_t guard = kNone; ///< register of `@%p`
  bool guard_negated = false;
  std::uint32_t first_operand = 0; ///< into Function::operand_pool
  std::uint32_t operand_count = 0;
  std::uint32_t form = kNone;                ///< set by check(): index into Module::spellings; kNone = unsupported
  isa::InstructionClass instruction_class{}; ///< that of the form

  /// The opcode without modifiers.
  [[nodiscard]] std::string_view head() const { return opcode.substr(0, opcode.find('.')); }
};

struct Register {
  std::string_view name; ///< with its `%`; two scopes may use the same name
  Type type = Type::none;
  std::uint8_t components = 1;  ///< 2 or 4 for `.reg .v2`
  std::uint32_t shared = kNone; ///< number of a register at module scope, which all functions share (before PTX 3.1)
};

/// An element of an initialiser that is not a number: the address of a symbol.
struct Relocation {
  std::uint64_t offset = 0; ///< in bytes into the variable
  std::uint32_t bytes = 8;
  std::string_view symbol;
  std::int64_t addend = 0;
  bool generic = false;   ///< generic(symbol)
  std::uint8_t shift = 0; ///< mask() operator: 0xFF(symbol) keeps byte `shift`/8; only with bytes == 1
};

/// `addr_mode_0 = wrap` in the initialiser of a .samplerref.
struct VariableOption {
  std::string_view name, value;
};

/// A variable of any space, or a parameter. A .global or .const variable that a body declares belongs to the module;
/// the function's name is its prefix.
struct Variable {
  std::string_view name;
  Space space = Space::none;
  Type type = Type::none;
  std::uint8_t vector = 1; ///< 2 or 4 for `.v2`, `.v4`
  Linkage linkage = Linkage::internal;
  std::uint32_t alignment = 0;        ///< in bytes; natural if `.align` is absent
  std::uint64_t size = 0;             ///< in bytes; 0 for `extern .shared x[]`
  std::vector<std::uint64_t> extents; ///< of an array; 0 for `[]`
  std::vector<std::byte> initial;     ///< empty: zeros; otherwise at most `size` bytes
  std::vector<Relocation> relocations;
  std::vector<VariableOption> options;
  std::uint32_t constant_bank = 0; ///< `.const[2]`
  bool managed = false;            ///< `.attribute(.managed)`
  Space pointee = Space::none;     ///< parameter: `.ptr .global`
  std::uint32_t pointee_alignment = 0;
  SourceLocation where;
};

/// What an Operand of kind `variable` refers to: the top two bits select the list, the others the entry.
enum class VariableOwner : std::uint32_t { module = 0, local = 1, parameter = 2, result = 3 };
constexpr std::uint32_t variable_index(VariableOwner owner, std::uint32_t i) {
  return static_cast<std::uint32_t>(owner) << 30 | i;
}
constexpr VariableOwner variable_owner(std::uint32_t index) { return static_cast<VariableOwner>(index >> 30); }
constexpr std::uint32_t variable_position(std::uint32_t index) { return index & 0x3fffffffu; }

struct Label {
  std::string_view name;
  std::uint32_t instruction = kNone; ///< the instruction that follows it; may equal instructions.size()
};

/// `.branchtargets`, `.calltargets` and `.callprototype`: kept for brx and indirect calls.
struct Table {
  enum class Kind : std::uint8_t { branch_targets, call_targets, call_prototype } kind{};
  std::string_view name;
  std::vector<std::uint32_t> labels;       ///< branch_targets
  std::vector<std::string_view> functions; ///< call_targets
  std::vector<Variable> params, results;   ///< call_prototype
  bool no_return = false;
};

/// Performance directives; 0 if absent.
struct LaunchBounds {
  std::array<std::uint32_t, 3> max_threads{};      ///< .maxntid
  std::array<std::uint32_t, 3> required_threads{}; ///< .reqntid
  std::uint32_t min_ctas_per_sm = 0;               ///< .minnctapersm
  std::uint32_t max_ctas_per_sm = 0;               ///< .maxnctapersm
  std::uint32_t max_registers = 0;                 ///< .maxnreg
  std::array<std::uint32_t, 3> required_cluster{}; ///< .reqnctapercluster
  std::uint32_t max_cluster_rank = 0;              ///< .maxclusterrank
  bool explicit_cluster = false;                   ///< .explicitcluster
  bool blocks_are_clusters = false;                ///< .blocksareclusters
};

/// A formal parameter or result of a part: its position in the frame, and its register if it is declared .reg.
struct Formal {
  std::uint32_t variable = kNone; ///< position in Function::variables
  std::uint32_t reg = kNone;
};

/// One of the functions that a linked kernel is made of (ir/link.hpp).
struct Part {
  std::uint32_t function = 0;       ///< of the module
  std::uint32_t first = 0, end = 0; ///< its instructions; a function of the device's library has none
  std::uint32_t first_variable = 0, end_variable = 0;
  std::vector<Formal> params, results; ///< the kernel has none: its parameters stay unchanged
  std::uint32_t cycle = kNone;         ///< parts that can call each other recursively share a number
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool has_body = false;
  bool no_return = false;
  Linkage linkage = Linkage::internal;
  std::string_view alias_of; ///< `.alias name, aliasee;`
  LaunchBounds bounds;
  std::vector<std::string_view> pragmas;
  std::vector<std::uint32_t> kept_loops; ///< instructions before which `.pragma "nounroll"` stands, ascending
  std::vector<Variable> params;          ///< kernel or function parameters, in order
  std::vector<Variable> results;         ///< `.func (.reg .u32 r) f`
  std::vector<Register> registers;       ///< of all scopes; parameters declared `.reg` are registers too
  std::vector<Variable> variables;       ///< .local, .shared and .param (call frames) declared inside
  std::vector<Label> labels;
  std::vector<Table> tables;
  std::vector<Instruction> instructions;
  std::vector<Operand> operand_pool;
  std::vector<Part> parts; ///< of a linked kernel, itself first; empty if it calls nothing
  SourceLocation where;
  std::string_view file; ///< the PTX file, if the module was merged from several

  [[nodiscard]] std::span<const Operand> operands(const Instruction& i) const {
    return {operand_pool.data() + i.first_operand, i.operand_count};
  }
  [[nodiscard]] std::span<const Operand> elements(const Operand& o) const {
    return {operand_pool.data() + o.index, o.count};
  }
  /// The elements of a vector; any other operand is its own element.
  [[nodiscard]] std::span<const Operand> each_of(const Operand& o) const {
    return o.kind == OperandKind::vector ? elements(o) : std::span(&o, 1);
  }
};

struct SourceFile {
  std::uint32_t number = 0;
  std::string_view name;
};

struct Module {
  std::string file;                             ///< as diagnostics name it
  int version = 0;                              ///< times ten: 9.0 is 90
  int sm = 0;                                   ///< of the first `.target sm_NN` or compute_NN; 10 for sm_10
  std::string_view target;                      ///< as written: "sm_90a"
  std::vector<std::string_view> target_options; ///< texmode_independent, debug, map_f64_to_f32
  int address_size = 32;                        ///< bits; 64 only with `.address_size 64` or by version
  std::vector<SourceFile> files;
  std::vector<CallSite> call_sites; ///< callers before callees
  std::vector<Variable> variables;  ///< module scope: .global, .const, .shared, .tex, …
  std::vector<Function> functions;
  std::vector<isa::Spelling> spellings; ///< of the instructions, without duplicates; set by check()

  [[nodiscard]] const Function* find(std::string_view function) const;
  [[nodiscard]] const Variable& variable(const Function& function, std::uint32_t index) const;

  /// Keeps a copy of `text` for as long as the module lives; equal texts share one copy.
  std::string_view intern(std::string_view text);

  /// Whether textures and samplers are separate: texmode_independent.
  [[nodiscard]] bool has_samplers() const;

  /// Also keeps the names of `other` alive, because its functions may move to this module.
  void keep_names_of(const Module& other) { others_.push_back(other.names_); }

  /// `prefix` followed by `number`, kept like the above but not shared: for the names of a register range.
  std::string_view numbered(std::string_view prefix, std::uint32_t number);

private:
  struct Names {
    std::vector<std::unique_ptr<char[]>> blocks;
    std::size_t block_size = 0, left = 0; ///< of the last block
    char* next = nullptr;                 ///< in it
    std::unordered_set<std::string_view> index;
    char* room(std::size_t size);
    std::string_view keep(std::string_view text);
  };
  std::shared_ptr<Names> names_ = std::make_shared<Names>();
  std::vector<std::shared_ptr<Names>> others_;
};

} // namespace warplens::ir
