// Launch files: a plan as TOML.
//
//   module = "saxpy.ptx"                  # relative to this file
//   kernel = "saxpy"
//   grid = [40, 1, 1]                     # blocks; also 40 or [40]
//                                         # or total = 20011: threads of the grid, in as many blocks as they need
//   block = [128, 1, 1]                   # threads
//   shared = 0                            # dynamic bytes a block; optional
//   shared_per_thread = 0                 # further ones for each thread of it; optional
//   registers = 20                        # of a thread, for the occupancy; optional, estimated where missing
//   device = "c1060"                      # a built-in device or a device file; optional
//   arg = [{ s32 = 20011 }, { f32 = 2.0 }, { buffer = "x" }]      # or [[arg]] tables
//
//   [buffer.x]
//   type = "f32"
//   count = 20011
//   iota = [0, 1]                         # or zeros = true, fill = v, random = [low, high] and seed = n,
//                                         # file = "x.npy" (then without count)
//   save = "out.npy"                      # optional, after the last launch; see api/files/save_path.hpp
//   expect = "y.npy"                      # optional; tolerance = t allows absolute differences up to t
//
// Several [[launch]] tables run in order on the same buffers; what they leave out (module, kernel, grid, block, shared,
// registers, arg) is taken from the top level.
#pragma once

#include "api/files/save_path.hpp"
#include "api/plan/plan.hpp"

namespace warplens::api {

/// An override: `path` as in "grid", "buffer.x.count", "arg.0.s32", "launch.1.kernel" (numbers count from 0), `value`
/// as TOML; what is no TOML value is taken as a string.
struct Override {
  std::string path;
  std::string value;
};

/// Errors, with line and column: not TOML; unknown, missing and wrongly typed keys; values out of range; a buffer with
/// two initial values or none; a `save` that `saves` does not allow, unless an override says it: that is the user's own
/// word.
Expected<Plan> read_launch_file(const std::filesystem::path& file, std::span<const Override> overrides,
                                const SavePolicy& saves = {});
/// The same from text; relative paths are relative to the folder of `file`.
Expected<Plan> parse_launch_file(std::string_view text, const std::filesystem::path& file,
                                 std::span<const Override> overrides, const SavePolicy& saves = {});

} // namespace warplens::api
