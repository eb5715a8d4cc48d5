// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/ptx_statements.hpp"

#include <cstdio>

namespace warplens::fuzz {

namespace {

using isa::OperandClass;
using isa::Type;
using isa::Word;

// What the names in random_module() hold: see there. Generic addresses of each space, and shared addresses.
constexpr const char* kGeneric[] = {"%rd0", "%rd1", "%rd2", "%rd0", "%rd5"};

class Statement {
public:
  Statement(Random& random, const PtxNames& names, const RandomSpelling& spelling)
      : random_(random), names_(names), spelling_(spelling) {}

  std::string text() {
    std::string result = random_.one_in(4) ? "@" + negation() + any(Type::pred) + " " : "";
    result += spelling_.text;
    bool first = true;
    for (int i = 0; i < spelling_.entry->operands.count; ++i) {
      const isa::OperandSpec& o = spelling_.entry->operands.items[i];
      if (!o.is_written() || !isa::has_operand(o, spelling_.form) || (o.optional && random_.one_in(2))) continue;
      result += (first ? " " : ", ") + operand(o);
      first = false;
    }
    return result + ";";
  }

private:
  std::string negation() { return random_.one_in(2) ? "!" : ""; }

  std::string any(Type type) {
    std::vector<const std::vector<std::string>*> lists;
    for (const auto& [name, list] : names_.registers) {
      const auto declared = isa::type_named(name);
      if (declared && !list.empty() && isa::bits(*declared) == isa::bits(type)) lists.push_back(&list);
    }
    // The others have no register of their width: 8 bits are held by 16 or 32.
    if (lists.empty() && isa::bits(type) == 8) return any(Type::b16);
    if (lists.empty() || random_.one_in(50)) return random_.one_in(2) ? "%r1" : "%rd3";
    return random_.any(*random_.any(lists));
  }

  std::string of(const std::vector<std::string>& list, const char* otherwise) {
    return list.empty() ? otherwise : random_.any(list);
  }

  std::string offset() {
    if (random_.one_in(3)) return "";
    if (random_.one_in(20)) return "+" + random_number(random_);
    return "+" + std::to_string(random_.below(16) * (random_.one_in(8) ? 1 : 16));
  }

  std::string address() {
    if (!names_.address.empty()) return "[" + names_.address + offset() + "]";
    if (random_.one_in(30)) return "[" + any(Type::b64) + offset() + "]";
    if (random_.one_in(30)) return "[" + of(names_.variables, "data") + offset() + "]";
    switch (spelling_.form.space()) {
    case isa::Space::shared: return (random_.one_in(3) ? "[sh" : "[%r0") + offset() + "]";
    case isa::Space::local: return "[lo" + offset() + "]";
    case isa::Space::constant: return "[co" + offset() + "]";
    case isa::Space::param: return "[data" + offset() + "]";
    case isa::Space::global: return (random_.one_in(6) ? "[gl" : "[%rd0") + offset() + "]";
    default: break;
    }
    const std::string_view opcode = spelling_.entry->opcode;
    if (opcode.starts_with("mbarrier") && random_.one_in(2)) return "[%rd1+256]";
    return "[" + std::string(random_.any(kGeneric)) + offset() + "]";
  }

  std::string list_of(Type type, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + any(type);
    return text + "}";
  }

  std::string immediate(const isa::OperandSpec& o) {
    if (o.sign) return random_.one_in(2) ? "1" : "-1";
    if (!o.bounded || random_.one_in(20)) return random_number(random_);
    const std::size_t steps = (o.most - o.least) / std::size_t{o.step};
    return std::to_string(o.least + random_.below(steps + 1) * o.step);
  }

  std::string value(const isa::OperandSpec& o) {
    const Type type = isa::operand_type(o, spelling_.form);
    const int width = spelling_.form.has(Word::w_v2)   ? 2
                      : spelling_.form.has(Word::w_v4) ? 4
                      : spelling_.form.has(Word::w_v8) ? 8
                                                       : 1;
    if (o.vector && width > 1) return list_of(type, width);
    if (o.braces) return list_of(type, isa::element_count(o, spelling_.form));
    if (o.negatable) return negation() + any(type);
    if (o.immediate) return immediate(o);
    if (o.sink && random_.one_in(8)) return "_";
    if (o.address_of) return of(names_.variables, "gl");
    if (!o.destination && !o.register_only && random_.one_in(5)) {
      if (type == Type::f32) return random_.one_in(2) ? "0f3F800000" : "1.5";
      if (type == Type::f64) return "0d3FF0000000000000";
      if (!isa::is_float(type) && type != Type::pred) return o.bounded ? immediate(o) : random_number(random_);
    }
    if (!o.destination && o.moved && type == Type::u32 && random_.one_in(3))
      return random_.one_in(2) ? "%tid.x" : "%laneid";
    std::string text = any(type);
    if (o.pair && random_.one_in(2)) text += "|" + any(Type::pred);
    if (o.selectors == isa::Selectors::part && random_.one_in(2)) text += random_.one_in(2) ? ".b1" : ".h1";
    return text;
  }

