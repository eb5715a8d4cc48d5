// SPDX-License-Identifier: Apache-2.0
// Contexts: the primary context and others, the stack of each thread, limits.
#include "runtime/driver/machine/serve.hpp"

using namespace warplens::runtime;

namespace {

CUcontext handle(const std::shared_ptr<Context>& context) {
  return Registry<Context, CUcontext>::handle(context.get());
}

std::shared_ptr<Context> find(Machine& machine, CUcontext context) {
  std::shared_ptr<Context> found = machine.contexts.find(context);
  require(found != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return found;
}

/// The context that a caller of cuCtxGetDevice_v2 or cuCtxSynchronize_v2 names, or for null the current one. Programs
/// that were written before CUDA 13 gave these names a second argument do not pass it: a value that was never a context
/// means the current one, where NVIDIA's driver crashes.
Context& named_or_current(Machine& machine, CUcontext handle) {
  const std::shared_ptr<Context> found = handle == nullptr ? nullptr : machine.contexts.find(handle);
  return found == nullptr ? current_context() : *found;
}

/// The context, or for null the current one, if it is usable. Throws Failure with its fault.
Context& live(Machine& machine, CUcontext handle) {
  Context& context = handle == nullptr ? current_context() : *find(machine, handle);
  if (const CUresult fault = context.told_fault(); fault != CUDA_SUCCESS) throw Failure{fault, {}};
  return context;
}

CUresult create(CUcontext* context, unsigned flags, CUdevice device, const char* function) {
  return serve(
      [&](Machine& machine) {
        require(context != nullptr && (flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
        require_device(device);
        auto made = std::make_shared<Context>(flags);
        *context = machine.contexts.add(made);
        push_context(std::move(made));
      },
      function);
}

/// CUDA's default limits (CUDA C++ Programming Guide, device attributes and the reference of cuCtxSetLimit).
std::size_t default_limit(CUlimit limit) {
  switch (limit) {
  case CU_LIMIT_STACK_SIZE: return 1024;
  case CU_LIMIT_PRINTF_FIFO_SIZE: return 1 << 20;
  case CU_LIMIT_MALLOC_HEAP_SIZE: return 8 << 20;
  case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: return 2;
  case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return 2048;
  case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return 64;
  case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return 0;
  default: throw Failure{CUDA_ERROR_UNSUPPORTED_LIMIT, {}};
  }
}

} // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return serve([&](Machine& machine) {
    require(context != nullptr);
    require_device(device);
    *context = handle(machine.retain_primary());
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return serve([&](Machine& machine) {
    require_device(device);
    machine.release_primary();
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return serve([&](Machine& machine) {
    require_device(device);
    machine.reset_primary();
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return serve([&](Machine& machine) {
    require_device(device);
    require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
    machine.set_primary_flags(flags);
    if (const auto primary = machine.primary()) primary->flags = flags;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return serve([&](Machine& machine) {
    require_device(device);
    require(flags != nullptr && active != nullptr);
    *flags = machine.primary_flags();
    *active = machine.primary() ? 1 : 0;
  });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return create(context, flags, device, __func__);
}

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int affinities, unsigned int flags, CUdevice device) {
  if (affinities != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(context, flags, device, __func__);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* params, unsigned int flags, CUdevice device) {
  if (params != nullptr && params->numExecAffinityParams != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(context, flags, device, __func__);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return serve([&](Machine& machine) {
    require(context != nullptr);
    const std::shared_ptr<Context> found = find(machine, context);
    require(!machine.is_primary(*found), CUDA_ERROR_INVALID_CONTEXT);
    require(!found->destroyed(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    if (current_context_or_null() == found) pop_context();
    machine.destroy_context(found);
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return serve([&](Machine& machine) {
    require(context != nullptr);
    push_context(find(machine, context));
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return serve([&](Machine&) {
    const std::shared_ptr<Context> top = pop_context();
    require(top != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    if (context != nullptr) *context = handle(top);
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return serve([&](Machine& machine) { set_current_context(context == nullptr ? nullptr : find(machine, context)); });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return serve([&](Machine&) {
    require(context != nullptr);
    *context = handle(current_context_or_null());
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return serve([&](Machine&) {
    require(device != nullptr);
    current_context();
    *device = kDevice;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return serve([&](Machine& machine) {
    require(device != nullptr);
    named_or_current(machine, context);
    *device = kDevice;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return serve([&](Machine& machine) {
    require(id != nullptr);
    *id = live(machine, handle).id();
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return serve([&](Machine&) {
    require(flags != nullptr);
    *flags = current_context().flags;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return serve([&](Context& context) { context.flags = flags; });
}

CUresult cuCtxSynchronize() {
  return serve([](Context& context) { return context.synchronize(); });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return serve([&](Machine& machine) {
    Context& context = named_or_current(machine, handle);
    if (const CUresult fault = context.told_fault(); fault != CUDA_SUCCESS) throw Failure{fault, {}};
    return context.synchronize();
  });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return serve([&](Context& context) {
    require(value != nullptr);
    *value = default_limit(limit);
    if (const std::optional<std::size_t> set = context.limit(limit)) *value = *set;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return serve([&](Context& context) {
    default_limit(limit);
    // The heap size cannot change after a kernel has used it.
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE) require(value > 0 && Machine::instance().api()->set_heap_size(value));
    context.set_limit(limit, value);
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return serve([&](Context& context) {
    require(config != nullptr);
    *config = context.cache_config;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return serve([&](Context& context) { context.cache_config = config; });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return serve([&](Context& context) {
    require(config != nullptr);
    *config = context.shared_config;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return serve([&](Context& context) { context.shared_config = config; });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return serve([&](Machine& machine) {
    require(version != nullptr);
    if (context != nullptr) require(!find(machine, context)->destroyed(), CUDA_ERROR_INVALID_CONTEXT);
    live(machine, context);
    *version = 3020;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return serve([&](Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return serve([](Context&) {});
}

CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
  return serve([](Context&) { return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED; }); // the only device is not a peer of itself
}

CUresult cuCtxDisablePeerAccess(CUcontext) {
  return serve([](Context&) { return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED; });
}

} // extern "C"
