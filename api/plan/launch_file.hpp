// SPDX-License-Identifier: Apache-2.0
// Launch files: a plan as TOML.
//
//   module = "saxpy.ptx"                  # relative to this file
//   kernel = "saxpy"
//   grid = [40, 1, 1]                     # blocks; also 40 or [40]
//                                         # or total = 20011: threads of the grid; the block count follows
//   block = [128, 1, 1]                   # threads
//   shared = 0                            # dynamic bytes per block; optional
//   shared_per_thread = 0                 # additional dynamic bytes per thread; optional
//   registers = 20                        # per thread, for the occupancy; optional, default: estimated
//   device = "c1060"                      # a built-in device or a device file; optional
//   arg = [{ s32 = 20011 }, { f32 = 2.0 }, { buffer = "x" }]      # or [[arg]] tables
//
//   [buffer.x]
//   type = "f32"
//   count = 20011
//   iota = [0, 1]                         # or zeros = true, fill = v, random = [low, high] and seed = n,
//                                         # file = "x.npy" (then without count)
//   save = "out.npy"                      # optional, written after the last launch; see api/files/save_path.hpp
//   expect = "y.npy"                      # optional; tolerance = t allows absolute differences up to t
//
// Several [[launch]] tables run in order on the same buffers. Keys that they omit (module, kernel, grid, block, shared,
// registers, arg) are taken from the top level.
#pragma once

#include "api/files/save_path.hpp"
#include "api/plan/plan.hpp"

namespace warplens::api {

/// An override: `path` as in "grid", "buffer.x.count", "arg.0.s32", "launch.1.kernel" (numbers count from 0), `value`
/// as TOML; other text is a string.
struct Override {
  std::string path;
  std::string value;
};

/// Errors, with line and column: not TOML; unknown, missing and wrongly typed keys; values out of range; a buffer with
/// two initial values or none; a `save` that `saves` does not allow. A `save` in an override is always allowed, because
/// it comes from the user.
Expected<Plan> read_launch_file(const std::filesystem::path& file, std::span<const Override> overrides,
                                const SavePolicy& saves = {});
/// The same for text; relative paths are relative to the folder of `file`.
Expected<Plan> parse_launch_file(std::string_view text, const std::filesystem::path& file,
                                 std::span<const Override> overrides, const SavePolicy& saves = {});

} // namespace warplens::api
