// SPDX-License-Identifier: Apache-2.0
// A model for current hardware: a launch takes the time of its busiest unit, and more if several units are busy or if
// it has too few warps to hide latency.
//
//   time = overhead + (issue^q + units^q + wavefronts^q + L2^q + memory^q + launch^q + latency^q)^(1/q)
//
// Each term is the number of cycles that the launch would take if it were the only one: instructions at the rate of the
// schedulers; special functions and double precision at the rate of their units; passes over the L1 cache and shared
// memory; sectors at the rate of the L2 cache; bytes at the rate of device memory; blocks at the rate at which they
// start; and the time of a single warp, times the rounds of blocks on a multiprocessor.
//
//   a vector addition of 2^22 floats on an H200: 16.6 us measured; docs/models.md has the equations and the errors
//
// The parameters are fitted to measured launches: tests/data/hardware/ask/fit_throughput_latency.py.
#pragma once

#include "emulator/base/expected.hpp"
#include "model/device.hpp"
#include "model/prediction.hpp"
#include "model/statistics.hpp"

namespace warplens::model {

/// Needs device.throughput_latency. Without l2_hit_ratio, all L1 misses come from device memory, but at most
/// argument_bytes, if given. Errors: see check_inputs().
Expected<Prediction> throughput_latency(const KernelStatistics& statistics, const Device& device,
                                        const ModelOptions& options = {});

} // namespace warplens::model
