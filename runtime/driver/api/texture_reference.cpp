// SPDX-License-Identifier: Apache-2.0
// Texture and surface references: module variables (.texref, .surfref) that the host binds to memory. CUDA 11 was the
// last version that could compile code for them.
//
//   cuModuleGetTexRef(&ref, module, "image");   cuTexRefSetArray(ref, array, CU_TRSA_OVERRIDE_FORMAT);
//
// A reference is bound again whenever one of its properties changes. Kernels launched earlier use the old binding, so
// pending work completes first.
#include "runtime/driver/machine/array.hpp"
#include "runtime/driver/machine/module.hpp"
#include "runtime/driver/machine/serve.hpp"
#include "runtime/driver/machine/texture.hpp"

#include <algorithm>

using namespace warplens;
using namespace warplens::runtime;

namespace {

struct Reference {
  std::weak_ptr<Module> module; ///< empty: created by cuTexRefCreate(), not visible to kernels
  std::string name;
  isa::Type type{}; ///< texref or surfref
  CUDA_RESOURCE_DESC resource{};
  bool bound = false;
  CUarray_format format = CU_AD_FORMAT_FLOAT; ///< of linear memory
  int channels = 1;
  CUDA_TEXTURE_DESC texture{};

  explicit Reference() {
    for (CUaddress_mode& mode : texture.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
    texture.maxMipmapLevelClamp = 1000;
  }
};

/// The references that the program has requested. A module returns the same one each time.
class References {
public:
  static References& instance() {
    static References& references = *new References; // never destroyed: threads may use it at process exit
    return references;
  }

  Reference* get(const std::shared_ptr<Module>& module, const char* name, isa::Type type) {
    const auto& variables = module->api().ir().variables;
    const bool exists = std::any_of(variables.begin(), variables.end(),
                                    [&](const ir::Variable& v) { return v.name == name && v.type == type; });
    require(exists, CUDA_ERROR_NOT_FOUND);
    const std::lock_guard lock(mutex_);
    forget_unloaded();
    for (const auto& reference : list_)
      if (reference->module.lock() == module && reference->name == name) return reference.get();
    auto made = std::make_unique<Reference>();
    made->module = module;
    made->name = name;
    made->type = type;
    return list_.emplace_back(std::move(made)).get();
  }
  Reference* make() {
    const std::lock_guard lock(mutex_);
    auto made = std::make_unique<Reference>();
    made->type = isa::Type::texref;
    return list_.emplace_back(std::move(made)).get();
  }
  void remove(Reference* reference) {
    const std::lock_guard lock(mutex_);
    std::erase_if(list_, [&](const auto& known) { return known.get() == reference; });
  }
  /// Throws Failure CUDA_ERROR_INVALID_HANDLE if there is none, or its module is gone.
  Reference& find(const void* handle) {
    const std::lock_guard lock(mutex_);
    forget_unloaded();
    for (const auto& reference : list_)
      if (reference.get() == handle) return *reference;
    throw Failure{CUDA_ERROR_INVALID_HANDLE, {}};
  }

private:
  /// Removes references whose modules are gone.
  void forget_unloaded() {
    std::erase_if(list_, [](const auto& reference) { return !reference->name.empty() && reference->module.expired(); });
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reference>> list_;
};

/// Calls `change` for the reference, and binds it again if it has memory. If that fails, nothing changes.
template <class Change> CUresult set(const void* handle, Change&& change, const char* function = __builtin_FUNCTION()) {
  return serve(
      [&](Machine& machine) {
        Reference& reference = References::instance().find(handle);
        Reference changed = reference;
        change(changed);
        if (changed.bound) {
          exec::BoundTexture bound = changed.type == isa::Type::surfref
                                         ? surface_of(changed.resource)
                                         : texture_of(changed.resource, changed.texture, nullptr);
          bound.name = changed.name;
          for (const auto& context : machine.contexts.all()) context->synchronize();
          if (const std::shared_ptr<Module> module = changed.module.lock())
            module->api().bind(changed.name, std::move(bound));
        }
        reference = changed;
      },
      function);
}

template <class Ask> CUresult get(const void* handle, const void* answer, Ask&& ask) {
  return serve([&](Machine&) {
    require(answer != nullptr);
    ask(References::instance().find(handle));
  });
}

void require_axis(int axis) { require(axis >= 0 && axis < 3); }

} // namespace

extern "C" {

CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name) {
  return serve_for(module, [&] {
    require(reference != nullptr && name != nullptr);
    *reference = reinterpret_cast<CUtexref>(References::instance().get(find_module(module), name, isa::Type::texref));
  });
}

CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name) {
  return serve_for(module, [&] {
    require(reference != nullptr && name != nullptr);
    *reference = reinterpret_cast<CUsurfref>(References::instance().get(find_module(module), name, isa::Type::surfref));
  });
}

CUresult cuTexRefCreate(CUtexref* reference) {
  return serve([&](Context&) {
    require(reference != nullptr);
    *reference = reinterpret_cast<CUtexref>(References::instance().make());
  });
}

CUresult cuTexRefDestroy(CUtexref reference) {
  return serve([&](Machine&) {
    Reference& found = References::instance().find(reference);
    require(found.name.empty(), CUDA_ERROR_INVALID_HANDLE); // references of modules are destroyed with them
    References::instance().remove(&found);
  });
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned flags) {
  return set(reference, [&](Reference& r) {
    require(flags == CU_TRSA_OVERRIDE_FORMAT);
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_ARRAY;
    r.resource.res.array.hArray = array;
    r.bound = true;
  });
}

CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray array, unsigned flags) {
  return set(reference, [&](Reference& r) {
    require(flags == CU_TRSA_OVERRIDE_FORMAT);
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    r.resource.res.mipmap.hMipmappedArray = array;
    r.bound = true;
  });
}

CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref reference, CUdeviceptr address, size_t bytes) {
  return set(reference, [&](Reference& r) {
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_LINEAR;
    r.resource.res.linear = {address, r.format, static_cast<unsigned>(r.channels), bytes};
    r.bound = address != 0;             // 0 unbinds
    if (offset != nullptr) *offset = 0; // textures can begin anywhere
  });
}

CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr address,
                                 size_t pitch) {
  return set(reference, [&](Reference& r) {
    require(d != nullptr);
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    r.resource.res.pitch2D = {address, d->Format, d->NumChannels, d->Width, d->Height, pitch};
    r.format = d->Format;
    r.channels = static_cast<int>(d->NumChannels);
    r.bound = address != 0;
  });
}

CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels) {
  return set(reference, [&](Reference& r) {
    exec::Image image;
    set_format(image, format, static_cast<unsigned>(channels));
    r.format = format;
    r.channels = channels;
    if (r.resource.resType != CU_RESOURCE_TYPE_LINEAR) return;
    r.resource.res.linear.format = format;
    r.resource.res.linear.numChannels = static_cast<unsigned>(channels);
  });
}

CUresult cuTexRefSetAddressMode(CUtexref reference, int axis, CUaddress_mode mode) {
  return set(reference, [&](Reference& r) {
    require_axis(axis);
    r.texture.addressMode[axis] = mode;
  });
}

CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode) {
  return set(reference, [&](Reference& r) { r.texture.filterMode = mode; });
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode) {
  return set(reference, [&](Reference& r) { r.texture.mipmapFilterMode = mode; });
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias) {
  return set(reference, [&](Reference& r) { r.texture.mipmapLevelBias = bias; });
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most) {
  return set(reference, [&](Reference& r) {
    r.texture.minMipmapLevelClamp = least;
    r.texture.maxMipmapLevelClamp = most;
  });
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned most) {
  return set(reference, [&](Reference& r) { r.texture.maxAnisotropy = most; });
}

CUresult cuTexRefSetBorderColor(CUtexref reference, float* color) {
  return set(reference, [&](Reference& r) {
    require(color != nullptr);
    std::copy_n(color, 4, r.texture.borderColor);
  });
}

CUresult cuTexRefSetFlags(CUtexref reference, unsigned flags) {
  return set(reference, [&](Reference& r) { r.texture.flags = flags; });
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr* address, CUtexref reference) {
  return get(reference, address, [&](const Reference& r) {
    const bool linear = r.resource.resType == CU_RESOURCE_TYPE_LINEAR;
    require(r.bound && (linear || r.resource.resType == CU_RESOURCE_TYPE_PITCH2D));
    *address = linear ? r.resource.res.linear.devPtr : r.resource.res.pitch2D.devPtr;
  });
}

CUresult cuTexRefGetArray(CUarray* array, CUtexref reference) {
  return get(reference, array, [&](const Reference& r) {
    require(r.bound && r.resource.resType == CU_RESOURCE_TYPE_ARRAY);
    *array = r.resource.res.array.hArray;
  });
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* array, CUtexref reference) {
  return get(reference, array, [&](const Reference& r) {
    require(r.bound && r.resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    *array = r.resource.res.mipmap.hMipmappedArray;
  });
}

CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref reference) {
  return get(reference, format, [&](const Reference& r) {
    *format = r.format;
    if (channels != nullptr) *channels = r.channels;
  });
}

CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref reference, int axis) {
  return get(reference, mode, [&](const Reference& r) {
    require_axis(axis);
    *mode = r.texture.addressMode[axis];
  });
}

CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return get(reference, mode, [&](const Reference& r) { *mode = r.texture.filterMode; });
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return get(reference, mode, [&](const Reference& r) { *mode = r.texture.mipmapFilterMode; });
}

CUresult cuTexRefGetMipmapLevelBias(float* bias, CUtexref reference) {
  return get(reference, bias, [&](const Reference& r) { *bias = r.texture.mipmapLevelBias; });
}

CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref reference) {
  return get(reference, least, [&](const Reference& r) {
    require(most != nullptr);
    *least = r.texture.minMipmapLevelClamp;
    *most = r.texture.maxMipmapLevelClamp;
  });
}

CUresult cuTexRefGetMaxAnisotropy(int* most, CUtexref reference) {
  return get(reference, most, [&](const Reference& r) { *most = static_cast<int>(r.texture.maxAnisotropy); });
}

CUresult cuTexRefGetBorderColor(float* color, CUtexref reference) {
  return get(reference, color, [&](const Reference& r) { std::copy_n(r.texture.borderColor, 4, color); });
}

CUresult cuTexRefGetFlags(unsigned* flags, CUtexref reference) {
  return get(reference, flags, [&](const Reference& r) { *flags = r.texture.flags; });
}

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned flags) {
  return set(reference, [&](Reference& r) {
    require(flags == 0);
    r.resource = {};
    r.resource.resType = CU_RESOURCE_TYPE_ARRAY;
    r.resource.res.array.hArray = array;
    r.bound = true;
  });
}

CUresult cuSurfRefGetArray(CUarray* array, CUsurfref reference) {
  return get(reference, array, [&](const Reference& r) {
    require(r.bound);
    *array = r.resource.res.array.hArray;
  });
}

} // extern "C"
