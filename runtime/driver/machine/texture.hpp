// SPDX-License-Identifier: Apache-2.0
// Converts the driver API's texture and surface descriptions for kernels (emulator/exec/state/texture.hpp).
//
//   exec::BoundTexture bound = texture_of(resource, texture, view);
//   std::uint64_t handle = machine.api()->bind(bound);
#pragma once

#include "api/session/texture.hpp"
#include "runtime/abi/driver.hpp"

namespace warplens::runtime {

/// The memory of a texture. Throws Failure: CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE for an array that does not exist,
/// or _NOT_SUPPORTED.
exec::Image image_of(const CUDA_RESOURCE_DESC& resource);
/// How to sample it. Throws the same errors.
exec::Sampler sampler_of(const CUDA_TEXTURE_DESC& texture, const exec::Image& image);
/// Both, with the view applied (null: no view).
exec::BoundTexture texture_of(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                              const CUDA_RESOURCE_VIEW_DESC* view);
/// An array that was created for surfaces.
exec::BoundTexture surface_of(const CUDA_RESOURCE_DESC& resource);

} // namespace warplens::runtime
