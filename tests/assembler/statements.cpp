// SPDX-License-Identifier: Apache-2.0
#include "tests/assembler/statements.hpp"

#include "emulator/exec/decode/decode.hpp"
#include "emulator/ir/check.hpp"
#include "emulator/ir/parse.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace warplens::assembler {

namespace {

using isa::OperandClass;
using isa::Type;
using isa::Word;

// Registers have only fundamental types; other types use untyped registers (manual 5.2.2, 5.2.3).
std::string register_type(Type type) {
  // Halves use untyped registers, as in compiler output.
  const bool fundamental = isa::is_fundamental(type) && type != Type::f16 && type != Type::f16x2;
  return fundamental ? std::string(isa::name(type)) : "b" + std::to_string(isa::bits(type));
}

std::string reg(Type type, int n) { return "%" + register_type(type) + "_" + std::to_string(n); }

std::string address(const isa::Form& form) {
  for (const Word word : {Word::w_param, Word::w_param_entry, Word::w_param_func})
    if (form.has(word)) return "[param_0]";
  return "[%b64_8]";
}

std::string tensor(const isa::Form& form) {
  std::string text = "[%b64_8, {%b32_0";
  for (int i = 1; i < isa::tensor_coordinates(form); ++i) text += ", %b32_" + std::to_string(i);
  return text + "}]";
}

// A texture or a surface, with as many coordinates as its geometry has.
std::string texture(const isa::Form& form) {
  int count = form.has(Word::w_d1) ? 1 : form.has(Word::w_d2) || form.has(Word::w_a1d) ? 2 : 4;
  std::string text = "[%b64_8, {";
  for (int i = 0; i < count; ++i)
    text += (i == 0 ? "" : ", ") + reg(form.type(1) == Type::f32 ? Type::f32 : Type::s32, i);
  return text + "}]";
}

int vector_width(const isa::Form& form) {
  return form.has(Word::w_v2) ? 2 : form.has(Word::w_v4) ? 4 : form.has(Word::w_v8) ? 8 : 1;
}

std::string operand(const isa::OperandSpec& spec, const isa::Form& form, int n) {
  const Type type = isa::operand_type(spec, form);
  switch (spec.kind) {
  case OperandClass::address: return address(form);
  case OperandClass::tensor: return tensor(form);
  case OperandClass::tensor_memory: return "[%b32_8]";
  case OperandClass::label: return "label_0";
  case OperandClass::table: return "table_0";
  case OperandClass::function: return "device";
  case OperandClass::any: return reg(Type::b64, n);
  default: break;
  }
  if (spec.kind == OperandClass::texture) return texture(form);
  if (spec.sign) return "1";
  if (spec.immediate) return std::to_string(spec.bounded ? std::clamp<int>(1, spec.least, spec.most) : 1);
  const int width = spec.vector ? vector_width(form) : element_count(spec, form);
  if (width == 1 && !spec.braces) return reg(type, n) + (spec.pair && type != Type::pred ? "|%pred_8" : "");
  std::string list;
  for (int i = 0; i < width; ++i) list += (i == 0 ? "{" : ", ") + reg(type, (n + i) % 9);
  return list + "}";
}

std::string with_operands(const isa::Entry& entry, const isa::Form& form, const std::string& spelling, bool all) {
  std::string text = spelling;
  int n = 0;
  for (int i = 0; i < entry.operands.count; ++i) {
    const isa::OperandSpec& spec = entry.operands.items[i];
    if (!spec.is_written() || !isa::has_operand(spec, form)) continue;
    if (spec.optional && (!all || spec.kind == OperandClass::texture)) continue;
    text += (n == 0 ? " " : ", ") + operand(spec, form, n);
    ++n;
  }
  return text + ";";
}

void spell(const isa::Entry& entry, int group, const isa::Form& form, const std::string& text, bool all,
           std::vector<Statement>& list) {
  if (group == entry.pattern.count) {
    list.push_back({text, with_operands(entry, form, text, all)});
    return;
  }
  const isa::Group& g = entry.pattern.groups[group];
  if (g.optional) spell(entry, group + 1, form, text, all, list);
  for (int i = 0; i < g.count; ++i) {
    isa::Form longer = form;
    longer.add(g.options[i]);
    spell(entry, group + 1, longer, text + "." + std::string(isa::text_of(g.options[i])), all, list);
  }
}

// As the version of PTX has it.
std::string context(int ptx) {
  std::ifstream file(WARPLENS_SOURCE_DIR "/tests/data/assembler/context.ptx", std::ios::binary);
  if (!file) throw std::runtime_error("cannot read tests/data/assembler/context.ptx");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  struct Change {
    int before; // this version
    std::string from, to;
  };
  const Change changes[] = {{83, ".reg .b128 %b128_<9>;", ""},
                            {60, "table_0: .branchtargets label_0;", ""},
                            {14, ".entry kernel(.param .u64 param_0)\n{", ".entry kernel()\n{ .param .u64 param_0;"}};
  for (const auto& [before, from, to] : changes)
    if (const std::size_t at = text.find(from); ptx < before && at != std::string::npos)
      text.replace(at, from.size(), to);
  return text;
}

// One module of few enough statements that no limit on the number of diagnostics is met.
class Page {
public:
  Page(const std::vector<std::string>& statements, std::size_t first, std::size_t count, std::string header)
      : statements_(statements), first_(first), header_(std::move(header)), refusals_(count) {}

