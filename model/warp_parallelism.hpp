// SPDX-License-Identifier: Apache-2.0
// Common parts of the models of Hong & Kim and of Dasgupta: how much of the device a launch occupies, and how memory
// and computation of many warps overlap for given MWP and CWP. Internal to model/.
//
//   MWP 2.28, CWP 20, N 20: memory bound; the 4380 memory cycles of a warp are paid N/MWP = 8.8 times
#pragma once

#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Equations (20) and (21) of Hong & Kim.
struct Residency {
  double multiprocessors = 0; ///< #Active_SMs
  double blocks = 0;          ///< #Active_blocks_per_SM
  double warps_per_block = 0;
  double warps = 0;       ///< N, #Active_warps_per_SM
  double repetitions = 0; ///< #Rep, at least 1
};

/// A grid that is too small to fill the device leaves multiprocessors idle or partly filled. The papers' "active"
/// counts then include only what actually runs, so #Rep is at least one round.
Residency residency(const KernelStatistics& statistics, const Device& device, const ModelOptions& options);

/// Inputs of equations (22) to (27); cycles of one warp.
struct WarpWork {
  double instructions = 0;     ///< #Total_insts
  double requests = 0;         ///< #Mem_insts
  double memory_latency = 0;   ///< Mem_L
  double memory_cycles = 0;    ///< Mem_cycles
  double compute_cycles = 0;   ///< Comp_cycles
  double departure_delay = 0;  ///< Departure_delay
  double synchronizations = 0; ///< #synch_insts
};

/// Limits of MWP: equation (5).
struct MwpLimits {
  double departure = 0; ///< MWP_Without_BW_full
  double bandwidth = 0; ///< MWP_peak_BW
  double warps = 0;     ///< N, or Active_warps_for_MWP
};

/// Equation (5): stores the smallest limit and its kind.
void choose_mwp(Prediction& prediction, const MwpLimits& limits, const ModelOptions& options);

/// The equation for a launch with CWP < MWP that computes longer than it waits (Comp_cycles > Mem_cycles). The
/// pseudo-code of Hong & Kim uses (23), which can be less than the time to issue the instructions.
enum class LongComputation { equation_23, equation_24 };

/// Equations (8), (9) and (22) to (27). A kernel without memory requests has MWP = N and CWP = 0 (Dasgupta, 3.2.6.1).
/// Errors: see finish().
Expected<Prediction> overlap(Prediction prediction, const WarpWork& work, const Residency& residency,
                             const KernelStatistics& statistics, double clock_ghz,
                             ModelOptions::Synchronization synchronization, LongComputation long_computation);

} // namespace warplens::model
