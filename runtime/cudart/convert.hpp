// SPDX-License-Identifier: Apache-2.0
/// @file
/// Converts the runtime's descriptions of launches, copies and arrays to those of the driver. The runtime counts array
/// elements where the driver counts bytes; see "cudaMemcpy3DParms" and "CUDA_MEMCPY3D" in the manual.
///
///     CUDA_MEMCPY3D copy;
///     TRY(driver_copy(parameters, &copy));
///     return to_error(cuMemcpy3D_v2(&copy));
#pragma once

#include "runtime/abi/runtime.hpp"

namespace warplens::cudart {

CUlaunchConfig driver_config(const cudaLaunchConfig_t& launch);

/// cudaErrorInvalidMemcpyDirection for an invalid kind, cudaErrorInvalidValue without a source or a destination.
cudaError_t driver_copy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);
/// The reverse conversion, for the parameters of graph nodes.
cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* parameters);

/// A copy of `height` rows of `width` bytes, without a source and a destination.
CUDA_MEMCPY3D rectangle(std::size_t width, std::size_t height);
/// One side of a copy: `kind` says where `pointer` is; rows have `pitch` bytes and slices have `height` rows.
void set_source(CUDA_MEMCPY3D* copy, cudaMemcpyKind kind, const void* pointer, std::size_t pitch, std::size_t height);
void set_destination(CUDA_MEMCPY3D* copy, cudaMemcpyKind kind, void* pointer, std::size_t pitch, std::size_t height);

/// The driver's format and channels for a channel description; cudaErrorInvalidChannelDescriptor if there is none.
cudaError_t driver_format(const cudaChannelFormatDesc& description, CUarray_format* format, unsigned* channels);
cudaError_t runtime_format(CUarray_format format, unsigned channels, cudaChannelFormatDesc* description);

/// Bytes of an element; 0 for an unknown format.
std::size_t element_size(CUarray_format format, unsigned channels);

} // namespace warplens::cudart
