// SPDX-License-Identifier: Apache-2.0
// When the launches and copies of a program run on a device: each as soon as what it must wait for has ended and its
// unit has room.
//
//   const Task tasks[] = {{.unit = Unit::to_device, .milliseconds = 2},
//                         {.unit = Unit::multiprocessors, .milliseconds = 3, .after = {0}},
//                         {.unit = Unit::to_device, .milliseconds = 2}};
//   schedule(tasks)[1].start == 2, schedule(tasks)[2].start == 2      // the second copy overlaps the kernel
//
// The copies of a unit run one after the other. Kernels share the multiprocessors: those that are ready first take what
// they can use, the others what is left, as the hardware starts blocks of a later kernel when those of the earlier ones
// have started. A kernel with half of the multiprocessors that it can use runs at half its speed.
#pragma once

#include "model/device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::model {

/// The part of a device that is busy with a task.
enum class Unit : std::uint8_t { none, multiprocessors, to_device, to_host, memory };
constexpr std::size_t kUnits = 5;

struct Task {
  Unit unit = Unit::none;
  double milliseconds = 0;             ///< if it runs alone
  double share = 1;                    ///< of the multiprocessors that it can use, above 0 and at most 1
  std::vector<std::size_t> after = {}; ///< indices of earlier tasks
};

/// Milliseconds from the start of the program.
struct Interval {
  double start = 0, end = 0;
};

/// The intervals of the tasks, in their order.
std::vector<Interval> schedule(std::span<const Task> tasks);

/// The units of a device: where copies in both directions share a copy engine, or where no copy runs beside a kernel
/// (CUDA C Programming Guide 3.2, section 3.2.7.2: compute capability 1.0), several are one.
Unit unit_on(const Device& device, Unit unit);
/// Whether kernels run at the same time (section 3.2.7.3).
bool runs_concurrent_kernels(const Device& device);
/// How many copies run at the same time: cudaDeviceProp::asyncEngineCount.
int copy_engines(const Device& device);

} // namespace warplens::model
