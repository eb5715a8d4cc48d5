// SPDX-License-Identifier: Apache-2.0
// What is known about a kernel before it runs, for `warplens check`.
//
//   for (const KernelSummary& k : summarise(*module)) … k.function->name, k.resources.registers, k.blocked_by
#pragma once

#include "api/launch/launch.hpp"

namespace warplens::api {

struct KernelSummary {
  const ir::Function* function = nullptr;
  Resources resources;    ///< shared and local memory are 0 if the kernel cannot be launched
  Diagnostics blocked_by; ///< why the kernel cannot be launched; empty: it can
};

/// Every kernel of the module, in the order of the text.
std::vector<KernelSummary> summarise(Module& module);

} // namespace warplens::api
