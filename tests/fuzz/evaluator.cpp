// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/evaluator.hpp"
#include "tests/fuzz/generator.hpp"

#include "tests/fuzz/scalar_lanes.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <stdexcept>

namespace warplens::fuzz {

namespace {

using ir::Operand;
using ir::OperandKind;
using isa::Family;
using isa::Special;
using isa::Type;
using isa::Word;

constexpr int kNewest = 1000;
constexpr std::uint64_t kMostSteps = 1'000'000;

// Generic addresses in this evaluator: the topmost bits contain the space. Programs do not inspect them.
constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 60, kLocalWindow = std::uint64_t{2} << 60;
constexpr std::uint64_t kWindowMask = std::uint64_t{15} << 60;

std::uint64_t cut(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}
std::uint64_t extended(std::uint64_t value, int bits, bool is_signed) {
  value = cut(value, bits);
  if (is_signed && bits < 64 && (value >> (bits - 1) & 1) != 0) value |= ~std::uint64_t{0} << bits;
  return value;
}

[[noreturn]] void cannot(std::string_view opcode, const char* what) {
  throw std::runtime_error("the evaluator cannot run '" + std::string(opcode) + "': " + what);
}

struct Thread {
  std::vector<std::uint64_t> registers; ///< of the function; a predicate is 0 or 1
  bool carry = false;
  std::uint32_t number = 0; ///< in the block
  std::vector<std::byte> local;
};

class Evaluator {
public:
  explicit Evaluator(const Kernel& kernel) : k_(kernel), f_(kernel.function) {
    result_.counts.resize(f_.instructions.size());
    local_bytes_ = place(isa::Space::local);
    shared_bytes_ = place(isa::Space::shared);
  }

  Evaluation run() {
    try {
      for (cta_ = 0; cta_ < k_.shape.ctas(); ++cta_) {
        shared_.assign(shared_bytes_, std::byte{0});
        for (std::uint32_t t = 0; t < k_.shape.threads(); ++t) thread(t);
      }
    } catch (const std::runtime_error& e) {
      result_.problem = e.what();
    }
    return std::move(result_);
  }

private:
  // Variables of the function, one after the other.
  std::uint64_t place(isa::Space space) {
    std::uint64_t end = 0;
    offsets_.resize(f_.variables.size());
    for (std::size_t i = 0; i < f_.variables.size(); ++i) {
      if (f_.variables[i].space != space) continue;
      end = (end + f_.variables[i].alignment - 1) / f_.variables[i].alignment * f_.variables[i].alignment;
      offsets_[i] = end;
      end += f_.variables[i].size;
    }
    return end;
  }

  void thread(std::uint32_t number) {
    t_ = {};
    t_.number = number;
    t_.registers.assign(f_.registers.size(), 0);
    t_.local.assign(local_bytes_, std::byte{0});
    std::uint32_t pc = 0;
    for (std::uint64_t steps = 0; pc < f_.instructions.size(); ++steps) {
      if (steps == kMostSteps) throw std::runtime_error("a thread does not end");
      const ir::Instruction& i = f_.instructions[pc];
      const bool on = i.guard == ir::kNone || (t_.registers[i.guard] != 0) != i.guard_negated;
      ++result_.counts[pc].lanes;
      result_.counts[pc].lanes_on += on ? 1 : 0;
      pc = on ? execute(i, pc) : pc + 1;
    }
  }

  // Returns the next instruction.
  std::uint32_t execute(const ir::Instruction& i, std::uint32_t pc) {
    if (i.form == ir::kNone) cannot(i.opcode, "it is not in the table");
    i_ = &i;
    const isa::Spelling& s = k_.module.spellings[i.form];
    const auto operands = f_.operands(i);
    switch (s.entry->family) {
    case Family::lane:
      if (!move_vector(s)) lane(s);
      break;
    case Family::set: set(s); break;
    case Family::load: load(s); break;
    case Family::store: store(s); break;
    case Family::atomic:
    case Family::reduction: atomic(s); break;
    case Family::address_conversion: convert_address(s); break;
    case Family::branch: return f_.labels[operands[0].index].instruction;
    case Family::ret:
    case Family::exit: return static_cast<std::uint32_t>(f_.instructions.size());
    case Family::barrier: // no thread reads what another one writes
    case Family::nothing: break;
    default: cannot(i.opcode, "its family");
    }
    return pc + 1;
  }

  // ---- operands

