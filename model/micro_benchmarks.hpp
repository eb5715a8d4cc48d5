// SPDX-License-Identifier: Apache-2.0
// The parameters of a GPU from the answers of the micro-benchmarks of tests/data/hardware/ask/calibration.cu: latencies
// and rates of its units, caches and memory, and the cost of a launch.
//
//   {"fma_f32 latency", 16384 times, 66760 cycles}   ->   latency.arithmetic = 4.07
#pragma once

#include "model/device.hpp"

#include <span>
#include <string>

namespace warplens::model {

/// A launch of a micro-benchmark.
struct MicroBenchmark {
  std::string name;         ///< "copy_fours 65536 256"
  double times = 0;         ///< how often it did what it measures
  double cycles = 0;        ///< by the clock of the multiprocessor; 0 if only the time of the launch counts
  double nanoseconds = 0;   ///< of the launch
  double device_cycles = 0; ///< of the launch
  double bytes_written = 0; ///< to device memory
};

/// The device with the parameters that the answers determine; their source is `source`. Errors: an answer is missing,
/// or its numbers are impossible.
Expected<Device> with_micro_benchmarks(Device device, std::span<const MicroBenchmark> answers,
                                       const std::string& source);

} // namespace warplens::model
