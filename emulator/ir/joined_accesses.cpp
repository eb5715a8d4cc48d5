// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/joined_accesses.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace warplens::ir {

namespace {

bool has_word(std::string_view opcode, std::string_view word) {
  for (std::size_t at = opcode.find(word); at != std::string_view::npos; at = opcode.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && opcode[at - 1] == '.' && (end == opcode.size() || opcode[end] == '.')) return true;
  }
  return false;
}

constexpr int kAll = 64;

int zeros_of(std::uint64_t value) { return value == 0 ? kAll : __builtin_ctzll(value); }

// The number of low bits that are zero in an instruction's result, from those of its operands.
template <class Zeros> int zeros_of_result(std::string_view op, std::span<const Operand> o, Zeros of) {
  const auto capped = [](int zeros) { return std::min(zeros, kAll); };
  if (o.size() == 2 && (op == "mov" || op == "cvt" || op == "cvta")) return of(o[1]);
  if (o.size() == 3) {
    if (op == "add" || op == "sub" || op == "or" || op == "xor") return std::min(of(o[1]), of(o[2]));
    if (op == "and") return std::max(of(o[1]), of(o[2]));
    if (op == "mul" || op == "mul24") return capped(of(o[1]) + of(o[2]));
    if (op == "shl" && o[2].kind == OperandKind::integer)
      return capped(of(o[1]) + static_cast<int>(std::clamp<std::int64_t>(o[2].value, 0, kAll)));
    if (op == "shl") return of(o[1]);
  }
  if (o.size() == 4) {
    if (op == "mad" || op == "mad24") return std::min(capped(of(o[1]) + of(o[2])), of(o[3]));
    if (op == "selp") return std::min(of(o[1]), of(o[2]));
  }
  return 0;
}

// The number of low bits of each register that are always zero: the minimum over all its definitions, iterated to a
// fixed point.
class LowZeros {
public:
  LowZeros(const Function& f, const std::function<std::uint64_t(const Operand&)>& address_of)
      : f_(f), address_of_(address_of), zeros_(f.registers.size(), kAll) {
    for (const Part& part : f.parts)
      for (const auto* formals : {&part.params, &part.results})
        for (const Formal& formal : *formals)
          if (formal.reg != kNone) zeros_[formal.reg] = 0; // calls write these
    find_readers();
    // First all instructions in the order of the text; then those that read changed registers.
    queued_.assign(f.instructions.size(), true);
    for (std::uint32_t i = 0; i < queued_.size(); ++i) define(i);
    while (!queue_.empty()) {
      const std::uint32_t i = queue_.back();
      queue_.pop_back();
      define(i);
    }
  }
  int of(std::uint32_t reg) const { return zeros_[reg]; }
  int of(const Operand& o) const {
    switch (o.kind) {
    case OperandKind::reg: return zeros_[o.index];
    case OperandKind::integer: return zeros_of(static_cast<std::uint64_t>(o.value));
    case OperandKind::variable: return zeros_of(address_of_(o));
    default: return 0;
    }
  }

private:
  // The instructions that use each register in a computation.
  void find_readers() {
    const auto each = [&](auto&& take) {
      for (std::uint32_t i = 0; i < f_.instructions.size(); ++i)
        for (const Operand& o : f_.operands(f_.instructions[i]))
          if (o.kind == OperandKind::reg) take(o.index, i);
    };
    reader_begin_.assign(zeros_.size() + 1, 0);
    each([&](std::uint32_t reg, std::uint32_t) { ++reader_begin_[reg]; });
    for (std::size_t r = 1; r < reader_begin_.size(); ++r) reader_begin_[r] += reader_begin_[r - 1];
    readers_.resize(reader_begin_.back());
    each([&](std::uint32_t reg, std::uint32_t i) { readers_[--reader_begin_[reg]] = i; });
  }

  void lower(const Operand& d, int zeros) {
    if (d.kind != OperandKind::reg) { // every element of a vector or pair
      if (d.kind == OperandKind::vector || d.kind == OperandKind::pair || d.kind == OperandKind::list)
        for (const Operand& e : f_.elements(d)) lower(e, 0);
      return;
    }
    if (zeros >= zeros_[d.index]) return;
    zeros_[d.index] = zeros;
    for (std::uint32_t r = reader_begin_[d.index]; r < reader_begin_[d.index + 1]; ++r) {
      if (queued_[readers_[r]]) continue;
      queued_[readers_[r]] = true;
      queue_.push_back(readers_[r]);
    }
  }

