// SPDX-License-Identifier: Apache-2.0
// tcgen05.ld, tcgen05.st and tcgen05.wait (9.7.16.8).
#include "emulator/exec/matrix/tensor_handlers.hpp"

#include "emulator/exec/block/cta.hpp"
#include "emulator/exec/block/membermasks.hpp"
#include "emulator/exec/block/tensor_faults.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warplens::exec {

namespace {

constexpr std::uint32_t kLanesOfWarp = 32; ///< of tensor memory: 9.7.16.8.1

/// Where the accesses of the lower and the upper 16 threads begin.
struct TensorAccess {
  std::uint32_t* begin[2]{};
};

bool is_accessible(const Op* op, Warp* warp, std::uint32_t address) {
  const TensorTransfer& t = *op->transfer;
  const TensorAddress at(address);
  const std::uint32_t first = warp->index % 4 * kLanesOfWarp;
  if (at.lane < first || at.lane + t.lanes > first + kLanesOfWarp) {
    stop_at_tensor_memory(op, warp, kFullMask,
                          fmt::format("warp {} can access lanes {} to {}, not lanes {} to {}", warp->index, first,
                                      first + kLanesOfWarp - 1, at.lane, at.lane + t.lanes - 1));
    return false;
  }
  return holds_columns(op, warp, kFullMask, *warp->cta->tensor_memory, "the access", address, t.columns, t.lanes);
}

bool find_access(const Op* op, Warp* warp, TensorAccess& access) {
  if (!same_in_all_lanes(op, warp, op->src[0], "addresses")) return false;
  const TensorTransfer& t = *op->transfer;
  const std::uint32_t first = row<std::uint32_t>(warp, op->src[0])[0] + static_cast<std::uint32_t>(op->imm);
  const std::uint32_t addresses[2] = {first, t.shape == TensorTransfer::Shape::two_of_x32b ? first + t.second : first};
  for (int i = 0; i < 2; ++i) {
    if ((i == 0 || addresses[1] != first) && !is_accessible(op, warp, addresses[i])) return false;
    const TensorAddress at(addresses[i]);
    access.begin[i] = warp->cta->tensor_memory->lane(at.lane) + at.column;
  }
  return true;
}

/// Calls `move` with the register and its place, for each register and thread.
template <class Move> void each_word(const Op* op, Warp* warp, const TensorAccess& access, Move move) {
  const TensorTransfer& t = *op->transfer;
  const std::uint32_t* place = t.places.data();
  for (const std::uint32_t of : t.rows) {
    auto* const registers = row<std::uint32_t>(warp, of);
    for (int thread = 0; thread < kWarpSize; ++thread) move(registers[thread], access.begin[thread / 16] + *place++);
  }
}

constexpr std::uint32_t kLowHalf = 0xffff;

float smaller(float a, float b, bool greatest, bool passes_nan) {
  if (std::isnan(a) || std::isnan(b)) {
    constexpr std::uint32_t kNan = 0x7fffffff;
    if (passes_nan || (std::isnan(a) && std::isnan(b))) return std::bit_cast<float>(kNan);
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) != greatest ? a : b; // -0 is less than +0
  return (a < b) != greatest ? a : b;
}

std::uint32_t least_of(const TensorTransfer& t, std::uint32_t a, std::uint32_t b) {
  const auto signed_a = static_cast<std::int32_t>(a), signed_b = static_cast<std::int32_t>(b);
  switch (t.reduction) {
  case TensorTransfer::Reduction::s32: return (signed_a < signed_b) != t.greatest ? a : b;
  case TensorTransfer::Reduction::f32:
    return std::bit_cast<std::uint32_t>(
        smaller(std::bit_cast<float>(a), std::bit_cast<float>(b), t.greatest, t.passes_nan));
  default: return (a < b) != t.greatest ? a : b;
  }
}

// Of the values that a thread has loaded.
void reduce(const Op* op, Warp* warp) {
  const TensorTransfer& t = *op->transfer;
  constexpr std::uint32_t kMagnitude = 0x7fffffff;
  std::uint32_t results[kWarpSize];
  for (int i = 0; i < kWarpSize; ++i) {
    const auto value = [&](std::size_t r) {
      const std::uint32_t loaded = row<std::uint32_t>(warp, t.rows[r])[i];
      return t.absolute ? loaded & kMagnitude : loaded;
    };
    results[i] = value(0);
    for (std::size_t r = 1; r < t.rows.size(); ++r) results[i] = least_of(t, results[i], value(r));
  }
  std::copy(std::begin(results), std::end(results), row<std::uint32_t>(warp, t.result));
}

} // namespace

const Op* tensor_load(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  if (acting(op, warp) != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  TensorAccess access;
  if (!find_access(op, warp, access)) return nullptr;
  if (op->transfer->halves)
    each_word(op, warp, access, [](std::uint32_t& r, const std::uint32_t* p) { r = (p[0] & kLowHalf) | p[1] << 16; });
  else
    each_word(op, warp, access, [](std::uint32_t& r, const std::uint32_t* p) { r = *p; });
  if (op->transfer->reduction != TensorTransfer::Reduction::none) reduce(op, warp);
  return op + 1;
}

const Op* tensor_store(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0) return op + 1;
  if (acting(op, warp) != kFullMask) return stop_at_incomplete_warp(op, warp), nullptr;
  TensorAccess access;
  if (!find_access(op, warp, access)) return nullptr;
  if (op->transfer->halves)
    each_word(op, warp, access, [](std::uint32_t r, std::uint32_t* p) {
      p[0] = (p[0] & ~kLowHalf) | (r & kLowHalf);
      p[1] = (p[1] & ~kLowHalf) | r >> 16;
    });
  else
    each_word(op, warp, access, [](std::uint32_t r, std::uint32_t* p) { *p = r; });
  return op + 1;
}

const Op* tensor_wait(const Op* op, Warp* warp) {
  if (acting(op, warp) == 0 || acting(op, warp) == kFullMask) return op + 1;
  return stop_at_incomplete_warp(op, warp), nullptr;
}

} // namespace warplens::exec