  std::vector<std::string> run() {
    auto module = ir::parse(text(), "page");
    while (!module) { // more than once: no more than so many mistakes are told at a time
      if (!note(module.error().list())) throw std::runtime_error(render(module.error(), text()));
      module = ir::parse(text(), "page");
    }
    const ir::Checked checked = ir::check(*module);
    note(checked.errors.list());
    for (const ir::Unsupported& u : checked.unsupported) note({u.why});
    module = ir::parse(text(), "page"); // without what was refused
    ir::check(*module);
    const exec::VariableAddresses addresses(module->variables.size(), 0);
    const auto program = exec::decode(*module, module->functions.front(), addresses, {});
    if (!program) note(program.error().list());
    return std::move(refusals_);
  }

private:
  std::string text() const {
    std::string text = header_;
    for (std::size_t i = 0; i < refusals_.size(); ++i)
      text += (refusals_[i].empty() ? statements_[first_ + i] : "") + "\n";
    return text + "label_0:\nret;\n}\n";
  }

  /// Whether there is a refusal that was not known.
  bool note(const std::vector<Diagnostic>& list) {
    bool found = false;
    const auto before = static_cast<std::size_t>(std::count(header_.begin(), header_.end(), '\n')) + 1;
    for (const Diagnostic& d : list) {
      if (d.where.line < before || d.where.line >= before + refusals_.size())
        throw std::runtime_error("the context is refused: " + d.message);
      std::string& refusal = refusals_[d.where.line - before];
      found = found || refusal.empty();
      if (refusal.empty()) refusal = d.message;
    }
    return found;
  }

  const std::vector<std::string>& statements_;
  std::size_t first_;
  std::string header_;
  std::vector<std::string> refusals_;
};

} // namespace

std::vector<Statement> spellings(const isa::Entry& entry, bool all) {
  std::vector<Statement> list;
  spell(entry, 0, {}, std::string(entry.opcode), all, list);
  return list;
}

std::vector<std::string> refusals(const std::vector<std::string>& statements, int ptx, const std::string& target) {
  const std::string header = ".version " + std::to_string(ptx / 10) + "." + std::to_string(ptx % 10) + "\n.target " +
                             target + "\n" + (ptx >= 23 ? ".address_size 64\n" : "") + context(ptx);
  constexpr std::size_t kPage = 900;
  std::vector<std::string> all;
  for (std::size_t first = 0; first < statements.size(); first += kPage) {
    const std::size_t count = std::min(kPage, statements.size() - first);
    for (std::string& refusal : Page(statements, first, count, header).run()) all.push_back(std::move(refusal));
  }
  return all;
}

} // namespace warplens::assembler
