// SPDX-License-Identifier: Apache-2.0
// The default number of workers of a launch.
//
//   taskset -c 0,1 warplens run …: default_workers() == 2
#pragma once

namespace warplens::exec {

/// The number of processors that this process may use. With taskset and batch systems, this may be fewer than all.
unsigned default_workers();

} // namespace warplens::exec
