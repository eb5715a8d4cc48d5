// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/state/device_runtime.hpp"

#include "emulator/exec/memory/heap.hpp"

namespace warplens::exec {

void DeviceRuntime::clear(Heap& heap) {
  for (const auto& [buffer, launch] : buffers) heap.free(buffer);
  for (const auto& [text, copy] : texts)
    if (copy != 0) heap.free(copy);
  buffers.clear();
  texts.clear();
}

} // namespace warplens::exec
