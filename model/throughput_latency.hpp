// A model for current hardware: a launch takes what its busiest unit needs, and somewhat more where several are busy or
// its warps are too few to hide what they wait for.
//
//   time = overhead + (issue^q + units^q + wavefronts^q + L2^q + memory^q + launch^q + latency^q)^(1/q)
//
// Each term is the cycles that the launch would take were there no other: instructions at the rate of the schedulers,
// special functions and double precision at that of their units, passes over the first cache and shared memory, sectors
// at the rate of the second cache, bytes at that of device memory, blocks at the rate at which they start; and the time
// of one warp alone, as often as blocks follow each other on a multiprocessor.
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

/// Needs device.throughput_latency. Without l2_hit_ratio each sector comes from device memory once at most: as many
/// bytes as argument_bytes, if those are given. Errors: see check_inputs().
Expected<Prediction> throughput_latency(const KernelStatistics& statistics, const Device& device,
                                        const ModelOptions& options = {});

} // namespace warplens::model
