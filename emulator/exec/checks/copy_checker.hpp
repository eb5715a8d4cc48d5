// SPDX-License-Identifier: Apache-2.0
// Follows the asynchronous copies of the CTAs of one worker: see copy_check.hpp.
#pragma once

#include "emulator/exec/checks/group_registers.hpp"
#include "emulator/exec/checks/pending_copies.hpp"
#include "emulator/exec/checks/pending_tensors.hpp"
#include "emulator/exec/checks/proxy_fences.hpp"
#include "emulator/exec/checks/race/meaning.hpp"
#include "emulator/exec/state/checker.hpp"
#include "emulator/exec/state/program.hpp"

#include <map>

namespace warplens::exec {

class CopyChecker final : public Checker {
public:
  explicit CopyChecker(const Program& program);
  void begin_cta(std::uint64_t cta) override;
  void end_cta(std::uint64_t cta) override;
  void access(const WarpAccess& access) override;
  void step(const WarpStep& step) override;
  void registers(const WarpStep& step) override;
  void finish(ToolFindings& findings) override { findings.merge(std::move(findings_)); }

private:
  /// The numbers of the groups that threads commit next, by lane.
  struct Groups {
    std::array<std::uint32_t, kWarpSize> each{}, bulk{};
  };
  struct Block {
    PendingCopies shared, global;
    PendingTensors tensors;
    std::map<std::uint32_t, std::array<std::uint64_t, kWarpSize>> acquired; ///< by warp and lane: when, for tensors
    ProxyFences proxies;
    std::map<std::uint32_t, Groups> groups;           ///< by warp
    std::map<std::uint32_t, GroupRegisters> products; ///< by warp, from its first wgmma on
  };
  enum class Fence : std::uint8_t { none, proxy, objects };
  enum class GroupStep : std::uint8_t { none, product, fence, commit, wait };                       ///< wgmma
  enum class TensorStep : std::uint8_t { none, work, load, store, wait_loads, wait_stores, fence }; ///< tcgen05
  /// What a lane of an op addresses; `block` is null for global memory.
  struct Located {
    Block* block = nullptr;
    std::uint64_t cta = 0, address = 0;
    const std::byte* host = nullptr; ///< null: there is nothing
    [[nodiscard]] ObjectPlace object() const { return {cta, address}; }
  };
  /// A copy between the two steps of its instruction, and the CTA whose memory it concerns.
  struct Begun {
    std::uint64_t owner = 0;
    PendingCopy copy;
  };
  using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>; ///< CTA, warp, instruction
  /// A copy by tensor map between the two steps of its instruction.
  struct Running {
    PendingCopy copy; ///< without its bytes
    std::vector<Begun> sides;
    bool several = false;              ///< a multicast
    bool in_pair = false;              ///< the mbarrier may be that of the other block of a pair
    bool told = false;                 ///< that a fence is missing
    std::optional<std::uint64_t> base; ///< where it begins in shared memory
    bool repeated = false;             ///< by another lane
  };

  [[nodiscard]] Block& block_of(std::uint64_t cta);
  void access_lane(const WarpAccess& access, int lane, std::uint64_t address);
  void look(const WarpAccess& access, int lane, const PendingCopies& pending, std::uint64_t address);
  void store(const WarpAccess& access, int lane, const Cta& owner, std::uint64_t address);
  void add_each(const WarpAccess& access, Block& block);

  void before(const WarpStep& step, Block& block, const race::Meaning& meaning);
  void after(const WarpStep& step, Block& block, const race::Meaning& meaning);
  void begin_copy(const WarpStep& step, int lane, std::vector<Begun>& begun);
  void begin_side(const WarpStep& step, const Located& at, PendingCopy copy, std::vector<Begun>& begun);
  void begin_by_map(const WarpStep& step);
  void add_piece(const WarpAccess& access, Running& running);
  void add_phases(const WarpStep& step, int lane, PendingCopy& copy);
  void attach_arrival(const WarpStep& step, Block& block);
  void wait_for_phase(const WarpStep& step, Block& block);
  void complete_phase(PendingCopies& pending, const ObjectPlace& object, bool odd);
  void wait_for_groups(const WarpStep& step, Block& block, bool bulk, std::uint32_t running);
  void commit(const WarpStep& step, Block& block, bool bulk);
  static TensorStep tensor_step_of(const isa::Spelling& spelling);
  void tensor_step(const WarpStep& step, Block& block);
  void look_at_tensors(const WarpStep& step, int lane, Block& block, const TensorWork& work);
  void order_tensors(const WarpStep& step, const race::Meaning& meaning);
  void release_tensors(const WarpId& of, Mask lanes, bool issued);
  void acquire_tensors(const WarpId& of, Mask lanes);
  [[nodiscard]] const char* too_early(const WarpStep& step, const PendingTensor& one) const;
  [[nodiscard]] const char* unfenced(const WarpStep& step, int lane, const PendingTensor& one);
  void read_matrices(const WarpStep& step, int lane, Block& block, const TensorWork& work);
  static const char* why_uncommitted(bool uncommitted);
  static PendingCopy reading(const WarpStep& step, int lane, std::vector<Extent> extents);
  void commit_tensors(const WarpStep& step);
  static GroupStep group_step_of(const isa::Spelling& spelling);
  [[nodiscard]] GroupRegisters& group_registers(const WarpStep& step, Block& block);
  void group_step(const WarpStep& step, Block& block);
  void begin_product(const WarpStep& step, Block& block, std::uint64_t group);
  void complete_products(const WarpStep& step, Block& block, std::uint64_t running, std::uint64_t next);
  void tell_product(const WarpStep& step, ToolFinding::Kind kind, const std::optional<GroupRegisters::Hazard>& hazard,
                    const char* detail);
  [[nodiscard]] Located locate(const WarpStep& step, const Op* op, int lane, std::uint16_t bytes);
  void tell_pending(const ThreadAccess& at, const PendingCopy& copy, int lane);
  void add_all(std::vector<Begun>& begun);
  void tell_unfenced(const WarpStep& step, int lane, const Located& at, std::uint64_t bytes,
                     const ProxyFences::Unfenced& before, const char* detail);

  const Program& program_;
  std::vector<race::Meaning> meanings_;  ///< by instruction
  std::vector<Fence> fences_;            ///< by instruction
  std::vector<GroupStep> group_steps_;   ///< by instruction
  std::vector<TensorStep> tensor_steps_; ///< by instruction
  bool async_proxy_ = false;             ///< bulk copies, copies by tensor map or products use the asynchronous proxy
  bool tensors_ = false;                 ///< there are instructions of tcgen05 that access tensor memory
  std::uint64_t time_ = 0;               ///< of what orders tensor memory
  std::map<std::uint64_t, Block> blocks_;
  std::map<Place, std::vector<Begun>> begun_;
  std::map<Place, Running> running_;
  Block* block_ = nullptr; ///< of the last event, …
  std::uint64_t cta_ = 0;  ///< … and its number
  int run_lane_ = 0;       ///< which accesses a run of bytes
  ToolFindings findings_;
};

} // namespace warplens::exec
