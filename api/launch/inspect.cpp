// SPDX-License-Identifier: Apache-2.0
#include "api/launch/inspect.hpp"

namespace warplens::api {

std::vector<KernelSummary> summarise(Module& module) {
  std::vector<KernelSummary> list;
  for (const ir::Function* f : module.kernels()) {
    KernelSummary summary;
    summary.function = f;
    const Expected<std::shared_ptr<const exec::Program>> program = module.program(*f, false, "");
    exec::Program undecoded;
    undecoded.function = f;
    summary.resources = resources(module, program ? **program : undecoded, std::nullopt);
    if (!program) summary.blocked_by = program.error();
    list.push_back(std::move(summary));
  }
  return list;
}

} // namespace warplens::api