  std::uint64_t special(const Operand& o) const {
    const auto& block = k_.shape.block;
    const auto& grid = k_.shape.grid;
    const int axis = o.component == 0 ? 0 : o.component - 1; // x y z w
    const std::uint32_t lane = t_.number % 32;
    const std::uint64_t tid[] = {t_.number % block[0], t_.number / block[0] % block[1], t_.number / block[0] / block[1],
                                 0};
    const std::uint64_t ctaid[] = {cta_ % grid[0], cta_ / grid[0] % grid[1], cta_ / grid[0] / grid[1], 0};
    const std::uint64_t ones[] = {block[0], block[1], block[2], 1}, counts[] = {grid[0], grid[1], grid[2], 1};
    switch (static_cast<Special>(o.index)) {
    case Special::tid: return tid[axis];
    case Special::ntid: return ones[axis];
    case Special::ctaid: return ctaid[axis];
    case Special::nctaid: return counts[axis];
    case Special::laneid: return lane;
    case Special::warpid: return t_.number / 32;
    case Special::lanemask_eq: return 1u << lane;
    case Special::lanemask_lt: return (1u << lane) - 1;
    case Special::lanemask_le: return ~0u >> (31 - lane);
    case Special::lanemask_gt: return ~(~0u >> (31 - lane)) & 0xffffffffu;
    case Special::lanemask_ge: return ~((1u << lane) - 1) & 0xffffffffu;
    default: cannot(i_->opcode, "a special register");
    }
  }

  // An operand's bits; those of a register wider than the type are cut.
  std::uint64_t source(const Operand& o, Type type) const {
    const int width = isa::bits(type);
    switch (o.kind) {
    case OperandKind::reg: {
      const std::uint64_t value = t_.registers[o.index];
      return type == Type::pred && o.negated ? value ^ 1 : cut(value, width);
    }
    case OperandKind::special: return cut(special(o), width);
    case OperandKind::integer: return type == Type::pred ? (o.value != 0 ? 1 : 0) : cut(o.value, width);
    case OperandKind::warp_size: return 32;
    case OperandKind::real32: {
      const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(o.value));
      return type == Type::f64 ? std::bit_cast<std::uint64_t>(static_cast<double>(single)) : cut(o.value, 32);
    }
    case OperandKind::real64: {
      const auto number = std::bit_cast<double>(o.value);
      return width == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                         : static_cast<std::uint64_t>(o.value);
    }
    case OperandKind::variable: return address_of(o);
    default: cannot(i_->opcode, "an operand");
    }
  }

  std::uint64_t address_of(const Operand& o) const {
    const std::uint32_t position = ir::variable_position(o.index);
    switch (ir::variable_owner(o.index)) {
    case ir::VariableOwner::parameter: return 8 * position + o.value;
    case ir::VariableOwner::local: return offsets_[position] + o.value;
    default: cannot(i_->opcode, "a variable of the module");
    }
  }

  // Writes a result of `type`; a wider register takes it extended by the sign, or by zeros.
  void write(const Operand& o, Type type, std::uint64_t bits) {
    if (o.kind == OperandKind::sink) return;
    if (o.kind != OperandKind::reg) cannot(i_->opcode, "a destination");
    const Type held = f_.registers[o.index].type;
    if (held != Type::pred) bits = cut(extended(bits, isa::bits(type), isa::is_signed(type)), isa::bits(held));
    t_.registers[o.index] = bits;
  }

  // ---- what functors compute

  void compute(std::string_view spelling, const std::uint64_t* sources, std::uint64_t* results) {
    auto& known = helpers_[std::string(spelling)];
    if (known == nullptr) {
      const auto found = isa::lookup(spelling, kNewest, isa::kEveryTarget);
      if (!found || found->entry->family != Family::lane) cannot(i_->opcode, "its helper");
      known = scalar_lanes()[found->entry_index][found->variant];
    }
    known(sources, results);
  }

  static bool combined(const isa::Spelling& s, bool truth, bool other) {
    if (s.has(Word::w_and_)) return truth && other;
    if (s.has(Word::w_or_)) return truth || other;
    if (s.has(Word::w_xor_)) return truth != other;
    return truth;
  }

  void lane(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    const isa::OperandList& specs = s.entry->operands;
    std::array<std::uint64_t, isa::kMaxOperands> sources{};
    std::uint64_t results[2]{};
    int source_count = 0;
    bool other = false;
    std::size_t next = 0;
    for (int i = 0; i < specs.count; ++i) {
      const isa::OperandSpec& spec = specs.items[i];
      const bool carry = spec.kind == isa::OperandClass::carry;
      if (spec.destination) {
        next += carry ? 0 : 1;
      } else if (carry) {
        sources[source_count++] = t_.carry ? 1 : 0;
      } else {
        for (const Operand& o : elements(operands[next++])) {
          const std::uint64_t value = source(o, s.types[i]);
          if (spec.negatable)
            other = value != 0;
          else
            sources[source_count++] = value;
        }
      }
    }
    scalar_lanes()[s.entry_index][s.variant](sources.data(), results);
    store_results(s, results, other);
  }

