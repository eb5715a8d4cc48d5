// SPDX-License-Identifier: Apache-2.0
// What a launch computes with matrix instructions, and how long the matrix units of a device need for it at their peak
// rates, which depend on the type.
//
//   2^31 operations on f16 on an H200 (132 multiprocessors, 4096 operations in a cycle, 1.98 GHz): 0.0020 ms
#pragma once

#include "model/device.hpp"
#include "model/statistics.hpp"

#include <string_view>
#include <vector>

namespace warplens::model {

struct MatrixWork {
  double operations = 0;   ///< of all types
  double milliseconds = 0; ///< of those whose rate is known, one type after the other
  std::vector<std::string_view>
      unknown; ///< the types that the launch uses and whose rate the device file does not have
};
MatrixWork matrix_work(const KernelStatistics& statistics, const Device& device);

} // namespace warplens::model
