// SPDX-License-Identifier: Apache-2.0
#include "emulator/ir/constant.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

namespace warplens::ir {

namespace {

constexpr std::int64_t kWarpSize = 32;

using Kind = Constant::Kind;

Constant signed_value(std::int64_t value) { return {.kind = Kind::signed_integer, .bits = value}; }
Constant real_value(double value) { return {.kind = Kind::real64, .bits = std::bit_cast<std::int64_t>(value)}; }

double as_double(const Constant& c) {
  switch (c.kind) {
  case Kind::real32: return std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
  case Kind::real64: return std::bit_cast<double>(c.bits);
  case Kind::unsigned_integer: return static_cast<double>(static_cast<std::uint64_t>(c.bits));
  default: return static_cast<double>(c.bits);
  }
}

bool truth(const Constant& c) { return c.is_real() ? as_double(c) != 0 : c.bits != 0; }

template <class T> std::optional<bool> compared(Operation operation, T a, T b) {
  switch (operation) {
  case Operation::less: return a < b;
  case Operation::greater: return a > b;
  case Operation::less_equal: return a <= b;
  case Operation::greater_equal: return a >= b;
  case Operation::equal: return a == b;
  case Operation::not_equal: return a != b;
  default: return std::nullopt;
  }
}

/// Arithmetic on the bits; wraps. Only / % >> depend on `is_signed`.
std::uint64_t arithmetic(Operation operation, std::uint64_t a, std::uint64_t b, bool is_signed) {
  const auto sa = static_cast<std::int64_t>(a);
  const auto sb = static_cast<std::int64_t>(b);
  switch (operation) {
  case Operation::multiply: return a * b;
  case Operation::divide: return !is_signed ? a / b : sb == -1 ? 0 - a : static_cast<std::uint64_t>(sa / sb);
  case Operation::remainder: return !is_signed ? a % b : sb == -1 ? 0 : static_cast<std::uint64_t>(sa % sb);
  case Operation::add: return a + b;
  case Operation::subtract: return a - b;
  case Operation::shift_left: return b > 63 ? 0 : a << b;
  case Operation::shift_right:
    return is_signed ? static_cast<std::uint64_t>(sa >> (b > 63 ? 63 : b)) : b > 63 ? 0 : a >> b;
  case Operation::bit_and: return a & b;
  case Operation::bit_xor: return a ^ b;
  case Operation::bit_or: return a | b;
  default: return 0;
  }
}

class Evaluator {
public:
  Evaluator(const Syntax& syntax, ConstantError& error) : syntax_(syntax), error_(error) {}

  std::optional<Constant> conditional(const Expression& expression) {
    terms_ = syntax_.of(expression);
    next_ = 0;
    auto result = conditional();
    if (result && next_ < terms_.size()) return fail(terms_[next_].where, "expected '?' before ':'");
    return result;
  }

  /// The expression with its first term taken as zero.
  std::optional<Constant> offset(const Expression& expression) {
    first_is_zero_ = true;
    return conditional(expression);
  }

private:
  std::nullopt_t fail(SourceLocation where, std::string message, std::string hint = {}) {
    error_ = {where, std::move(message), std::move(hint)};
    return std::nullopt;
  }

  [[nodiscard]] Operation upcoming() const { return next_ < terms_.size() ? terms_[next_].operation : Operation::none; }

  // condition ? yes : no, right-associative. The loop handles a chain; only nesting in the middle recurses.
  std::optional<Constant> conditional() {
    if (++depth_ > 200) return fail(terms_[0].where, "constant expression is too long");
    auto condition = binary(1);
    if (condition && upcoming() == Operation::question) {
      auto yes = conditional();
      if (!yes) return std::nullopt;
      if (upcoming() != Operation::colon) return fail(terms_[next_ - 1].where, "expected ':' after '?'");
      auto no = conditional();
      if (!no) return std::nullopt;
      condition = truth(*condition) ? yes : no;
    }
    --depth_;
    return condition;
  }

  std::optional<Constant> binary(int lowest) {
    auto left = prefixed(terms_[next_]);
    ++next_;
    while (left) {
      const Operation operation = upcoming();
      const int strength = kOperations[static_cast<std::size_t>(operation)].precedence;
      if (strength == 0 || strength < lowest) break;
      const SourceLocation where = terms_[next_].where;
      auto right = binary(strength + 1);
      if (!right) return std::nullopt;
      left = apply(operation, *left, *right, where);
    }
    return left;
  }

