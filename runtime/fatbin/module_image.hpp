// SPDX-License-Identifier: Apache-2.0
// From the image passed to cuModuleLoadData or __cudaRegisterFatBinary to PTX.
//
//   LoadedCode code = load_code(image, {9, 0});        // a pointer, as the driver API takes it
//   code->sources[0].text, code->notes                 // several sources where nvcc -rdc=true left the linking to us
//
// Warplens selects the PTX of the newest architecture that is not newer than the device. For one architecture, the
// order is: PTX for it alone (90a), for its family (100f), for all. If all PTX is for newer devices, Warplens selects
// the oldest and adds a note: a GPU would reject it, but the emulator can run it. This makes it possible to study
// current programs on old devices.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/fatbin/container.hpp"

#include <tl/expected.hpp>

namespace warplens::fatbin {

struct Code {
  std::vector<api::Source> sources; ///< in program order; if several, they must be linked
  std::vector<std::string> notes;   ///< for the user: what a GPU would do differently
};

struct LoadError {
  /// CUDA's error code: CUDA_ERROR_INVALID_IMAGE, or CUDA_ERROR_NO_BINARY_FOR_GPU.
  enum class Kind : std::uint8_t { invalid_image, no_ptx } kind{};
  Diagnostics diagnostics;
};
using LoadedCode = tl::expected<Code, LoadError>;

/// The best PTX; null if there is none. See the top of this file.
const Image* best_ptx(std::span<const Image> images, model::ComputeCapability device);

/// Zero-terminated PTX text, a container, or a wrapper and its target. The sizes in the image's own headers are
/// trusted: there is no length to check them against.
/// Errors: no PTX inside; corrupt; an unknown format.
LoadedCode load_code(const void* image, model::ComputeCapability device);
/// The same for the contents of a file: PTX text or a container.
LoadedCode load_code(std::span<const std::byte> bytes, model::ComputeCapability device);

} // namespace warplens::fatbin
