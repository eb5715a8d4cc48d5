// SPDX-License-Identifier: Apache-2.0
// The registers of a warp that products of its warp group use: those that products may still read or write, and those
// that the warp has written since its last wgmma.fence (PTX manual, wgmma.fence and wgmma.wait_group).
//
//   GroupRegisters r(program.group_registers);
//   r.fence();  r.begin(12);  r.commit();  r.wait(0);  r.use(15)  ->  nothing: the product at 12 is complete
//
// The state is that of the warp: wgmma is executed by whole warps.
#pragma once

#include "emulator/ir/group_registers.hpp"

#include <optional>

namespace warplens::exec {

class GroupRegisters {
public:
  explicit GroupRegisters(const ir::GroupRegisters& known) : known_(&known) {}

  /// A register that is used too early, or was written too late.
  struct Hazard {
    std::uint32_t reg = 0;         ///< index in the function
    std::uint32_t instruction = 0; ///< the product that uses it, or the instruction that has written it
    bool written = false;          ///< what the product does with it; of use(): what the instruction does
    bool committed = false;        ///< the product is in a group that can be waited for
  };

  /// A product. The hazard: a register that was written since the last fence.
  std::optional<Hazard> begin(std::uint32_t instruction);
  /// Another instruction; `all`: all lanes of the warp execute it. The hazard: a pending product.
  std::optional<Hazard> use(std::uint32_t instruction, bool all);
  void fence();
  void commit() { ++next_group_; }
  /// All but the last `running` groups are complete.
  void wait(std::uint64_t running);
  [[nodiscard]] bool has_fence() const { return fenced_; }
  [[nodiscard]] std::uint64_t next_group() const { return next_group_; }

private:
  struct State {
    std::optional<std::uint32_t> product; ///< pending
    std::uint64_t group = 0;
    bool is_result = false;              ///< the product writes it
    std::optional<std::uint32_t> writer; ///< since the last fence
  };
  void move(const State* from, std::uint32_t to, bool all);

  const ir::GroupRegisters* known_;
  std::map<std::uint32_t, State> states_; ///< by register; the others are not used
  std::uint64_t next_group_ = 0;
  bool fenced_ = false;
};

} // namespace warplens::exec
