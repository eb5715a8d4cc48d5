// Where the calls of a module may go.
//
//   CallGraph calls(module);  calls.of(function, call)   ->  the functions that a call instruction may reach
#pragma once

#include "emulator/ir/calls.hpp"

#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warplens::ir {

/// The functions of a module by name, and what aliases stand for: for passes that ask often.
class FunctionIndex {
public:
  explicit FunctionIndex(const Module& module);

  /// kNone: there is none.
  [[nodiscard]] std::uint32_t named(std::string_view name) const;
  /// The function that a name stands for: the one that an alias names.
  [[nodiscard]] std::uint32_t definition_of(std::uint32_t function) const { return definitions_[function]; }

private:
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::vector<std::uint32_t> definitions_; ///< by function
};

/// Where calls of a module may go.
class CallGraph {
public:
  explicit CallGraph(const Module& module) : module_(module), index_(module) {}

  [[nodiscard]] const FunctionIndex& index() const { return index_; }

  /// Indices of the module's functions: the one of a direct call, with a body or without; those with a body of an
  /// indirect one, of which calls with equal tables or prototypes share the list. Nobody for what check() does not
  /// take.
  std::span<const std::uint32_t> of(const Function& caller, const Instruction& call);

private:
  using Shape = std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>; ///< sizes of parameters and results
  static Shape shape_of(const std::vector<Variable>& params, const std::vector<Variable>& results);
  void find_addressed();
  [[nodiscard]] bool can_be_called(std::uint32_t function) const;

  const Module& module_;
  FunctionIndex index_;
  bool knows_addressed_ = false;
  std::map<Shape, std::vector<std::uint32_t>> addressed_;                ///< those whose address is taken somewhere
  std::map<const std::string_view*, std::vector<std::uint32_t>> listed_; ///< by the names of a .calltargets
  std::uint32_t direct_ = kNone;
};

} // namespace warplens::ir
