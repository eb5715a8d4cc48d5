// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace warplens::ir {

namespace {

bool is_public(Linkage linkage) { return linkage != Linkage::internal; }

bool same_sizes(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Variable& x, const Variable& y) { return x.size == y.size; });
}

class Merger {
public:
  explicit Merger(std::vector<Module> modules) : modules_(std::move(modules)) {}

  Expected<Module> run() {
    header();
    for (Module& m : modules_) {
      result_.keep_names_of(m);
      map_.functions.clear();
      map_.variables.clear();
      map_.renamed.clear();
      file_ = result_.intern(m.file);
      first_file_number_ = 0;
      first_shared_ = next_shared_;
      for (const SourceFile& f : result_.files) first_file_number_ = std::max(first_file_number_, f.number);
      for (const SourceFile& f : m.files) result_.files.push_back({f.number + first_file_number_, f.name});
      first_call_site_ = static_cast<std::uint32_t>(result_.call_sites.size());
      for (CallSite site : m.call_sites) {
        move(site.where);
        result_.call_sites.push_back(site);
      }
      for (Variable& v : m.variables) map_.variables.push_back(place(v));
      for (Function& f : m.functions) map_.functions.push_back(place(f));
      for (std::size_t i = 0; i < m.variables.size(); ++i) take(m.variables[i], map_.variables[i]);
      for (std::size_t i = 0; i < m.functions.size(); ++i) take(m.functions[i], map_.functions[i]);
    }
    if (errors_.has_errors()) return failure(std::move(errors_));
    return std::move(result_);
  }

private:
  // The newest target and version, which include the features of the others.
  void header() {
    for (const Module& m : modules_) {
      result_.file += (result_.file.empty() ? "" : ", ") + m.file;
      result_.version = std::max(result_.version, m.version);
      if (m.sm > result_.sm) {
        result_.sm = m.sm;
        result_.target = m.target;
      }
      if (m.address_size != modules_.front().address_size)
        error({}, m.file,
              fmt::format("'{}' uses {}-bit addresses, but '{}' uses {}-bit addresses", m.file, m.address_size,
                          modules_.front().file, modules_.front().address_size));
      for (const std::string_view option : m.target_options)
        if (std::find(result_.target_options.begin(), result_.target_options.end(), option) ==
            result_.target_options.end())
          result_.target_options.push_back(option);
    }
    result_.address_size = modules_.front().address_size;
  }

  void error(SourceLocation where, std::string_view file, std::string message) {
    Diagnostics one;
    one.error(where, std::move(message));
    one.in_file(file);
    errors_.append(std::move(one));
  }

  // The new position of a variable or function of the current module: the public one of that name, or the end.
  template <class Symbol, class List>
  std::uint32_t place_in(List& list, std::map<std::string_view, std::uint32_t>& known, const Symbol& symbol) {
    if (is_public(symbol.linkage))
      if (const auto found = known.find(symbol.name); found != known.end()) return found->second;
    const auto index = static_cast<std::uint32_t>(list.size());
    list.emplace_back();
    list.back().name = own_name(symbol);
    list.back().linkage = Linkage::external; // until a definition follows
    if (is_public(symbol.linkage)) known.emplace(symbol.name, index);
    return index;
  }
  std::uint32_t place(const Variable& v) { return place_in(result_.variables, public_variables_, v); }
  std::uint32_t place(const Function& f) { return place_in(result_.functions, public_functions_, f); }

  // A unique name.
  template <class Symbol> std::string_view own_name(const Symbol& symbol) {
    std::string_view name = symbol.name;
    while (!names_.insert(name).second)
      name = result_.intern(fmt::format("{}${}", symbol.name, ++copies_[symbol.name] + 1));
    if (name != symbol.name) map_.renamed.emplace(symbol.name, name);
    return name;
  }

  std::string_view renamed(std::string_view name) const {
    const auto found = map_.renamed.find(name);
    return found == map_.renamed.end() ? name : found->second;
  }

  void take(Variable& v, std::uint32_t index) {
    Variable& known = result_.variables[index];
    const bool is_new = known.space == Space::none, defined = !is_new && known.linkage != Linkage::external;
    if (!is_new && known.space != v.space)
      return error(v.where, file_,
                   fmt::format("'{}' is in .{} here, but in .{} in another file", v.name, isa::name(v.space),
                               isa::name(known.space)));
    if (defined && known.linkage == Linkage::common && v.linkage == Linkage::common && v.size <= known.size) return;
    if (defined && (v.linkage == Linkage::external || v.linkage == Linkage::weak)) return;
    if (defined && known.linkage == Linkage::visible)
      return error(v.where, file_, fmt::format("'{}' is also defined in another file", v.name));
    for (Relocation& r : v.relocations) r.symbol = renamed(r.symbol);
    v.name = known.name;
    if (!is_new) v.alignment = std::max(v.alignment, known.alignment);
    known = std::move(v);
  }

  void take(Function& f, std::uint32_t index) {
    Function& known = result_.functions[index];
    const bool is_new = known.file.empty();
    const bool fits = is_new || (known.is_entry == f.is_entry && same_sizes(known.params, f.params) &&
                                 same_sizes(known.results, f.results));
    if (!fits)
      return error(f.where, file_, fmt::format("'{}' has different parameters or results in '{}'", f.name, known.file));
    const bool better = f.has_body || !f.alias_of.empty(), defined = known.has_body || !known.alias_of.empty();
    if (better && defined && known.linkage != Linkage::weak && f.linkage != Linkage::weak)
      return error(f.where, file_, fmt::format("'{}' is also defined in '{}'", f.name, known.file));
    if (!is_new && (!better || (defined && f.linkage == Linkage::weak))) return;
    move_operands(f);
    for (Register& r : f.registers)
      if (r.shared != kNone) next_shared_ = std::max(next_shared_, (r.shared += first_shared_) + 1);
    f.name = known.name;
    f.file = file_;
    known = std::move(f);
  }

  void move(SourcePosition& p) const {
    p.file += first_file_number_;
    if (p.inlined_at != kNone) p.inlined_at += first_call_site_;
  }

  void move_operands(Function& f) const {
    for (Operand& o : f.operand_pool) {
      if (o.kind == OperandKind::function) o.index = map_.functions[o.index];
      if (o.kind == OperandKind::variable && variable_owner(o.index) == VariableOwner::module)
        o.index = variable_index(VariableOwner::module, map_.variables[variable_position(o.index)]);
    }
    for (Table& t : f.tables)
      for (std::string_view& name : t.functions) name = renamed(name);
    if (!f.alias_of.empty()) f.alias_of = renamed(f.alias_of);
    for (Instruction& i : f.instructions)
      if (i.source.line != 0) move(i.source);
  }

  std::vector<Module> modules_;
  Module result_;
  Diagnostics errors_;
  std::map<std::string_view, std::uint32_t> public_functions_, public_variables_;
  std::unordered_set<std::string_view> names_;
  std::unordered_map<std::string_view, int> copies_; ///< number of copies of each name so far

  // Of the current module.
  struct {
    std::vector<std::uint32_t> functions, variables; ///< from its own indices to indices in the result
    std::map<std::string_view, std::string_view> renamed;
  } map_;
  std::string_view file_;
  std::uint32_t first_file_number_ = 0, first_call_site_ = 0;
  std::uint32_t first_shared_ = 0, next_shared_ = 0; ///< numbers of registers at module scope
};

} // namespace

Expected<Module> merge(std::vector<Module> modules) {
  if (modules.size() == 1) return std::move(modules.front());
  return Merger(std::move(modules)).run();
}

} // namespace warplens::ir
