// SPDX-License-Identifier: Apache-2.0
// Dasgupta's model: that of Hong & Kim adapted to GT200, where a request causes a varying number of transactions of
// 32, 64 or 128 bytes. It adds the merging of transactions that fetch the same data, independent loads, vector
// requests, slow instructions and bank conflicts. Four extensions that the thesis leaves to future work are optional:
// merging by occupancy (model/merging.hpp), special-function units in parallel with the others (ModelOptions),
// computation independent of an outstanding load (independent_instructions), and caches (Fermi).
//
//   400 requests of two 32-byte transactions each, 256 threads, 120 blocks on a Tesla C1060: 0.7222 ms (Table 8)
//
// A. Dasgupta, "CUDA Performance Analyzer", MS thesis, Georgia Institute of Technology 2011, section 3.2, equations
// (16) to (30). Equations (17), (25) and (26), lost in the available text, were restored from ISCA 2009 and confirmed
// on Tables 8 to 10.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Terms have the names of the thesis; cycles are those of the tuned clock. Needs device.dasgupta and
/// device.issue_cycles. device.latency.l1 and l2 enable the caches. `duplicate_loads` divides the transactions of
/// scalar requests (vector ones do not merge, section 3.2.5.1) and the warps that count for MWP. Errors: see
/// check_inputs(); an instruction class or bank conflicts for which the device has no cycles.
Expected<Prediction> dasgupta(const KernelStatistics& statistics, const Device& device,
                              const ModelOptions& options = {});

} // namespace warplens::model
