// SPDX-License-Identifier: Apache-2.0
// What a program did on the device, and when: its launches, copies and fills, as their streams, events, graphs and the
// waiting host order them, each as long as predicted.
//
//   std::vector<ProgramOperation> operations = …;       // in the order in which the program submitted them
//   Timeline made = timeline_of(device, reports, operations);
//   made.entries[1].start, .end                         // milliseconds from the first operation on
//
// A report belongs to the operation that LaunchReport::operation names. Kernels take the time that the model to trust
// predicts, copies from and to the host the time at the peak rate of the connection, copies within the device and fills
// that at the peak of device memory. The host takes no time.
#pragma once

#include "api/launch/launch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warplens::api {

/// Something that a program submitted to a stream. `other` takes no time but for the kernels that it launches, such as
/// the conditional nodes of graphs.
struct ProgramOperation {
  enum class Kind : std::uint8_t { launch, copy_to_device, copy_to_host, copy_on_device, fill, host_function, other };
  Kind kind = Kind::launch;
  std::uint64_t stream = 0;
  std::uint64_t bytes = 0;             ///< that a copy or a fill moves
  std::vector<std::size_t> after = {}; ///< the earlier operations that it waits for
};
/// "launch", "copy to device", …
std::string_view to_string(ProgramOperation::Kind kind);

struct TimelineEntry {
  ProgramOperation::Kind kind{};
  std::uint64_t stream = 0;
  std::uint64_t bytes = 0;
  std::vector<std::size_t> launches = {}; ///< indices of reports: several if kernels launch kernels
  double start = 0, end = 0;              ///< milliseconds
  bool known = true;                      ///< false: no prediction of its time, which counts as 0
};

struct Timeline {
  std::vector<TimelineEntry> entries; ///< of each operation
  double milliseconds = 0;            ///< to the end of the last one
  double sum = 0;                     ///< of the times of all entries, as if nothing overlapped
};

Timeline timeline_of(const model::Device& device, std::span<const LaunchReport> launches,
                     std::span<const ProgramOperation> operations);
/// Of launches one after the other, as `warplens run` makes them.
Timeline timeline_of(const model::Device& device, std::span<const LaunchReport> launches);

} // namespace warplens::api
