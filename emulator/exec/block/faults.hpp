// SPDX-License-Identifier: Apache-2.0
// Faults of threads under the tools: what they are called, and which ones drop the access instead of stopping the
// kernel.
//
//   if (drops(warp, trap)) bytes = warp->worker->nowhere;   // memcheck has a finding; the lane goes on
#pragma once

#include "emulator/exec/block/worker.hpp"

namespace warplens::exec {

/// With memcheck: records a fault, clears Worker::nowhere, and returns true. Otherwise false: the kernel must stop.
bool drops(Warp* warp, const Trap& fault);

/// Records what stops a kernel, for each of the lanes of its warp, or for its thread if there are none.
void record_stop(Worker& worker, const Trap& trap, Mask lanes);

/// Records a finding of lanes that go on, if its tool is on.
void record(const Warp* warp, ToolFinding::Kind kind, std::uint32_t instruction, Mask lanes, const std::string& detail);

} // namespace warplens::exec
