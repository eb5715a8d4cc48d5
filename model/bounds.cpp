// SPDX-License-Identifier: Apache-2.0
// Lower bounds: the bytes that must come from device memory or go there at its bandwidth, all loads and stores at the
// rate of the units that execute them, and all instructions at the rate of the schedulers.
//
//   a Tesla K80 die copies bytes: 240 GB/s by memory, but 875 MHz * 13 * 32 units * 1 byte = 364 GB/s by the units, of
//   which a quarter is used: 91 GB/s; with words of four bytes it is four times as much, and memory is the limit
//
// E. Darve, CME 213, Stanford University 2019, "Possible bottlenecks".
#include "model/memory_bytes.hpp"
#include "model/models.hpp"

#include <algorithm>

namespace warplens::model {

/// The second bound needs device.throughput.load_store_units; load_store_use is 1 by default.
Expected<Prediction> bounds(Prediction p, const KernelStatistics& statistics, const Device& device,
                            const ModelOptions&) {
  const double warps = total_warps(statistics);
  // Gigabytes per second are bytes per nanosecond.
  const double bytes = memory_bytes(p, statistics, device);
  const double memory = note(p, "memory_bound", bytes / device.bandwidth_gb_s * 1e-6, "ms");
  if (device.throughput.sustained_memory_gb_s)
    note(p, "memory_bound_sustained", bytes / *device.throughput.sustained_memory_gb_s * 1e-6, "ms");

  double units = 0;
  if (device.throughput.load_store_units) {
    const double lanes =
        note(p, "lanes_of_loads_and_stores",
             (*statistics.global_requests + statistics.shared_requests.value_or(0)) * kWarpSize * warps, "lanes");
    const double active = std::min<double>(device.multiprocessors, *statistics.blocks);
    const double rate = note(p, "load_store_rate",
                             device.clock_ghz * active * *device.throughput.load_store_units *
                                 device.throughput.load_store_use.value_or(1),
                             "lanes per ns");
    units = note(p, "load_store_bound", lanes / rate * 1e-6, "ms");
  } else {
    p.remarks.push_back("the device's number of load/store units is not known: their bound is left out");
  }
  const double issue = device.throughput.issue.value_or(device.cores_per_multiprocessor / double{kWarpSize});
  const double active = std::min<double>(device.multiprocessors, *statistics.blocks);
  const double slots =
      note(p, "issue_bound", *statistics.instructions * warps / (active * issue * device.clock_ghz) * 1e-6, "ms");
  p.remarks.push_back("a lower bound: the model ignores latency");
  const double most = std::max({memory, units, slots});
  p.bound = memory == most ? "memory" : "compute";
  return finish(std::move(p), most * device.clock_ghz * 1e6, device.clock_ghz);
}

} // namespace warplens::model