  void define(std::uint32_t index) {
    queued_[index] = false;
    const Instruction& i = f_.instructions[index];
    const auto o = f_.operands(i);
    const std::string_view op = i.head();
    if (o.empty() || op == "st" || op == "red" || op == "bra" || op == "bar") return;
    lower(o[0], zeros_of_result(op, o, [this](const Operand& x) { return of(x); }));
  }

  const Function& f_;
  const std::function<std::uint64_t(const Operand&)>& address_of_;
  std::vector<int> zeros_;
  std::vector<std::uint32_t> readers_, reader_begin_; ///< instructions; by register, the start of its own
  std::vector<bool> queued_;                          ///< by instruction
  std::vector<std::uint32_t> queue_;
};

// A value as a root and a constant distance from it. Equal values are the same number at run time.
struct Value {
  std::uint32_t root = 0;
  std::int64_t offset = 0;
};

struct Member {
  std::uint32_t instruction;
  std::int64_t offset;
  int bytes;
};

class Joiner {
public:
  Joiner(const Function& f, const std::function<std::uint64_t(const Operand&)>& address_of)
      : f_(f), address_of_(address_of), zeros_(f, address_of) {}

  std::vector<JoinedAccess> run(const ControlFlow& flow) {
    for (const Block& block : flow.blocks) {
      values_.clear();
      expressions_.clear();
      for (std::uint32_t i = block.first; i < block.end; ++i) {
        access(i);
        define(f_.instructions[i]);
      }
      close(loads_, true);
      close(stores_, false);
    }
    return std::move(joined_);
  }

private:
  // Windows of 16 bytes (8 if no more can be proved) that accesses of the current block touch.
  using Window = std::pair<std::uint32_t, std::int64_t>; // root, offset
  using Windows = std::map<Window, std::vector<Member>>;

  std::uint32_t new_root(int zeros) {
    root_zeros_.push_back(zeros);
    return static_cast<std::uint32_t>(root_zeros_.size() - 1);
  }

  Value value_of(const Operand& o) {
    if (o.kind == OperandKind::reg) {
      const auto [found, fresh] = values_.try_emplace(o.index);
      if (fresh) found->second = {new_root(zeros_.of(o.index)), 0};
      return found->second;
    }
    return {kConstant, o.kind == OperandKind::variable ? static_cast<std::int64_t>(address_of_(o)) : o.value};
  }

  void define(const Instruction& i) {
    const auto o = f_.operands(i);
    const std::string_view op = i.head();
    if (o.empty() || op == "st" || op == "red") return;
    if (o[0].kind != OperandKind::reg) {
      if (o[0].kind == OperandKind::vector || o[0].kind == OperandKind::pair || o[0].kind == OperandKind::list)
        for (const Operand& e : f_.elements(o[0]))
          if (e.kind == OperandKind::reg) values_.erase(e.index);
      return;
    }
    const Value value = i.guard == kNone ? computed(i, op, o) : Value{new_root(zeros_.of(o[0].index)), 0};
    values_[o[0].index] = value;
  }

  int zeros(const Operand& o) {
    if (o.kind != OperandKind::reg) return zeros_.of(o);
    const Value v = value_of(o);
    return std::min(v.root == kConstant ? kAll : root_zeros_[v.root], zeros_of(static_cast<std::uint64_t>(v.offset)));
  }

  Value result_root(const Instruction& i, std::span<const Operand> o) {
    const int local = zeros_of_result(i.head(), o, [this](const Operand& x) { return zeros(x); });
    return {new_root(std::max(local, zeros_.of(o[0].index))), 0};
  }

  // The value that an instruction computes; equal expressions are equal values.
  Value computed(const Instruction& i, std::string_view op, std::span<const Operand> o) {
    const auto simple = [](const Operand& x) {
      return x.kind == OperandKind::reg || x.kind == OperandKind::integer || x.kind == OperandKind::variable;
    };
    if (op == "mov" && o.size() == 2 && simple(o[1])) return value_of(o[1]);
    if (op == "add" && o.size() == 3 && o[2].kind == OperandKind::integer && !has_word(i.opcode, "cc")) {
      const Value a = value_of(o[1]);
      return {a.root, a.offset + o[2].value};
    }
    const bool pure = op == "add" || op == "sub" || op == "shl" || op == "mad" || op == "mul";
    if (!pure || !std::all_of(o.begin() + 1, o.end(), simple)) return result_root(i, o);
    std::string key(i.opcode);
    for (const Operand& x : o.subspan(1)) {
      const Value v = value_of(x);
      key += "," + std::to_string(v.root) + "+" + std::to_string(v.offset);
    }
    const auto known = expressions_.find(key);
    if (known != expressions_.end()) return known->second;
    return expressions_[key] = result_root(i, o);
  }

