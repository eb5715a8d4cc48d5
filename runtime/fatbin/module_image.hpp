// From what a program hands to cuModuleLoadData, or __cudaRegisterFatBinary, to PTX.
//
//   LoadedCode code = load_code(image, {9, 0});        // a pointer, as the driver API takes it
//   code->sources[0].text, code->notes                 // several sources where nvcc -rdc=true left the linking to us
//
// The best PTX for a device is that of the newest architecture that the device is not older than; of one architecture,
// the code made for it alone (90a), then for its family (100f), then for all. PTX for newer devices only is taken as
// it is, the oldest of it, and a note says so: a GPU would refuse it, but the emulator can run it, and only so can
// programs of today be studied on a device of yesterday.
#pragma once

#include "api/launch/launch.hpp"
#include "runtime/fatbin/container.hpp"

#include <tl/expected.hpp>

namespace warplens::fatbin {

struct Code {
  std::vector<api::Source> sources; ///< in the order of the program; one, or more that are to be linked
  std::vector<std::string> notes;   ///< for the user: what a GPU would have done otherwise
};

struct LoadError {
  /// What CUDA says of it: CUDA_ERROR_INVALID_IMAGE, or CUDA_ERROR_NO_BINARY_FOR_GPU.
  enum class Kind : std::uint8_t { invalid_image, no_ptx } kind{};
  Diagnostics diagnostics;
};
using LoadedCode = tl::expected<Code, LoadError>;

/// The best PTX; null: there is none. See the top of this file.
const Image* best_ptx(std::span<const Image> images, model::ComputeCapability device);

/// PTX text that ends with a zero, a container, or a wrapper with what it points to. The image is trusted as far as
/// its own headers say: there is no length to check it against.
/// Errors: no PTX inside; corrupt; a format that is not known.
LoadedCode load_code(const void* image, model::ComputeCapability device);
/// The same of a file's bytes: PTX text or a container.
LoadedCode load_code(std::span<const std::byte> bytes, model::ComputeCapability device);

} // namespace warplens::fatbin
