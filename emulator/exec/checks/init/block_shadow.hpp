// SPDX-License-Identifier: Apache-2.0
// Which bytes of a block's shared and local memory, and which registers, nobody has written.
//
//   BlockShadow block(warps, registers);   block.shared.resize(1024);
//   block.shared.write(0, 64);   block.shared.unwritten(60, 8) == true
#pragma once

#include "emulator/exec/checks/init/bits.hpp"
#include "emulator/exec/checks/init/undefined.hpp"

#include <deque>
#include <map>
#include <vector>

namespace warplens::exec::init {

/// Nothing is written at first.
class SharedShadow {
public:
  void resize(std::uint64_t bytes) { bits_.assign((bytes + 63) / 64, ~std::uint64_t{0}); }
  [[nodiscard]] bool empty() const { return bits_.empty(); }
  void write(std::uint64_t offset, std::uint64_t bytes) {
    if (holds(offset, bytes)) clear_bits(bits_.data(), offset, bytes);
  }
  void forget(std::uint64_t offset, std::uint64_t bytes) {
    if (holds(offset, bytes)) set_bits(bits_.data(), offset, bytes);
  }
  [[nodiscard]] bool unwritten(std::uint64_t offset, std::uint64_t bytes) const {
    return holds(offset, bytes) && any_bit(bits_.data(), offset, bytes);
  }

private:
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t bytes) const {
    return bytes <= 64 * bits_.size() && offset <= 64 * bits_.size() - bytes;
  }
  std::vector<std::uint64_t> bits_;
};

/// The local memory of a warp: for each byte, the lanes that have written it. What lies behind is not written.
class LocalShadow {
public:
  void write(std::uint64_t offset, std::uint64_t bytes, Mask lanes) {
    if (offset + bytes > written_.size()) written_.resize(offset + bytes);
    for (std::uint64_t i = offset; i < offset + bytes; ++i) written_[i] |= lanes;
  }
  void forget(std::uint64_t offset, std::uint64_t bytes, Mask lanes) {
    for (std::uint64_t i = offset; i < std::min<std::uint64_t>(offset + bytes, written_.size()); ++i)
      written_[i] &= ~lanes;
  }
  /// The lanes that have not written all of these bytes.
  [[nodiscard]] Mask unwritten(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset + bytes > written_.size()) return kFullMask;
    Mask all = kFullMask;
    for (std::uint64_t i = offset; i < offset + bytes; ++i) all &= written_[i];
    return ~all;
  }

private:
  std::vector<Mask> written_;
};

/// A register that may be unwritten: its own value, or one that was moved or computed from another register.
struct RegisterShadow {
  Mask unwritten = 0;            ///< lanes
  Mask computed = 0;             ///< of these, lanes in which an instruction has computed with the value …
  std::uint32_t instruction = 0; ///< … first: this one
  std::uint32_t root = 0;        ///< the register that nobody has written
};

struct WarpShadow {
  LocalShadow local;
  std::vector<RegisterShadow> registers; ///< by number in ir::Unwritten::registers
  UndefinedRegisters undefined;          ///< loaded from unwritten bytes
  RegisterBits undefined_bits = 0;       ///< at least those of `undefined`
  std::uint64_t reports = 0;             ///< when `undefined` was last freed of what has been reported
};

/// Bytes of shared memory that an asynchronous copy brought, and that nobody had written at their source.
struct Brought {
  std::uint64_t begin = 0, end = 0; ///< in shared memory
  std::uint64_t source = 0;         ///< the address of the first one
  std::uint32_t instruction = 0, thread = 0;
};

/// The loads of unwritten bytes by a block.
class UnwrittenLoads {
public:
  /// The one of this thread, instruction and address: a loop that repeats it makes no other.
  UnwrittenLoad& of(const ToolFinding& finding) {
    UnwrittenLoad*& load = by_place_[{finding.at.thread, finding.at.instruction, finding.at.address}];
    if (load == nullptr) load = &list_.emplace_back(UnwrittenLoad{finding});
    return *load;
  }
  /// Undefined bytes that a thread has stored; `owner`: the thread if its local memory holds them, otherwise kShared.
  static constexpr std::uint32_t kShared = ~std::uint32_t{0};
  void stored(std::uint32_t owner, std::uint64_t address, UnwrittenLoad& load) { stored_[{owner, address}] = &load; }
  /// The load that an unwritten byte has come from; null if it was not stored.
  [[nodiscard]] UnwrittenLoad* origin(std::uint32_t owner, std::uint64_t address) const {
    const auto found = stored_.find({owner, address});
    return found == stored_.end() ? nullptr : found->second;
  }
  void forget(std::uint32_t owner, std::uint64_t address, std::uint64_t bytes) {
    stored_.erase(stored_.lower_bound({owner, address}), stored_.lower_bound({owner, address + bytes}));
  }

private:
  std::deque<UnwrittenLoad> list_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, UnwrittenLoad*> by_place_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, UnwrittenLoad*> stored_;
};

struct BlockShadow {
  BlockShadow(std::size_t warp_count, std::size_t register_count) : warps(warp_count) {
    for (WarpShadow& w : warps)
      for (std::uint32_t r = 0; r < register_count; ++r) w.registers.push_back({kFullMask, 0, 0, r});
  }
  SharedShadow shared; ///< empty until the first access
  std::vector<WarpShadow> warps;
  std::vector<Brought> brought; ///< the latest last
  UnwrittenLoads loads;
};

} // namespace warplens::exec::init
