// SPDX-License-Identifier: Apache-2.0
// The state of a warp, and the decoded instructions that operate on it.
//
// A register is a row of 32 lanes, 64-byte aligned; a predicate is a 32-bit mask. Rows follow the Warp header in
// memory, so that an operand is an offset from the Warp's address. Immediates and special registers are rows too,
// written when the warp's slot or the CTA is set up.
//
//   fma.rn.f32 %f8, %f16, %f5, %f6   ->   Op{run: lanes<Fma>, dst: {4736}, src: {5760, 4352, 4480}, guard: <always
//   true>}
#pragma once

#include "emulator/exec/state/lane_mask.hpp"

#include <cstddef>
#include <cstdint>

namespace warplens::exec {

struct Warp;
struct Op;
struct MemorySite;
struct MatrixSite;
struct GroupSite;
struct TensorTransfer;
struct SharedToTensor;
struct TensorProductSite;
struct Cta;
struct Worker;
struct Paths;

/// Executes one decoded instruction and returns the next one, or nullptr when the warp has to stop (see WarpState).
using Handler = const Op* (*)(const Op*, Warp*);

/// What an op runs: its handler or, once the kernel is compiled, code that begins there (exec/compile), which another
/// thread puts into its place while warps run. handler_of() (exec/block/cta.hpp) is always the handler, so there is no
/// comparison.
class HandlerSlot {
public:
  HandlerSlot(Handler handler) : runs_(handler) {}
  const Op* operator()(const Op* op, Warp* warp) const { return load()(op, warp); }
  [[nodiscard]] Handler load() const { return __atomic_load_n(&runs_, __ATOMIC_ACQUIRE); }
  void replace(Handler code) { __atomic_store_n(&runs_, code, __ATOMIC_RELEASE); }

private:
  Handler runs_;
};

struct Op {
  HandlerSlot run = nullptr;
  std::uint32_t dst[2]{};
  std::uint32_t src[4]{};
  std::uint32_t guard = 0;       ///< offset of a predicate; the constant true if there is no guard
  std::uint32_t guard_flip = 0;  ///< ~0 for @!p
  std::uint32_t instruction = 0; ///< index into ir::Function::instructions
  std::uint32_t extra = 0;       ///< by handler: index of a block or branch, ...
  std::int64_t imm = 0;          ///< by handler: address offset, steps of a block, ...
  union {
    const Op* target = nullptr;       ///< of a branch
    const MemorySite* site;           ///< of a memory instruction
    const MatrixSite* matrix;         ///< of a multiplication of matrices
    const GroupSite* group;           ///< of a multiplication by a warp group
    const TensorTransfer* transfer;   ///< of tensor memory, with registers
    const SharedToTensor* copy;       ///< of shared to tensor memory
    const TensorProductSite* product; ///< of a multiplication with tensor memory
  };
};
static_assert(sizeof(Op) == 64);

enum class WarpState : std::uint8_t {
  ready,
  at_barrier, ///< the whole warp
  in_group,   ///< waits for the other warps of its warp group: warp_groups.hpp
  stuck,      ///< all its lanes are parked: see paths.hpp
  done,
  trapped
};

struct alignas(64) Warp {
  Mask active = 0;          ///< lanes of the running path
  Mask live = 0;            ///< lanes that have not exited
  std::uint64_t lanes = 0;  ///< number of active lanes: kept so that counting costs an addition
  std::int64_t budget = 0;  ///< instructions left in this turn
  const Op* next = nullptr; ///< where to continue after a stop
  Cta* cta = nullptr;
  Worker* worker = nullptr;
  WarpState state = WarpState::ready;
  std::uint8_t barrier = 0;      ///< which one it waits at
  bool told_each = false;        ///< report each event to the watcher: Shard::begin_cta()
  mutable bool followed = false; ///< tell the checkers of each op: Checker::next_op(); they set and clear it
  std::uint32_t index = 0;       ///< in the CTA
  Paths* paths = nullptr;        ///< the other lanes, if it has diverged
  std::uint64_t steps = 0;       ///< executed in earlier turns: what %clock counts
  std::int64_t turn = 0;         ///< budget at the start of this turn
  /// Instructions that it has executed; each block is counted as a whole when it is entered. Only with a watcher;
  /// exact, unlike `steps`.
  std::uint64_t counted = 0;
  std::uint64_t* visits = nullptr; ///< how often it has entered each counted block
  /// Where compiled code takes the rows as it left them: at the op after a barrier at which the whole warp waits.
  const Op* left_for = nullptr;
  std::uint32_t told_spaces = 0; ///< accesses to report one by one: a bit for each isa::Space; 0 unless told_each
  alignas(64) std::byte spare[kWarpSize * 16]; ///< a row of any type, for results of which only some lanes are kept
};

constexpr std::uint32_t kRegisterFile = sizeof(Warp);
static_assert(kRegisterFile % 64 == 0);
constexpr std::uint32_t kSpareRow = offsetof(Warp, spare);

template <class T> inline T* row(Warp* warp, std::uint32_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(warp) + offset);
}
/// A lane's word of 4 or 8 bytes.
inline std::uint64_t lane_word(Warp* warp, std::uint32_t offset, std::int64_t bytes, int lane) {
  return bytes == 4 ? row<std::uint32_t>(warp, offset)[lane] : row<std::uint64_t>(warp, offset)[lane];
}
inline Mask& predicate(Warp* warp, std::uint32_t offset) { return *row<Mask>(warp, offset); }

/// The lanes that an instruction acts on: active and not guarded off.
inline Mask acting(const Op* op, Warp* warp) { return warp->active & (predicate(warp, op->guard) ^ op->guard_flip); }

constexpr Mask kFullMask = ~Mask{0};

/// Whether at most one lane acts.
inline bool few(Mask mask) { return (mask & (mask - 1)) == 0; }

inline void activate(Warp* warp, Mask mask) {
  warp->active = mask;
  warp->lanes = static_cast<unsigned>(__builtin_popcount(mask));
}

} // namespace warplens::exec
