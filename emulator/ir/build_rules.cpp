// SPDX-License-Identifier: Apache-2.0
// Checks of declarations beyond their syntax, and the PTX versions that they require. Each rule matches the assembler:
// tests/assembler compares the results for thousands of modules.
#include "emulator/ir/build.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::ir {

namespace {

constexpr int kVectorBits = 128;      // the widest vector variable
constexpr int kLastTextureSpace = 14; // PTX with variables in .tex
constexpr int kFirstFrames = 20;      // PTX whose functions pass .param variables

bool is_opaque(Type type) { return isa::info(type).kind == isa::Class::opaque; }

} // namespace

bool Builder::refuse(SourceLocation where, std::string message, std::string hint) {
  error(where, std::move(message), std::move(hint));
  return true;
}

/// Checks for types and vectors that no variable of the space can have. Returns true after an error.
bool Builder::wrong_type(const Variable& v) {
  const auto refused = [&](std::string why, std::string hint = {}) {
    return refuse(v.where, fmt::format("'{}' {}", v.name, why), std::move(hint));
  };
  const bool scalar = v.extents.empty(); // the assembler does not check the types of arrays
  if (v.type == Type::b128 && scalar) requires_version(83, {".b128", v.where});
  if (v.type == Type::f16x2 && scalar && v.space != Space::reg && module_.sm < 53)
    return refused("is of type .f16x2, which requires .target sm_53 or higher");
  if (v.type == Type::pred && (v.space != Space::reg || v.vector > 1))
    return refused("is a predicate: a predicate must be a single register");
  if (v.vector > 1 && is_opaque(v.type)) return refused("cannot be a vector");
  if (v.vector > 1 && scalar && v.space == Space::param)
    return refused("cannot be a vector: parameters are scalars and arrays", "pass an array, such as .b8 x[16]");
  if (isa::bits(v.type) * v.vector > kVectorBits) return refused("is a vector of more than 128 bits");
  if (v.space == Space::reg && !v.extents.empty()) return refused("is an array, which cannot be in registers");
  return false;
}

/// Checks a declaration at module scope or in a body.
bool Builder::wrong_place(const Variable& v, const DeclarationSyntax& head) {
  const auto refused = [&](std::string why, std::string hint = {}) {
    return refuse(v.where, fmt::format("'{}' {}", v.name, why), std::move(hint));
  };
  if (v.pointee != Space::none) return refused("is not a parameter: '.ptr' is allowed only for parameters");
  if (in_body_ && !head.linkages.empty())
    return refuse(head.linkages[0].where, fmt::format("'{}' is allowed only outside functions", head.linkages[0].text));
  if (v.linkage == Linkage::common && v.space != Space::global)
    return refused("is not in .global: .common is allowed only there");
  const bool opaque = is_opaque(v.type);
  if (opaque) requires_version(15, {isa::name(v.type), v.where});
  if (opaque && (in_body_ || v.space != Space::global))
    return refused(fmt::format("is a .{}, which must be declared .global and outside functions", isa::name(v.type)));
  if (v.type == Type::samplerref && !module_.has_samplers())
    return refused("is a sampler, which unified mode does not have", "samplers require '.target texmode_independent'");
  if (v.space == Space::texture) {
    if (in_body_) return refused("is in .tex, which is allowed only outside functions");
    if (v.type != Type::u32 && v.type != Type::u64) return refused("is in .tex, where the type must be .u32 or .u64");
    if (module_.version > kLastTextureSpace)
      return refused("is in .tex, which PTX ISA allows up to .version 1.4", "declare it as .global .texref");
  }
  if (v.space == Space::local && !in_body_ && module_.version > 30)
    return refused("is in .local, which is allowed only in functions from PTX ISA .version 3.1 on");
  if (v.space == Space::param) {
    if (!in_body_) return refused("is a parameter, which only a function can declare");
    if (module_.version < kFirstFrames && !parameters_in_body_)
      return refused("is a parameter: before PTX ISA .version 2.0, declare parameters in the function's list");
  }
  return false;
}

