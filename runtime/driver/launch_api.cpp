// Launches. Compiled twice: see default_stream.hpp.
#include "runtime/driver/default_stream.hpp"
#include "runtime/driver/launch.hpp"
#include "runtime/driver/module.hpp"

using namespace warplens::runtime;

namespace {

CUresult launch(KernelLaunch kernel, CUfunction function, CUstream handle, void** parameters, void** extra,
                const char* name) {
  return serve(
      [&](Context& context) {
        kernel.function = find_function(Machine::instance(), function);
        const std::shared_ptr<Stream> stream = find_stream(context, handle);
        check(kernel);
        set_arguments(kernel, parameters, extra);
        context.flush_printed();
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
