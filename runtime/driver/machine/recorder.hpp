// SPDX-License-Identifier: Apache-2.0
// --trace of `warplens exec`: the launches that an observer selects are recorded. The library that writes traces needs
// HDF5; it is loaded for this only.
//
//   const Recording recording(request.options);   // until the launch has ended
#pragma once

#include "api/launch/launch.hpp"

#include <mutex>

namespace warplens::runtime {

/// Whether a trace was asked for.
bool traces();

/// Lets `options` record a launch. A trace holds one launch after the other: further launches wait.
class Recording {
public:
  /// Does nothing if no trace was asked for, or if it cannot be written, which the user is told once.
  explicit Recording(api::LaunchOptions& options);

private:
  std::unique_lock<std::mutex> lock_;
};

/// At the end of the process.
void close_trace();

} // namespace warplens::runtime
