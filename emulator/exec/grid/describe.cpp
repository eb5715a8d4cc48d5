// SPDX-License-Identifier: Apache-2.0
// Traps and overruns as diagnostics.
#include "emulator/base/checked.hpp"
#include "emulator/exec/grid/grid.hpp"

#include <fmt/format.h>

namespace warplens::exec {

namespace {

const char* verb(AccessKind kind) {
  switch (kind) {
  case AccessKind::load: return "read";
  case AccessKind::store: return "write";
  default: return "atomic";
  }
}

// The distance of an access from an allocation: 0 if it begins inside.
std::uint64_t distance(const Trap& trap, const Allocation& a) {
  return trap.address < a.begin ? a.begin - trap.address : trap.address >= a.end ? trap.address - a.end : 0;
}

const Allocation* nearest_allocation(const Trap& trap, const Launch& launch) {
  const Allocation* best = nullptr;
  const auto further = [&](const Allocation& a) { // at equal distance, the one in which the access begins
    if (best == nullptr) return false;
    const std::uint64_t here = distance(trap, a), there = distance(trap, *best);
    return here > there || (here == there && (trap.address < a.begin || trap.address >= a.end));
  };
  for (const Allocation& a : launch.allocations)
    if (!further(a)) best = &a;
  return best;
}

// "address 0x… is 4 bytes after allocation 'a' (1024 bytes at 0x…)"
std::string place_in_memory(const Trap& trap, const Launch& launch) {
  const Allocation* const a = nearest_allocation(trap, launch);
  if (a == nullptr) return fmt::format("address {:#x}; there is no allocation", trap.address);
  const std::string which = fmt::format("allocation '{}' ({} bytes at {:#x})", a->name, a->size(), a->begin);
  if (trap.address < a->begin)
    return fmt::format("address {:#x} is {} bytes before {}", trap.address, a->begin - trap.address, which);
  if (trap.address >= a->end)
    return fmt::format("address {:#x} is {} bytes after {}", trap.address, trap.address - a->end, which);
  if (const std::uint64_t left = a->end - trap.address; trap.lane_bytes > left)
    return fmt::format("address {:#x} is inside allocation '{}' but {} bytes reach past its end ({} bytes at {:#x})",
                       trap.address, a->name, trap.lane_bytes - left, a->size(), a->begin);
  if (a->constant && trap.access != AccessKind::load)
    return fmt::format("address {:#x} is in constant memory, which kernels may only read: {} bytes into {}",
                       trap.address, trap.address - a->begin, which);
  return fmt::format("address {:#x} is {} bytes into {}", trap.address, trap.address - a->begin, which);
}

// In the memory of the thread, or in the shared memory of a block of its cluster.
std::uint64_t offset_of(const Trap& trap, const LaunchShape& shape) {
  return trap.space == isa::Space::shared && shape.cluster_ctas() > 1 ? trap.address % kClusterStride : trap.address;
}

std::string place_in_shared(const Trap& trap, const LaunchShape& shape) {
  const std::uint64_t bytes = shape.shared_static + shape.shared_dynamic;
  const std::string own = fmt::format("the {} bytes of shared memory of the block", bytes);
  if (trap.address < kClusterStride) return fmt::format("offset {:#x} is outside {}", trap.address, own);
  if (shape.cluster_ctas() == 1)
    return fmt::format("offset {:#x} is outside {}, which is not in a cluster", trap.address, own);
  const std::uint64_t rank = trap.address / kClusterStride - 1, offset = trap.address % kClusterStride;
  if (rank >= shape.cluster_ctas())
    return fmt::format("address {:#x} is outside {}, and outside its cluster of {} blocks",
                       trap.address - kClusterStride, own, shape.cluster_ctas());
  if (within(offset, trap.lane_bytes, bytes))
    return fmt::format("offset {:#x} is in block {} of the cluster, but this access cannot leave its own block", offset,
                       rank);
  return fmt::format("offset {:#x} is outside the {} bytes of shared memory of block {} of the cluster of {}", offset,
                     bytes, rank, shape.cluster_ctas());
}

std::string where_in_space(const Trap& trap, const Launch& launch) {
  switch (trap.space) {
  case isa::Space::shared: return place_in_shared(trap, launch.shape);
  case isa::Space::local:
    return fmt::format("offset {:#x} is outside the {} bytes of local memory of the thread", trap.address,
                       launch.program->local_bytes);
  case isa::Space::param:
    if (within(trap.address, trap.lane_bytes, launch.params.size()))
      return fmt::format("offset {:#x} is in the parameters of the kernel, which are read-only", trap.address);
    return fmt::format("offset {:#x} is outside the {} bytes of parameters", trap.address, launch.params.size());
  default: return place_in_memory(trap, launch);
  }
}

std::string access_in(const Trap& trap) {
  return fmt::format("__{}__ {} of size {} bytes", isa::name(trap.space), verb(trap.access), trap.lane_bytes);
}

std::string what(const Trap& trap, const Launch& launch) {
  const Program& program = *launch.program;
  const std::string access = access_in(trap);
  switch (trap.kind) {
  case Trap::Kind::out_of_bounds: return fmt::format("invalid {}: {}", access, where_in_space(trap, launch));
  case Trap::Kind::misaligned:
    return fmt::format("misaligned {}: {} must be a multiple of {}{}", access,
                       trap.space == isa::Space::global ? "the address"
                                                        : fmt::format("offset {:#x}", offset_of(trap, launch.shape)),
                       trap.lane_bytes, trap.space == isa::Space::global ? "; " + place_in_memory(trap, launch) : "");
  case Trap::Kind::trap_instruction: return "the kernel executed a trap instruction";
  case Trap::Kind::step_limit:
    if (!trap.detail.empty()) return trap.detail;
    return fmt::format("step limit reached: more than {} warp instructions executed{}", launch.max_steps,
                       launch.steps_before != 0 ? " by a launch and its child launches" : "");
  case Trap::Kind::deadlock: return fmt::format("deadlock: the block makes no progress: {}", trap.detail);
  case Trap::Kind::divergent_barrier: return "barrier in divergent code: other threads of the warp have not reached it";
  case Trap::Kind::invalid_barrier: return fmt::format("invalid barrier: {}", trap.detail);
  case Trap::Kind::incomplete_warp: return trap.detail;
  case Trap::Kind::invalid_membermask: return fmt::format("invalid membermask: {}", trap.detail);
  case Trap::Kind::invalid_call: return fmt::format("invalid call: {}", trap.detail);
  case Trap::Kind::invalid_branch: return fmt::format("invalid branch: {}", trap.detail);
  case Trap::Kind::invalid_free: return fmt::format("invalid free: {}", trap.detail);
  case Trap::Kind::assertion: return fmt::format("assertion failed: {}", trap.detail);
  case Trap::Kind::stack_overflow: return fmt::format("stack overflow: {}", trap.detail);
  case Trap::Kind::invalid_texture: return fmt::format("invalid texture access: {}", trap.detail);
  case Trap::Kind::invalid_mbarrier: return fmt::format("invalid use of an mbarrier: {}", trap.detail);
  case Trap::Kind::invalid_group: return fmt::format("invalid use of a warp group: {}", trap.detail);
  case Trap::Kind::tensor_memory_leak: return fmt::format("tensor memory not completely released: {}", trap.detail);
  case Trap::Kind::invalid_tensor_memory: return fmt::format("invalid use of tensor memory: {}", trap.detail);
  case Trap::Kind::async_hazard: return trap.detail;
  case Trap::Kind::invalid_tensor_copy: return fmt::format("invalid copy by tensor map: {}", trap.detail);
  case Trap::Kind::invalid_copy: return fmt::format("invalid asynchronous copy: {}", trap.detail);
  case Trap::Kind::out_of_memory:
    return fmt::format(
        "not enough memory to run a block: {} bytes of registers, {} of shared memory, {} of local memory",
        std::uint64_t{launch.shape.warps()} * program.warp_bytes,
        launch.shape.shared_static + launch.shape.shared_dynamic,
        std::uint64_t{launch.shape.warps()} * kWarpSize * program.local_bytes);
  }
  return {};
}

const ir::Function& running(const Trap& trap, const Program& program) {
  for (const ir::Part& part : program.function->parts)
    if (trap.instruction >= part.first && trap.instruction < part.end) return program.module->functions[part.function];
  return *program.function;
}

// "function f of " if the trap is in a called function
std::string called(const Trap& trap, const Program& program) {
  const ir::Function& f = running(trap, program);
  return f.is_entry ? "" : fmt::format("function {} of ", f.name);
}

// ", inlined at k.cu:12" for each call that the compiler inlined, innermost first
std::string callers(const ir::Module& module, const ir::SourcePosition& source) {
  std::string text;
  for (std::uint32_t at = source.inlined_at; at != ir::kNone; at = module.call_sites[at].where.inlined_at)
    for (const ir::SourceFile& f : module.files)
      if (f.number == module.call_sites[at].where.file)
        text += fmt::format(", inlined at {}:{}", f.name, module.call_sites[at].where.line);
  return text;
}

// `what` happened, and where: kernel, block, thread, line.
Diagnostic located(std::string what, const Trap& trap, const Launch& launch) {
  const Program& program = *launch.program;
  const LaunchShape& shape = launch.shape;
  Diagnostic d;
  const std::string_view file = running(trap, program).file; // of several
  d.file = file.empty() ? program.module->file : std::string(file);
  std::string source;
  if (trap.instruction < program.function->instructions.size()) {
    const ir::Instruction& i = program.function->instructions[trap.instruction];
    d.where = i.where;
    for (const ir::SourceFile& f : program.module->files)
      if (f.number == i.source.file && i.source.line != 0) source = fmt::format(" at {}:{}", f.name, i.source.line);
    source += callers(*program.module, i.source);
  }
  const std::uint64_t x = trap.cta % shape.grid[0], y = trap.cta / shape.grid[0] % shape.grid[1],
                      z = trap.cta / shape.grid[0] / shape.grid[1];
  const std::uint32_t t = trap.thread;
  d.message = std::move(what);
  d.message += fmt::format("\n  in {}kernel {}{}, by thread ({},{},{}) in block ({},{},{})", called(trap, program),
                           program.function->name, source, t % shape.block[0], t / shape.block[0] % shape.block[1],
                           t / shape.block[0] / shape.block[1], x, y, z);
  return d;
}

} // namespace

Diagnostic describe(const Trap& trap, const Launch& launch) { return located(what(trap, launch), trap, launch); }

Diagnostic describe(const Overrun& overrun, const Launch& launch) {
  Diagnostic d = located(fmt::format("{} outside its allocation, in a page that is accessible on a GPU: {}",
                                     access_in(overrun.first), place_in_memory(overrun.first, launch)),
                         overrun.first, launch);
  d.severity = Severity::warning;
  return d;
}

} // namespace warplens::exec
