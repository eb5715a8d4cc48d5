/// @file
/// The runtime's descriptions of launches, copies and arrays in the driver's words. Where the runtime counts in
/// elements of an array the driver counts in bytes; the manual's sections are "cudaMemcpy3DParms" and
/// "CUDA_MEMCPY3D".
///
///     CUDA_MEMCPY3D copy;
///     TRY(driver_copy(parameters, &copy));
///     return to_error(cuMemcpy3D_v2(&copy));
#pragma once

#include "runtime/abi/runtime.hpp"

namespace warplens::cudart {

CUlaunchConfig driver_config(const cudaLaunchConfig_t& launch);

/// cudaErrorInvalidMemcpyDirection for an impossible kind, cudaErrorInvalidValue without a source or a destination.
cudaError_t driver_copy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);
/// The way back, for the parameters of a graph's nodes.
cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* parameters);

/// One end of a copy: `pointer` lies where `kind` says, in rows of `pitch` bytes and slices of `height` rows.
void set_source(CUDA_MEMCPY3D* copy, cudaMemcpyKind kind, const void* pointer, std::size_t pitch, std::size_t height);
void set_destination(CUDA_MEMCPY3D* copy, cudaMemcpyKind kind, void* pointer, std::size_t pitch, std::size_t height);

/// Format and channels of the driver for a channel description; cudaErrorInvalidChannelDescriptor if it has none.
cudaError_t driver_format(const cudaChannelFormatDesc& description, CUarray_format* format, unsigned* channels);
cudaError_t runtime_format(CUarray_format format, unsigned channels, cudaChannelFormatDesc* description);

/// Bytes of an element; 0 for a format that is unknown.
std::size_t element_size(CUarray_format format, unsigned channels);

} // namespace warplens::cudart
