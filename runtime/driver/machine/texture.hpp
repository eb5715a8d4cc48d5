// From the driver API's descriptions of textures and surfaces to what kernels use (emulator/exec/state/texture.hpp).
//
//   exec::BoundTexture bound = texture_of(resource, texture, view);    std::uint64_t handle =
//   machine.api()->bind(bound);
#pragma once

#include "api/session/texture.hpp"
#include "runtime/abi/driver.hpp"

namespace warplens::runtime {

/// What a texture reads. Throws Failure: CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE for an array that there is not, or
/// _NOT_SUPPORTED.
exec::Image image_of(const CUDA_RESOURCE_DESC& resource);
/// How it is read. Throws Failure as well.
exec::Sampler sampler_of(const CUDA_TEXTURE_DESC& texture, const exec::Image& image);
/// Both, looked at as `view` says (null: as it is).
exec::BoundTexture texture_of(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                              const CUDA_RESOURCE_VIEW_DESC* view);
/// An array that was made for surfaces.
exec::BoundTexture surface_of(const CUDA_RESOURCE_DESC& resource);

} // namespace warplens::runtime