  std::optional<Constant> apply(Operation operation, Constant a, const Constant& b, SourceLocation where) {
    if (!b.symbol.empty()) return fail(where, "a symbol can only be the first term of a constant expression");
    if (!a.symbol.empty()) {
      if (b.is_real() || (operation != Operation::add && operation != Operation::subtract))
        return fail(where, "only an integer can be added to the address of a symbol");
      a.bits = static_cast<std::int64_t>(
          arithmetic(operation, static_cast<std::uint64_t>(a.bits), static_cast<std::uint64_t>(b.bits), true));
      return a;
    }
    if (operation == Operation::logical_and) return signed_value(truth(a) && truth(b));
    if (operation == Operation::logical_or) return signed_value(truth(a) || truth(b));
    if (a.is_real() || b.is_real()) return apply_real(operation, as_double(a), as_double(b), where);
    const bool shift = operation == Operation::shift_left || operation == Operation::shift_right;
    const bool is_signed = a.kind == Kind::signed_integer && (shift || b.kind == Kind::signed_integer);
    const auto ua = static_cast<std::uint64_t>(a.bits);
    const auto ub = static_cast<std::uint64_t>(b.bits);
    if (const auto answer = is_signed ? compared(operation, a.bits, b.bits) : compared(operation, ua, ub))
      return signed_value(*answer);
    if ((operation == Operation::divide || operation == Operation::remainder) && ub == 0)
      return fail(where, "division by zero in a constant expression");
    return Constant{.kind = is_signed ? Kind::signed_integer : Kind::unsigned_integer,
                    .bits = static_cast<std::int64_t>(arithmetic(operation, ua, ub, is_signed))};
  }

  std::optional<Constant> apply_real(Operation operation, double a, double b, SourceLocation where) {
    if (const auto answer = compared(operation, a, b)) return signed_value(*answer);
    switch (operation) {
    case Operation::multiply: return real_value(a * b);
    case Operation::divide: return real_value(a / b);
    case Operation::add: return real_value(a + b);
    case Operation::subtract: return real_value(a - b);
    default: return fail(where, "expected integers but found floating-point numbers");
    }
  }

  std::optional<Constant> prefixed(const Term& term) {
    if (first_is_zero_) {
      first_is_zero_ = false;
      return signed_value(0);
    }
    auto value = primary(term);
    const auto prefixes = syntax_.prefixes_of(term);
    for (auto at = prefixes.rbegin(); value && at != prefixes.rend(); ++at) {
      if (!value->symbol.empty()) return fail(term.where, fmt::format("'{}' cannot be applied to a symbol", *at));
      if (term.kind == TermKind::hexadecimal)
        return fail(term.where, fmt::format("expected a number after '{}' but found '{}'", *at, term.text),
                    "encode the sign in the bits");
      if (*at == '-' && value->is_real())
        value = real_value(-as_double(*value));
      else if (*at == '-')
        value->bits = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(value->bits));
      else if (*at == '!')
        value = signed_value(!truth(*value));
      else if (*at == '~' && value->is_real())
        return fail(term.where, "expected an integer after '~'");
      else if (*at == '~')
        value->bits = ~value->bits;
    }
    return value;
  }

  std::optional<Constant> primary(const Term& term) {
    const auto children = syntax_.children(term);
    switch (term.kind) {
    case TermKind::integer:
    case TermKind::decimal:
    case TermKind::hexadecimal: return number(term, error_);
    case TermKind::word:
      if (term.text == "WARP_SZ") return signed_value(kWarpSize);
      return Constant{.kind = Kind::signed_integer, .bits = 0, .symbol = term.text};
    case TermKind::cast: return cast(term, children[0]);
    case TermKind::parentheses:
      if (children.size() != 1) break;
      return nested(children[0]);
    case TermKind::applied: {
      if (term.text != "generic") break;
      auto inner = nested(children[0]);
      if (inner && inner->symbol.empty()) return fail(term.where, "expected a symbol in generic()");
      if (inner) inner->generic = true;
      return inner;
    }
    case TermKind::masked: return masked(term, children[0]);
    default: break;
    }
    return fail(term.where, "expected a constant expression");
  }

