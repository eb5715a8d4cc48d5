// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects.
#include "runtime/driver/machine/serve.hpp"
#include "runtime/driver/machine/texture.hpp"

#include <unordered_map>

using namespace warplens;
using namespace warplens::runtime;

namespace {

/// The program's descriptors, for later queries.
struct Object {
  exec::BoundTexture::Kind kind{};
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

class Objects {
public:
  std::uint64_t add(exec::BoundTexture bound, const Object& object) {
    const std::uint64_t handle = Machine::instance().api()->bind(std::move(bound));
    const std::lock_guard lock(mutex_);
    objects_.emplace(handle, object);
    return handle;
  }
  /// Throws Failure CUDA_ERROR_INVALID_VALUE if there is no such object.
  Object find(std::uint64_t handle, exec::BoundTexture::Kind kind) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    require(found != objects_.end() && found->second.kind == kind);
    return found->second;
  }
  void remove(Context& context, std::uint64_t handle, exec::BoundTexture::Kind kind) {
    find(handle, kind);
    context.synchronize(); // a running kernel may use it
    const std::lock_guard lock(mutex_);
    objects_.erase(handle);
    Machine::instance().api()->unbind(handle);
  }

private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Object> objects_;
};

Objects& objects() {
  static Objects& instance = *new Objects; // never destroyed: threads may use it at process exit
  return instance;
}

using BoundKind = exec::BoundTexture::Kind;

} // namespace

extern "C" {

CUresult cuTexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return serve([&](Context&) {
    require(handle != nullptr && resource != nullptr && texture != nullptr);
    exec::BoundTexture bound = texture_of(*resource, *texture, view);
    bound.name = "texture object";
    Object object{BoundKind::texture, *resource, *texture, {}};
    if (view != nullptr) object.view = *view;
    *handle = objects().add(std::move(bound), object);
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return serve([&](Context& context) { objects().remove(context, handle, BoundKind::texture); });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  return serve([&](Context&) {
    require(resource != nullptr);
    *resource = objects().find(handle, BoundKind::texture).resource;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject handle) {
  return serve([&](Context&) {
    require(texture != nullptr);
    *texture = objects().find(handle, BoundKind::texture).texture;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* view, CUtexObject handle) {
  return serve([&](Context&) {
    require(view != nullptr);
    const Object object = objects().find(handle, BoundKind::texture);
    require(object.view.has_value());
    *view = *object.view;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  return serve([&](Context&) {
    require(handle != nullptr && resource != nullptr);
    exec::BoundTexture bound = surface_of(*resource);
    bound.name = "surface object";
    *handle = objects().add(std::move(bound), {BoundKind::surface, *resource, {}, {}});
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return serve([&](Context& context) { objects().remove(context, handle, BoundKind::surface); });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  return serve([&](Context&) {
    require(resource != nullptr);
    *resource = objects().find(handle, BoundKind::surface).resource;
  });
}

} // extern "C"
