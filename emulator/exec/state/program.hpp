// SPDX-License-Identifier: Apache-2.0
// A kernel decoded for one configuration (level, watched or not): a handler per instruction, and the layout of a warp's
// register file. Immutable; shared by all workers.
#pragma once

#include "emulator/exec/memory/address_space.hpp"
#include "emulator/exec/state/events.hpp"
#include "emulator/exec/state/group_site.hpp"
#include "emulator/exec/state/kernel_code.hpp"
#include "emulator/exec/state/matrix_site.hpp"
#include "emulator/exec/state/tensor_product.hpp"
#include "emulator/exec/state/tensor_site.hpp"
#include "emulator/exec/state/tensor_transfer.hpp"
#include "emulator/exec/state/texture_site.hpp"
#include "emulator/exec/state/warp.hpp"
#include "emulator/ir/block_dependence.hpp"
#include "emulator/ir/calls.hpp"
#include "emulator/ir/group_registers.hpp"
#include "emulator/ir/module.hpp"
#include "emulator/ir/unwritten.hpp"

#include <array>
#include <deque>
#include <memory>
#include <vector>

namespace warplens::exec {

struct HostAccess;
/// Resolves and checks the addresses of an access, and reports it to the watcher. Returns false after setting the
/// worker's trap.
using ResolveAccess = bool (*)(const Op* op, Warp* warp, Mask mask, HostAccess& host);

/// A memory instruction: the properties known before it runs.
struct MemorySite {
  std::uint32_t index = 0;       ///< index of this site in Program::sites
  std::uint32_t instruction = 0; ///< in the function
  isa::Space space{};            ///< as written; generic addresses are resolved per access
  AccessKind kind{};
  std::uint16_t lane_bytes = 0; ///< all elements of a vector together; also the required alignment
  bool address32 = false;       ///< the address row holds 32-bit values
  bool cluster = false;         ///< may access shared memory of other CTAs of the cluster
  bool swaps = false;           ///< a compare-and-swap that repeats until no other was faster
  /// The access that the watcher sees. It is wider if the assembler would join this access with its neighbours (see
  /// ir/joined_accesses.hpp). 0 bytes: another site reports this access. The offset is relative to the address.
  std::uint16_t observed_bytes = 0;
  std::int64_t observed_offset = 0;
  ResolveAccess resolve = nullptr; ///< compiled for this processor: for handlers that are compiled once
  /// Rows of the elements if an Op has no room for them all (vectors of atomics): sources, destinations.
  std::array<std::uint32_t, 8> from{}, to{};
};

/// A row that never changes: the same value in every lane.
struct ConstantRow {
  std::uint32_t offset = 0;
  std::uint32_t lane_bytes = 0; ///< 0: a predicate, `value` is its mask
  std::uint64_t value = 0;
  bool shared_address = false; ///< the row holds this plus where the CTA's shared memory begins in its cluster
};

/// A row that holds a special register, written when a CTA starts.
struct SpecialRow {
  std::uint32_t offset = 0;
  isa::Special special{};
  int component = 0; ///< 0..3 for .x .y .z .w
  int lane_bytes = 4;
};

/// A row and its place in a frame on the stack; lane_bytes 0: a predicate.
struct FrameRow {
  std::uint32_t row = 0;
  int lane_bytes = 0;
  std::uint32_t offset = 0;
};

/// An argument or a result of a call: in a row of the caller, or in its frame; and in the frame of the callee.
struct Transfer {
  bool in_row = false;
  std::uint32_t place = 0;  ///< offset of the row, or in the caller's frame
  int lane_bytes = 0;       ///< of the row
  std::uint32_t offset = 0; ///< in the callee's frame
  std::uint32_t bytes = 0;
};

/// A function that may be called: its entry and its frame (exec/calls/calls.hpp).
struct CalledPart {
  const Op* entry = nullptr;
  ir::Library library{};
  std::uint32_t frame_bytes = 0, alignment = 16;
  std::vector<FrameRow> params, results; ///< those in registers
  std::vector<std::uint32_t> param_offsets, result_offsets;
};

struct CallTarget {
  std::uint64_t address = 0; ///< of the function
  std::uint32_t part = 0;    ///< index into Program::parts
  std::vector<Transfer> arguments, results;
};

struct CallSite {
  std::uint32_t caller = 0;            ///< index into Program::parts
  std::vector<CallTarget> targets;     ///< one for a direct call
  std::vector<FrameRow> saved;         ///< rows of the caller that the callee may write
  const MemorySite* strings = nullptr; ///< for reads by library functions
};

/// A basic block's counter (watched programs only): which instructions it stands for.
struct CountedBlock {
  std::uint32_t first = 0; ///< instruction
  std::uint32_t count = 0;
};

struct Program {
  const ir::Module* module = nullptr;
  const ir::Function* function = nullptr;
  bool watched = false;
  std::vector<Op> ops;              ///< ops[0] is where a warp begins; the last one ends it
  std::string_view level;           ///< of its handlers
  bool compilable = false;          ///< may be compiled (exec/compile); otherwise, …
  const char* why_interpreted = ""; ///< … why not
  bool takes_turns = false;         ///< two warps may take turns after each instruction
  std::shared_ptr<KernelCode> code = std::make_shared<KernelCode>();
  std::uint32_t warp_bytes = 0; ///< Warp header and register file
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  std::deque<MemorySite> sites;
  std::deque<TextureSite> textures;
  std::deque<MatrixSite> matrices;
  std::deque<GroupSite> group_matrices;
  std::deque<TensorSite> tensors;
  std::deque<TensorTransfer> tensor_transfers;
  std::deque<SharedToTensor> tensor_copies;
  std::deque<TensorProductSite> tensor_products;
  std::deque<FragmentTransfer> fragments;
  std::vector<CountedBlock> blocks;
  std::vector<std::uint32_t> guarded;       ///< instruction of each guard counter
  std::vector<std::uint32_t> branches;      ///< instruction of each watched branch
  std::uint64_t shared_bytes = 0;           ///< static; dynamic shared memory begins at its end, which is aligned
  std::uint64_t local_bytes = 0;            ///< per thread
  std::vector<std::uint32_t> param_offsets; ///< of each parameter in the parameter buffer
  std::uint32_t param_bytes = 0;
  std::vector<AddressRange> constant_variables; ///< by address