  std::string coordinates() {
    const int dimensions = isa::tensor_coordinates(spelling_.form);
    const Type type = random_.one_in(2) ? Type::f32 : Type::b32;
    return dimensions == 1 ? any(type) : list_of(type, dimensions == 2 ? 2 : 4);
  }

  std::string operand(const isa::OperandSpec& o) {
    switch (o.kind) {
    case OperandClass::value: return value(o);
    case OperandClass::predicate:
      return (o.negatable ? negation() : "") + any(Type::pred) +
             (o.pair && random_.one_in(2) ? "|" + any(Type::pred) : "");
    case OperandClass::address: return address();
    case OperandClass::tensor:
      return "[" + (names_.address.empty() ? "%rd0" : names_.address) + ", " +
             list_of(Type::b32, std::max(1, isa::tensor_coordinates(spelling_.form))) + "]";
    case OperandClass::tensor_memory: return "[" + any(Type::b32) + "]";
    case OperandClass::label: return of(names_.labels, "END");
    case OperandClass::table: return "T";
    case OperandClass::function:
      return random_.one_in(2) ? "(" + any(Type::b32) + "), f, (" + any(Type::b32) + ")" : of(names_.functions, "f");
    case OperandClass::texture:
      return "[" +
             (!names_.address.empty() ? names_.address
              : random_.one_in(2)     ? "tx"
                                      : "%rd6") +
             ", " + coordinates() + "]";
    case OperandClass::policy: return any(Type::b64);
    case OperandClass::any: return random_.one_in(2) ? any(Type::b32) : any(Type::b64);
    case OperandClass::carry:
    case OperandClass::selection: break; // not written
    }
    return "";
  }

  Random& random_;
  const PtxNames& names_;
  const RandomSpelling& spelling_;
};

const std::vector<std::string>& opcodes_of_table() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> list;
    for (const std::string_view name : isa::opcodes()) list.emplace_back(name);
    return list;
  }();
  return all;
}

} // namespace

RandomSpelling random_spelling(Random& random, const isa::Entry& entry) {
  RandomSpelling result{&entry, {}, std::string(entry.opcode)};
  for (int g = 0; g < entry.pattern.count; ++g) {
    const isa::Group& group = entry.pattern.groups[g];
    if (group.optional && !random.one_in(4)) continue;
    const Word word = group.options[random.below(static_cast<std::size_t>(group.count))];
    result.form.add(word);
    result.text += "." + std::string(isa::text_of(word));
  }
  return result;
}

std::string random_number(Random& random) {
  if (random.one_in(2)) return std::to_string(random.below(70));
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(interesting_number(random)));
  return random.one_in(2) ? text : std::to_string(interesting_number(random));
}

// Every opcode is as likely as any other, and then every entry: some have hundreds.
std::string random_statement(Random& random, const PtxNames& names) {
  const std::string& opcode = random.any(opcodes_of_table());
  std::vector<const isa::Entry*> entries;
  for (const isa::Entry& e : isa::table())
    if (e.opcode == opcode) entries.push_back(&e);
  const RandomSpelling spelling = random_spelling(random, *random.any(entries));
  return random_statement(random, names, spelling);
}

std::string random_statement(Random& random, const PtxNames& names, const RandomSpelling& spelling) {
  return Statement(random, names, spelling).text();
}

std::string random_module(Random& random, std::size_t statements) {
  constexpr const char* kTargets[] = {"sm_100a", "sm_90a", "sm_120a", "sm_80", "sm_52"};
  const std::string target = random.any(kTargets);
  const std::string begin = "//" + std::to_string(random.below(100000)) + "\n.version " +
                            (target == "sm_52" ? "6.0" : "9.0") + "\n.target " + target + R"(
.address_size 64
.global .align 16 .b8 gl[512];
.const .align 16 .b8 co[256] = {1, 2, 3};
.global .texref tx;
.func (.reg .b32 o) f(.reg .b32 i) {
  add.u32 o, i, 1;
  ret;
}
.visible .entry k(.param .u64 data, .param .u32 n) {
  .reg .pred %p<4>;
  .reg .b16 %h<6>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>;
  .reg .f32 %f<6>;
  .reg .f64 %d<4>;
  .shared .align 128 .b8 sh[1024];
  .local .align 16 .b8 lo[256];
  ld.param.u64 %rd0, [data];
  mov.u32 %r0, sh;
  cvta.shared.u64 %rd1, sh;
  cvta.local.u64 %rd2, lo;
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd5, %r1, 16, %rd0;
  setp.lt.u32 %p0, %r1, 7;
  mbarrier.init.shared.b64 [sh+256], 32;
L0:
)";
  PtxNames names = names_in(begin + "END:\n");
  std::erase_if(names.registers["b32"], [](const std::string& name) { return name == "o" || name == "i"; }); // of f
  std::string body;
  for (std::size_t i = 0; i < statements; ++i) body += "  " + random_statement(random, names) + "\n";
  return begin + body + "END:\n  ret;\n}\n";
}

} // namespace warplens::fuzz