  void access(std::uint32_t index) {
    const Instruction& i = f_.instructions[index];
    const std::string_view op = i.head();
    if (op == "bar" || op == "barrier" || op == "membar" || op == "fence" || op == "mbarrier" || op == "call")
      return close_both();
    if (op != "ld" && op != "st" && op != "atom" && op != "red") return;
    const bool elsewhere = has_word(i.opcode, "global") || has_word(i.opcode, "param") || has_word(i.opcode, "local") ||
                           has_word(i.opcode, "const");
    if (elsewhere) return;
    const bool load = op == "ld";
    const int bytes = load || op == "st" ? joinable_bytes(i) : 0;
    if (bytes == 0) {
      if (load)
        close(stores_, false);
      else
        close_both();
      return;
    }
    const Operand& where = f_.operands(i)[load ? 1 : 0];
    Value at = value_of(where.count == 0 ? Operand{.kind = OperandKind::integer} : f_.elements(where)[0]);
    at.offset += where.value;
    const int known_zeros = at.root == kConstant ? kAll : root_zeros_[at.root];
    const std::int64_t window = known_zeros >= 4 ? 16 : known_zeros == 3 && bytes == 4 ? 8 : 0;
    if (load)
      close(stores_, false);
    else
      close(loads_, true);
    if (window == 0) {
      if (!load) close(stores_, false);
      return;
    }
    const Window key{at.root, at.offset & ~(window - 1)};
    if (!load && !stores_.contains(key)) close(stores_, false);
    Windows& windows = load ? loads_ : stores_;
    std::vector<Member>& members = windows[key];
    if (!members.empty() && members.front().bytes != bytes) return;
    members.push_back({index, at.offset, bytes});
  }

  // 4 or 8 if this load or store of shared memory can be joined with others, else 0.
  int joinable_bytes(const Instruction& i) const {
    if (i.guard != kNone || !has_word(i.opcode, "shared")) return 0;
    for (const char* word : {"volatile", "relaxed", "acquire", "release", "mmio", "v4"})
      if (has_word(i.opcode, word)) return 0;
    const auto type = isa::type_named(i.opcode.substr(i.opcode.rfind('.') + 1));
    const int bytes = type ? isa::bytes(*type) * (has_word(i.opcode, "v2") ? 2 : 1) : 0;
    return bytes == 4 || bytes == 8 ? bytes : 0;
  }

  void close_both() {
    close(loads_, true);
    close(stores_, false);
  }

  void close(Windows& windows, bool load) {
    for (const auto& [key, members] : windows) join(key.second, members, load);
    windows.clear();
  }

  void join(std::int64_t window, const std::vector<Member>& members, bool load) {
    unsigned words = 0; // requested words of the 16 bytes
    for (const Member& m : members)
      for (int b = 0; b < m.bytes; b += 4) words |= 1u << ((m.offset - window + b) / 4);
    const int count = __builtin_popcount(words);
    if (count == 4 || (load && count == 3 && members.front().bytes == 4)) {
      add(window, 16, members);
      return;
    }
    for (std::int64_t half = 0; half < 2; ++half) {
      if ((words >> (2 * half) & 3) != 3 || members.front().bytes != 4) continue;
      std::vector<Member> inside;
      for (const Member& m : members)
        if ((m.offset - window) / 8 == half) inside.push_back(m);
      add(window + 8 * half, 8, inside);
    }
  }

  void add(std::int64_t window, std::uint32_t bytes, const std::vector<Member>& members) {
    if (members.size() < 2) return;
    JoinedAccess j{members.front().instruction, window - members.front().offset, bytes, {}};
    for (std::size_t k = 1; k < members.size(); ++k) j.others.push_back(members[k].instruction);
    joined_.push_back(std::move(j));
  }

  static constexpr std::uint32_t kConstant = 0xffffffff;
  const Function& f_;
  const std::function<std::uint64_t(const Operand&)>& address_of_;
  LowZeros zeros_;
  std::vector<int> root_zeros_;
  std::map<std::uint32_t, Value> values_; ///< by register
  std::map<std::string, Value> expressions_;
  Windows loads_, stores_;
  std::vector<JoinedAccess> joined_;
};

} // namespace

std::vector<JoinedAccess> joined_accesses(const Function& function, const ControlFlow& flow,
                                          const std::function<std::uint64_t(const Operand&)>& address_of) {
  return Joiner(function, address_of).run(flow);
}

} // namespace warplens::ir