  // For kernels that call functions or use the stack.
  std::shared_ptr<const ir::Function> linked; ///< owns `function`
  std::vector<CalledPart> parts;              ///< as in the function
  std::deque<CallSite> calls;
  std::uint32_t frame_row = 0,
                top_row = 0;     ///< u32, per lane: where the running function's frame begins, where the stack ends
  std::uint64_t stack_limit = 0; ///< local memory may grow up to this
  bool uses_heap = false;        ///< of the device: needs Launch::heap, Launch::device_runtime
  ir::BlockDependence block_dependence{};
  bool reductions_commute = false;                 ///< ir::reductions_commute()
  bool uses_tensor_memory = false;                 ///< it has tcgen05
  bool cancels_blocks = false;                     ///< it has clusterlaunchcontrol.try_cancel
  std::vector<std::vector<const Op*>> jump_tables; ///< of brx.idx
  ir::Unwritten unwritten;                         ///< of a program for checkers: DecodeOptions::checked
  ir::GroupRegisters group_registers;              ///< likewise
  std::vector<std::uint32_t> first_op;             ///< likewise, of each instruction: its first op
  std::vector<std::uint32_t> register_rows;        ///< likewise, of each register: its row
};

/// Offsets of kernel parameters in their buffer, by natural or given alignment; the last entry is the total size.
std::vector<std::uint32_t> parameter_layout(const ir::Function& kernel);

} // namespace warplens::exec
