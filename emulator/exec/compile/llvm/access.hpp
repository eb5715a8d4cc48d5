// SPDX-License-Identifier: Apache-2.0
// A load or store for which code is being made.
#pragma once

#include "emulator/exec/compile/llvm/emitter.hpp"

namespace warplens::exec::compile {

struct Emitter::Access {
  std::uint32_t op = 0;
  const MemorySite& site;
  const MemoryHandlerKey& key;
  Shape address;
  llvm::BasicBlock* slow = nullptr;

  llvm::Value* first[2]{}; ///< host address of the first lane of each half

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
