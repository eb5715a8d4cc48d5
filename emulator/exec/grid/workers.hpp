// How many workers a launch has where nobody says how many.
//
//   taskset -c 0,1 warplens run …: default_workers() == 2
#pragma once

namespace warplens::exec {

/// As many as the processors that this process may use: taskset and batch systems leave it fewer than the machine has.
unsigned default_workers();

} // namespace warplens::exec
