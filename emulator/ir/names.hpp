// SPDX-License-Identifier: Apache-2.0
// Resolves names to declarations: nested scopes, with register ranges stored as ranges.
//
//   Scopes s; s.declare("p", {OperandKind::variable, 0}); s.declare_range("%r", 100, 7);
//   s.find("%r12") -> {OperandKind::reg, 19}
#pragma once

#include "emulator/ir/module.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace warplens::ir {

struct Symbol {
  OperandKind kind{};
  std::uint32_t index = kNone;
};

/// A hash table from names to numbers, for few inserts and very many look-ups. The names must outlive it.
class NameTable {
public:
  /// The number of `name`; kNone if it is new. Assignable; the reference is invalid after the next insertion.
  std::uint32_t& operator[](std::string_view name);
  [[nodiscard]] std::uint32_t find(std::string_view name) const;
  void clear();

private:
  struct Slot {
    std::string_view name;
    std::uint32_t value = kNone;
  };
  [[nodiscard]] std::size_t place(std::string_view name) const;
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

/// The names of one function or of the module. The names must outlive it.
class Scopes {
public:
  void enter() { starts_.push_back(entries_.size()); }
  void leave();
  void clear();
  [[nodiscard]] std::size_t depth() const { return starts_.size(); }

  /// False if the innermost scope already has the name.
  bool declare(std::string_view name, Symbol symbol);
  /// Declares `prefix`0 to `prefix`(count-1) as registers `first`…; false if the innermost scope already has one of
  /// them. `prefix` does not end in a digit.
  bool declare_range(std::string_view prefix, std::uint32_t count, std::uint32_t first);
  [[nodiscard]] std::optional<Symbol> find(std::string_view name) const;

  /// The size of the innermost range that `name` would belong to by its spelling; 0 if there is none.
  [[nodiscard]] std::uint32_t range_like(std::string_view name) const;

  /// All visible names for "did you mean"; for a range, the register with the number at the end of `like`, or the last.
  [[nodiscard]] std::vector<std::string> candidates(std::string_view like) const;

private:
  struct Entry {
    std::string_view name;
    Symbol symbol;
    std::uint32_t count = 0; ///< of a range; 0: a single name
    std::uint32_t depth = 0;
    std::uint32_t shadowed = kNone;    ///< the entry of an outer scope with this name
    std::uint32_t same_prefix = kNone; ///< the previous single name with the same letters before its number
  };
  bool add(NameTable& table, const Entry& entry);
  static std::string_view numbered_prefix(const Entry& entry);
  [[nodiscard]] const Entry* range_of(std::string_view name, std::uint32_t& number) const;

  NameTable names_, ranges_; ///< to the innermost entry
  NameTable numbered_;       ///< from the `a` of single names such as a12 to the last of them
  bool mixed_ = false;       ///< a range and a single name have the same prefix
  std::vector<Entry> entries_;
  std::vector<std::size_t> starts_; ///< of the open scopes within entries_
};

} // namespace warplens::ir
