// GPUPerf, the model of Sim et al.: computation and memory of a multiprocessor are computed separately, then
// overlapped. It knows caches, parallelism of instructions (ILP) and of loads (MLP), and what serialises.
//
//   T_exec = T_comp + T_mem - T_overlap
//
// J. Sim, A. Dasgupta, H. Kim, R. Vuduc, "A Performance Analysis Framework for Identifying Potential Benefits in GPGPU
// Applications", PPoPP 2012, equations (1) to (17) and (A.1) to (A.7), made for Fermi. The paper's own text was not at
// hand: the equations are those of an implementation that cites their numbers. Its potential-benefit metrics (B_itilp,
// B_serial, B_fp, B_memlp) are recalled, their equation numbers not confirmed.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Terms carry the paper's names, cycles are those of the shader clock. Needs device.sim, device.latency.arithmetic and
/// device.latency.memory; latency.l1 and l2 where the device has caches. Errors: see check_inputs().
Expected<Prediction> sim(const KernelStatistics& statistics, const Device& device, const ModelOptions& options = {});

} // namespace warplens::model
