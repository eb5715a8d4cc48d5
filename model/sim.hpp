// SPDX-License-Identifier: Apache-2.0
// GPUPerf, the model of Sim et al.: it computes the computation and memory times of a multiprocessor separately and
// then overlaps them. It includes caches, instruction-level (ILP) and memory-level parallelism (MLP), and
// serialisation.
//
//   T_exec = T_comp + T_mem - T_overlap
//
// J. Sim, A. Dasgupta, H. Kim, R. Vuduc, "A Performance Analysis Framework for Identifying Potential Benefits in GPGPU
// Applications", PPoPP 2012, equations (1) to (17) and (A.1) to (A.7), made for Fermi. The text of the paper was not
// available: the equations are those of an implementation that cites their numbers. The potential-benefit metrics
// (B_itilp, B_serial, B_fp, B_memlp) are recalled, and their equation numbers are not confirmed.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Terms have the paper's names; cycles are those of the shader clock. Needs device.sim, device.latency.arithmetic and
/// device.latency.memory; latency.l1 and l2 if the device has caches. Errors: see check_inputs().
Expected<Prediction> sim(const KernelStatistics& statistics, const Device& device, const ModelOptions& options = {});

} // namespace warplens::model
