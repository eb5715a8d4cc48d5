// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/block/repetition.hpp"

#include <bit>
#include <cstring>

namespace warplens::exec {

namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;

std::uint64_t mix(std::uint64_t state, std::uint64_t word) { return std::rotl(state ^ word, 29) * kOdd; }

std::uint64_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

std::uint64_t state_of(const Warp& warp, std::uint32_t bytes) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&warp);
  std::uint64_t state = digest({begin + kRegisterFile, begin + bytes}, address(warp.next));
  state = mix(mix(state, address(warp.paths->rejoin)), std::uint64_t{warp.live} << 32 | warp.active);
  for (const Path& p : warp.paths->waiting) {
    state = mix(mix(state, address(p.next)), address(p.rejoin));
    state =
        mix(state, std::uint64_t{p.mask} << 32 | std::uint64_t{p.barrier} << 8 | static_cast<std::uint64_t>(p.wait));
  }
  return state;
}

} // namespace

// Other workers may be changing the memory; in that case the result is discarded.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
std::uint64_t
digest(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t lanes[4] = {seed, 1, 2, 3}; // four multiplications at a time
  std::size_t i = 0;
  const auto word = [&](std::size_t at) {
    std::uint64_t w = 0;
    __builtin_memcpy(&w, bytes.data() + at, sizeof w);
    return w;
  };
  for (; i + 32 <= bytes.size(); i += 32)
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = mix(lanes[lane], word(i + 8 * lane));
  for (; i < bytes.size(); ++i) lanes[0] = mix(lanes[0], static_cast<std::uint64_t>(bytes[i]));
  return mix(mix(mix(lanes[0], lanes[1]), lanes[2]), lanes[3]);
}

void Repetition::look(const Warp& warp, std::uint32_t bytes) {
  used_ = 0;
  looked_ = true;
  if (++looks_ < kFirst) return;
  looks_ = kFirst;
  const std::uint64_t state = state_of(warp, bytes);
  ++since_;
  if (state == kept_) {
    period_ = since_;
    since_ = 0;
  } else if (period_ != 0 ? since_ >= period_ : since_ >= limit_) {
    limit_ = period_ != 0 ? 1 : 2 * limit_;
    period_ = 0;
    since_ = 0;
    kept_ = state;
  }
}

bool Repetition::quiet(const Warp& warp) {
  const bool ran = warp.steps != steps_;
  looked_ = false;
  steps_ = warp.steps;
  switch (warp.state) {
  case WarpState::done: return true;
  case WarpState::ready: return repeats();
  case WarpState::at_barrier:
  case WarpState::in_group:
  case WarpState::stuck: return repeats() || !ran;
  case WarpState::trapped: break;
  }
  return false;
}

} // namespace warplens::exec
