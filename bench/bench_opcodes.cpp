// SPDX-License-Identifier: Apache-2.0
// Measures each instruction that is computed lane by lane: nanoseconds of its handler for a full warp, called
// repeatedly on the same rows, best of several rounds. Operands are ordinary values (no NaN, no subnormal, divisors of
// all sizes, small shifts). The slowest come first. docs/performance.md lists the slow ones and the reasons.
//
//   build/bin/bench_opcodes [--slower-than NS] [--level x86-64-v3] [--one-lane] [NAME]   only spellings that contain
//   NAME
//
// With --one-lane, only one lane is active, as in a block of one thread.
#include "emulator/exec/decode/levels.hpp"
#include "emulator/exec/state/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace warplens;
using isa::Type;

constexpr std::uint32_t kRow = 8 * exec::kWarpSize;
constexpr std::uint32_t kAlways = exec::kRegisterFile, kDestinations = kAlways + kRow,
                        kSources = kDestinations + 2 * kRow, kBytes = kSources + 5 * kRow;

struct Release {
  void operator()(exec::Warp* warp) const { std::free(warp); }
};
using WarpMemory = std::unique_ptr<exec::Warp, Release>;

WarpMemory fresh_warp() {
  void* const memory = std::aligned_alloc(64, kBytes);
  std::memset(memory, 0, kBytes);
  WarpMemory warp(new (memory) exec::Warp);
  warp->active = exec::kFullMask;
  exec::predicate(warp.get(), kAlways) = exec::kFullMask;
  return warp;
}

// An ordinary float of 16 bits: random sign and fraction, an exponent near that of 1.
std::uint64_t half(std::uint64_t random, int fraction, int bias) {
  const std::uint64_t sign = random >> 40 & 1, exponent = bias - 5 + (random >> 32) % 10;
  return sign << 15 | exponent << fraction | (random & ((1u << fraction) - 1));
}

// An ordinary value of a type, as the bits of a lane.
std::uint64_t ordinary(Type type, std::mt19937_64& random) {
  const std::uint64_t r = random();
  const double real = (static_cast<double>(r >> 12) * 0x1p-52 - 0.5) * 2000;
  switch (type) {
  case Type::f64: return std::bit_cast<std::uint64_t>(real);
  case Type::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(real));
  case Type::f32x2: return ordinary(Type::f32, random) << 32 | ordinary(Type::f32, random);
  case Type::f16: return half(r, 10, 15);
  case Type::f16x2: return half(r, 10, 15) << 16 | half(random(), 10, 15);
  case Type::bf16: return half(r, 7, 127);
  case Type::bf16x2: return half(r, 7, 127) << 16 | half(random(), 7, 127);
  default: break;
  }
  return r >> random() % static_cast<unsigned>(isa::bits(type)); // of all sizes
}

bool is_amount(const isa::Entry& entry, const isa::OperandSpec& operand) {
  return entry.opcode == "bmsk" || (operand.type_index < 0 && operand.fixed == Type::u32);
}

struct Timed {
  std::string name;
  double nanoseconds;
};

class Bench {
public:
  explicit Bench(exec::Mask active) { warp_->active = active; }

  // Nanoseconds of one variant of an entry.
  double time(const isa::Entry& entry, const isa::Form& form, exec::Handler handler) {
    std::mt19937_64 random(1);
    exec::Op op;
    op.run = handler;
    op.guard = kAlways;
    op.dst[0] = kDestinations;
    op.dst[1] = kDestinations + kRow;
    std::uint32_t source = 0;
    for (int i = 0; i < entry.operands.count; ++i) {
      const isa::OperandSpec& operand = entry.operands.items[i];
      if (operand.destination || operand.negatable) continue;
      op.src[source] = kSources + source * kRow;
      fill(op.src[source++], isa::operand_type(operand, form), is_amount(entry, operand), random);
    }
    constexpr int kRounds = 9, kCalls = 400;
    double best = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      const auto start = std::chrono::steady_clock::now();
      const exec::Op* next = &op;
      for (int i = 0; i < kCalls; ++i) next = next->run(next, warp_.get()) - 1;
      const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
      best = std::min(best, all.count() / kCalls);
    }
    return best;
  }

private:
  void fill(std::uint32_t offset, Type type, bool amount, std::mt19937_64& random) {
    if (type == Type::pred) {
      exec::predicate(warp_.get(), offset) = static_cast<exec::Mask>(random());
      return;
    }
    for (int lane = 0; lane < exec::kWarpSize; ++lane) {
      const std::uint64_t bits = amount ? random() % 32 : ordinary(type, random);
      const auto size = static_cast<std::size_t>(isa::bytes(type));
      std::memcpy(exec::row<std::byte>(warp_.get(), offset) + static_cast<std::size_t>(lane) * size, &bits, size);
    }
  }

  WarpMemory warp_ = fresh_warp();
};

std::string spelling(const isa::Entry& entry, const isa::Form& form) {
  std::string text(entry.opcode);
  for (int i = 0; i < form.count; ++i) text += "." + std::string(isa::text_of(form.words[i]));
  return text;
}

std::vector<Timed> measure(const exec::Level& level, exec::Mask active, const std::string& only) {
  Bench bench(active);
  std::vector<Timed> list;
  std::set<exec::Handler> seen; // setp with a boolean operation has the handler of the one without
  for (std::size_t e = 0; e < isa::table().size(); ++e) {
    const isa::Entry& entry = isa::table()[e];
    if (entry.family != isa::Family::lane) continue;
    for (int variant = 0; variant < entry.pattern.variants(); ++variant) {
      const isa::Form form = entry.pattern.expand(variant);
      const exec::Handler handler = level.lanes()[e][variant];
      std::string name = spelling(entry, form);
      if (name.find(only) == std::string::npos || !seen.insert(handler).second) continue;
      list.push_back({std::move(name), bench.time(entry, form, handler)});
    }
  }
  return list;
}

} // namespace

int main(int argc, char** argv) {
  double slower_than = -1;
  exec::Mask active = exec::kFullMask;
  std::string only, level_name(exec::levels().front().name);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--slower-than" && i + 1 < argc)
      slower_than = std::atof(argv[++i]);
    else if (argument == "--level" && i + 1 < argc)
      level_name = argv[++i];
    else if (argument == "--one-lane")
      active = 1;
    else
      only = argument;
  }
  const auto levels = exec::levels();
  const auto level =
      std::find_if(levels.begin(), levels.end(), [&](const exec::Level& one) { return one.name == level_name; });
  if (level == levels.end()) {
    fmt::print(stderr, "level {} is not in this build, or this processor does not support it\n", level_name);
    return 2;
  }
  std::vector<Timed> list = measure(*level, active, only);
  const std::size_t all = list.size();
  std::erase_if(list, [&](const Timed& one) { return one.nanoseconds <= slower_than; });
  std::stable_sort(list.begin(), list.end(),
                   [](const Timed& a, const Timed& b) { return a.nanoseconds > b.nanoseconds; });
  for (const Timed& one : list) fmt::print("{:8.1f}  {}\n", one.nanoseconds, one.name);
  fmt::print("{} of {} spellings, ns per warp of {} lanes at {}\n", list.size(), all, std::popcount(active),
             level->name);
}