/// Checks a parameter of a kernel or a function.
void Builder::check_parameter(const Variable& v, bool of_entry) {
  const auto refused = [&](std::string_view why) { error(v.where, fmt::format("parameter '{}' {}", v.name, why)); };
  if (wrong_type(v)) return;
  const bool unsized = std::find(v.extents.begin(), v.extents.end(), 0u) != v.extents.end();
  if (is_opaque(v.type)) requires_version(15, {isa::name(v.type), v.where});
  if (of_entry && v.space != Space::param) return refused("of a kernel must be in .param");
  if (!of_entry && v.space == Space::param && module_.version < kFirstFrames)
    return refused("is in .param: before PTX ISA .version 2.0, functions take parameters in registers");
  if (v.extents.size() > 1) return refused("has more than one dimension");
  if (of_entry && unsized) return refused("of a kernel needs a size");
  if (v.pointee != Space::none) requires_version(22, {".ptr", v.where});
  if (unsized) {
    requires_version(60, {"a parameter without a size", v.where});
    if (module_.sm < 30) refused("without a size requires .target sm_30 or higher");
  }
}

void Builder::check_parameters(const std::vector<Variable>& list, bool of_entry) {
  for (const Variable& v : list) {
    check_parameter(v, of_entry);
    if (&v != &list.back() && !v.extents.empty() && v.extents[0] == 0)
      error(v.where,
            fmt::format("only the last parameter can be declared without a size, but '{}' is not the last", v.name));
  }
}

/// `.attribute(.managed)` and `.attribute(.unified(a, b))`, the latter with the upper and lower half of an identifier.
void Builder::check_attributes(const std::vector<AttributeSyntax>& attributes, bool can_be_managed,
                               bool can_be_unified) {
  for (const AttributeSyntax& a : attributes) {
    const bool managed = a.name.text == ".managed", unified = a.name.text == ".unified";
    if (!managed && !unified) {
      error(a.name.where, fmt::format("unknown attribute '{}'", a.name.text));
      continue;
    }
    requires_version(managed ? 40 : 80, a.name);
    const std::size_t wanted = managed ? 0 : 2;
    if (a.values != wanted)
      error(a.name.where, fmt::format("'{}' takes {} numbers, got {}", a.name.text, wanted, a.values));
    else if (managed ? !can_be_managed : !can_be_unified)
      error(a.name.where,
            managed ? "only .global variables can be managed" : "only .global variables and functions can be unified");
  }
}

/// Checks the head of a kernel or function; `again` is an earlier declaration, if any.
void Builder::check_head(const FunctionSyntax& head, const Function& next, const Function* again) {
  const auto refused = [&](std::string why) { error(head.name.where, fmt::format("'{}' {}", next.name, why)); };
  if (next.name == "_" || next.name.find('.') != std::string_view::npos)
    error(head.name.where,
          fmt::format("expected a name for the {} but found '{}'", head.is_entry ? "kernel" : "function", next.name));
  if (next.linkage == Linkage::common) refused("is a function: .common is allowed only for .global variables");
  if (head.is_entry && !next.params.empty()) requires_version(14, {"a kernel's list of parameters", head.name.where});
  check_parameters(next.results, head.is_entry);
  check_parameters(next.params, head.is_entry);
  check_attributes(head.attributes, false, true);
  if (again == nullptr) return;
  if (again->params.size() != next.params.size() || again->results.size() != next.results.size())
    refused(fmt::format("has {} parameters and {} results here, but was declared with {} and {}", next.params.size(),
                        next.results.size(), again->params.size(), again->results.size()));
}

/// Checks for directives and linkages that a body cannot have.
void Builder::check_body(SourceLocation where) {
  if (!forbids_body_.text.empty())
    error(forbids_body_.where, fmt::format("'{}' of a function must be inside its body", forbids_body_.text));
  if (function().linkage == Linkage::external)
    error(where, fmt::format("'{}' is declared .extern and cannot have a body here", function().name));
}

/// A variable without initial values must have a size, unless another file defines it.
void Builder::check_size(const Variable& v) {
  if (v.linkage == Linkage::external || v.space == Space::reg) return;
  if (std::find(v.extents.begin(), v.extents.end(), 0u) != v.extents.end())
    error(v.where, fmt::format("array '{}' has no size", v.name),
          v.space == Space::shared ? "declare dynamic shared memory as .extern" : "");
}

/// Checks names that can be used before their declaration.
void Builder::check_late_names() {
  for (const Lexeme& name : initial_symbols_)
    if (!globals_.find(name.text)) undeclared("name", name.text, name.where);
  for (const Lexeme& name : call_targets_) {
    const auto symbol = globals_.find(name.text);
    if (!symbol || symbol->kind != OperandKind::function)
      error(name.where, fmt::format("expected a function but found '{}'", name.text));
  }
}

} // namespace warplens::ir
