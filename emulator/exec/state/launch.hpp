// A launch: what runs on what, and what came of it.
#pragma once

#include "emulator/exec/memory/heap.hpp"
#include "emulator/exec/memory/memory.hpp"
#include "emulator/exec/state/device_runtime.hpp"
#include "emulator/exec/state/program.hpp"
#include "emulator/exec/state/texture.hpp"
#include "emulator/exec/state/trap.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warplens::exec {

/// Everything that a kernel's special registers and limits need of the machine that is imitated.
struct Machine {
  std::uint32_t sms = 30;
  std::uint32_t max_warps_per_sm = 32;
};

/// What the driver lends to a cooperative launch: its size and the counter of the grid's barrier, 32 bits each
/// (grid_workspace in CUDA's cooperative_groups/details/driver_abi.h).
constexpr std::size_t kGridWorkspace = 8;

struct Launch {
  std::shared_ptr<const Program> program;
  LaunchShape shape;
  std::vector<std::byte> params;       ///< laid out by parameter_layout()
  std::vector<Allocation> allocations; ///< what may be accessed, by address
  Textures textures;                   ///< what texture and surface instructions may name
  bool host_pointers = false;          ///< addresses outside the arena are the caller's business
  /// As on a GPU, accesses past the ends of allocations pass in pages that have an allocation in them; they are told in
  /// LaunchResult::overruns. False: they stop the kernel.
  bool past_ends = false;
  std::array<AddressRange, 2> arena{}; ///< Arena::ranges()
  Machine machine;
  std::uint64_t max_steps = 0;    ///< warp instructions, with …
  std::uint64_t steps_before = 0; ///< … those of the launches that this one comes from; 0: no limit
  std::uint64_t grid_id = 0;
  bool cooperative = false;         ///< all CTAs run at the same time
  std::uint64_t grid_workspace = 0; ///< of a cooperative launch: kGridWorkspace bytes of zeros in an allocation
  unsigned workers = 0;             ///< 0: as many as the machine has
  Watcher* watcher = nullptr;
  Heap* heap = nullptr;                    ///< what malloc() gives out in kernels; nullptr: there is none
  DeviceRuntime* device_runtime = nullptr; ///< needed, with `heap`, by kernels that launch kernels
};

struct LaunchResult {
  std::optional<Trap> trap;      ///< of the CTA with the lowest number among those that trapped
  std::uint64_t steps = 0;       ///< warp instructions, counted at branches
  std::string printed;           ///< by printf(), in the order of the CTAs; after a trap, up to its CTA
  std::vector<Overrun> overruns; ///< by instruction
};

} // namespace warplens::exec
