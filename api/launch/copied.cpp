// SPDX-License-Identifier: Apache-2.0
#include "api/launch/copied.hpp"

#include "emulator/exec/compile/tier.hpp"
#include "emulator/exec/grid/workers.hpp"

#include <algorithm>

namespace warplens::api {

using Here = ProcessCopier::Here;

Expected<Here> copied(const LaunchRequest& request, exec::Launch& launch) {
  const LaunchOptions& options = request.options;
  const exec::Program& watched = *launch.program;
  if (options.copier == nullptr || launch.watcher == nullptr || !request.launched_by.empty())
    return Here::program_without_copy;
  if (options.recorder != nullptr || options.sanitizer != nullptr || request.events != nullptr)
    return Here::program_without_copy;
  const bool waits = watched.block_dependence == ir::BlockDependence::waiting && request.others_write;
  if (watched.uses_heap || waits) return Here::program_without_copy;
  // Before there is a copy: another thread could hold the lock of the module.
  const Expected<std::shared_ptr<const exec::Program>> unwatched =
      request.kernel.module->program(*request.kernel.function, false, options.level, options.strict_async);
  if (!unwatched) return failure(unwatched.error());
  const unsigned workers = std::max(1u, exec::default_workers() / options.copier->most());
  const Here here = options.copier->copy();
  if (here == Here::program) {
    launch.program = *unwatched;
    launch.watcher = nullptr;
    launch.ordered = true;
  }
  if (here == Here::copy) {
    launch.progress = nullptr;
    launch.workers = workers;
    // The compiler's thread is not here.
    if (exec::compile_mode() == exec::CompileMode::automatic) exec::set_compile_mode(exec::CompileMode::off);
  }
  return here;
}

} // namespace warplens::api
