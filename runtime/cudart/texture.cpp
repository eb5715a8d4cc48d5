// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
#include "runtime/cudart/call.hpp"
#include "runtime/cudart/convert.hpp"
#include "runtime/cudart/version.hpp"

#include <algorithm>

namespace warplens::cudart {
namespace {

cudaError_t driver_resource(const cudaResourceDesc& resource, CUDA_RESOURCE_DESC* driver) {
  *driver = {};
  driver->flags = resource.flags;
  const auto format = [](const cudaChannelFormatDesc& description, auto& target) {
    return driver_format(description, &target.format, &target.numChannels);
  };
  switch (resource.resType) {
  case cudaResourceTypeArray:
    driver->resType = CU_RESOURCE_TYPE_ARRAY;
    driver->res.array.hArray = resource.res.array.array;
    return cudaSuccess;
  case cudaResourceTypeMipmappedArray:
    driver->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    driver->res.mipmap.hMipmappedArray = resource.res.mipmap.mipmap;
    return cudaSuccess;
  case cudaResourceTypeLinear:
    driver->resType = CU_RESOURCE_TYPE_LINEAR;
    driver->res.linear.devPtr = address(resource.res.linear.devPtr);
    driver->res.linear.sizeInBytes = resource.res.linear.sizeInBytes;
    return format(resource.res.linear.desc, driver->res.linear);
  case cudaResourceTypePitch2D:
    driver->resType = CU_RESOURCE_TYPE_PITCH2D;
    driver->res.pitch2D.devPtr = address(resource.res.pitch2D.devPtr);
    driver->res.pitch2D.width = resource.res.pitch2D.width;
    driver->res.pitch2D.height = resource.res.pitch2D.height;
    driver->res.pitch2D.pitchInBytes = resource.res.pitch2D.pitchInBytes;
    return format(resource.res.pitch2D.desc, driver->res.pitch2D);
  }
  return cudaErrorInvalidValue;
}

cudaError_t runtime_resource(const CUDA_RESOURCE_DESC& driver, cudaResourceDesc* resource) {
  *resource = {};
  resource->resType = static_cast<cudaResourceType>(driver.resType);
  switch (resource->resType) {
  case cudaResourceTypeArray: resource->res.array.array = driver.res.array.hArray; return cudaSuccess;
  case cudaResourceTypeMipmappedArray:
    resource->res.mipmap.mipmap = driver.res.mipmap.hMipmappedArray;
    return cudaSuccess;
  case cudaResourceTypeLinear:
    resource->res.linear.devPtr = reinterpret_cast<void*>(driver.res.linear.devPtr);
    resource->res.linear.sizeInBytes = driver.res.linear.sizeInBytes;
    return runtime_format(driver.res.linear.format, driver.res.linear.numChannels, &resource->res.linear.desc);
  case cudaResourceTypePitch2D:
    resource->res.pitch2D.devPtr = reinterpret_cast<void*>(driver.res.pitch2D.devPtr);
    resource->res.pitch2D.width = driver.res.pitch2D.width;
    resource->res.pitch2D.height = driver.res.pitch2D.height;
    resource->res.pitch2D.pitchInBytes = driver.res.pitch2D.pitchInBytes;
    return runtime_format(driver.res.pitch2D.format, driver.res.pitch2D.numChannels, &resource->res.pitch2D.desc);
  }
  return cudaErrorInvalidValue;
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& texture) {
  CUDA_TEXTURE_DESC driver{};
  for (int i = 0; i < 3; ++i) driver.addressMode[i] = static_cast<CUaddress_mode>(texture.addressMode[i]);
  driver.filterMode = static_cast<CUfilter_mode>(texture.filterMode);
  const auto flag = [&](bool set, unsigned bit) { driver.flags |= set ? bit : 0; };
  flag(texture.readMode == 0, CU_TRSF_READ_AS_INTEGER); // cudaReadModeElementType
  flag(texture.normalizedCoords, CU_TRSF_NORMALIZED_COORDINATES);
  flag(texture.sRGB, CU_TRSF_SRGB);
  flag(texture.disableTrilinearOptimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  flag(texture.seamlessCubemap, CU_TRSF_SEAMLESS_CUBEMAP);
  driver.maxAnisotropy = texture.maxAnisotropy;
  driver.mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
  driver.mipmapLevelBias = texture.mipmapLevelBias;
  driver.minMipmapLevelClamp = texture.minMipmapLevelClamp;
  driver.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
  std::copy_n(texture.borderColor, 4, driver.borderColor);
  return driver;
}

cudaTextureDesc runtime_texture(const CUDA_TEXTURE_DESC& driver) {
  cudaTextureDesc texture{};
  for (int i = 0; i < 3; ++i) texture.addressMode[i] = driver.addressMode[i];
  texture.filterMode = driver.filterMode;
  const auto flag = [&](unsigned bit) { return (driver.flags & bit) != 0; };
  texture.readMode = !flag(CU_TRSF_READ_AS_INTEGER);
  texture.normalizedCoords = flag(CU_TRSF_NORMALIZED_COORDINATES);
  texture.sRGB = flag(CU_TRSF_SRGB);
  texture.disableTrilinearOptimization = flag(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  texture.seamlessCubemap = flag(CU_TRSF_SEAMLESS_CUBEMAP);
  texture.maxAnisotropy = driver.maxAnisotropy;
  texture.mipmapFilterMode = driver.mipmapFilterMode;
  texture.mipmapLevelBias = driver.mipmapLevelBias;
  texture.minMipmapLevelClamp = driver.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = driver.maxMipmapLevelClamp;
  std::copy_n(driver.borderColor, 4, texture.borderColor);
  return texture;
}

CUDA_RESOURCE_VIEW_DESC driver_view(const cudaResourceViewDesc& view) {
  CUDA_RESOURCE_VIEW_DESC driver{};
  driver.format = static_cast<CUresourceViewFormat>(view.format);
  driver.width = view.width;
  driver.height = view.height;
  driver.depth = view.depth;
  driver.firstMipmapLevel = view.firstMipmapLevel;
  driver.lastMipmapLevel = view.lastMipmapLevel;
  driver.firstLayer = view.firstLayer;
  driver.lastLayer = view.lastLayer;
  return driver;
}

} // namespace

cudaError_t create_texture(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                           const cudaTextureDesc* description, const cudaResourceViewDesc* view,
                           std::size_t description_size) {
  return call([&]() -> cudaError_t {
    if (!resource || !description) return cudaErrorInvalidValue;
    CUDA_RESOURCE_DESC driver{};
    TRY(driver_resource(read_prefix(resource, version.resource_desc), &driver));
    const CUDA_TEXTURE_DESC sampling = driver_texture(read_prefix(description, description_size));
    CUDA_RESOURCE_VIEW_DESC window{};
    if (view) window = driver_view(read_prefix(view, version.resource_view_desc));
    return to_error(cuTexObjectCreate(texture, &driver, &sampling, view ? &window : nullptr));
  });
}

cudaError_t get_texture_description(cudaTextureDesc* description, cudaTextureObject_t texture,
                                    std::size_t description_size) {
  return call([&]() -> cudaError_t {
    CUDA_TEXTURE_DESC driver{};
    TRY(cuTexObjectGetTextureDesc(&driver, texture));
    write_prefix(description, runtime_texture(driver), description_size);
    return cudaSuccess;
  });
}

} // namespace warplens::cudart

using namespace warplens::cudart;

CUDART cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                           const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  return create_texture(texture, resource, description, view, version.texture_desc);
}
CUDART cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call([&] { return texture ? cuTexObjectDestroy(texture) : CUDA_SUCCESS; });
}
CUDART cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  return call([&]() -> cudaError_t {
    CUDA_RESOURCE_DESC driver{};
    TRY(cuTexObjectGetResourceDesc(&driver, texture));
    cudaResourceDesc all{};
    TRY(runtime_resource(driver, &all));
    write_prefix(resource, all, version.resource_desc);
    return cudaSuccess;
  });
}
CUDART cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture) {
  return get_texture_description(description, texture, version.texture_desc);
}
CUDART cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t texture) {
  return call([&]() -> cudaError_t {
    CUDA_RESOURCE_VIEW_DESC driver{};
    TRY(cuTexObjectGetResourceViewDesc(&driver, texture));
    const cudaResourceViewDesc all{driver.format,
                                   driver.width,
                                   driver.height,
                                   driver.depth,
                                   driver.firstMipmapLevel,
                                   driver.lastMipmapLevel,
                                   driver.firstLayer,
                                   driver.lastLayer,
                                   {}};
    write_prefix(view, all, version.resource_view_desc);
    return cudaSuccess;
  });
}

CUDART cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  return call([&]() -> cudaError_t {
    if (!resource) return cudaErrorInvalidValue;
    CUDA_RESOURCE_DESC driver{};
    TRY(driver_resource(read_prefix(resource, version.resource_desc), &driver));
    return to_error(cuSurfObjectCreate(surface, &driver));
  });
}
CUDART cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  return call([&] { return surface ? cuSurfObjectDestroy(surface) : CUDA_SUCCESS; });
}
CUDART cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  return call([&]() -> cudaError_t {
    CUDA_RESOURCE_DESC driver{};
    TRY(cuSurfObjectGetResourceDesc(&driver, surface));
    cudaResourceDesc all{};
    TRY(runtime_resource(driver, &all));
    write_prefix(resource, all, version.resource_desc);
    return cudaSuccess;
  });
}
