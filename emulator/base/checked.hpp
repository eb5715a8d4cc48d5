// SPDX-License-Identifier: Apache-2.0
// Arithmetic that never wraps, for sizes and offsets from input. A result that needs more than 64 bits or is negative
// is invalid, and so is everything computed from it. One test at the end detects any failure.
//
//   const Checked bytes = Checked(pitch) * height + offset;
//   if (!bytes.at_most(buffer.size())) return failure("does not fit");
//   std::optional<std::uint32_t> row = (Checked(at) + size).as<std::uint32_t>();   // empty: does not fit 32 bits
//   if (!within(offset, size, available)) …                                       // [offset, offset + size) is inside
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace warplens {

class Checked {
public:
  constexpr Checked() = default;
  /// Implicit: `Checked(a) * b` reads as plain arithmetic. A negative number is invalid.
  template <std::integral T>
  constexpr Checked(T value) : value_(static_cast<std::uint64_t>(value)), valid_(std::in_range<std::uint64_t>(value)) {}

  [[nodiscard]] constexpr bool valid() const { return valid_; }
  /// Empty if the number is invalid or T cannot hold it.
  template <std::integral T> [[nodiscard]] constexpr std::optional<T> as() const {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (!at_most(kMost)) return std::nullopt;
    return static_cast<T>(value_);
  }
  [[nodiscard]] constexpr std::optional<std::uint64_t> value() const { return as<std::uint64_t>(); }
  [[nodiscard]] constexpr std::uint64_t value_or(std::uint64_t otherwise) const { return valid_ ? value_ : otherwise; }
  /// The largest number if invalid: it exceeds every limit, and a message can still print it.
  [[nodiscard]] constexpr std::uint64_t saturated() const { return value_or(~std::uint64_t{0}); }
  [[nodiscard]] constexpr bool at_most(std::uint64_t limit) const { return valid_ && value_ <= limit; }

  friend constexpr Checked operator+(Checked a, Checked b) {
    Checked r;
    const bool wraps = __builtin_add_overflow(a.value_, b.value_, &r.value_);
    return r.with(a, b, !wraps);
  }
  friend constexpr Checked operator-(Checked a, Checked b) {
    Checked r;
    const bool wraps = __builtin_sub_overflow(a.value_, b.value_, &r.value_);
    return r.with(a, b, !wraps);
  }
  friend constexpr Checked operator*(Checked a, Checked b) {
    Checked r;
    const bool wraps = __builtin_mul_overflow(a.value_, b.value_, &r.value_);
    return r.with(a, b, !wraps);
  }
  constexpr Checked& operator+=(Checked b) { return *this = *this + b; }
  constexpr Checked& operator-=(Checked b) { return *this = *this - b; }
  constexpr Checked& operator*=(Checked b) { return *this = *this * b; }

  /// The next multiple of `alignment`, which need not be a power of two. 0 means no alignment.
  [[nodiscard]] constexpr Checked aligned(std::uint64_t alignment) const {
    if (alignment <= 1 || value_ % alignment == 0) return *this;
    return *this + (alignment - value_ % alignment);
  }

private:
  constexpr Checked& with(Checked a, Checked b, bool fits) {
    valid_ = a.valid_ && b.valid_ && fits;
    return *this;
  }
  std::uint64_t value_ = 0;
  bool valid_ = true;
};

/// |value|, also for the smallest number, whose negation does not fit in the signed type.
constexpr std::uint64_t magnitude(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 0 - bits : bits;
}

/// True if [offset, offset + size) lies in [0, available).
constexpr bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t available) {
  return offset <= available && size <= available - offset;
}

} // namespace warplens