  void store_results(const isa::Spelling& s, const std::uint64_t* results, bool other) {
    const auto operands = f_.operands(*i_);
    const isa::OperandList& specs = s.entry->operands;
    const Type type = s.form.type();
    const bool packed = type == Type::f16x2 || type == Type::bf16x2;
    std::size_t next = 0, result = 0;
    for (int i = 0; i < specs.count && specs.items[i].destination; ++i) {
      if (specs.items[i].kind == isa::OperandClass::carry) {
        t_.carry = results[result++] != 0;
        continue;
      }
      const Operand& o = operands[next++];
      if (!specs.items[i].pair) {
        const std::uint64_t bits = results[result++];
        write(o, s.types[i], s.types[i] == Type::pred ? combined(s, bits != 0, other) : bits);
        continue;
      }
      const bool truth = results[0] != 0, second = packed ? results[1] != 0 : !truth;
      const bool two = o.kind == OperandKind::pair;
      write(two ? f_.elements(o)[0] : o, Type::pred, combined(s, truth, other));
      if (two) write(f_.elements(o)[1], Type::pred, combined(s, second, other));
    }
  }

  // A predicate, or two of a pair of halves, as the number that the result's type has for truth.
  void set(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    const Type to = s.form.type(0), from = s.form.type(1);
    const bool pair = from == Type::f16x2 || from == Type::bf16x2;
    const std::uint64_t sources[] = {source(operands[1], from), source(operands[2], from)};
    std::uint64_t truths[2]{};
    compute("setp." + std::string(isa::text_of(s.form.words[0])) + (s.has(Word::w_ftz) ? ".ftz." : ".") +
                std::string(isa::name(from)),
            sources, truths);
    const bool other = operands.size() > 3 && source(operands[3], Type::pred) != 0;
    std::uint64_t one = ~std::uint64_t{0};
    if (to == Type::f32) one = 0x3f800000;
    if (to == Type::f16 || to == Type::f16x2) one = 0x3c00;
    if (to == Type::bf16 || to == Type::bf16x2) one = 0x3f80;
    one = cut(one, pair ? 16 : isa::bits(to));
    std::uint64_t bits = combined(s, truths[0] != 0, other) ? one : 0;
    if (pair && combined(s, truths[1] != 0, other)) bits |= one << 16;
    write(operands[0], to, bits);
  }

  bool move_vector(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    if (s.entry->opcode != "mov") return false;
    const int total = isa::bits(s.form.type());
    if (operands[0].kind == OperandKind::vector) {
      const std::uint64_t whole = source(operands[1], s.form.type());
      const int each = total / static_cast<int>(operands[0].count);
      int shift = 0;
      for (const Operand& part : f_.elements(operands[0])) {
        write(part, untyped(each), cut(whole >> shift, each));
        shift += each;
      }
      return true;
    }
    if (operands[1].kind != OperandKind::vector) return false;
    const int each = total / static_cast<int>(operands[1].count);
    std::uint64_t whole = 0;
    int shift = 0;
    for (const Operand& part : f_.elements(operands[1])) {
      whole |= source(part, untyped(each)) << shift;
      shift += each;
    }
    write(operands[0], s.form.type(), whole);
    return true;
  }

  static Type untyped(int bits) {
    return bits == 8 ? Type::b8 : bits == 16 ? Type::b16 : bits == 32 ? Type::b32 : Type::b64;
  }

  // ---- memory

  std::byte* memory(const isa::Spelling& s, const Operand& address, std::size_t bytes) {
    std::uint64_t at = static_cast<std::uint64_t>(address.value);
    if (address.count > 0) {
      const Operand& base = f_.elements(address)[0];
      at += base.kind == OperandKind::variable ? address_of(base) : t_.registers[base.index];
    }
    const bool shared = names_shared(s), local = s.has(Word::w_local);
    if (shared || (at & kWindowMask) == kSharedWindow) return inside(shared_, at & ~kWindowMask, bytes);
    if (local || (at & kWindowMask) == kLocalWindow) return inside(t_.local, at & ~kWindowMask, bytes);
    return reinterpret_cast<std::byte*>(at);
  }
  std::byte* inside(std::vector<std::byte>& space, std::uint64_t at, std::size_t bytes) const {
    if (at + bytes > space.size()) cannot(i_->opcode, "its address");
    return space.data() + at;
  }

