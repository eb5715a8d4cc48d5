// A trap as people read it.
#include "emulator/exec/grid.hpp"

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

// "address 0x… is 4 bytes after allocation 'a' (1024 bytes at 0x…)"
std::string nearest_allocation(const Trap& trap, const Launch& launch) {
  const Allocation* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  bool after = false;
  for (const Allocation& a : launch.allocations) {
    const bool behind = trap.address + trap.lane_bytes > a.end;
    const std::uint64_t distance = trap.address < a.begin ? a.begin - trap.address
                                   : behind               ? trap.address - std::min(a.end, trap.address)
                                                          : 0;
    if (distance < best_distance) best = &a, best_distance = distance, after = trap.address >= a.begin;
  }
  if (best == nullptr) return fmt::format("address {:#x}; there is no allocation", trap.address);
  if (trap.address < best->end && trap.address >= best->begin && trap.address + trap.lane_bytes > best->end)
    return fmt::format("address {:#x} is inside allocation '{}' but {} bytes reach past its end ({} bytes at {:#x})",
                       trap.address, best->name, trap.address + trap.lane_bytes - best->end, best->size(), best->begin);
  if (best_distance == 0 && trap.address >= best->begin && trap.address < best->end)
    return fmt::format("address {:#x} is {} bytes into allocation '{}' ({} bytes at {:#x})", trap.address,
                       trap.address - best->begin, best->name, best->size(), best->begin);
  return fmt::format("address {:#x} is {} bytes {} allocation '{}' ({} bytes at {:#x})", trap.address, best_distance,
                     after ? "after" : "before", best->name, best->size(), best->begin);
}

// Whether an address of a cluster's shared memory is one that another block has.
bool in_cluster(const Trap& trap, const LaunchShape& shape) {
  return trap.address / kClusterStride <= shape.cluster_ctas() &&
         trap.address % kClusterStride + trap.lane_bytes <= shape.shared_static + shape.shared_dynamic;
}

std::string where_in_space(const Trap& trap, const Launch& launch) {
  const Program& program = *launch.program;
  switch (trap.space) {
  case isa::Space::shared:
    if (trap.address >= kClusterStride && in_cluster(trap, launch.shape))
      return fmt::format("offset {:#x} is in block {} of the cluster, but this access cannot leave its own block",
                         trap.address % kClusterStride, trap.address / kClusterStride - 1);
    if (trap.address >= kClusterStride)
      return fmt::format("offset {:#x} is outside the {} bytes of shared memory of block {} of the cluster of {}",
                         trap.address % kClusterStride, launch.shape.shared_static + launch.shape.shared_dynamic,
                         trap.address / kClusterStride - 1, launch.shape.cluster_ctas());
    return fmt::format("offset {:#x} is outside the {} bytes of shared memory of the block", trap.address,
                       launch.shape.shared_static + launch.shape.shared_dynamic);
  case isa::Space::local:
    return fmt::format("offset {:#x} is outside the {} bytes of local memory of the thread", trap.address,
                       program.local_bytes);
  case isa::Space::param:
    return fmt::format("offset {:#x} is outside the {} bytes of parameters", trap.address, launch.params.size());
  default: return nearest_allocation(trap, launch);
  }
}

std::string what(const Trap& trap, const Launch& launch) {
  const Program& program = *launch.program;
  const std::string access =
      fmt::format("__{}__ {} of size {} bytes", isa::name(trap.space), verb(trap.access), trap.lane_bytes);
  switch (trap.kind) {
  case Trap::Kind::out_of_bounds: return fmt::format("invalid {}: {}", access, where_in_space(trap, launch));
  case Trap::Kind::misaligned:
    return fmt::format("misaligned {}: {} must be a multiple of {}{}", access,
                       trap.space == isa::Space::global ? "the address" : fmt::format("offset {:#x}", trap.address),
                       trap.lane_bytes,
                       trap.space == isa::Space::global ? "; " + nearest_allocation(trap, launch) : "");
  case Trap::Kind::trap_instruction: return "the kernel executed a trap instruction";
  case Trap::Kind::step_limit:
    return fmt::format("step limit reached: more than {} warp instructions executed", launch.max_steps);
  case Trap::Kind::deadlock: return fmt::format("deadlock: the block gets no further: {}", trap.detail);
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

// "function f of " where the kernel has called it
std::string called(const Trap& trap, const Program& program) {
  const ir::Function& f = running(trap, program);
  return f.is_entry ? "" : fmt::format("function {} of ", f.name);
}

} // namespace

Diagnostic describe(const Trap& trap, const Launch& launch) {
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
  }
  const std::uint64_t x = trap.cta % shape.grid[0], y = trap.cta / shape.grid[0] % shape.grid[1],
                      z = trap.cta / shape.grid[0] / shape.grid[1];
  const std::uint32_t t = trap.thread;
  d.message = what(trap, launch);
  d.message += fmt::format("\n  in {}kernel {}{}, by thread ({},{},{}) in block ({},{},{})", called(trap, program),
                           program.function->name, source, t % shape.block[0], t / shape.block[0] % shape.block[1],
                           t / shape.block[0] / shape.block[1], x, y, z);
  return d;
}

} // namespace warplens::exec
