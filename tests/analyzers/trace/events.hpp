// SPDX-License-Identifier: Apache-2.0
// Synthetic events for the tests of traces, and a watcher that records all events.
#pragma once

#include "tests/analyzers/accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>

namespace warplens::testing {

/// The events that an analyzer receives, as text: individually in order, and as sums.
struct Told {
  std::map<std::uint64_t, std::string> each;   ///< by CTA
  std::map<std::string, std::uint64_t> counts; ///< accesses by everything that determines their cost; branches
  std::vector<std::uint64_t> instructions;
  friend bool operator==(const Told&, const Told&) = default;
};

inline std::string lanes_of(const exec::Access& a, std::uint64_t origin) {
  std::string text;
  for (int lane = 0; lane < exec::kWarpSize; ++lane)
    if ((a.mask >> lane & 1) != 0) text += fmt::format(" {:x}", a.addresses[lane] - origin);
  return text;
}

inline std::string text_of(const exec::Access& a, std::uint64_t origin) {
  return fmt::format("{} {} {} {} {} {:x} {}:{}", a.instruction, static_cast<int>(a.space), static_cast<int>(a.kind),
                     static_cast<int>(a.shape), a.lane_bytes, a.mask, a.stride, lanes_of(a, origin));
}

class Witness final : public exec::Watcher {
public:
  Told told;

  std::unique_ptr<exec::Shard> make_shard() override { return std::make_unique<Shard>(*this); }
  void finish(std::vector<std::unique_ptr<exec::Shard>>, const std::vector<exec::InstructionCount>& counts) override {
    for (const exec::InstructionCount& c : counts)
      told.instructions.insert(told.instructions.end(), {c.warps, c.lanes});
  }

private:
  struct Shard final : exec::Shard {
    explicit Shard(Witness& w) : witness(w) {}
    bool begin_cta(std::uint64_t cta) override {
      write(cta, "begin");
      return cta % 3 != 2; // for the others, only the sums
    }
    void end_cta(std::uint64_t cta) override { write(cta, "end"); }
    void access(const exec::Access& a) override {
      const std::uint64_t first = a.addresses[std::countr_zero(a.mask)];
      count(text_of(a, first - first % exec::kAlignmentPeriod), a.count);
    }
    void branch(const exec::Branch& b) override {
      count(fmt::format("branch {} {:x} {:x}", b.instruction, b.active, b.taken), b.count);
    }
    void barrier(const exec::Barrier& b) override {
      write(b.of.cta, fmt::format("{} barrier {} {} {:x} {}", b.of.warp, b.instruction, b.number, b.active, b.steps));
    }
    void each_access(const exec::WarpId& of, const exec::Access& a) override {
      write(of.cta, fmt::format("{} {}", of.warp, text_of(a, 0)));
    }
    void each_branch(const exec::WarpId& of, const exec::Branch& b) override {
      write(of.cta, fmt::format("{} branch {} {:x} {:x}", of.warp, b.instruction, b.active, b.taken));
    }
    void write(std::uint64_t cta, const std::string& line) {
      const std::lock_guard lock(witness.mutex_);
      witness.told.each[cta] += line + "\n";
    }
    void count(const std::string& what, std::uint64_t n) {
      const std::lock_guard lock(witness.mutex_);
      witness.told.counts[what] += n;
    }
    Witness& witness;
  };
  std::mutex mutex_;
};

/// A launch of synthetic events: all shapes, different masks, several concurrent CTAs.
class MadeUp {
public:
  static constexpr std::uint32_t kInstructions = 40, kWarps = 7;
  static constexpr std::uint64_t kCtas = 12;

  explicit MadeUp(unsigned seed) : random_(seed) {}

  /// Sends a shard the events of the CTAs in `mine`, three CTAs concurrently.
  template <class Mine> void tell(exec::Shard& shard, int events, Mine&& mine) {
    std::vector<std::pair<std::uint64_t, bool>> running;
    for (std::uint64_t next = 0; next < kCtas || !running.empty();) {
      if (next < kCtas && running.size() < 3) {
        if (mine(next)) running.emplace_back(next, shard.begin_cta(next));
        ++next;
        continue;
      }
      if (running.empty()) break;
      const auto [cta, each] = running.front();
      for (int i = 0; i < events / 3; ++i) one(shard, {cta, below(kWarps)}, each);
      if (below(3) == 0) {
        shard.end_cta(cta);
        running.erase(running.begin());
      } else {
        std::rotate(running.begin(), running.begin() + 1, running.end());
      }
    }
  }

private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void one(exec::Shard& shard, exec::WarpId of, bool each) {
    const exec::Mask mask = below(2) == 0 ? ~exec::Mask{0} : static_cast<exec::Mask>(random_()) | 1u << below(32);
    const std::uint32_t instruction = below(kInstructions);
    switch (below(8)) {
    case 0: shard.barrier({instruction, mask, below(16), of, random_() % 3 * 0xffff'fff0u + below(40)}); return;
    case 1: {
      const exec::Branch b{instruction, mask, mask & static_cast<exec::Mask>(random_()), 1};
      if (each) shard.each_branch(of, b);
      shard.branch(b);
      return;
    }
    default: break;
    }
    const std::uint64_t base = 0x7000'0000'0000u + (random_() % 4) * 0xffff'ff00u + 4u * below(5000);
    const std::int64_t strides[] = {0, 4, 8, -4, 128, 1 << 20, -1024, 12};
    const std::int64_t stride = strides[below(8)], second = strides[below(8)];
    const std::uint32_t form = below(4);
    const bool far = below(4) == 0;
    const WarpAccess access(mask, 4, [&](int lane) -> std::uint64_t {
      if (form == 0) return base + 4 * (random_() % (far ? std::uint64_t{1} << 40 : 100));
      if (form == 1) return base + static_cast<std::uint64_t>(lane < 16 ? lane * stride : 5000 + (lane - 16) * second);
      return base + static_cast<std::uint64_t>(lane * stride);
    });
    const exec::Access a = access.event(static_cast<exec::AccessKind>(below(4)),
                                        below(2) == 0 ? isa::Space::global : isa::Space::shared, instruction);
    if (each) shard.each_access(of, a);
    shard.access(a);
  }

  std::mt19937_64 random_;
};

/// The instruction counts of the launch.
inline std::vector<exec::InstructionCount> made_up_counts() {
  std::vector<exec::InstructionCount> counts(MadeUp::kInstructions);
  for (std::uint32_t i = 0; i < counts.size(); ++i) counts[i] = {i, 32 * i, 31 * i};
  return counts;
}

inline exec::LaunchShape made_up_shape() {
  exec::LaunchShape shape;
  shape.grid[0] = static_cast<std::uint32_t>(MadeUp::kCtas);
  shape.block[0] = MadeUp::kWarps * 32;
  return shape;
}

} // namespace warplens::testing
