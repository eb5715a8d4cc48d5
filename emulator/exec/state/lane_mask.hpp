// SPDX-License-Identifier: Apache-2.0
// Sets of lanes of a warp.
#pragma once

#include <cstdint>

namespace warplens::exec {

using Mask = std::uint32_t;
constexpr int kWarpSize = 32;

/// The lanes of a mask, ascending: for (const int lane : EachLane(mask)) … Always inlined, because the handlers of
/// every processor level use it.
class EachLane {
public:
  [[gnu::always_inline]] explicit EachLane(Mask mask) : rest_(mask) {}
  [[nodiscard, gnu::always_inline]] EachLane begin() const { return *this; }
  [[nodiscard, gnu::always_inline]] EachLane end() const { return EachLane(0); }
  [[gnu::always_inline]] int operator*() const { return __builtin_ctz(rest_); }
  [[gnu::always_inline]] void operator++() { rest_ &= rest_ - 1; }
  [[gnu::always_inline]] bool operator!=(EachLane other) const { return rest_ != other.rest_; }

private:
  Mask rest_; ///< not visited yet
};

} // namespace warplens::exec
