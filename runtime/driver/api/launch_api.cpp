// SPDX-License-Identifier: Apache-2.0
// Launches. Compiled twice: see default_stream.hpp.
#include "runtime/driver/api/default_stream.hpp"
#include "runtime/driver/machine/launch.hpp"
#include "runtime/driver/machine/module.hpp"

using namespace warplens::runtime;

namespace {

/// The launch parameters other than the size. Programmatic launches run in stream order: nothing starts early. Throws
/// Failure CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED.
void set_attribute(KernelLaunch& kernel, const CUlaunchAttribute& attribute) {
  switch (attribute.id) {
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: kernel.cooperative = attribute.value.cooperative != 0; return;
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
    const auto& c = attribute.value.clusterDim;
    if (c.x != 0 || c.y != 0 || c.z != 0) kernel.cluster = {c.x, c.y, c.z};
    return;
  }
  case CU_LAUNCH_ATTRIBUTE_IGNORE:
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
  case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
  case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return;
  case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
  case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
  case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    throw Failure{unsupported("a launch attribute for events or device-updatable nodes"), {}};
  default: require(false);
  }
}

CUresult launch(KernelLaunch kernel, CUfunction function, CUstream handle, void** parameters, void** extra,
                const char* name) {
  return serve_for(
      handle,
      [&](Context& context) {
        kernel.function = find_function(Machine::instance(), function);
        const Context* const owner = context_of(function);
        require(owner == nullptr || owner == &context, CUDA_ERROR_INVALID_HANDLE);
        const std::shared_ptr<Stream> stream = find_stream(context, handle);
        check(kernel);
        set_arguments(kernel, parameters, extra);
        context.flush_printed();
        kernel.stream = stream->id();
        if (warplens::api::Sanitizer* const tools = sanitizer())
          kernel.checked = std::make_shared<warplens::api::Sanitizer::Checked>(
              warplens::api::Sanitizer::Checked{tools->next_order(), warplens::api::HostStack::here(), false});
        stream->submit(std::move(kernel));
      },
      name);
}

} // namespace

extern "C" {

CUresult PTSZ(cuLaunchKernel)(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                              unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                              CUstream stream, void** parameters, void** extra) {
  return launch({.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared_bytes = shared},
                function, stream, parameters, extra, "cuLaunchKernel");
}

CUresult PTSZ(cuLaunchKernelEx)(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  KernelLaunch kernel{.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                      .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                      .shared_bytes = config->sharedMemBytes};
  const CUresult known = serve([&](Machine&) {
    for (unsigned i = 0; i < config->numAttrs; ++i) set_attribute(kernel, config->attrs[i]);
  });
  if (known != CUDA_SUCCESS) return known;
  return launch(std::move(kernel), function, config->hStream, parameters, extra, "cuLaunchKernelEx");
}

CUresult PTSZ(cuLaunchCooperativeKernel)(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                         unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                         unsigned int block_z, unsigned int shared, CUstream stream,
                                         void** parameters) {
  return launch({.grid = {grid_x, grid_y, grid_z},
                 .block = {block_x, block_y, block_z},
                 .shared_bytes = shared,
                 .cooperative = true},
                function, stream, parameters, nullptr, "cuLaunchCooperativeKernel");
}

} // extern "C"
