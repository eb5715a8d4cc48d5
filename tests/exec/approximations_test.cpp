// SPDX-License-Identifier: Apache-2.0
// The approximations over the whole range of float, every 2^12th value: within the bounds of the manual (9.7.3).
#include "emulator/exec/decode/levels.hpp"
#include "emulator/exec/state/warp.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace warplens::exec {
namespace approximations_test {

constexpr std::uint32_t kRow = 8 * kWarpSize;
constexpr std::uint32_t kAlways = kRegisterFile, kResult = kAlways + kRow, kSource = kResult + kRow;
constexpr std::uint32_t kMemory = kSource + kRow;

/// Whether `got` is good enough for f(x) == exact.
using Bound = std::function<bool(double x, double exact, double got)>;

Bound relative(double bound) {
  // For subnormal numbers, half a quantum is also allowed.
  return [bound](double, double exact, double got) {
    return std::fabs(got - exact) <= bound * std::fabs(exact) + 0x1p-149;
  };
}
Bound absolute(double bound) {
  return [bound](double, double exact, double got) { return std::fabs(got - exact) <= bound; };
}
// The manual's bound for lg2: absolute from 1/2 to 2, relative elsewhere.
Bound relative_or_absolute(double bound) {
  return [bound](double x, double exact, double got) {
    return std::fabs(got - exact) <= bound * (x > 0.5 && x < 2 ? 1 : std::fabs(exact));
  };
}

void sweep(std::string_view spelling, double (*function)(double), const Bound& good, double limit = INFINITY) {
  const Level& level = levels().front();
  const auto found = isa::lookup(spelling, 90, 90);
  ASSERT_TRUE(found.has_value()) << spelling;
  auto* const warp = static_cast<Warp*>(std::aligned_alloc(64, kMemory));
  std::memset(static_cast<void*>(warp), 0, kMemory);
  warp->active = predicate(warp, kAlways) = kFullMask;
  Op op;
  op.guard = kAlways;
  op.dst[0] = kResult;
  op.src[0] = kSource;
  int wrong = 0;
  for (std::uint64_t base = 0; base < std::uint64_t{1} << 32 && wrong < 5; base += std::uint64_t{kWarpSize} << 12) {
    float* const x = row<float>(warp, kSource);
    for (int i = 0; i < kWarpSize; ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(base + (static_cast<std::uint64_t>(i) << 12)));
    level.lanes()[found->entry_index][found->variant](&op, warp);
    for (int i = 0; i < kWarpSize; ++i) {
      if (std::fabs(x[i]) > limit) continue;
      const double exact = function(x[i]);
      const float got = row<float>(warp, kResult)[i];
      const auto rounded = static_cast<float>(exact);
      const bool special = std::isnan(exact) ? std::isnan(got) : std::isinf(rounded) && got == rounded;
      if (special || good(x[i], exact, got)) continue;
      ++wrong;
      ADD_FAILURE() << spelling << " of " << x[i] << ": " << got << ", exactly " << exact;
    }
  }
  std::free(warp);
}

TEST(Approximations, StayInsideTheBoundsOfTheManual) {
  sweep(
      "rcp.approx.f32", [](double x) { return 1 / x; }, relative(0x1p-23));
  sweep(
      "sqrt.approx.f32", [](double x) { return std::sqrt(x); }, relative(0x1p-23));
  sweep(
      "rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, relative(std::exp2(-22.9)));
  sweep(
      "ex2.approx.f32", [](double x) { return std::exp2(x); }, relative(0x1p-22));
  sweep(
      "lg2.approx.f32", [](double x) { return std::log2(x); }, relative_or_absolute(0x1p-22));
  sweep(
      "tanh.approx.f32", [](double x) { return std::tanh(x); }, relative(0x1p-11));
}

TEST(Approximations, SinesStayInsideTheBoundsOfTheManual) {
  const double pi = std::acos(-1.0);
  const auto sine = [](double x) { return std::sin(x); };
  const auto cosine = [](double x) { return std::cos(x); };
  sweep("sin.approx.f32", sine, absolute(std::exp2(-20.5)), 2 * pi);
  sweep("cos.approx.f32", cosine, absolute(std::exp2(-20.4)), 2 * pi); // -20.5 there, too; an H200 reaches -20.43
  sweep("sin.approx.f32", sine, absolute(std::exp2(-14.7)), 100 * pi);
  sweep("cos.approx.f32", cosine, absolute(std::exp2(-14.7)), 100 * pi);
}

TEST(Approximations, SinesOfHugeNumbersStayBounded) {
  const Bound bounded = [](double, double, double got) { return got >= -1 && got <= 1; };
  sweep(
      "sin.approx.f32", [](double x) { return std::sin(x); }, bounded);
  sweep(
      "cos.approx.f32", [](double x) { return std::cos(x); }, bounded);
}

} // namespace approximations_test
} // namespace warplens::exec
