// SPDX-License-Identifier: Apache-2.0
// The possible targets of the calls of a module.
//
//   CallGraph calls(module);  calls.of(function, call)   ->  the functions that a call instruction can reach
#pragma once

#include "emulator/ir/calls.hpp"

#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace warplens::ir {

/// An index of the functions of a module by name, with aliases resolved.
class FunctionIndex {
public:
  explicit FunctionIndex(const Module& module);

  /// kNone if there is none.
  [[nodiscard]] std::uint32_t named(std::string_view name) const;
  /// The function that a name refers to: for an alias, its aliasee.
  [[nodiscard]] std::uint32_t definition_of(std::uint32_t function) const { return definitions_[function]; }

private:
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::vector<std::uint32_t> definitions_; ///< by function
};

/// The possible targets of the calls of a module.
class CallGraph {
public:
  explicit CallGraph(const Module& module) : module_(module), index_(module) {}

  [[nodiscard]] const FunctionIndex& index() const { return index_; }

  /// Indices of the module's functions. For a direct call: its target, with or without a body. For an indirect call:
  /// all possible targets with a body; calls with equal tables or prototypes share the list. Empty for calls that
  /// check() rejects.
  std::span<const std::uint32_t> of(const Function& caller, const Instruction& call);

private:
  using Shape = std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>; ///< sizes of parameters and results
  static Shape shape_of(const std::vector<Variable>& params, const std::vector<Variable>& results);
  void find_addressed();
  [[nodiscard]] bool can_be_called(std::uint32_t function) const;

  const Module& module_;
  FunctionIndex index_;
  bool knows_addressed_ = false;
  std::map<Shape, std::vector<std::uint32_t>> addressed_;                ///< functions whose address is taken
  std::map<const std::string_view*, std::vector<std::uint32_t>> listed_; ///< by the names in a .calltargets
  std::uint32_t direct_ = kNone;
};

} // namespace warplens::ir