  std::optional<Constant> nested(const Expression& expression) {
    return Evaluator(syntax_, error_).conditional(expression);
  }

  std::optional<Constant> masked(const Term& term, const Expression& child) {
    const auto mask = number(term, error_);
    if (!mask) return std::nullopt;
    auto inner = nested(child);
    if (!inner) return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(mask->bits);
    const int shift = bits == 0 ? 1 : std::countr_zero(bits);
    if (inner->symbol.empty() || shift % 8 != 0 || bits >> shift != 0xff)
      return fail(term.where, "expected a mask of one byte and a symbol, as in 0xFF00(symbol)");
    inner->mask_shift = static_cast<std::uint8_t>(shift);
    inner->masked = true;
    return inner;
  }

  std::optional<Constant> cast(const Term& term, const Expression& child) {
    auto value = nested(child);
    if (!value) return std::nullopt;
    if (!value->symbol.empty()) return value;
    const bool to_signed = term.text == ".s64";
    if (!to_signed && term.text != ".u64")
      return fail(term.where, fmt::format("expected '.s64' or '.u64' but found '{}'", term.text));
    if (value->is_real()) {
      const double real = as_double(*value);
      if (!(real >= -0x1p63 && real < (to_signed ? 0x1p63 : 0x1p64)))
        return fail(term.where, "number does not fit in 64 bits");
      value->bits =
          real < 0x1p63 ? static_cast<std::int64_t>(real) : static_cast<std::int64_t>(static_cast<std::uint64_t>(real));
    }
    value->kind = to_signed ? Kind::signed_integer : Kind::unsigned_integer;
    return value;
  }

  const Syntax& syntax_;
  ConstantError& error_;
  std::span<const Term> terms_;
  std::size_t next_ = 0;
  int depth_ = 0;
  bool first_is_zero_ = false;
};

std::optional<Constant> integer(const Term& term, ConstantError& error) {
  std::string_view digits = term.text;
  bool is_unsigned = digits.ends_with('U');
  if (is_unsigned) digits.remove_suffix(1);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = digits[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    digits.remove_prefix(base == 8 ? 1 : 2);
  }
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (problem == std::errc::result_out_of_range) {
    error = {term.where, fmt::format("integer '{}' does not fit in 64 bits", term.text.substr(0, 40)), {}};
    return std::nullopt;
  }
  if (problem != std::errc{} || end != digits.data() + digits.size()) {
    error = {term.where, fmt::format("malformed number '{}'", term.text.substr(0, 40)), {}};
    return std::nullopt;
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) is_unsigned = true;
  return Constant{.kind = is_unsigned ? Kind::unsigned_integer : Kind::signed_integer,
                  .bits = static_cast<std::int64_t>(value)};
}

} // namespace

std::optional<Constant> number(const Term& term, ConstantError& error) {
  if (term.kind == TermKind::integer || term.kind == TermKind::masked) return integer(term, error);
  if (term.kind == TermKind::hexadecimal) {
    std::uint64_t bits = 0;
    std::from_chars(term.text.data() + 2, term.text.data() + term.text.size(), bits, 16);
    return Constant{.kind = term.text.size() == 10 ? Kind::real32 : Kind::real64,
                    .bits = static_cast<std::int64_t>(bits)};
  }
  double value = 0;
  const auto parsed = std::from_chars(term.text.data(), term.text.data() + term.text.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    error = {term.where, fmt::format("number '{}' does not fit in a double", term.text.substr(0, 40)), {}};
    return std::nullopt;
  }
  return real_value(value);
}

std::optional<Constant> evaluate(const Syntax& syntax, const Expression& expression, ConstantError& error) {
  return Evaluator(syntax, error).conditional(expression);
}

std::optional<std::int64_t> evaluate_offset(const Syntax& syntax, const Expression& expression, ConstantError& error) {
  if (expression.term_count == 1) return 0;
  const auto value = Evaluator(syntax, error).offset(expression);
  if (!value) return std::nullopt;
  if (value->is_real() || !value->symbol.empty()) {
    error = {syntax.of(expression)[1].where, "expected an integer offset", {}};
    return std::nullopt;
  }
  return value->bits;
}

} // namespace warplens::ir
