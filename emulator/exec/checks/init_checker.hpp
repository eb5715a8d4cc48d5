// SPDX-License-Identifier: Apache-2.0
// Follows the CTAs of a launch for initcheck: which bytes and registers each thread may read. A load of bytes that
// nobody has written is reported where it is: from global memory at once, and what it loads counts as written
// afterwards; from shared and local memory once its value is needed (init_values.cpp). Asynchronous copies and moves
// between registers are not reported: what they write is as unwritten as what they read.
#pragma once

#include "emulator/exec/checks/init/block_shadow.hpp"
#include "emulator/exec/checks/init/value_flow.hpp"
#include "emulator/exec/checks/init_check.hpp"
#include "emulator/exec/state/program.hpp"

#include <unordered_map>

namespace warplens::exec {

class InitChecker final : public Checker {
public:
  InitChecker(const Launch& launch, InitCheck& memory);
  void begin_cta(std::uint64_t cta) override;
  void end_cta(std::uint64_t cta) override;
  void access(const WarpAccess& access) override;
  void step(const WarpStep& step) override;
  void registers(const WarpStep& step) override;
  void next_op(const Warp& warp, const Op& op) override;
  void entered(const Warp& warp, std::uint32_t part, Mask lanes, const std::uint32_t* frames) override;
  void fresh(const Warp& warp, int lane, isa::Space space, std::uint64_t address, std::uint64_t bytes) override;
  void written(const Warp& warp, int lane, isa::Space space, std::uint64_t address, std::uint64_t bytes) override;
  void read(const Warp& warp, int lane, isa::Space space, std::uint64_t address, std::uint64_t bytes) override;
  void finish(ToolFindings& findings) override { findings.merge(std::move(findings_)); }

private:
  /// What an access of a site needs and changes.
  struct Site {
    bool reads = false, writes = false;
    bool copies = false;       ///< an asynchronous copy
    bool hidden = false;       ///< parameters of functions: not followed
    bool stores = false;       ///< a store of registers
    bool follows = false;      ///< a load whose value may not be needed: compilers load in advance
    std::uint8_t unread = 0;   ///< elements that nothing reads
    std::uint32_t element = 1; ///< bytes
  };
  /// An asynchronous copy between its loads and its stores.
  struct Moving {
    const Op* op = nullptr;
    Mask lanes = 0; ///< of a bulk copy: those that are still to come
    bool bulk = false, reduces = false;
    bool dirty = false;  ///< some bytes of the source are unwritten
    bool stored = false; ///< the stores have begun
    int lane = 0;        ///< of a bulk copy
    isa::Space space{};  ///< of the source
    Mask loaded = 0;     ///< lanes that read
    std::uint64_t from[kWarpSize]{}, bytes[kWarpSize]{};
    std::uint64_t to = 0; ///< of a bulk copy: the first byte
  };
  struct SharedPlace {
    init::SharedShadow* shadow = nullptr;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] Site site_of(const MemorySite& site) const;
  init::BlockShadow& block(std::uint64_t cta);
  init::BlockShadow* find_block(std::uint64_t cta);
  SharedPlace shared_at(const Warp& warp, std::uint64_t address);
  bool unwritten(const WarpAccess& access, unsigned bytes);
  void write(const WarpAccess& access, unsigned bytes);
  bool unwritten_bytes(const Warp& warp, int lane, isa::Space space, std::uint64_t address, std::uint64_t bytes);
  void report(const WarpAccess& access, const Site& site, unsigned bytes);
  ToolFinding finding_of(const WarpAccess& access, int lane, std::uint64_t address, std::uint64_t count,
                         unsigned bytes);
  void name_origin(ToolFinding& finding, const WarpAccess& access);
  void load_to_copy(const WarpAccess& access);
  void load_to_bulk(const WarpAccess& access);
  void store_copied(const WarpAccess& access);
  void carry(const WarpAccess& access, const Moving& moving, int lane, std::uint64_t from, std::uint64_t to,
             std::uint64_t bytes);
  void brought(const WarpAccess& access, const init::Brought& bytes);
  void follow(const WarpAccess& access, const Site& site, unsigned bytes);
  void follow_lane(const WarpAccess& access, const Site& site, int lane, unsigned bytes);
  void store_values(const WarpAccess& access);
  void store_value(const WarpAccess& access, int lane, std::uint64_t address, init::Undefined value);
  void shuffle(const WarpStep& step);
  void report_needed(init::UnwrittenLoad& load);
  init::ValueFlow& values();
  void flow(const WarpStep& step, const ir::UnwrittenUse& use, std::vector<init::RegisterShadow>& registers);
  void need(const WarpStep& step, init::RegisterShadow& value, Mask lanes, const char* why);
  void report_register(const WarpStep& step, std::uint32_t root, std::uint32_t instruction, Mask lanes,
                       const char* why);

  const Launch& launch_;
  const Program& program_;
  InitCheck& memory_;
  std::vector<Site> sites_;
  std::unordered_map<std::uint64_t, std::unique_ptr<init::BlockShadow>> blocks_;
  std::uint64_t last_cta_ = ~std::uint64_t{0};
  init::BlockShadow* last_block_ = nullptr;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, Moving> moving_; ///< CTA, warp, instruction
  std::uint64_t reports_ = 0;               ///< loads that have been reported because their value was needed
  std::unique_ptr<init::ValueFlow> values_; ///< made when it is needed first
  ToolFindings findings_;
};

} // namespace warplens::exec
