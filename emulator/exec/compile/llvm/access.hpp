// SPDX-License-Identifier: Apache-2.0
// A load or store for which code is being made.
#pragma once

#include "emulator/exec/compile/llvm/emitter.hpp"

namespace warplens::exec::compile {

constexpr std::uint32_t kHalfWarp = kWarpSize / 2;

/// Of lanes with several elements each, the places of one of them.
inline llvm::SmallVector<int, 64> every(unsigned lanes, unsigned elements, unsigned element) {
  llvm::SmallVector<int, 64> order;
  for (unsigned lane = 0; lane < lanes; ++lane) order.push_back(static_cast<int>(lane * elements + element));
  return order;
}

inline llvm::SmallVector<int, 64> from(unsigned first, unsigned count) {
  llvm::SmallVector<int, 64> order;
  for (unsigned i = 0; i < count; ++i) order.push_back(static_cast<int>(first + i));
  return order;
}

struct Emitter::Access {
  std::uint32_t op = 0;
  const MemorySite& site;
  const MemoryHandlerKey& key;
  Shape address;
  llvm::Value *real = nullptr, *site_index = nullptr; ///< the Op; MemorySite::index
  llvm::Value* imm = nullptr;                         ///< Op::imm
  llvm::Value* tally = nullptr;                       ///< of a sequence that is counted: Tally::first
  llvm::SmallVector<llvm::Value*, 4> addresses{};     ///< that are no sequence: the chunks of their row
  llvm::Value* start[2]{};                            ///< of a sequence: the first address of each half
  llvm::SmallVector<llvm::Value*, 8> values{};        ///< of a store: the chunks of each element's row
  llvm::SmallVector<llvm::Value*, 8> results{};       ///< of a load in a function of its own: variables for its rows

  llvm::BasicBlock* slow = nullptr;
  llvm::Value* acting = nullptr; ///< the lanes that access memory
  bool all_act = true;           ///< all lanes surely do
  bool some_rest = false;        ///< some of them surely do not

  llvm::Value* first[2]{}; ///< host address of the first lane of each half

  [[nodiscard]] std::uint32_t address_bytes() const { return site.address32 ? 4 : 8; }
  [[nodiscard]] std::uint32_t element_bytes() const { return static_cast<std::uint32_t>(isa::bytes(key.type)); }
  [[nodiscard]] std::uint32_t lane_bytes() const { return element_bytes() * static_cast<std::uint32_t>(key.vector); }
  [[nodiscard]] std::uint32_t row_bytes() const { return static_cast<std::uint32_t>(key.register_bytes); }
  [[nodiscard]] unsigned vector() const { return static_cast<unsigned>(key.vector); }
  [[nodiscard]] bool is_contiguous() const { return address.stride == lane_bytes(); }
  /// The distance of lanes in elements if they are so near that vectors with every second, third or fourth element are
  /// faster than gathering; otherwise 0.
  [[nodiscard]] unsigned near() const {
    const std::int64_t distance = address.stride / element_bytes();
    return distance >= 2 && distance <= 4 ? static_cast<unsigned>(distance) : 0;
  }
};

} // namespace warplens::exec::compile