  // The elements of a vector operand, or the operand itself.
  std::span<const Operand> elements(const Operand& o) const {
    return o.kind == OperandKind::vector ? f_.elements(o) : std::span(&o, 1);
  }

  void load(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    const Type type = s.form.type();
    const auto bytes = static_cast<std::size_t>(isa::bytes(type));
    if (s.has(Word::w_param)) {
      write(operands[0], type, k_.params[address_of(f_.elements(operands[1])[0]) / 8]);
      return;
    }
    const auto parts = elements(operands[0]);
    const std::byte* from = memory(s, operands[1], bytes * parts.size());
    std::array<std::uint64_t, 8> values{};
    for (std::size_t n = 0; n < parts.size(); ++n) std::memcpy(&values[n], from + n * bytes, bytes);
    for (std::size_t n = 0; n < parts.size(); ++n) write(parts[n], type, values[n]);
  }

  void store(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    const Type type = s.form.type();
    const auto bytes = static_cast<std::size_t>(isa::bytes(type));
    const auto parts = elements(operands[1]);
    std::byte* to = memory(s, operands[0], bytes * parts.size());
    for (std::size_t n = 0; n < parts.size(); ++n) {
      const std::uint64_t value = source(parts[n], type);
      std::memcpy(to + n * bytes, &value, bytes);
    }
  }

  // What an atomic operation leaves in memory (manual 9.7.13.5): `a` is there, b and c are the operands.
  std::uint64_t updated(const isa::Spelling& s, Type type, std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    const int width = isa::bits(type);
    const bool is_signed = isa::is_signed(type);
    const auto less = [&](std::uint64_t x, std::uint64_t y) {
      if (!is_signed) return x < y;
      return static_cast<std::int64_t>(extended(x, width, true)) < static_cast<std::int64_t>(extended(y, width, true));
    };
    if (s.has(Word::w_and_)) return a & b;
    if (s.has(Word::w_or_)) return a | b;
    if (s.has(Word::w_xor_)) return a ^ b;
    if (s.has(Word::w_exch)) return b;
    if (s.has(Word::w_cas)) return a == b ? c : a;
    if (s.has(Word::w_inc)) return a >= b ? 0 : a + 1;
    if (s.has(Word::w_dec)) return a == 0 || a > b ? b : a - 1;
    if (s.has(Word::w_min)) return less(b, a) ? b : a;
    if (s.has(Word::w_max)) return less(a, b) ? b : a;
    if (s.has(Word::w_add) && !isa::is_float(type)) return cut(a + b, width);
    cannot(i_->opcode, "its operation");
  }

  void atomic(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    const Type type = s.form.type();
    const auto bytes = static_cast<std::size_t>(isa::bytes(type));
    const std::size_t at = s.entry->family == Family::atomic ? 1 : 0;
    std::byte* const place = memory(s, operands[at], bytes);
    std::uint64_t old = 0;
    std::memcpy(&old, place, bytes);
    const std::uint64_t b = source(operands[at + 1], type);
    const std::uint64_t c = operands.size() > at + 2 ? source(operands[at + 2], type) : 0;
    const std::uint64_t value = updated(s, type, old, b, c);
    std::memcpy(place, &value, bytes);
    if (at == 1) write(operands[0], type, old);
  }

  void convert_address(const isa::Spelling& s) {
    const auto operands = f_.operands(*i_);
    const Type type = s.form.type();
    const std::uint64_t window = names_shared(s) ? kSharedWindow : s.has(Word::w_local) ? kLocalWindow : 0;
    const std::uint64_t value = source(operands[1], type);
    write(operands[0], type, s.has(Word::w_to) ? value & ~window : value | window);
  }

  const Kernel& k_;
  const ir::Function& f_;
  const ir::Instruction* i_ = nullptr;
  Evaluation result_;
  std::vector<std::uint64_t> offsets_; ///< of the function's variables, in their space
  std::uint64_t local_bytes_ = 0, shared_bytes_ = 0, cta_ = 0;
  std::vector<std::byte> shared_;
  Thread t_;
  std::map<std::string, LaneFunction> helpers_;
};

} // namespace

Evaluation evaluate(const Kernel& kernel) { return Evaluator(kernel).run(); }

} // namespace warplens::fuzz
