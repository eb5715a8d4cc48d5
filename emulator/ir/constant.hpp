// SPDX-License-Identifier: Apache-2.0
// Constant expressions (manual, section 4.5.4): folded during parsing.
//
//   3 + 4 * (1 << 2)  ->  19 (signed)        table + 8  ->  8 relative to the symbol `table`
#pragma once

#include "emulator/ir/syntax.hpp"

#include <optional>
#include <string>

namespace warplens::ir {

struct Constant {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, real32, real64 } kind{};
  std::int64_t bits = 0;        ///< the integer, or the bits of the float or double
  std::string_view symbol = {}; ///< the value is relative to its address; empty: absolute
  bool generic = false;         ///< generic(symbol)
  std::uint8_t mask_shift = 0;  ///< 0xFF00(symbol): 8
  bool masked = false;

  [[nodiscard]] bool is_real() const { return kind == Kind::real32 || kind == Kind::real64; }
};

/// An error in an expression.
struct ConstantError {
  SourceLocation where;
  std::string message;
  std::string hint;
};

/// Parses a number: 017, 0x1FU, 0b11, 1.5e3, 0f3F800000. An error if it does not fit in 64 bits.
std::optional<Constant> number(const Term& term, ConstantError& error);

/// The value of an expression. Empty, with `error` set, if the expression is not constant.
std::optional<Constant> evaluate(const Syntax& syntax, const Expression& expression, ConstantError& error);

/// The value of the terms after the first of an address: [base + 4*2 + 1] -> 9.
std::optional<std::int64_t> evaluate_offset(const Syntax& syntax, const Expression& expression, ConstantError& error);

} // namespace warplens::ir
