// SPDX-License-Identifier: Apache-2.0
// The launches from before CUDA 4, which keep their parameters in the function, and contexts with reference counts. The
// results of an H200 are in tests/data/hardware/old_launches.txt.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/machine/launch.hpp"
#include "runtime/driver/machine/module.hpp"

#include <algorithm>
#include <cstring>

using namespace warplens::runtime;

namespace {

constexpr std::size_t kMostParameterBytes = 32764;
constexpr unsigned kMostBlocks = 65535; ///< along y

/// Runs in the current context, with a function of it.
template <class Body> CUresult with(CUfunction handle, Body&& body, const char* function = __builtin_FUNCTION()) {
  return serve(
      [&](Context& context) {
        const std::shared_ptr<Function> found = find_function(Machine::instance(), handle);
        const Context* const owner = context_of(handle);
        require(owner == nullptr || owner == &context, CUDA_ERROR_INVALID_HANDLE);
        body(found, found->old_launch, context);
      },
      function);
}

CUresult set_parameter(CUfunction function, int offset, const void* data, std::size_t size, const char* name) {
  return with(
      function,
      [&](const auto&, OldLaunch& old, Context&) {
        require(offset >= 0 && size <= kMostParameterBytes &&
                static_cast<std::size_t>(offset) <= kMostParameterBytes - size && (size == 0 || data != nullptr));
        const std::size_t end = static_cast<std::size_t>(offset) + size;
        if (old.parameters.size() < end) old.parameters.resize(end);
        if (size != 0) std::memcpy(&old.parameters[static_cast<std::size_t>(offset)], data, size);
      },
      name);
}

CUresult launch(CUfunction handle, int width, int height, CUstream stream, const char* name) {
  return with(
      handle,
      [&](const std::shared_ptr<Function>& function, const OldLaunch& old, Context& context) {
        require(width > 0 && height > 0 && static_cast<unsigned>(height) <= kMostBlocks);
        require(old.parameter_bytes <= function->parameter_bytes(), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        KernelLaunch kernel{.grid = {static_cast<unsigned>(width), static_cast<unsigned>(height), 1},
                            .block = {old.block[0], old.block[1], old.block[2]},
                            .shared_bytes = old.shared_bytes};
        kernel.function = function;
        check(kernel);
        // Bytes beyond the given size, and bytes that were never set, are zero.
        kernel.parameters.assign(function->parameter_bytes(), std::byte{});
        const std::size_t bytes = std::min(old.parameter_bytes, old.parameters.size());
        if (bytes != 0) std::memcpy(kernel.parameters.data(), old.parameters.data(), bytes);
        context.flush_printed();
        find_stream(context, stream)->submit(std::move(kernel));
      },
      name);
}

} // namespace

extern "C" {

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return with(function, [&](const auto& found, OldLaunch& old, Context&) {
    require(x > 0 && y > 0 && z > 0);
    KernelLaunch kernel{.grid = {1, 1, 1},
                        .block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)}};
    kernel.function = found;
    check(kernel);
    old.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
  return with(function, [&](const auto& found, OldLaunch& old, Context&) {
    require(bytes <= found->most_dynamic_shared());
    old.shared_bytes = bytes;
  });
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
  return with(function, [&](const auto&, OldLaunch& old, Context&) {
    require(bytes <= kMostParameterBytes);
    old.parameter_bytes = bytes;
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return set_parameter(function, offset, &value, sizeof value, "cuParamSeti");
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_parameter(function, offset, &value, sizeof value, "cuParamSetf");
}

CUresult cuParamSetv(CUfunction function, int offset, void* data, unsigned int bytes) {
  return set_parameter(function, offset, data, bytes, "cuParamSetv");
}

// A kernel sees the references of its module in any case. Current drivers reject all of them; drivers from the time of
// such programs did not.
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference) {
  constexpr int kDefaultUnit = -1; // CU_PARAM_TR_DEFAULT
  return with(function, [&](const auto&, OldLaunch&, Context&) {
    require(reference != nullptr, CUDA_ERROR_INVALID_HANDLE);
    require(unit == kDefaultUnit);
  });
}

CUresult cuLaunch(CUfunction function) { return launch(function, 1, 1, nullptr, "cuLaunch"); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch(function, width, height, nullptr, "cuLaunchGrid");
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch(function, width, height, stream, "cuLaunchGridAsync");
}

CUresult cuCtxAttach(CUcontext* result, unsigned int flags) {
  return serve([&](Context& context) {
    require(result != nullptr && flags == 0);
    ++context.uses;
    *result = Registry<Context, CUcontext>::handle(&context);
  });
}

// The last detach destroys the context. For the primary context, it is an error.
CUresult cuCtxDetach(CUcontext handle) {
  return serve([&](Context& context) {
    require(Registry<Context, CUcontext>::handle(&context) == handle, CUDA_ERROR_INVALID_CONTEXT);
    const bool primary = Machine::instance().is_primary(context);
    require(!primary || context.uses > 1, CUDA_ERROR_INVALID_CONTEXT);
    if (--context.uses > 0) return CUDA_SUCCESS;
    return cuCtxDestroy_v2(handle);
  });
}

} // extern "C"
